-- A lead has a session enter or leave plan mode: the record, the order in the teammate's inbox and the event, in one
-- step (PM-18). Entering voids every approval that came before it, whether the host has heard of it or not (WR-25).
-- KEYS: 1-9 parts/team.lua · 10 session · 11 inbox of the teammate · 12 operation
-- ARGV: 1 v · 2 teammate · 3 session · 4 enter or exit · 5 the envelope as JSON without its last brace · 6 how often the
--   session had entered when the order was signed · 7 how long the operation is remembered, ms · 8, 9 event and audit
--   text · 10 how long until the reconciler looks whether the task went on, ms
-- Replies: ordered · known (this operation was done before) · moved, how often the session has entered by now · absent
--   too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/history.lua
-- @include parts/wake.lua
local SES, teammate, session = KEYS[10], ARGV[2], ARGV[3]
local now = now_ms()
local ses = redis.call('HMGET', SES, 'v', 'en', 'ph')
if newer(ses[1]) then return { 'too_new' } end
if not ses[1] then return { 'absent' } end
if redis.call('EXISTS', KEYS[12]) == 1 then return { 'known' } end
if (ses[2] or '0') ~= ARGV[6] then return { 'moved', ses[2] or '0' } end

redis.call('SET', KEYS[12], '1', 'PX', ARGV[7])
redis.call('HSET', SES, 'v', ARGV[1])
if ARGV[4] == 'enter' then redis.call('HINCRBY', SES, 'en', 1) end
redis.call('XADD', KEYS[11], '*', 'e', ARGV[5] .. string.format(',"at":%.0f}', now))
if ses[3] and not OVER[ses[3]] then
  look_again(SES, teammate .. ':' .. session, now + ARGV[10], false)
  wake(SES, teammate, session, '')
end
append_history(now, ARGV[8], ARGV[9])
return { 'ordered' }
