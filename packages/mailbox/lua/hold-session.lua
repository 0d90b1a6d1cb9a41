-- Holds a session for one worker, under the next epoch (TM-16).
-- KEYS: 1-9 parts/team.lua · 10 task · 11 session
-- ARGV: 1 v · 2 teammate:session · 3 holder · 4 lease ms
-- Replies: held, epoch, what the former holder left running, task, the session's fields and values · busy, ms
--   absent · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/team.lua
-- @include parts/lease.lua
local SES, now = KEYS[11], now_ms()
local stored = redis.call('GET', KEYS[10])
local ses = redis.call('HMGET', SES, 'v', 'run')
if newer(version_of(stored)) or newer(ses[1]) then return { 'too_new' } end
if not stored then return { 'absent' } end
local busy = busy_ms(SES, ARGV[3], now)
if busy > 0 then return { 'busy', busy } end
local epoch = take_lease(SES, ARGV[3], now + ARGV[4], now)
redis.call('ZADD', DUE, now + ARGV[4] + 1000, ARGV[2])
return { 'held', epoch, ses[2] or '', stored, unpack(redis.call('HGETALL', SES)) }
