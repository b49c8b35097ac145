-- What the scripts begin with.
--
-- KEYS  1 state: a hash of e, the epoch, and u, until when the circuit is open (0: it is not)
--       2 lease: the token of who probes
--       3 reporters: a sorted set of the instances that found an outage, by time
-- ARGV  1 the longest cooldown  2 how long the state outlives it, both in ms
--
-- The server's clock is the only one that is read. What comes in and goes out are durations.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local cap, keep = tonumber(ARGV[1]), tonumber(ARGV[2])
local state = redis.call('HMGET', KEYS[1], 'e', 'u')
local epoch = tonumber(state[1] or 0) or 0
local open_until = tonumber(state[2] or 0) or 0

-- Only a clock that went back makes a deadline that far off. It would outlast every wait that is handed out.
if open_until > now + cap then
  open_until = now + cap
  redis.call('HSET', KEYS[1], 'u', open_until)
end

-- How long the circuit is yet open; 0 if a probe is due, -1 if it is closed.
local function left()
  if open_until == 0 then return -1 end
  return math.max(0, open_until - now)
end

-- Epochs are times, so that one after a flush is still later than all before it. A lease ends with its epoch: that
-- is why its token alone tells whether a verdict is still wanted.
local function turn(deadline)
  epoch = math.max(epoch + 1, now)
  open_until = deadline
  redis.call('HSET', KEYS[1], 'e', epoch, 'u', open_until)
  redis.call('PEXPIRE', KEYS[1], math.max(0, open_until - now) + keep)
  redis.call('DEL', KEYS[2])
end

-- One more witness of an outage; with enough of them the circuit opens for all. A deadline only moves later.
local function report(instance, quorum, window, cooldown)
  redis.call('ZADD', KEYS[3], now, instance)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - window)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '(' .. now, '+inf')
  redis.call('PEXPIRE', KEYS[3], window)
  if redis.call('ZCARD', KEYS[3]) < quorum then return false end
  redis.call('DEL', KEYS[3])
  turn(math.max(open_until, now + math.min(cooldown, cap)))
  return true
end
