-- The deadline stands last in a record's JSON, spliced in by the script that stored it.
local function deadline_of(json)
  return tonumber(string.match(json, '"dl":(%d+)}$'))
end
