-- Takes a teammate's entries that are due, oldest first: those that were out too long, then new ones. What was offered
-- too often goes to the dead letters, with an alarm for the lead (TM-41).
-- KEYS[1] the inbox, [2] the dead letters, [3] the team's numbers, [4] its event log
-- ARGV[1] the caller's record version, [2] milliseconds for which an entry is out, [3] how many at most,
--   [4] deliveries after which one has failed, [5] the alarm's body, [6] how many dead letters are kept
-- Reply: ok (id deliveries field value)…
-- @include parts/now.lua
local inbox, group, reader = KEYS[1], 'teammate', 'reader'
if redis.call('EXISTS', inbox) == 0 then return { 'ok' } end
redis.pcall('XGROUP', 'CREATE', inbox, group, '0') -- an error means that it is there
local reply, taken = { 'ok' }, 0

local function offer(entry, deliveries)
  taken = taken + 1
  for _, value in ipairs({ entry[1], deliveries, entry[2][1], entry[2][2] }) do reply[#reply + 1] = value end
end

local function bury(id, deliveries)
  local entry = redis.call('XRANGE', inbox, id, id)[1]
  redis.call('XACK', inbox, group, id)
  if not entry then return end
  redis.call('XDEL', inbox, id)
  redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[6], '*', 'id', id, 'n', deliveries, entry[2][1], entry[2][2])
  local n = redis.call('HINCRBY', KEYS[3], 'event', 1)
  redis.call('XADD', KEYS[4], n .. '-0', 'at', now_ms(), 'b', ARGV[5])
end

for _, due in ipairs(redis.call('XPENDING', inbox, group, 'IDLE', ARGV[2], '-', '+', ARGV[3])) do
  local id, deliveries = due[1], due[4]
  if deliveries >= tonumber(ARGV[4]) then
    bury(id, deliveries)
  else
    local claimed = redis.call('XCLAIM', inbox, group, reader, 0, id)[1]
    if claimed then offer(claimed, deliveries + 1) end
  end
end
local room = tonumber(ARGV[3]) - taken
if room > 0 then
  local fresh = redis.call('XREADGROUP', 'GROUP', group, reader, 'COUNT', room, 'STREAMS', inbox, '>')
  for _, entry in ipairs(fresh and fresh[1] and fresh[1][2] or {}) do offer(entry, 1) end
end
return reply
