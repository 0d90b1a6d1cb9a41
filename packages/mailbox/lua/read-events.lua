-- Reads a page of the event log, and tells a reader that it cannot go on from where it was (ST-6).
-- KEYS[1] the team's numbers, KEYS[2] its event log
-- ARGV[1] the caller's record version, [2] the number of the last event read ('' for none), [3] how many at most
-- Reply: ok last-number (id at body)… | reset last-number
local last = tonumber(redis.call('HGET', KEYS[1], 'event') or 0)
local first = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
local kept = first and tonumber(string.match(first[1], '^%d+')) or last + 1
local after = tonumber(ARGV[2]) or kept - 1
if after < kept - 1 or after > last then return { 'reset', last } end
local reply = { 'ok', last }
for _, entry in ipairs(redis.call('XRANGE', KEYS[2], '(' .. string.format('%.0f', after) .. '-0', '+', 'COUNT', ARGV[3])) do
  local fields = {}
  for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
  reply[#reply + 1] = entry[1]
  reply[#reply + 1] = fields.at or '0'
  reply[#reply + 1] = fields.b or '{}'
end
return reply
