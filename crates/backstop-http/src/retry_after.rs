//! When a server says "come back later", how much later: every wire form of it, read without panics or surprises.
//!
//! | form | where it is seen |
//! | --- | --- |
//! | `retry-after-ms: 1500` | Azure OpenAI and servers behind the same gateway |
//! | `retry-after: 2`, `retry-after: 0.5` | RFC 9110 delay-seconds, and vendors that send fractions |
//! | `retry-after: Wed, 21 Oct 2026 07:28:00 GMT` | RFC 9110 HTTP-date |
//! | `x-ratelimit-reset-tokens: 6m0s` | OpenAI and compatible servers (Go-style durations, or plain seconds) |
//! | `anthropic-ratelimit-requests-reset: 2026-10-21T07:28:00Z` | Anthropic (RFC 3339) |
//! | `"retryDelay": "3.5s"` | Google's `RetryInfo`, in the error body: [`parse_duration`] |
//!
//! Dates are read against the response's own `Date` header, so a wrong local clock does not turn seconds into hours.
//!
//! A wait of zero, a date in the past, a negative number, garbage, and anything above a [year](LONGEST) all count as
//! "no wait was named": the caller's own backoff applies. Zero too, because servers send it when they do not know,
//! and an immediate retry after a 429 makes things worse; backing off is at least as late as the server asked for.
//! The official SDKs of OpenAI and Anthropic read zero in the same way.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// A longer wait is not believed: it is a broken clock or a wrong unit, and it counts as no wait at all.
pub const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Numbers from here on are instants since 1970, not seconds from now (10⁹ s are 31 years).
const FIRST_EPOCH_SECONDS: f64 = 1e9;
/// The same for milliseconds.
const FIRST_EPOCH_MILLIS: f64 = 1e12;

/// The vendors' rate limit headers: how much is left, and when it is full again.
const LIMITS: &[(&str, &str)] = &[
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
];

/// The wait that `retry-after-ms` or `retry-after` names, in that order; the first value that can be read counts.
///
/// `now` stands in for a missing or unreadable `Date` header.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use backstop_http::{header::HeaderMap, retry_after};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", "1.5".parse().unwrap());
/// assert_eq!(retry_after::named(&headers, SystemTime::now()), Some(Duration::from_millis(1500)));
/// ```
pub fn named(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let millis = texts(headers, "retry-after-ms").find_map(|value| seconds(number(value)? / 1e3));
    millis.or_else(|| {
        let server_now = server_time(headers, now);
        texts(headers, RETRY_AFTER.as_str()).find_map(|value| parse(value, server_now))
    })
}

/// The wait that a vendor's rate limit headers name: the longest reset among the limits that are used up.
///
/// If the headers do not tell which limit is used up, the longest reset of all counts. Meant for 429 answers without
/// [`named`] wait: on other answers these headers describe a limit that nobody has hit.
pub fn rate_limit_reset(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let server_now = server_time(headers, now);
    let mut used_up = None;
    let mut any = None;
    for &(remaining, reset) in LIMITS {
        let wait = text(headers, reset).and_then(|value| parse(value, server_now));
        any = any.max(wait);
        if text(headers, remaining).and_then(number).is_none_or(|left| left < 1.0) {
            used_up = used_up.max(wait);
        }
    }
    used_up.or(any)
}

/// The verdict of `x-should-retry`, which some vendors send to overrule what the status suggests.
pub fn should_retry(headers: &HeaderMap) -> Option<bool> {
    let value = text(headers, "x-should-retry")?;
    match () {
        () if value.eq_ignore_ascii_case("true") => Some(true),
        () if value.eq_ignore_ascii_case("false") => Some(false),
        () => None,
    }
}

/// Reads one value in any of the forms above, as a wait counted from `now`.
pub fn parse(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Some(number) = number(value) {
        return plain_number(number, now);
    }
    parse_duration(value).or_else(|| {
        let instant = httpdate::parse_http_date(value).ok().or_else(|| rfc3339(value))?;
        believed(instant.duration_since(now).ok()?)
    })
}

/// Reads a duration with units, such as `6m0s`, `1h2m3.5s`, `20ms` or Google's `3.5s`.
///
/// Units are `d`, `h`, `m`, `s`, `ms`, `us`, `µs` and `ns`. Linear in the length of the text.
///
/// ```
/// use std::time::Duration;
/// use backstop_http::retry_after::parse_duration;
///
/// assert_eq!(parse_duration("1h2m3.5s"), Some(Duration::from_millis(3_723_500)));
/// assert_eq!(parse_duration("soon"), None);
/// ```
pub fn parse_duration(value: &str) -> Option<Duration> {
    let mut rest = value.trim();
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (amount, tail) = rest.split_at(digits);
        let unit_end = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        total += number(amount)? * unit_seconds(unit)?;
        rest = tail.trim_start();
    }
    seconds(total)
}

fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "d" => 86_400.0,
        "h" => 3_600.0,
        "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        // Both code points that look like mu.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

fn plain_number(number: f64, now: SystemTime) -> Option<Duration> {
    let epoch_seconds = match number {
        n if n >= FIRST_EPOCH_MILLIS => n / 1e3,
        n if n >= FIRST_EPOCH_SECONDS => n,
        n => return seconds(n),
    };
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    seconds(epoch_seconds - since_epoch.as_secs_f64())
}

/// Digits with at most one dot. Signs, exponents, `inf` and `NaN`, which `f64` would take, are no waits.
fn number(value: &str) -> Option<f64> {
    let value = value.trim();
    let plain = value.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if plain { value.parse().ok() } else { None }
}

fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().and_then(believed)
}

fn believed(wait: Duration) -> Option<Duration> {
    (!wait.is_zero() && wait <= LONGEST).then_some(wait)
}

fn server_time(headers: &HeaderMap, now: SystemTime) -> SystemTime {
    text(headers, DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(now)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    texts(headers, name).next()
}

/// The values of a header, of which a proxy may have added one.
fn texts<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok()).map(str::trim)
}

/// An RFC 3339 instant from 1970 on; fractions of a second are rounded down.
fn rfc3339(value: &str) -> Option<SystemTime> {
    let bytes = value.as_bytes();
    let separators = [(4, b"-"), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")] as [(usize, &[u8]); 5];
    if !separators.iter().all(|(at, any_of)| bytes.get(*at).is_some_and(|b| any_of.contains(b))) {
        return None;
    }
    let field = |from: usize, to: usize, range: std::ops::RangeInclusive<i64>| {
        let digits = value.get(from..to).filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
        digits.parse::<i64>().ok().filter(|n| range.contains(n))
    };
    let (year, month, day) = (field(0, 4, 1970..=9999)?, field(5, 7, 1..=12)?, field(8, 10, 1..=31)?);
    let (hour, minute, second) = (field(11, 13, 0..=23)?, field(14, 16, 0..=59)?, field(17, 19, 0..=60)?);
    let zone = value.get(19..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let since_epoch = u64::try_from(seconds - zone_seconds(zone)?).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since_epoch))
}

