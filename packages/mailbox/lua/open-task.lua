-- Makes a task's record and its session, once (TM-2).
-- KEYS: 1-9 parts/team.lua · 10 task · 11 session
-- ARGV: 1 v · 2 task JSON · 3 teammate:session · 4 mode to go back to · 5 how long until the reconciler looks, ms
-- Replies: opened · known · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/team.lua
local now = now_ms()
local stored = redis.call('GET', KEYS[10])
if newer(version_of(stored)) or newer(redis.call('HGET', KEYS[11], 'v')) then return { 'too_new' } end
if stored then return { 'known' } end
redis.call('SET', KEYS[10], string.sub(ARGV[2], 1, -2) .. string.format(',"at":%.0f}', now))
redis.call('HSET', KEYS[11], 'v', ARGV[1], 'ph', 'planning')
if ARGV[4] ~= 'default' then redis.call('HSET', KEYS[11], 'pm', ARGV[4]) end
redis.call('ZADD', DUE, now + ARGV[5], ARGV[3])
return { 'opened' }
