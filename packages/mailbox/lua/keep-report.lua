-- Keeps what a session's host says of it: a short line with the session, the rest beside it (PM-18, TM-42).
-- KEYS: 1 session · 2 the rest
-- ARGV: 1 v · 2 epoch of the sender's lease; '' for none · 3 the line · 4 the rest; '' for none
-- Replies: kept · lost (nothing was written) · absent (there is no such session) · too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/lease.lua
local version = redis.call('HGET', KEYS[1], 'v')
if newer(version) then return { 'too_new' } end
if not version then return { 'absent' } end
if ARGV[2] ~= '' and not holds(KEYS[1], ARGV[2]) then return { 'lost' } end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'po', ARGV[3], 'pa', now_ms())
if ARGV[4] == '' then
  redis.call('DEL', KEYS[2])
else
  redis.call('SET', KEYS[2], ARGV[4])
end
return { 'kept' }
