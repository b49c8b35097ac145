-- ARGV  3 token  4 recovered | failed | released  5 cooldown  6 name of the instance  7 quorum  8 age of a report
-- Returns {1 applied | 0 the lease is no longer this token's, epoch, left}.

if redis.call('GET', KEYS[2]) ~= ARGV[3] then return {0, epoch, left()} end
if ARGV[4] == 'recovered' then
  redis.call('DEL', KEYS[3])
  turn(0)
else
  redis.call('DEL', KEYS[2])
  if ARGV[4] == 'failed' then
    report(ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[5]))
  end
end
return {1, epoch, left()}
