-- @include parts/team.lua
-- @include parts/deadline.lua
-- Ends a pending request: state, indexes, inbox entry. The record's JSON is not touched.
local function end_pending(id, mut, inbox, state, now)
  redis.call('ZADD', ENDED, redis.call('ZSCORE', PENDING, id) or 0, id)
  redis.call('ZREM', PENDING, id)
  redis.call('ZREM', DEADLINES, id)
  redis.call('HDEL', mut, 'rt', 'ru')
  redis.call('HSET', mut, 'v', ARGV[1], 'st', state, 'ea', now)
  redis.call('XADD', inbox, '*', 'r', id)
end

-- How long the request is still held for a decision; 0 when it is not.
local function held_ms(mut, now)
  return math.max((tonumber(redis.call('HGET', mut, 'ru')) or 0) - now, 0)
end
