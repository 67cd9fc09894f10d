-- The law of internal/sharing/slots.go, line by line: what is changed there is changed
-- here, and TestLaw compares the two. Times are microseconds since 1970, by the server's
-- clock; 0 is never.
--
-- KEYS[1] is a hash: "s" is the state, and "m" with a member's id behind it what that
-- member has.
local version = '1'
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local turn = 5 * 1000000

local mode, name = ARGV[1], ARGV[2]

-- What is kept.

local at, most, members, dirty, count = now, 0, {}, {}, 0
local all = redis.call('HGETALL', KEYS[1])
local fresh = true
for i = 1, #all, 2 do
  local field, value = all[i], all[i + 1]
  if field == 's' then
    local v, a, m = string.match(value, '^(%S+) (%S+) (%S+)$')
    if v ~= version then return redis.error_reply('FOREIGN its format is not ' .. version) end
    at, most, fresh = tonumber(a), tonumber(m), false
  else
    local w = {}
    for word in string.gmatch(value, '%S+') do w[#w + 1] = tonumber(word) end
    if #w ~= 5 then return redis.error_reply('FOREIGN it has a field that cannot be read') end
    members[string.sub(field, 2)] = {['until'] = w[1], slots = w[2], want = w[3], since = w[4], above = w[5]}
  end
end
if fresh and #all > 0 then return redis.error_reply('FOREIGN it is a hash without a state') end

-- The law.

local back = now - at
if back < 0 then
  for n, h in pairs(members) do
    h['until'], h.since, h.above, dirty[n] = h['until'] + back, h.since + back, h.above + back, true
  end
end

if mode == 'status' then
  local out = {string.format('%.0f', most)}
  for n, h in pairs(members) do
    if h['until'] > now then
      out[#out + 1] = n
      out[#out + 1] = string.format('%.0f', h.slots)
    end
  end
  return out
end

-- The level up to which every wish can be filled.
local function level()
  local l, left = 0, most
  while true do
    local open, step = 0, left
    for _, h in pairs(members) do
      if h.want > l then
        open = open + 1
        step = math.min(step, h.want - l)
      end
    end
    if open == 0 then return most end
    step = math.min(step, math.floor(left / open))
    if step <= 0 then return l end
    l = l + step
    left = left - step * open
  end
end

local function give(me, want)
  local share = level()
  local free, owed, waiting = most, 0, false
  for _, h in pairs(members) do
    if h ~= me then
      free = free - h.slots
      owed = owed + math.max(0, math.min(h.want, share) - h.slots)
      waiting = waiting or (h.want > share and h.slots <= share and h.above < me.above)
    end
  end
  if want <= share or free - owed <= share then return math.min(want, share, free) end
  local has = me.slots > share
  if waiting and (not has or now - me.since >= turn) then return share end
  if not has then me.since = now end
  me.above = now
  return share + 1
end

local inuse, want, lasts = 0, 0, 0
if mode == 'ask' then
  most = tonumber(ARGV[3])
  inuse, lasts = tonumber(ARGV[4]), tonumber(ARGV[6])
  want = math.max(inuse, tonumber(ARGV[5]))
end

local crowded = false
local longest = now
for n, h in pairs(members) do
  if h['until'] <= now or (n == name and want <= 0) then
    members[n], dirty[n] = nil, nil
    redis.call('HDEL', KEYS[1], 'm' .. n)
  elseif n ~= name then
    crowded = crowded or h.want > h.slots
    longest = math.max(longest, h['until'])
  end
end

local slots = 0
if want > 0 then
  local me = members[name]
  if not me then
    me = {slots = 0, since = 0, above = 0}
    members[name] = me
  end
  me['until'], me.want = now + lasts, want
  longest = math.max(longest, me['until'])
  slots = math.max(0, give(me, want))
  me.slots, dirty[name] = math.max(inuse, slots), true
end

-- What is kept of it.

if next(members) == nil then
  redis.call('DEL', KEYS[1])
else
  redis.call('HSET', KEYS[1], 's', string.format('%s %.0f %.0f', version, now, most))
  for n in pairs(dirty) do
    local h = members[n]
    redis.call('HSET', KEYS[1], 'm' .. n, string.format('%.0f %.0f %.0f %.0f %.0f', h['until'], h.slots, h.want, h.since, h.above))
  end
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil((longest - now) / 1000)))
end

return {string.format('%.0f %d', slots, crowded and 1 or 0)}
