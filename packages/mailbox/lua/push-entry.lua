-- Puts a message into a teammate's inbox, once for each operation (TM-45).
-- KEYS[1] the inbox, [2] the operation, [3] the team's numbers, [4] its event log, [5] the lead's mode
-- ARGV[1] the caller's record version, [2] the envelope as JSON without its last brace, [3] the event's body,
--   [4] the mode that the lead is now in ('' where the message is something else), [5] milliseconds for which the
--   operation is remembered (0: it has no ID)
-- Reply: ok id
-- @include parts/now.lua
local remember = tonumber(ARGV[5])
local known = remember > 0 and redis.call('GET', KEYS[2])
if known then return { 'ok', known } end
local now = now_ms()
local id = redis.call('XADD', KEYS[1], '*', 'e', ARGV[2] .. ',"at":' .. string.format('%.0f', now) .. '}')
if remember > 0 then redis.call('SET', KEYS[2], id, 'PX', remember) end
if ARGV[4] ~= '' then redis.call('SET', KEYS[5], ARGV[4]) end
local n = redis.call('HINCRBY', KEYS[3], 'event', 1)
redis.call('XADD', KEYS[4], n .. '-0', 'at', now, 'b', ARGV[3])
return { 'ok', id }
