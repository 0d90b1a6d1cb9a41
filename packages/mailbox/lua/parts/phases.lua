-- The phases in which a task is over; mirrors isTaskOver in the protocol.
local OVER = { done = true, failed = true, withdrawn = true, teleported = true, handed_over = true }
