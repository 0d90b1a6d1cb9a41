-- Stores a request and ends its session's pending predecessor, in one step (WR-20, WR-23 to WR-26, ST-9).
-- KEYS: 1-9 parts/team.lua · 10 request · 11 foreign ID · 12 session · 13 plan · 14 plan references
--   15 predecessor · 16 its state · 17 inbox of the teammate · 18 owner proof · 19 draft of the plan
-- ARGV: 1 v · 2 id · 3 id as hashes have it · 4 record JSON · 5 plan bytes · 6 digest · 7 teammate · 8 session
--   9 when a native ID was made, ms; '' for a foreign one · 10 retention ms · 11 how far ahead an ID may be, ms
--   12 deadline, ms; '' for none · 13 wait ms · 14, 15 its bounds, ms · 16 predecessor; '' for none · 17 as hashes
--   have it · 18 as JSON · 19 epoch of the sender's lease; '' for none · 20 owner proof; '' for none · 21 revision
--   22, 23 event and audit text · 24, 25 those of a superseded predecessor · 26, 27 of its superseded work
-- Replies: created, number, now ms, deadline ms, predecessor as JSON if it was superseded · exists · standing
--   taken (the ID was, or is another teammate's) · fenced · retry, predecessor as hashes have it · busy, ms
--   late (the predecessor's deadline has passed: end it first) · lapsed (its approval has: the same)
--   old · early (an ID from the future) · deadline (out of bounds) · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/work.lua
-- @include parts/end-pending.lua
-- @include parts/plan-reference.lua
local REQ, RID, SES, PREV, PREV_MUT, INBOX = KEYS[10], KEYS[11], KEYS[12], KEYS[15], KEYS[16], KEYS[17]
local id, digest, made, before = ARGV[2], ARGV[6], tonumber(ARGV[9]), ARGV[16]
local now = now_ms()
local stored = redis.call('GET', REQ)
local ses = redis.call('HMGET', SES, 'v', 'rq', 'ep', 'en', 'rqen', 'ph', 'ir')
if newer(version_of(stored)) or newer(ses[1]) then return { 'too_new' } end
if stored then return { 'exists' } end
if redis.call('EXISTS', RID) == 1 then return { 'taken' } end
if made and made < now - ARGV[10] then return { 'old' } end
if made and made > now + ARGV[11] then return { 'early' } end
if ARGV[19] ~= '' and ses[3] ~= ARGV[19] then return { 'fenced' } end
if (ses[2] or '') ~= ARGV[17] then return { 'retry', ses[2] or '' } end
local deadline = tonumber(ARGV[12]) or now + ARGV[13]
if deadline - now < tonumber(ARGV[14]) or deadline - now > tonumber(ARGV[15]) then return { 'deadline' } end

local superseded = ''
local prev = before ~= '' and redis.call('GET', PREV)
if prev then
  if newer(version_of(prev)) or newer(redis.call('HGET', PREV_MUT, 'v')) then return { 'too_new' } end
  if redis.call('HEXISTS', PREV_MUT, 'st') == 0 then
    local held = held_ms(PREV_MUT, now)
    if held > 0 then return { 'busy', held } end
    if deadline_of(prev) <= now then return { 'late' } end
    end_pending(before, PREV_MUT, INBOX, 'superseded', now)
    redis.call('ZADD', SETTLED, now, before)
    redis.call('HSET', PREV_MUT, 'sb', ARGV[3])
    append_history(now, ARGV[24], ARGV[25])
    superseded = ARGV[18]
  elseif unsettled(PREV_MUT) then
    if lapsed(PREV_MUT, now) then return { 'lapsed' } end
    local same = string.match(prev, '^{"v":%d+,"d":"([^"]+)"') == digest or redis.call('HGET', PREV_MUT, 'ad') == digest
    if same and (ses[4] or '0') == (ses[5] or '0') then return { 'standing' } end
    end_work(before, PREV_MUT, 'failed', 'superseded', now)
    redis.call('HSET', PREV_MUT, 'sb', ARGV[3])
    append_history(now, ARGV[26], ARGV[27])
  end
end

local number = redis.call('HINCRBY', SEQ, 'inbox', 1)
local tail = superseded ~= '' and ',"ps":' .. superseded or ''
tail = tail .. string.format(',"n":%.0f,"at":%.0f,"dl":%.0f}', number, now, deadline)
redis.call('SET', REQ, string.sub(ARGV[4], 1, -2) .. tail)
refer_to_plan(KEYS[13], KEYS[14], digest, ARGV[5])
redis.call('ZADD', PENDING, number, id)
redis.call('ZADD', DEADLINES, deadline, id)
if not made then redis.call('SET', RID, ARGV[7]) end
if ARGV[20] ~= '' then redis.call('SET', KEYS[18], ARGV[20]) end
redis.call('DEL', KEYS[19])
redis.call('HSET', SES, 'v', ARGV[1], 'rq', ARGV[3], 'rv', ARGV[21])
redis.call('HDEL', SES, 'wn', 'rqen')
if ses[4] then redis.call('HSET', SES, 'rqen', ses[4]) end
if ses[6] then redis.call('HSET', SES, 'ph', 'awaiting_approval') end
if ses[7] == ARGV[3] then redis.call('HSET', SES, 'ir', '=') end
redis.call('ZREM', DUE, ARGV[7] .. ':' .. ARGV[8])
append_history(now, ARGV[22], ARGV[23])
return { 'created', number, now, deadline, superseded }
