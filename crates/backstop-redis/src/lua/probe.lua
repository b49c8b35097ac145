-- ARGV  3 token  4 lease
-- Returns {1 probe | 0 wait | 2 nothing is open, epoch, how long}.

if open_until == 0 then return {2, epoch, 0} end
if open_until > now then return {0, epoch, open_until - now} end
local lease = tonumber(ARGV[4])
if redis.call('SET', KEYS[2], ARGV[3], 'NX', 'PX', lease) then
  redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), lease + keep))
  return {1, epoch, lease}
end
return {0, epoch, math.max(1, redis.call('PTTL', KEYS[2]))}
