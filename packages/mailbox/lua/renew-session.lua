-- Prolongs a lease for as long as nobody came after (TM-16), or ends it.
-- KEYS: 1-9 parts/team.lua · 10 session
-- ARGV: 1 v · 2 teammate:session · 3 epoch · 4 lease ms; 0 lets go of it · 5 how long until the reconciler looks, ms
-- Replies: kept · lost · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/wake.lua
-- @include parts/lease.lua
local SES, now = KEYS[10], now_ms()
if newer(redis.call('HGET', SES, 'v')) then return { 'too_new' } end
if not holds(SES, ARGV[3]) then return { 'lost' } end
if ARGV[4] ~= '0' then
  redis.call('HSET', SES, 'lu', now + ARGV[4])
  return { 'kept' }
end
redis.call('HDEL', SES, 'lh', 'lu', 'run')
local phase = redis.call('HGET', SES, 'ph')
if phase and OVER[phase] then
  redis.call('ZREM', DUE, ARGV[2])
elseif redis.call('ZSCORE', DUE, ARGV[2]) then
  redis.call('ZADD', DUE, now + ARGV[5], ARGV[2])
end
return { 'kept' }
