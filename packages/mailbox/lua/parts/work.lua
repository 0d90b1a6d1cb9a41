-- @include parts/history.lua
-- Ends the work under an approval: state, time and reason, and retention begins.
local function end_work(id, mut, state, reason, now)
  redis.call('HSET', mut, 'v', ARGV[1], 'ws', state, 'wt', now)
  if reason ~= '' then redis.call('HSET', mut, 'wr', reason) end
  redis.call('ZADD', SETTLED, now, id)
end

-- Whether an approval was not claimed in time and is void (WR-28).
local function lapsed(mut, now)
  local fields = redis.call('HMGET', mut, 'st', 'ws', 'na')
  return fields[1] == 'approved' and not fields[2] and now > tonumber(fields[3] or 0)
end

-- Whether an approval stands whose work is not over.
local function unsettled(mut)
  local fields = redis.call('HMGET', mut, 'st', 'ws')
  return fields[1] == 'approved' and fields[2] ~= 'done' and fields[2] ~= 'failed'
end
