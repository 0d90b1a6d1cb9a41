-- Holds a pending request for one decision that is about to be signed (WR-20). Nothing is decided here.
-- KEYS: 1 request · 2 its state
-- ARGV: 1 v · 2 digest that the decider read · 3 votes that it saw · 4 token, new for each attempt · 5 hold, ms
-- Replies: reserved, now ms (becomes decidedAt) · gone (not pending) · stale (another digest) · recounted (other
--   votes) · busy, ms (a rival holds it) · expired (the deadline has passed and nobody holds it) · absent · too_new
-- @include parts/now.lua
-- @include parts/version.lua
local now = now_ms()
local stored = redis.call('GET', KEYS[1])
local mut = redis.call('HMGET', KEYS[2], 'v', 'st', 'rt', 'ru', 'vt')
if newer(version_of(stored)) or newer(mut[1]) then return { 'too_new' } end
if not stored then return { 'absent' } end
if mut[2] then return { 'gone' } end
local held = math.max((tonumber(mut[4]) or 0) - now, 0)
-- The same command once more: the reservation that it has already.
if held > 0 and mut[3] == ARGV[4] then return { 'reserved', mut[4] - ARGV[5] } end
if held > 0 then return { 'busy', held } end
if tonumber(string.match(stored, '"dl":(%d+)}$')) <= now then return { 'expired' } end
if string.match(stored, '^{"v":%d+,"d":"([^"]+)"') ~= ARGV[2] then return { 'stale' } end
if (mut[5] or '0') ~= ARGV[3] then return { 'recounted' } end
redis.call('HSET', KEYS[2], 'v', ARGV[1], 'rt', ARGV[4], 'ru', now + ARGV[5])
return { 'reserved', now }
