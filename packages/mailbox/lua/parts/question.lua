-- KEYS[10..18] of the scripts that open and end questions; `questionKeys` in question-codec.ts gives them.
local QUESTION, ENDING, ASKER, SES = KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local OPEN, EXPIRING, RETIRED, OF_SESSION, OF_TEAMMATE = KEYS[14], KEYS[15], KEYS[16], KEYS[17], KEYS[18]
