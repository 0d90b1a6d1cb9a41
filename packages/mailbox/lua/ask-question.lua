-- Opens a question or consent, in one step: record, entry in the lead's inbox, event; and its task waits (TM-15, WR-12).
-- KEYS: 1-9 parts/team.lua · 10-18 parts/question.lua
-- ARGV: 1 v · 2 id · 3 teammate:session · 4 teammate · 5 record JSON · 6 digest of what is asked · 7 deadline, ms; '' for
--   none · 8 how long the session waits, ms · 9 shortest wait, ms · 10 how many may be open in the session · 11 and of
--   the teammate · 12 epoch of the sender's lease; '' for none · 13, 14 event and audit text
-- Replies: asked, number, now ms, deadline ms · known (asked before) · conflict (something else was) · taken (the ID is
--   another teammate's) · fenced · deadline (it is over, or about to be) · full, session or teammate · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/history.lua
-- @include parts/question.lua
local id, member, epoch = ARGV[2], ARGV[3], ARGV[12]
local now = now_ms()
local stored = redis.call('GET', QUESTION)
local ses = redis.call('HMGET', SES, 'v', 'ep', 'ph')
if newer(version_of(stored)) or newer(ses[1]) then return { 'too_new' } end

-- Only planning waits so: work under an approval goes on being that, and is looked after as that.
local function park()
  if ses[3] ~= 'planning' or (epoch ~= '' and ses[2] ~= epoch) then return end
  redis.call('HSET', SES, 'v', ARGV[1], 'ph', 'awaiting_answer')
  redis.call('HDEL', SES, 'wn')
  redis.call('ZREM', DUE, member)
end

if stored then
  if string.match(stored, '^{"v":%d+,"h":"([^"]+)"') ~= ARGV[6] then return { 'conflict' } end
  if redis.call('EXISTS', ENDING) == 0 then park() end
  return { 'known' }
end
if redis.call('EXISTS', ASKER) == 1 then return { 'taken' } end
if epoch ~= '' and ses[2] ~= epoch then return { 'fenced' } end
if redis.call('ZCOUNT', OF_SESSION, '(0', '+inf') >= tonumber(ARGV[10]) then return { 'full', 'session' } end
if redis.call('SCARD', OF_TEAMMATE) >= tonumber(ARGV[11]) then return { 'full', 'teammate' } end
local deadline = math.min(tonumber(ARGV[7]) or math.huge, now + ARGV[8])
if deadline - now < tonumber(ARGV[9]) then return { 'deadline' } end

local number = redis.call('HINCRBY', SEQ, 'inbox', 1)
local tail = string.format(',"n":%.0f,"at":%.0f,"dl":%.0f}', number, now, deadline)
redis.call('SET', QUESTION, string.sub(ARGV[5], 1, -2) .. tail)
redis.call('SET', ASKER, ARGV[4])
redis.call('ZADD', OPEN, number, id)
redis.call('ZADD', EXPIRING, deadline, id)
redis.call('ZADD', OF_SESSION, number, id)
redis.call('SADD', OF_TEAMMATE, id)
park()
append_history(now, ARGV[13], ARGV[14])
return { 'asked', number, now, deadline }
