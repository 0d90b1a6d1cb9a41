-- Ends the work of an approval that nobody claimed before its notAfter (WR-28).
-- KEYS: 1-9 parts/team.lua · 10 state of the request · 11 session
-- ARGV: 1 v · 2 id · 3 id as hashes have it · 4 teammate:session · 5, 6 event and audit text
-- Replies: lapsed · not_lapsed · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/work.lua
-- @include parts/wake.lua
local MUT, SES = KEYS[10], KEYS[11]
local now = now_ms()
local ses = redis.call('HMGET', SES, 'v', 'rq', 'ph')
if newer(redis.call('HGET', MUT, 'v')) or newer(ses[1]) then return { 'too_new' } end
if not lapsed(MUT, now) then return { 'not_lapsed' } end
end_work(ARGV[2], MUT, 'failed', 'expired_unapplied', now)
if ses[2] == ARGV[3] then
  if ses[3] and not OVER[ses[3]] then redis.call('HSET', SES, 'ph', 'failed', 'rs', 'expired_unapplied') end
  redis.call('ZREM', DUE, ARGV[4])
end
append_history(now, ARGV[5], ARGV[6])
return { 'lapsed' }
