-- Deletes a task that ended long ago without a request (TM-42).
-- KEYS: 1 tasks that ended without a request · 2 task · 3 session · 4 lease of the duty · 5 report of the
--   session · 6 its draft
-- ARGV: 1 v · 2 teammate:session · 3 ended before, ms · 4 epoch of the duty; '' for none
-- Replies: purged · kept (it went on, or has a request by now) · deposed · too_new
-- @include parts/version.lua
-- @include parts/fence.lua
-- @include parts/phases.lua
local ses = redis.call('HMGET', KEYS[3], 'v', 'rq', 'ph', 'lh')
if newer(ses[1]) then return { 'too_new' } end
if deposed(KEYS[4], ARGV[4]) then return { 'deposed' } end
local ended = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[2]))
if not ended or ended > tonumber(ARGV[3]) then return { 'kept' } end
redis.call('ZREM', KEYS[1], ARGV[2])
if ses[2] or ses[4] or not OVER[ses[3]] then return { 'kept' } end
redis.call('DEL', KEYS[2], KEYS[3], KEYS[5], KEYS[6])
return { 'purged' }
