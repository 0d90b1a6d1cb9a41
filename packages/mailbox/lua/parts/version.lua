-- Whether something stored was written under a later version than the caller's, which is ARGV[1] of every script.
local function newer(version)
  return (tonumber(version) or 0) > tonumber(ARGV[1])
end

-- The version of a record that is JSON: always its first field.
local function version_of(json)
  return json and string.match(json, '^{"v":(%d+)')
end
