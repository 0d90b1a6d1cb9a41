-- Gives the lease of a background duty back; its epoch stays.
-- KEYS[1] the lease
-- ARGV[1] the caller's record version, [2] holder
-- Reply: ok | lost (somebody else holds it, or nobody)
if redis.call('HGET', KEYS[1], 'lh') ~= ARGV[2] then return { 'lost' } end
redis.call('HDEL', KEYS[1], 'lh', 'lu')
return { 'ok' }
