-- Stores a plan once per digest and counts who refers to it; a count of one is not written down.
local function refer_to_plan(plan, refs, digest, bytes)
  if redis.call('EXISTS', plan) == 0 then
    redis.call('SET', plan, bytes)
  else
    redis.call('HSET', refs, digest, (tonumber(redis.call('HGET', refs, digest)) or 1) + 1)
  end
end

-- Takes a reference away, and the plan with the last.
local function let_go_of_plan(plan, refs, digest)
  local count = tonumber(redis.call('HGET', refs, digest)) or 1
  if count > 2 then
    redis.call('HSET', refs, digest, count - 1)
  else
    redis.call('HDEL', refs, digest)
    if count == 1 then redis.call('DEL', plan) end
  end
end
