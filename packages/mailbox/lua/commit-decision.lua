-- Writes a signed decision under its reservation, with everything that follows from it, in one step (WR-20).
-- KEYS: 1-9 parts/team.lua · 10 request · 11 its state · 12 decision · 13 session · 14 inbox of the teammate
--   15 plan as edited (any plan key where it was not) · 16 plan references
-- ARGV: 1 v · 2 id · 3 teammate · 4 session · 5 token · 6 outcome · 7 decision JSON · 8 jti · 9 decided at, ms
--   10 not after, ms · 11 digest of the edited plan; '' for none · 12 its bytes · 13, 14 event and audit text
--   15 how long until the reconciler looks whether the work was claimed, ms
-- Replies: committed (also when this very decision stands already) · lapsed (nothing was written) · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/history.lua
-- @include parts/end-pending.lua
-- @include parts/plan-reference.lua
-- @include parts/wake.lua
local MUT, SES = KEYS[11], KEYS[13]
local id, teammate, session, outcome = ARGV[2], ARGV[3], ARGV[4], ARGV[6]
local now = now_ms()
local stored = redis.call('GET', KEYS[10])
local mut = redis.call('HMGET', MUT, 'v', 'st', 'jti', 'rt', 'ru')
if newer(version_of(stored)) or newer(mut[1]) or newer(redis.call('HGET', SES, 'v')) then return { 'too_new' } end
if mut[2] and mut[3] == ARGV[8] then return { 'committed' } end
if not stored or mut[2] or mut[4] ~= ARGV[5] or tonumber(mut[5]) <= now then return { 'lapsed' } end

end_pending(id, MUT, KEYS[14], outcome, now)
redis.call('SET', KEYS[12], ARGV[7])
redis.call('HSET', MUT, 'jti', ARGV[8], 'da', ARGV[9])
if ARGV[11] ~= '' then
  refer_to_plan(KEYS[15], KEYS[16], ARGV[11], ARGV[12])
  redis.call('HSET', MUT, 'ad', ARGV[11])
end
if outcome == 'approved' then
  redis.call('HSET', MUT, 'na', ARGV[10])
else
  redis.call('ZADD', SETTLED, now, id)
end
look_again(SES, teammate .. ':' .. session, now + ARGV[15], outcome == 'approved')
wake(SES, teammate, session, id)
append_history(now, ARGV[13], ARGV[14])
return { 'committed' }
