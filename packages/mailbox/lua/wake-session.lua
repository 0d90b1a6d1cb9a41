-- Wakes a session again that is owed a step: a wake-up was lost, or whoever worked on it died (TM-5, TM-8).
-- KEYS: 1-9 parts/team.lua · 10 session · 11 state of its latest request (any key where there is none)
--   12 lease of the duty
-- ARGV: 1 v · 2 teammate · 3 session · 4 latest request as hashes have it; '' for none · 5 the same in full
--   6 first pause, ms · 7 longest pause, ms · 8 epoch of the duty; '' for none
-- Replies: woken · held (someone works on it) · idle (nothing is owed) · early · lapsed (end its approval first)
--   retry (there is another request) · deposed · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/work.lua
-- @include parts/wake.lua
-- @include parts/fence.lua
local SES, MUT, member = KEYS[10], KEYS[11], ARGV[2] .. ':' .. ARGV[3]
local now = now_ms()
local ses = redis.call('HMGET', SES, 'v', 'rq', 'ph', 'lh', 'lu', 'wn')
if newer(ses[1]) or (ARGV[4] ~= '' and newer(redis.call('HGET', MUT, 'v'))) then return { 'too_new' } end
if deposed(KEYS[12], ARGV[8]) then return { 'deposed' } end
if (ses[2] or '') ~= ARGV[4] then return { 'retry' } end
local due = tonumber(redis.call('ZSCORE', DUE, member))
if not due or due > now then return { 'early' } end
if ses[4] and tonumber(ses[5]) > now then
  redis.call('ZADD', DUE, ses[5] + 1000, member)
  return { 'held' }
end
local owed = ARGV[4] ~= '' and unsettled(MUT)
if owed and lapsed(MUT, now) then return { 'lapsed' } end
local waiting = ARGV[4] ~= '' and redis.call('HEXISTS', MUT, 'st') == 0
-- Over, but never let go of: its branch may not be published yet.
local unfinished = ses[3] and (not OVER[ses[3]] or ses[4])
if waiting or ses[3] == 'awaiting_answer' or not (owed or unfinished) then
  redis.call('ZREM', DUE, member)
  return { 'idle' }
end
local pauses = tonumber(ses[6]) or 0
redis.call('HSET', SES, 'wn', pauses + 1)
redis.call('ZADD', DUE, now + math.min(ARGV[6] * 2 ^ pauses, ARGV[7]), member)
wake(SES, ARGV[2], ARGV[3], ARGV[5])
return { 'woken' }
