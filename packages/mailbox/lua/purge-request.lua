-- Deletes a request that was settled before a time, with everything that hangs on it (TM-42, ST-9).
-- KEYS: 1-9 parts/team.lua · 10 request · 11 its state · 12 decision · 13 foreign ID · 14 session · 15 task · 16 plan
--   17 plan as edited (the plan's key where it was not) · 18 plan references · 19 lease of the duty · 20 report of the session · 21 its draft
-- ARGV: 1 v · 2 id · 3 id as hashes have it · 4 settled before, ms · 5 tombstone ms; 0 for none · 6 digest
--   7 digest of the edited plan; '' for none · 8 epoch of the duty; '' for none
-- Replies: purged, session where that is gone too · kept · deposed · too_new
-- @include parts/version.lua
-- @include parts/wake.lua
-- @include parts/plan-reference.lua
-- @include parts/fence.lua
local id, SES = ARGV[2], KEYS[14]
local stored = redis.call('GET', KEYS[10])
local ses = redis.call('HMGET', SES, 'v', 'rq', 'ph', 'lh')
if newer(version_of(stored)) or newer(redis.call('HGET', KEYS[11], 'v')) or newer(ses[1]) then return { 'too_new' } end
if deposed(KEYS[19], ARGV[8]) then return { 'deposed' } end
local settled = tonumber(redis.call('ZSCORE', SETTLED, id))
if not settled or settled > tonumber(ARGV[4]) or redis.call('ZSCORE', PENDING, id) then return { 'kept' } end

if stored then
  let_go_of_plan(KEYS[16], KEYS[18], ARGV[6])
  if ARGV[7] ~= '' then let_go_of_plan(KEYS[17], KEYS[18], ARGV[7]) end
end
redis.call('DEL', KEYS[10], KEYS[11], KEYS[12], KEYS[13])
if ARGV[5] ~= '0' then redis.call('SET', KEYS[13], '!', 'PX', ARGV[5]) end
redis.call('ZREM', ENDED, id)
redis.call('ZREM', SETTLED, id)
if ses[2] == ARGV[3] then
  if not ses[4] and (not ses[3] or OVER[ses[3]]) then
    redis.call('DEL', SES, KEYS[15], KEYS[20], KEYS[21])
    return { 'purged', 'session' }
  else
    redis.call('HDEL', SES, 'rq', 'rqen')
  end
end
return { 'purged' }
