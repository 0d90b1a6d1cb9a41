-- Ends a question, in one step: how it ended, entry in the teammate's inbox, event; and its task is woken (TM-15).
-- KEYS: 1-9 parts/team.lua · 10-18 parts/question.lua · 19 inbox of the teammate · 20 lease of the duty
-- ARGV: 1 v · 2 id · 3 teammate · 4 session · 5 answered, expired or taken_back · 6 its end as JSON · 7, 8 event and
--   audit text · 9 how long until the reconciler looks whether the task went on, ms · 10 epoch of the duty; '' for none
-- Replies: ended · gone (it ended before) · early (before the deadline) · late (answered after it: end it first)
--   absent · deposed · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/history.lua
-- @include parts/deadline.lua
-- @include parts/wake.lua
-- @include parts/fence.lua
-- @include parts/question.lua
local id, teammate, session, how = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local now = now_ms()
local stored = redis.call('GET', QUESTION)
local ending = redis.call('GET', ENDING)
local ses = redis.call('HMGET', SES, 'v', 'ph')
if newer(version_of(stored)) or newer(version_of(ending)) or newer(ses[1]) then return { 'too_new' } end
if deposed(KEYS[20], ARGV[10]) then return { 'deposed' } end
if not stored then return { 'absent' } end
if ending then return { 'gone' } end
local late = deadline_of(stored) <= now
if how == 'expired' and not late then return { 'early' } end
if how == 'answered' and late then return { 'late' } end

redis.call('SET', ENDING, string.sub(ARGV[6], 1, -2) .. string.format(',"at":%.0f}', now))
redis.call('ZADD', OF_SESSION, -(redis.call('ZSCORE', OF_SESSION, id) or 1), id)
redis.call('ZREM', OPEN, id)
redis.call('ZREM', EXPIRING, id)
redis.call('SREM', OF_TEAMMATE, id)
redis.call('ZADD', RETIRED, now, id)
redis.call('XADD', KEYS[19], '*', 'q', id)
if ses[2] and not OVER[ses[2]] then
  if ses[2] == 'awaiting_answer' then redis.call('HSET', SES, 'v', ARGV[1], 'ph', 'planning') end
  look_again(SES, teammate .. ':' .. session, now + ARGV[9], false)
  wake(SES, teammate, session, id)
end
append_history(now, ARGV[7], ARGV[8])
return { 'ended' }
