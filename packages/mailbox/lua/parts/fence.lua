-- Whether another process has taken over the duty that the caller works under; '' stands for no duty.
local function deposed(lease, epoch)
  return epoch ~= '' and redis.call('HGET', lease, 'ep') ~= epoch
end
