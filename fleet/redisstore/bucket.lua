-- The law of internal/sharing/bucket.go, line by line: what is changed there is changed
-- here, and TestLaw compares the two. Times are microseconds since 1970, by the server's
-- clock; 0 is never.
--
-- KEYS[1] is a hash: "s" is the state, "c" the cause of the open circuit, and "m" with a
-- member's id behind it what is known of that member.
local version = '1'
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local second = 1000000
local horizon, early, lingers = 0.5 * second, 0.25 * second, second
local calm, cutwindow, cutshare, raiseshare, raiseleast = 5 * second, second, 0.5, 20, 0.01
local margin, longest = 10 * second, 1e15

local asking = ARGV[1] == 'ask'
local name = ARGV[2]
local function arg(i) return tonumber(ARGV[i]) end

-- What is kept.

local order = {
  'at', 'rate', 'ceiling', 'burst', 'least', 'adaptive', 'maxpause',
  'free', 'throttled', 'cut', 'raised', 'paused', 'opened', 'cooldown',
}
local b, cause, members, dirty = nil, '', {}, {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local field, value = all[i], all[i + 1]
  if field == 's' then
    b = {}
    local n = 0
    for word in string.gmatch(value, '%S+') do
      if n == 0 then
        if word ~= version then return redis.error_reply('FOREIGN its format is ' .. word .. ', not ' .. version) end
      else
        b[order[n] or ''] = tonumber(word)
      end
      n = n + 1
    end
    if n ~= #order + 1 then return redis.error_reply('FOREIGN its state cannot be read') end
  elseif field == 'c' then
    cause = value
  else
    local seen, last, hungry = string.match(value, '^(%S+) (%S+) (%d)$')
    if not seen then return redis.error_reply('FOREIGN it has a field that cannot be read') end
    members[string.sub(field, 2)] = {seen = tonumber(seen), last = tonumber(last), hungry = hungry == '1'}
  end
end
if not b and #all > 0 then return redis.error_reply('FOREIGN it is a hash without a state') end
if not b and not asking then return {} end

local fresh = not b
b = b or {
  at = now, rate = 0, ceiling = 0, burst = 0, least = 0, adaptive = 0, maxpause = 0,
  free = 0, throttled = 0, cut = 0, raised = 0, paused = 0, opened = 0, cooldown = 0,
}

-- The law.

local function span(n) return math.min(math.ceil(n / b.rate * second), longest) end
local function past(n) return math.min(math.floor(n / b.rate * second), longest) end
local function burst() return math.max(1, b.burst * b.rate / b.ceiling) end
local function stored() return (now - b.free) / second * b.rate end

local function active(m)
  return m.hungry and now - math.max(m.seen, m.last) <= lingers
end

local function actives()
  local n = 0
  for _, m in pairs(members) do
    if active(m) then n = n + 1 end
  end
  return math.max(1, n)
end

local function follow()
  local back = now - b.at
  if back < 0 then
    for _, f in ipairs({'free', 'throttled', 'cut', 'raised', 'paused', 'opened'}) do b[f] = b[f] + back end
    for n, m in pairs(members) do
      m.seen, m.last, dirty[n] = m.seen + back, m.last + back, true
    end
  end
  b.at = now
end

local function fill() b.free = math.max(b.free, now - past(burst())) end

local function setrate(have, rate)
  b.rate = math.min(b.ceiling, math.max(b.least, rate))
  if have > 0 then b.free = now - past(math.min(have, burst())) end
end

local function settle(rate, most, least, adaptive, maxpause)
  if fresh then
    b.rate, b.ceiling, b.burst, b.least, b.adaptive, b.maxpause = rate, rate, most, least, adaptive, maxpause
    b.free = now - past(most)
  elseif b.ceiling ~= rate or b.burst ~= most or b.least ~= least or b.adaptive ~= adaptive or b.maxpause ~= maxpause then
    local to = rate
    if b.rate < b.ceiling then to = math.min(to, b.rate) end
    local have = stored()
    b.ceiling, b.burst, b.least, b.adaptive, b.maxpause = rate, most, least, adaptive, maxpause
    setrate(have, to)
  end
  fill()
  for n, m in pairs(members) do
    if not active(m) and now - m.seen > lingers and m.last <= now then
      members[n], dirty[n] = nil, nil
      redis.call('HDEL', KEYS[1], 'm' .. n)
    end
  end
end

local function give(n)
  if n <= 0 then return end
  local to = b.free - past(n)
  for other, m in pairs(members) do
    if other ~= name then to = math.max(to, m.last) end
  end
  if to < b.free then
    b.free = to
    fill()
  end
  members[name].last = math.min(members[name].last, now)
end

local function pause(d)
  d = math.min(d, b.maxpause)
  if d <= 0 or now + d <= b.paused then return end
  b.paused = now + d
  b.free = math.max(b.free, now, b.paused - past(1))
end

local function spend(n) b.free = math.min(b.free + span(n), now + longest) end

local function learn(throttled, ago, hint, pausing, succeeded)
  if throttled and ago < calm then
    b.throttled = math.max(b.throttled, now - ago)
    local have = stored()
    if b.adaptive == 1 and now - b.cut >= cutwindow then
      b.cut = now
      setrate(have, b.rate * cutshare)
    end
    b.free = math.max(b.free, now)
    pause(hint - ago)
  end
  pause(pausing)
  if succeeded and b.rate < b.ceiling and now - b.throttled >= calm and now - b.raised >= calm then
    b.raised = now
    setrate(stored(), b.rate + math.max(b.ceiling / raiseshare, raiseleast))
  end
end

local function hand(me, want)
  local ahead = me.last - now
  if want > 0 and ahead > early then return 0, 0, ahead - early end
  local n = math.min(want, math.max(1, math.floor(b.rate * (horizon / second) / actives())))
  if n <= 0 then return 0, 0, 0 end
  local after = b.free - now
  spend(n)
  me.last = math.max(me.last, b.free)
  return n, after, math.max(0, me.last - now - early)
end

local function lasts()
  local d = b.free - now + math.min(math.ceil(b.burst / b.ceiling * second), longest)
  if b.rate < b.ceiling then
    d = math.max(0, b.free - now) + math.ceil((b.ceiling - b.rate) / math.max(b.ceiling / raiseshare, raiseleast)) * calm
      + math.min(math.ceil(b.burst / b.ceiling * second), longest)
  end
  d = math.max(d, b.paused - now, b.opened - now)
  for _, m in pairs(members) do
    d = math.max(d, m.seen - now + lingers, m.last - now + lingers)
  end
  return math.max(0, d) + margin
end

follow()

if not asking then
  local out = {
    string.format('%.17g %.17g %.17g %.17g %.0f %.0f %.0f', b.rate, b.ceiling, burst(), math.min(stored(), burst()),
      math.max(0, b.paused - now), math.max(0, b.opened - now), b.cooldown),
    cause,
  }
  for n, m in pairs(members) do
    if active(m) then out[#out + 1] = n end
  end
  return out
end

settle(arg(3), arg(4), arg(5), arg(6), arg(7))
local me = members[name]
if not me then
  me = {seen = 0, last = 0, hungry = false}
  members[name] = me
end
give(arg(9))
learn(ARGV[11] == '1', arg(12), arg(13), arg(14), ARGV[15] == '1')
local circuit = ARGV[16]
if circuit == 'open' then
  b.opened, b.cooldown, cause = now + arg(17), arg(18), ARGV[19]
elseif circuit == 'close' then
  b.opened, b.cooldown, cause = 0, 0, ''
end
if ARGV[20] == '1' then b.free = math.max(b.free, now) end
local debt = math.min(arg(10), math.ceil(b.burst))
if debt > 0 then spend(debt) end
local want = arg(8)
me.hungry = want > 0
if me.hungry then me.seen = now end
local tokens, after, again = hand(me, want)

-- What is kept of it.

local words = {version}
for i, f in ipairs(order) do words[i + 1] = string.format('%.17g', b[f]) end
redis.call('HSET', KEYS[1], 's', table.concat(words, ' '))
if circuit ~= '' then redis.call('HSET', KEYS[1], 'c', cause) end
dirty[name] = true
for n in pairs(dirty) do
  local m = members[n]
  redis.call('HSET', KEYS[1], 'm' .. n, string.format('%.17g %.17g %d', m.seen, m.last, m.hungry and 1 or 0))
end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil(lasts() / 1000)))

return {
  string.format('%.0f %.0f %.0f %.17g %.17g %.0f %.0f %.0f %.0f', tokens, after, again, b.rate, burst(), actives(),
    math.max(0, b.paused - now), math.max(0, b.opened - now), b.cooldown),
  cause,
}
