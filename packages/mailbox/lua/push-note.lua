-- Puts a message into the lead's inbox, once for each operation (TM-45).
-- KEYS[1] the index of notes, [2] the notes, [3] the operation, [4] the team's numbers, [5] its event log,
--   [6] the lead's mode
-- ARGV as in push-entry.lua
-- Reply: ok id
-- @include parts/now.lua
local remember = tonumber(ARGV[5])
local known = remember > 0 and redis.call('GET', KEYS[3])
if known then return { 'ok', known } end
local now = now_ms()
local n = redis.call('HINCRBY', KEYS[4], 'inbox', 1)
local id = n .. '-0'
redis.call('ZADD', KEYS[1], n, n)
redis.call('HSET', KEYS[2], n, ARGV[2] .. ',"at":' .. string.format('%.0f', now) .. '}')
if remember > 0 then redis.call('SET', KEYS[3], id, 'PX', remember) end
if ARGV[4] ~= '' then redis.call('SET', KEYS[6], ARGV[4]) end
local event = redis.call('HINCRBY', KEYS[4], 'event', 1)
redis.call('XADD', KEYS[5], event .. '-0', 'at', now, 'b', ARGV[3])
return { 'ok', id }
