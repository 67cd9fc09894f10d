-- A bucket that learns: the members work out the law themselves (internal/sharing), and
-- this keeps what they make of it. KEYS[1] is a hash with one field, the state.
--
-- ARGV[1] is "read", or "write" with the sum of the state that was read ('' for none), the
-- state that is to replace it, and for how many milliseconds. It is not replaced where
-- another has been written since. The answer to both is the time in microseconds since
-- 1970, by the server's clock, the sum of what is there and, where that was not written
-- now, the state itself.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])

local state = ''
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if all[i] == 'state' then state = all[i + 1] end
end
if state == '' and #all > 0 then return redis.error_reply('FOREIGN it is a hash without a state') end
local sum = ''
if state ~= '' then sum = redis.sha1hex(state) end

if ARGV[1] == 'read' or sum ~= ARGV[2] then return {now, sum, state} end
redis.call('HSET', KEYS[1], 'state', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {now}
