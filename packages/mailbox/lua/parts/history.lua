-- @include parts/team.lua
-- Appends to the event log and takes the next audit number; both texts are the caller's, byte for byte.
local function append_history(now, event, leaf)
  local number = redis.call('HINCRBY', SEQ, 'event', 1)
  redis.call('XADD', EVENTS, number .. '-0', 'at', now, 'b', event)
  local audit = redis.call('HINCRBY', SEQ, 'audit', 1)
  redis.call('XADD', AUDIT, audit .. '-0', 'at', now, 'b', leaf)
end
