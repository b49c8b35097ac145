//! The sliding time window: ten buckets of counts, however many calls pass through it.

const BUCKETS: usize = 10;

/// Calls, and how many of them failed or were slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) calls: u32,
    pub(super) failed: u32,
    pub(super) slow: u32,
}

impl Counts {
    fn add(&mut self, failed: bool, slow: bool) {
        self.calls = self.calls.saturating_add(1);
        self.failed = self.failed.saturating_add(u32::from(failed));
        self.slow = self.slow.saturating_add(u32::from(slow));
    }

    fn sum<'a>(buckets: impl Iterator<Item = &'a Self>) -> Self {
        buckets.fold(Self::default(), |sum, bucket| Self {
            calls: sum.calls.saturating_add(bucket.calls),
            failed: sum.failed.saturating_add(bucket.failed),
            slow: sum.slow.saturating_add(bucket.slow),
        })
    }
}

/// Times are nanoseconds since the breaker's origin.
#[derive(Clone, Debug)]
pub(super) struct Window {
    width: u64,
    /// When the newest bucket ends: as long as `now` is before it, recording needs no division.
    ends: u64,
    newest: usize,
    buckets: [Counts; BUCKETS],
    /// Kept beside the buckets so that a verdict costs no loop.
    total: Counts,
}

impl Window {
    /// Covers the last nine tenths to ten tenths of `span`.
    pub(super) fn new(span: u64) -> Self {
        let width = (span / BUCKETS as u64).max(1);
        Self { width, ends: width, newest: 0, buckets: Default::default(), total: Counts::default() }
    }

    pub(super) fn add(&mut self, now: u64, failed: bool, slow: bool) {
        if now >= self.ends {
            self.roll(now);
        } else if self.ends - now > self.width.saturating_mul(BUCKETS as u64 + 1) {
            // The clock went back by more than a window. What is counted stays, in the newest bucket; but without
            // a new end to that bucket nothing would ever age until the clock has caught up.
            self.ends = now - now % self.width + self.width;
        }
        if let Some(bucket) = self.buckets.get_mut(self.newest) {
            bucket.add(failed, slow);
            self.total.add(failed, slow);
        }
    }

    /// What was recorded within the window.
    pub(super) fn total(&self) -> Counts {
        self.total
    }

    /// The same as seen at `now`, with nothing recorded since: for those who only look.
    pub(super) fn total_at(&self, now: u64) -> Counts {
        let kept = BUCKETS.saturating_sub(self.steps_to(now));
        // The newest bucket first, then the ones before it.
        let (upto, after) = self.buckets.split_at_checked(self.newest + 1).unwrap_or((&self.buckets, &[]));
        Counts::sum(upto.iter().rev().chain(after.iter().rev()).take(kept))
    }

    pub(super) fn clear(&mut self) {
        self.buckets = Default::default();
        self.total = Counts::default();
    }

    fn roll(&mut self, now: u64) {
        for _ in 0..self.steps_to(now) {
            self.newest = (self.newest + 1) % BUCKETS;
            if let Some(bucket) = self.buckets.get_mut(self.newest) {
                *bucket = Counts::default();
            }
        }
        self.ends = (now - now % self.width).saturating_add(self.width);
        self.total = Counts::sum(self.buckets.iter());
    }

    /// How many buckets lie between the newest one and that of `now`; more than all make no difference.
    fn steps_to(&self, now: u64) -> usize {
        if now < self.ends {
            return 0;
        }
        let steps = 1 + (now - self.ends) / self.width;
        usize::try_from(steps).unwrap_or(BUCKETS).min(BUCKETS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(calls: u32, failed: u32, slow: u32) -> Counts {
        Counts { calls, failed, slow }
    }

    #[test]
    fn old_results_leave_bucket_by_bucket() {
        let mut window = Window::new(100);
        window.add(0, true, false);
        window.add(10, false, true);
        assert_eq!(window.total(), counts(2, 1, 1));
        window.add(99, false, false);
        assert_eq!(window.total(), counts(3, 1, 1), "the first bucket is still inside");
        window.add(100, false, false);
        assert_eq!(window.total(), counts(3, 0, 1), "the first bucket is out");
        window.add(1_000_000, true, true);
        assert_eq!(window.total(), counts(1, 1, 1), "after a long silence only the newest result is left");
    }

    #[test]
    fn a_clock_that_goes_back_clears_nothing() {
        let mut window = Window::new(100);
        window.add(500, true, false);
        for back in [499, 450, 300, 0, 20] {
            window.add(back, true, false);
        }
        assert_eq!(window.total(), counts(6, 6, 0));
        assert_eq!(window.total_at(20), counts(6, 6, 0));
        window.add(29, false, false);
        window.add(129, false, false);
        assert_eq!(window.total(), counts(1, 0, 0), "and ages again from where the clock is now");
    }

    #[test]
    fn looking_ahead_ages_without_clearing() {
        let mut window = Window::new(100);
        window.add(5, true, false);
        assert_eq!(window.total_at(99), counts(1, 1, 0));
        assert_eq!(window.total_at(100), counts(0, 0, 0));
        assert_eq!(window.total(), counts(1, 1, 0));
    }

    proptest! {
        /// The running total is the sum of the buckets, nothing exceeds its total, and the window agrees with a
        /// plain list of everything that was ever recorded.
        #[test]
        fn agrees_with_a_list_of_all_results(
            results in prop::collection::vec((0_u64..60, any::<bool>(), any::<bool>()), 1..200),
        ) {
            let mut window = Window::new(100);
            let (mut now, mut all) = (0, Vec::new());
            for (gap, failed, slow) in results {
                now += gap;
                window.add(now, failed, slow);
                all.push((now / 10, failed, slow));
                let inside = all.iter().filter(|(bucket, ..)| bucket + 10 > now / 10);
                let expected = inside.fold(Counts::default(), |mut sum, (_, failed, slow)| {
                    sum.add(*failed, *slow);
                    sum
                });
                prop_assert_eq!(window.total(), expected);
                prop_assert_eq!(window.total_at(now), expected);
                prop_assert_eq!(Counts::sum(window.buckets.iter()), expected);
                prop_assert!(expected.failed <= expected.calls && expected.slow <= expected.calls);
            }
        }
    }
}
