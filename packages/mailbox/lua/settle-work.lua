-- Ends the work of a request, by the epoch that claimed it last and by no other (TM-16).
-- KEYS: 1-9 parts/team.lua · 10 request · 11 its state · 12 session
-- ARGV: 1 v · 2 id · 3 id as hashes have it · 4 teammate:session · 5 epoch · 6 done or failed · 7 reason · 8 branch
--   9 commit ('' where there is none) · 10, 11 event and audit text
-- Replies: settled · known (settled so before, by this epoch) · stale · absent · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/work.lua
local MUT, SES = KEYS[11], KEYS[12]
local now = now_ms()
local stored = redis.call('GET', KEYS[10])
local mut = redis.call('HMGET', MUT, 'v', 'ws', 'we')
local ses = redis.call('HMGET', SES, 'v', 'rq', 'ep', 'ph')
if newer(version_of(stored)) or newer(mut[1]) or newer(ses[1]) then return { 'too_new' } end
if not stored then return { 'absent' } end
if mut[3] ~= ARGV[5] then return { 'stale' } end
if mut[2] == ARGV[6] then return { 'known' } end
if mut[2] ~= 'claimed' and mut[2] ~= 'applied' then return { 'stale' } end

end_work(ARGV[2], MUT, ARGV[6], ARGV[7], now)
if ses[2] == ARGV[3] and ses[4] then
  redis.call('HSET', SES, 'ph', ARGV[6])
  if ARGV[7] ~= '' then redis.call('HSET', SES, 'rs', ARGV[7]) end
  if ARGV[8] ~= '' then redis.call('HSET', SES, 'br', ARGV[8]) end
  if ARGV[9] ~= '' then redis.call('HSET', SES, 'cm', ARGV[9]) end
end
-- What is to be published keeps the session held and looked after until its holder lets go of it.
if ses[3] == ARGV[5] and not (ses[4] and ARGV[8] ~= '') then
  redis.call('HDEL', SES, 'lh', 'lu', 'run')
  redis.call('ZREM', DUE, ARGV[4])
end
append_history(now, ARGV[10], ARGV[11])
return { 'settled' }
