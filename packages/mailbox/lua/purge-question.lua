-- Deletes a question that ended before a time, or whose session is gone (TM-42).
-- KEYS: 1 question · 2 how it ended · 3 whose it is · 4 open questions · 5 by deadline · 6 ended ones · 7 those of the
--   session · 8 open ones of the teammate · 9 lease of the duty
-- ARGV: 1 v · 2 id · 3 ended before, ms; '' whether it ended or not · 4 epoch of the duty; '' for none
-- Replies: purged · kept · deposed · too_new
-- @include parts/version.lua
-- @include parts/fence.lua
local id = ARGV[2]
if newer(version_of(redis.call('GET', KEYS[1]))) or newer(version_of(redis.call('GET', KEYS[2]))) then
  return { 'too_new' }
end
if deposed(KEYS[9], ARGV[4]) then return { 'deposed' } end
local ended = tonumber(redis.call('ZSCORE', KEYS[6], id))
if ARGV[3] ~= '' and (not ended or ended > tonumber(ARGV[3])) then return { 'kept' } end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
for place = 4, 7 do redis.call('ZREM', KEYS[place], id) end
redis.call('SREM', KEYS[8], id)
return { 'purged' }
