-- Keeps what belongs to a session beside its record: what its host reports of it, or its draft of a plan (PM-18, PM-45).
-- KEYS: 1 session · 2 what is kept
-- ARGV: 1 v · 2 epoch of the sender's lease; '' for none · 3 the bytes · 4 1 where they are JSON that gets the time
-- Replies: kept · lost (nothing was written) · absent (there is no such session) · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/lease.lua
local version = redis.call('HGET', KEYS[1], 'v')
if newer(version) then return { 'too_new' } end
if not version then return { 'absent' } end
if ARGV[2] ~= '' and not holds(KEYS[1], ARGV[2]) then return { 'lost' } end
local bytes = ARGV[3]
if ARGV[4] == '1' then bytes = string.sub(bytes, 1, -2) .. string.format(',"at":%.0f}', now_ms()) end
redis.call('SET', KEYS[2], bytes)
return { 'kept' }
