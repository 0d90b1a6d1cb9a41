-- Takes the oldest events away that are older than a time or too many (TM-42); the others keep their numbers (ST-6).
-- KEYS: 1 event log · 2 lease of the duty
-- ARGV: 1 v · 2 older than, ms · 3 how many at most · 4 epoch of the duty; '' for none · 5 how many are kept
-- Replies: trimmed, how many · deposed
-- @include parts/fence.lua
if deposed(KEYS[2], ARGV[4]) then return { 'deposed' } end
local count, kept = 0, '0-0'
local surplus = redis.call('XLEN', KEYS[1]) - ARGV[5]
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[3])) do
  local at
  for place = 1, #entry[2], 2 do
    if entry[2][place] == 'at' then at = tonumber(entry[2][place + 1]) end
  end
  -- One that says no time is nobody's event of ours, and keeps nothing.
  if count >= surplus and (at or 0) >= tonumber(ARGV[2]) then break end
  count = count + 1
  kept = string.format('%.0f-0', string.match(entry[1], '^%d+') + 1)
end
if count > 0 then redis.call('XTRIM', KEYS[1], 'MINID', kept) end
return { 'trimmed', count }
