-- Keeps the plan that a session is writing, byte for byte (PM-45).
-- KEYS: 1 session · 2 draft
-- ARGV: 1 v · 2 epoch of the sender's lease; '' for none · 3 the plan
-- Replies: kept · lost (nothing was written) · absent (there is no such session) · too_new
-- @include parts/version.lua
-- @include parts/lease.lua
local version = redis.call('HGET', KEYS[1], 'v')
if newer(version) then return { 'too_new' } end
if not version then return { 'absent' } end
if ARGV[2] ~= '' and not holds(KEYS[1], ARGV[2]) then return { 'lost' } end
redis.call('SET', KEYS[2], ARGV[3])
return { 'kept' }
