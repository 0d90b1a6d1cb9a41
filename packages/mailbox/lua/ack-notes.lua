-- Removes messages from the lead's inbox; plan requests are not among them and stay (WR-26).
-- KEYS[1] the index of notes, [2] the notes
-- ARGV[1] the caller's record version, [2…] inbox numbers
-- Reply: ok number-removed
local removed = 0
for i = 2, #ARGV do
  redis.call('HDEL', KEYS[2], ARGV[i])
  removed = removed + redis.call('ZREM', KEYS[1], ARGV[i])
end
return { 'ok', removed }