fn zone_seconds(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, clock) = match zone.as_bytes().first()? {
        b'+' => (1, zone.get(1..)?),
        b'-' => (-1, zone.get(1..)?),
        _ => return None,
    };
    let (hours, minutes) = clock.split_once(':')?;
    let (hours, minutes) = (hours.parse::<u8>().ok()?, minutes.parse::<u8>().ok()?);
    (hours < 24 && minutes < 60).then(|| sign * (i64::from(hours) * 3_600 + i64::from(minutes) * 60))
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar; years start in March here, so that leap days come last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    // 719 468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Pairs = &'static [(&'static str, &'static str)];

    const NOW_TEXT: &str = "Wed, 21 Oct 2026 07:28:00 GMT";

    fn now() -> SystemTime {
        httpdate::parse_http_date(NOW_TEXT).unwrap()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn millis(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    #[test]
    fn a_value_that_cannot_be_read_hides_no_other() {
        let mut twice = headers(&[("retry-after", "soon")]);
        twice.append("retry-after", "2".parse().unwrap());
        assert_eq!(named(&twice, now()), millis(2_000));
        twice.append("retry-after-ms", "x".parse().unwrap());
        twice.append("retry-after-ms", "300".parse().unwrap());
        assert_eq!(named(&twice, now()), millis(300));
    }

    #[test]
    fn every_wire_form_of_one_value() {
        let year_and_a_day = (LONGEST.as_secs() + 86_400).to_string();
        let table: &[(&str, Option<Duration>)] = &[
            ("2", millis(2_000)),
            (" 2 ", millis(2_000)),
            ("0.3", millis(300)),
            ("1.", millis(1_000)),
            (".5", millis(500)),
            ("31622400", Some(LONGEST)),
            ("6m0s", millis(360_000)),
            ("1h2m3.5s", millis(3_723_500)),
            ("1m 30s", millis(90_000)),
            ("2d", millis(172_800_000)),
            ("20ms", millis(20)),
            ("250us", Some(Duration::from_micros(250))),
            ("250µs", Some(Duration::from_micros(250))),
            ("7ns", Some(Duration::from_nanos(7))),
            ("Wed, 21 Oct 2026 07:28:30 GMT", millis(30_000)),
            ("Wednesday, 21-Oct-26 07:28:30 GMT", millis(30_000)),
            ("Wed Oct 21 07:28:30 2026", millis(30_000)),
            ("2026-10-21T07:28:30Z", millis(30_000)),
            ("2026-10-21T07:28:30.900Z", millis(30_000)),
            ("2026-10-21T09:28:30+02:00", millis(30_000)),
            ("2026-10-21T02:58:30-04:30", millis(30_000)),
            ("1792567710", millis(30_000)),
            ("1792567710000", millis(30_000)),
            // No wait was named:
            ("0", None),
            ("0.0", None),
            ("0s", None),
            (NOW_TEXT, None),
            ("Wed, 21 Oct 2015 07:28:00 GMT", None),
            ("2026-10-21T07:28:00Z", None),
            ("-5", None),
            ("+5", None),
            ("", None),
            ("abc", None),
            ("1, 2", None),
            ("NaN", None),
            ("inf", None),
            ("1e400", None),
            ("1e1", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
            (&year_and_a_day, None),
            ("9999999999999999999h", None),
            ("5 parsecs", None),
            ("5s later", None),
            ("s", None),
            ("5", millis(5_000)),
            ("2026-13-21T07:28:30Z", None),
            ("2026-10-21T07:28:30", None),
            ("2026-10-21T07:28:30+99:00", None),
            ("2026-10-21", None),
        ];
        for (value, expected) in table {
            assert_eq!(parse(value, now()), *expected, "{value:?}");
        }
    }

    #[test]
    fn milliseconds_come_before_seconds_and_garbage_is_passed_over() {
        let table: &[(Pairs, Option<Duration>)] = &[
            (&[("retry-after-ms", "300"), ("retry-after", "5")], millis(300)),
            (&[("retry-after-ms", "0.5")], Some(Duration::from_micros(500))),
            (&[("retry-after-ms", "-1"), ("retry-after", "5")], millis(5_000)),
            (&[("retry-after-ms", "0"), ("retry-after", "5")], millis(5_000)),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ];
        for (pairs, expected) in table {
            assert_eq!(named(&headers(pairs), now()), *expected, "{pairs:?}");
        }
    }

    #[test]
    fn dates_count_from_the_servers_own_clock() {
        let skewed = headers(&[
            ("date", "Thu, 01 Jan 2026 00:00:00 GMT"),
            ("retry-after", "Thu, 01 Jan 2026 00:00:07 GMT"),
        ]);
        assert_eq!(named(&skewed, now()), millis(7_000));
        let unreadable = headers(&[("date", "yesterday"), ("retry-after", "Wed, 21 Oct 2026 07:28:09 GMT")]);
        assert_eq!(named(&unreadable, now()), millis(9_000));
    }

    #[test]
    fn resets_of_used_up_limits_count_and_the_longest_of_them() {
        let table: &[(Pairs, Option<Duration>)] = &[
            (
                &[("x-ratelimit-reset-requests", "6m0s"), ("x-ratelimit-reset-tokens", "120ms")],
                millis(360_000),
            ),
            (
                &[
                    ("x-ratelimit-remaining-requests", "99"),
                    ("x-ratelimit-reset-requests", "6m0s"),
                    ("x-ratelimit-remaining-tokens", "0"),
                    ("x-ratelimit-reset-tokens", "120ms"),
                ],
                millis(120),
            ),
            (&[("x-ratelimit-remaining-tokens", "7"), ("x-ratelimit-reset-tokens", "1s")], millis(1_000)),
            (
                &[
                    ("date", NOW_TEXT),
                    ("anthropic-ratelimit-requests-remaining", "0"),
                    ("anthropic-ratelimit-requests-reset", "2026-10-21T07:29:00Z"),
                ],
                millis(60_000),
            ),
            (&[("x-ratelimit-remaining-tokens", "-1"), ("x-ratelimit-reset-tokens", "0")], None),
            (&[("x-ratelimit-remaining-tokens", "0")], None),
        ];
        for (pairs, expected) in table {
            assert_eq!(rate_limit_reset(&headers(pairs), now()), *expected, "{pairs:?}");
        }
    }

    #[test]
    fn should_retry_is_read_leniently() {
        for (value, expected) in [("true", Some(true)), ("False", Some(false)), ("maybe", None), ("", None)] {
            assert_eq!(should_retry(&headers(&[("x-should-retry", value)])), expected, "{value:?}");
        }
        assert_eq!(should_retry(&HeaderMap::new()), None);
    }

    #[test]
    fn header_bytes_that_are_no_text_are_no_wait() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, reqwest::header::HeaderValue::from_bytes(b"\xff\xfe").unwrap());
        assert_eq!(named(&headers, now()), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic_and_within_bounds(value in ".{0,40}") {
            if let Some(wait) = parse(&value, now()) {
                prop_assert!(!wait.is_zero() && wait <= LONGEST);
            }
        }

        #[test]
        fn rfc3339_and_http_date_agree(offset in 1u64..8_000_000_000) {
            let instant = SystemTime::UNIX_EPOCH + Duration::from_secs(offset);
            let date = httpdate::fmt_http_date(instant);
            let month = 1 + ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
                .iter().position(|m| *m == &date[8..11]).unwrap();
            let text = format!("{}-{month:02}-{}T{}Z", &date[12..16], &date[5..7], &date[17..25]);
            prop_assert_eq!(rfc3339(&text), Some(instant));
        }
    }
}
