-- Records that a decision was delivered, or that the gate opened in a mode (TM-11).
-- KEYS: 1-9 parts/team.lua · 10 request · 11 its state
-- ARGV: 1 v · 2 delivered or applied · 3 epoch of the claim, for applied · 4 mode in effect, for applied
--   5, 6 event and audit text
-- Replies: recorded · known (recorded before) · stale (another epoch has the work, or it is over) · pending · absent
--   too_new
-- @include parts/now.lua
-- @include parts/version.lua
-- @include parts/history.lua
local MUT = KEYS[11]
local now = now_ms()
local stored = redis.call('GET', KEYS[10])
local mut = redis.call('HMGET', MUT, 'v', 'st', 'dl', 'ws', 'we', 'wm')
if newer(version_of(stored)) or newer(mut[1]) then return { 'too_new' } end
if not stored then return { 'absent' } end
if not mut[2] then return { 'pending' } end
if ARGV[2] == 'delivered' then
  if mut[3] then return { 'known' } end
  redis.call('HSET', MUT, 'v', ARGV[1], 'dl', now)
else
  if mut[5] ~= ARGV[3] then return { 'stale' } end
  if mut[4] == 'applied' and mut[6] == ARGV[4] then return { 'known' } end
  if mut[4] ~= 'claimed' then return { 'stale' } end
  redis.call('HSET', MUT, 'v', ARGV[1], 'ws', 'applied', 'wa', now, 'wm', ARGV[4])
end
append_history(now, ARGV[5], ARGV[6])
return { 'recorded' }
