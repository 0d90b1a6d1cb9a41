-- Ends a pending request without a decision: its deadline has passed, or its teammate takes it back (WR-20, WR-24).
-- KEYS: 1-9 parts/team.lua · 10 request · 11 its state · 12 session · 13 inbox of the teammate · 14 lease of the duty
-- ARGV: 1 v · 2 id · 3 teammate · 4 session · 5 timeout or withdrawn · 6, 7 event and audit text
--   8 how long until the reconciler looks whether the task went on, ms · 9 epoch of the duty; '' for none
-- Replies: ended · gone (it ended before) · busy, ms (held for a decision) · early (before the deadline)
--   late (to be withdrawn, but the deadline has passed) · absent · deposed · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/history.lua
-- @include parts/end-pending.lua
-- @include parts/wake.lua
-- @include parts/fence.lua
local MUT, SES = KEYS[11], KEYS[12]
local id, teammate, session, outcome = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local now = now_ms()
local stored = redis.call('GET', KEYS[10])
local mut = redis.call('HMGET', MUT, 'v', 'st')
if newer(version_of(stored)) or newer(mut[1]) or newer(redis.call('HGET', SES, 'v')) then return { 'too_new' } end
if deposed(KEYS[14], ARGV[9]) then return { 'deposed' } end
if not stored then return { 'absent' } end
if mut[2] then return { 'gone' } end
local held = held_ms(MUT, now)
if held > 0 then return { 'busy', held } end
local late = deadline_of(stored) <= now
if outcome == 'timeout' and not late then return { 'early' } end
if outcome ~= 'timeout' and late then return { 'late' } end

end_pending(id, MUT, KEYS[13], outcome, now)
redis.call('ZADD', SETTLED, now, id)
look_again(SES, teammate .. ':' .. session, now + ARGV[8], false)
wake(SES, teammate, session, id)
append_history(now, ARGV[6], ARGV[7])
return { 'ended' }
