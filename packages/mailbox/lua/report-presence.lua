-- Says that a process of a teammate is alive (TM-12), and forgets processes whose time is over.
-- KEYS[1] the teammate's processes, KEYS[2] the team's teammates
-- ARGV[1] the caller's record version, [2] process, [3] milliseconds for which it counts as alive, [4] teammate
-- Reply: ok
-- @include parts/now.lua
local now = now_ms()
local seen = redis.call('HGETALL', KEYS[1])
for i = 1, #seen, 2 do
  if tonumber(seen[i + 1]) < now then redis.call('HDEL', KEYS[1], seen[i]) end
end
redis.call('HSET', KEYS[1], ARGV[2], now + ARGV[3])
redis.call('HSET', KEYS[2], ARGV[4], now)
return { 'ok' }
