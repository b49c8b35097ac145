-- ARGV  3 the epoch that the instance knows  4 its cooldown  5 its name  6 quorum  7 age of a report, at most
-- Returns {1 opened | 2 noted, too few witnesses yet | 0 the state has moved on, epoch, left}.

if tonumber(ARGV[3]) < epoch then return {0, epoch, left()} end
if report(ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[4])) then return {1, epoch, left()} end
return {2, epoch, left()}
