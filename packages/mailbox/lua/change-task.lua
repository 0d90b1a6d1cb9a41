-- Changes a task's session under its lease (TM-4, TM-8), or says that it entered plan mode again (WR-25).
-- KEYS: 1-9 parts/team.lua · 10 session · 11 tasks that ended without a request
-- ARGV: 1 v · 2 teammate:session · 3 epoch; '' to enter plan mode, under no lease · 4... field, value ('' takes it away)
-- Replies: changed · lost (nothing was written) · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/wake.lua
-- @include parts/lease.lua
local SES = KEYS[10]
if newer(redis.call('HGET', SES, 'v')) then return { 'too_new' } end
if ARGV[3] == '' then
  redis.call('HSET', SES, 'v', ARGV[1])
  redis.call('HINCRBY', SES, 'en', 1)
  return { 'changed' }
end
if not holds(SES, ARGV[3]) then return { 'lost' } end
for place = 4, #ARGV, 2 do
  if ARGV[place + 1] == '' then
    redis.call('HDEL', SES, ARGV[place])
  else
    redis.call('HSET', SES, ARGV[place], ARGV[place + 1])
  end
end
redis.call('HSET', SES, 'v', ARGV[1])
local ses = redis.call('HMGET', SES, 'ph', 'rq')
if OVER[ses[1]] and not ses[2] then redis.call('ZADD', KEYS[11], now_ms(), ARGV[2]) end
return { 'changed' }
