-- Holds the session and claims the work of its latest request, under one epoch (TM-16, WR-28).
-- KEYS: 1-9 parts/team.lua · 10 request · 11 its state · 12 session
-- ARGV: 1 v · 2 id as hashes have it · 3 teammate:session · 4 holder · 5 lease ms · 6, 7 event and audit text
-- Replies: held, epoch, what the former holder left running · busy, ms · absent · not_approved, state
--   superseded, latest as hashes have it · settled, reason · lapsed (not claimed in time: end it) · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/work.lua
-- @include parts/lease.lua
local MUT, SES, holder = KEYS[11], KEYS[12], ARGV[4]
local now = now_ms()
local stored = redis.call('GET', KEYS[10])
local mut = redis.call('HMGET', MUT, 'v', 'st', 'ws', 'we', 'wr')
local ses = redis.call('HMGET', SES, 'v', 'rq', 'en', 'rqen', 'run', 'ph')
if newer(version_of(stored)) or newer(mut[1]) or newer(ses[1]) then return { 'too_new' } end
if not stored then return { 'absent' } end
if mut[2] ~= 'approved' then return { 'not_approved', mut[2] or 'pending' } end
if not unsettled(MUT) then return { 'settled', mut[5] or '' } end
if ses[2] ~= ARGV[2] then return { 'superseded', ses[2] or '' } end
-- The session has entered plan mode again since: that approval opens nothing any more (WR-25).
if (ses[3] or '0') ~= (ses[4] or '0') then return { 'not_approved', 'approved' } end
if lapsed(MUT, now) then return { 'lapsed' } end
local busy = busy_ms(SES, holder, now)
if busy > 0 then return { 'busy', busy } end

local epoch = take_lease(SES, holder, now + ARGV[5], now)
redis.call('ZADD', DUE, now + ARGV[5] + 1000, ARGV[3])
if tonumber(mut[4]) ~= epoch then
  redis.call('HSET', MUT, 'v', ARGV[1], 'ws', 'claimed', 'we', epoch, 'wc', now)
  redis.call('HDEL', MUT, 'wa', 'wm')
  if ses[6] then redis.call('HSET', SES, 'ph', 'implementing') end
  append_history(now, ARGV[6], ARGV[7])
end
return { 'held', epoch, ses[5] or '' }
