-- Who is there. KEYS[1] is a hash of members by id: until when, in microseconds since
-- 1970 by the server's clock, and what is told of it.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local mode, id = ARGV[1], ARGV[2]
local most = 7 * 24 * 3600 * 1000000 -- a lease; what lasts longer was written by a clock ahead of this one

if mode == 'present' then
  redis.call('HSET', KEYS[1], id, string.format('%.0f %s', now + tonumber(ARGV[3]), ARGV[4]))
elseif mode == 'leave' then
  redis.call('HDEL', KEYS[1], id)
end

local n, longest, out = 0, now, {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local ends, about = string.match(all[i + 1], '^(%d+) (.*)$')
  ends = tonumber(ends)
  if not ends then
    return redis.error_reply('FOREIGN it has a field that cannot be read')
  elseif ends <= now or ends > now + most then
    if mode ~= 'status' then redis.call('HDEL', KEYS[1], all[i]) end
  else
    n = n + 1
    longest = math.max(longest, ends)
    out[#out + 1] = all[i]
    out[#out + 1] = string.format('%.0f', ends - now)
    out[#out + 1] = about
  end
end
if mode == 'status' then return out end
if n > 0 then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil((longest - now) / 1000))) end
return {string.format('%d', n)}
