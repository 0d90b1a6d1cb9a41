-- Takes or prolongs the lease of a background duty (ST-7).
-- KEYS[1] the lease: ep epoch, lh holder, lu held until (ms)
-- ARGV[1] the caller's record version, [2] holder, [3] milliseconds to hold it
-- Reply: held epoch | busy milliseconds-left
-- @include parts/now.lua
local now = now_ms()
local lease = redis.call('HMGET', KEYS[1], 'ep', 'lh', 'lu')
local epoch, untilMs = tonumber(lease[1] or 0), tonumber(lease[3] or 0)
local live = untilMs > now
if live and lease[2] ~= ARGV[2] then return { 'busy', untilMs - now } end
-- A lease that lapsed may have been in other hands' sight: even its own holder goes on under a new epoch.
if not live then epoch = epoch + 1 end
redis.call('HSET', KEYS[1], 'ep', epoch, 'lh', ARGV[2], 'lu', now + ARGV[3])
return { 'held', epoch }
