-- Takes a consumer out of a group, unless entries are in its hands: those would be lost with it.
-- KEYS[1] the stream
-- ARGV[1] the caller's record version, [2] the group, [3] the consumer
-- Reply: ok | busy
if #redis.call('XPENDING', KEYS[1], ARGV[2], '-', '+', 1, ARGV[3]) > 0 then return { 'busy' } end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[2], ARGV[3])
return { 'ok' }
