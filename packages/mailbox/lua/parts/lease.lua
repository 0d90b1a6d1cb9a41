-- How long someone else than `holder` still holds the session; 0 when it is free.
local function busy_ms(ses, holder, now)
  local fields = redis.call('HMGET', ses, 'lh', 'lu')
  if not fields[1] or fields[1] == holder then return 0 end
  return math.max((tonumber(fields[2]) or 0) - now, 0)
end

-- Gives the session to a holder: under its own epoch when it has the lease already, else under the next.
local function take_lease(ses, holder, untilMs, now)
  local fields = redis.call('HMGET', ses, 'lh', 'lu', 'ep')
  local own = fields[1] == holder and (tonumber(fields[2]) or 0) > now
  local epoch = own and tonumber(fields[3]) or redis.call('HINCRBY', ses, 'ep', 1)
  redis.call('HSET', ses, 'v', ARGV[1], 'lh', holder, 'lu', untilMs)
  redis.call('HDEL', ses, 'wn')
  return epoch
end

-- Whether a lease of this epoch is still that of the session: not released, and nobody came after.
local function holds(ses, epoch)
  local fields = redis.call('HMGET', ses, 'lh', 'ep')
  return fields[1] and fields[2] == epoch
end
