-- Removes entries of a stream that a group reads, in one step: acknowledged ones leave nothing behind (TM-40).
-- KEYS[1] the stream
-- ARGV[1] the caller's record version, [2] the group, [3…] entry ids
-- Reply: ok number-removed
local removed = 0
for i = 3, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[2], ARGV[i])
  removed = removed + redis.call('XDEL', KEYS[1], ARGV[i])
end
return { 'ok', removed }
