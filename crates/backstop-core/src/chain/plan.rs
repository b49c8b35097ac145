//! How much of a call's time a target may use, so that something is left for those to come.

use std::time::Duration;

/// Time to keep for the targets that follow: for each its own timeout, but no more than `share` of what is left. The
/// target whose turn it is keeps at least as much as if all were treated alike.
///
/// ```text
/// left 1 s, share 0.25, one target follows:     0.25 s are kept, this one gets up to 0.75 s
/// left 1 s, share 0.25, five targets follow:    5/6 s are kept (not 1.25 s), this one gets up to 1/6 s
/// left 60 s, share 0.25, one of 5 s follows:    5 s are kept
/// ```
pub(crate) fn kept(left: Duration, share: f64, following: impl Iterator<Item = Duration>) -> Duration {
    let most = left.mul_f64(share);
    let (count, sum) = following.fold((0_u32, Duration::ZERO), |(count, sum), timeout| {
        (count.saturating_add(1), sum.saturating_add(timeout.min(most)))
    });
    let fair = left / count.saturating_add(1);
    sum.min(left.saturating_sub(fair))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn each_target_to_come_is_kept_its_timeout_or_its_share() {
        let cases: [(u64, f64, &[u64], u64); 8] = [
            (1000, 0.25, &[], 0),
            (1000, 0.25, &[30_000], 250),
            (1000, 0.25, &[30_000, 30_000], 500),
            (1000, 0.25, &[100, 30_000], 350),
            (60_000, 0.25, &[5_000], 5_000),
            (1200, 0.25, &[9_000, 9_000, 9_000, 9_000, 9_000], 1_000),
            (1000, 0.0, &[30_000], 0),
            (0, 0.25, &[30_000], 0),
        ];
        for (left, share, following, expected) in cases {
            let got = kept(ms(left), share, following.iter().copied().map(ms));
            assert_eq!(got, ms(expected), "{left} ms, {share}, {following:?}");
        }
        assert_eq!(kept(ms(1000), 1.0, [ms(9_000)].into_iter()), ms(500), "no target starves another");
    }
}
