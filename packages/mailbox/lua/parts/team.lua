-- KEYS[1..9] of every script that changes a request; `teamKeys` in request-scripts.ts gives them.
local SEQ, EVENTS, AUDIT, OUTBOX = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local PENDING, DEADLINES, ENDED = KEYS[5], KEYS[6], KEYS[7]
local DUE, SETTLED = KEYS[8], KEYS[9]
