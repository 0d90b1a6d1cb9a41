-- Appends an event that belongs to no other step.
-- KEYS[1] the team's numbers, KEYS[2] its event log
-- ARGV[1] the caller's record version, [2] the event's body as JSON
-- Reply: ok number
-- @include parts/now.lua
local now = now_ms()
local n = redis.call('HINCRBY', KEYS[1], 'event', 1)
redis.call('XADD', KEYS[2], n .. '-0', 'at', now, 'b', ARGV[2])
return { 'ok', n }
