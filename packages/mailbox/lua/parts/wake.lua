-- @include parts/team.lua
-- @include parts/phases.lua
-- Puts a wake-up into the outbox, under a number that rises with each of the session; `k` tells the relay whether the
-- session is a task's, which somebody can be woken for.
local function wake(ses, teammate, session, request)
  local number = redis.call('HINCRBY', ses, 'wk', 1)
  local out = redis.call('HINCRBY', SEQ, 'outbox', 1)
  redis.call('XADD', OUTBOX, out .. '-0', 't', teammate, 's', session, 'r', request, 'w', number,
    'k', redis.call('HEXISTS', ses, 'ph'))
end

-- Has the reconciler look at a session at a time, unless nothing is left to do there.
local function look_again(ses, member, at, owed)
  local phase = redis.call('HGET', ses, 'ph')
  if owed or (phase and not OVER[phase]) then
    redis.call('ZADD', DUE, at, member)
  else
    redis.call('ZREM', DUE, member)
  end
end
