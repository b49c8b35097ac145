//! Rules about one field: ranges, lengths, patterns, choices.

use std::{
    borrow::Cow,
    fmt::{Debug, Display},
    ops::{Bound, RangeBounds, RangeInclusive},
    sync::Arc,
};

use regex::Regex;

use super::{FieldRule, broken::Broken, length::Length};

/// Rules about the field at `pointer`, which `get` takes out of the value.
///
/// ```
/// use backstop_validate::rules::field;
/// # struct Invoice { currency: String, total: f64 }
///
/// let total = field("/total", |invoice: &Invoice| &invoice.total).within(0.0..=1_000_000.0);
/// let currency = field("/currency", |invoice: &Invoice| &invoice.currency).one_of(["EUR", "USD"]);
/// # let _ = (total, currency);
/// ```
pub fn field<T, V, G>(pointer: impl Into<Cow<'static, str>>, get: G) -> Field<T, V>
where
    G: Fn(&T) -> &V + Send + Sync + 'static,
{
    optional(pointer, move |value| Some(get(value)))
}

/// As [`field`], for a field that may be absent; then no rule is broken.
///
/// ```
/// use backstop_validate::rules::optional;
/// # struct Invoice { discount: Option<f64> }
///
/// let discount = optional("/discount", |invoice: &Invoice| invoice.discount.as_ref()).at_most(0.5);
/// # let _ = discount;
/// ```
pub fn optional<T, V, G>(pointer: impl Into<Cow<'static, str>>, get: G) -> Field<T, V>
where
    G: Fn(&T) -> Option<&V> + Send + Sync + 'static,
{
    Field { pointer: pointer.into(), get: Arc::new(get), tests: Vec::new(), wrong: None }
}

/// Rules about one field of a `T`; all of them must hold. Made by [`field`] and [`optional`]. A rule that no value could
/// keep (an empty range, nothing to be one of, a limit that is not a number) makes the call fail before anything is sent.
#[must_use = "rules do nothing until a validator has them"]
pub struct Field<T, V> {
    pointer: Cow<'static, str>,
    get: Arc<Get<T, V>>,
    tests: Vec<Test<V>>,
    wrong: Option<Arc<str>>,
}

type Get<T, V> = dyn Fn(&T) -> Option<&V> + Send + Sync;
type Test<V> = Box<dyn Fn(&V, &str, &mut Vec<Broken>) + Send + Sync>;

impl<T: 'static, V: 'static> Field<T, V> {
    /// Any test of one's own; `expected` completes "expected …".
    pub fn must(
        mut self,
        expected: impl Into<Cow<'static, str>>,
        test: impl Fn(&V) -> bool + Send + Sync + 'static,
    ) -> Self {
        let expected = expected.into();
        self.tests.push(Box::new(move |value, at, broken| {
            if !test(value) {
                broken.push(Broken::expected(at, expected.clone()));
            }
        }));
        self
    }

    /// Not less than a limit.
    pub fn at_least(mut self, limit: V) -> Self
    where
        V: PartialOrd + Display + Send + Sync,
    {
        self.check_limit(&limit);
        self.must(format!("at least {limit}"), move |value| *value >= limit)
    }

    /// Not more than a limit.
    pub fn at_most(mut self, limit: V) -> Self
    where
        V: PartialOrd + Display + Send + Sync,
    {
        self.check_limit(&limit);
        self.must(format!("at most {limit}"), move |value| *value <= limit)
    }

    /// More than a limit.
    pub fn more_than(mut self, limit: V) -> Self
    where
        V: PartialOrd + Display + Send + Sync,
    {
        self.check_limit(&limit);
        self.must(format!("more than {limit}"), move |value| *value > limit)
    }

    /// Less than a limit.
    pub fn less_than(mut self, limit: V) -> Self
    where
        V: PartialOrd + Display + Send + Sync,
    {
        self.check_limit(&limit);
        self.must(format!("less than {limit}"), move |value| *value < limit)
    }

    /// Between two limits or equal to one of them.
    pub fn within(mut self, range: RangeInclusive<V>) -> Self
    where
        V: PartialOrd + Display + Send + Sync,
    {
        if range.is_empty() {
            self.is_wrong(format!("has a range in which nothing is: {} to {}", range.start(), range.end()));
        }
        let expected = format!("a value from {} to {}", range.start(), range.end());
        self.must(expected, move |value| range.contains(value))
    }

    /// One of these values.
    pub fn one_of<I>(mut self, options: I) -> Self
    where
        I: IntoIterator<Item: Into<V>>,
        V: PartialEq + Debug + Send + Sync,
    {
        let options: Vec<V> = options.into_iter().map(Into::into).collect();
        if options.is_empty() {
            self.is_wrong("has nothing to be one of".to_owned());
        }
        let names: Vec<String> = options.iter().map(|option| format!("{option:?}")).collect();
        self.must(format!("one of {}", names.join(", ")), move |value| options.contains(value))
    }

    /// A length in characters (texts) or items (collections).
    pub fn length(mut self, range: impl RangeBounds<usize> + Send + Sync + 'static) -> Self
    where
        V: Length,
    {
        if is_empty(&range) {
            self.is_wrong("has a range of lengths without any length in it".to_owned());
        }
        let expected = format!("{} {}", bounds(&range), V::UNIT);
        self.must(expected, move |value| range.contains(&value.length()))
    }

    /// A text in which a regular expression is found; anchor it with `^` and `$` to mean the whole text. An invalid one
    /// makes the call fail before anything is sent.
    pub fn matches(mut self, pattern: &str) -> Self
    where
        V: AsRef<str>,
    {
        match Regex::new(pattern) {
            Ok(regex) => self.must(format!("a text that matches `{pattern}`"), move |value| {
                regex.is_match(value.as_ref())
            }),
            Err(error) => {
                self.is_wrong(format!("has no usable pattern: {error}"));
                self
            }
        }
    }

    /// Rules that each item must keep; their pointers begin at the item.
    pub fn each<E: 'static>(mut self, rules: impl IntoIterator<Item = FieldRule<E>>) -> Self
    where
        V: AsRef<[E]>,
    {
        let rules: Vec<FieldRule<E>> = rules.into_iter().collect();
        self.wrong = self.wrong.or_else(|| rules.iter().find_map(|rule| rule.wrong.clone()));
        self.tests.push(Box::new(move |value, at, broken| {
            for (index, item) in value.as_ref().iter().enumerate() {
                let base = format!("{at}/{index}");
                for rule in &rules {
                    rule.find(item, &base, broken);
                }
            }
        }));
        self
    }
}

impl<T, V> Field<T, V> {
    /// Nothing is above or below what is not a number.
    fn check_limit(&mut self, limit: &V)
    where
        V: PartialOrd + Display,
    {
        if limit.partial_cmp(limit).is_none() {
            self.is_wrong(format!("has a limit to which nothing compares: {limit}"));
        }
    }

    /// Nothing could keep the rule. The first mistake stays.
    fn is_wrong(&mut self, why: String) {
        let place = if self.pointer.is_empty() { "on the value" } else { &self.pointer };
        self.wrong.get_or_insert_with(|| format!("{place} {why}").into());
    }
}

/// Whether no number is in the range.
fn is_empty(range: &impl RangeBounds<usize>) -> bool {
    match (range.start_bound(), range.end_bound()) {
        (Bound::Included(least), Bound::Included(most)) => least > most,
        (Bound::Included(least), Bound::Excluded(above)) => least >= above,
        (Bound::Excluded(below), Bound::Included(most)) => below >= most,
        (Bound::Excluded(below), Bound::Excluded(above)) => below.saturating_add(1) >= *above,
        (Bound::Unbounded, Bound::Excluded(above)) => *above == 0,
        (Bound::Excluded(below), Bound::Unbounded) => *below == usize::MAX,
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
    }
}

/// A range in words.
fn bounds(range: &impl RangeBounds<usize>) -> String {
    let least = match range.start_bound() {
        Bound::Included(least) => Some(*least),
        Bound::Excluded(below) => Some(below.saturating_add(1)),
        Bound::Unbounded => None,
    };
    let most = match range.end_bound() {
        Bound::Included(most) => Some(*most),
        Bound::Excluded(above) => Some(above.saturating_sub(1)),
        Bound::Unbounded => None,
    };
    match (least.filter(|least| *least > 0), most) {
        (Some(least), Some(most)) if least == most => format!("exactly {least}"),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "any number of".to_owned(),
    }
}

impl<T: 'static, V: 'static> From<Field<T, V>> for FieldRule<T> {
    fn from(field: Field<T, V>) -> Self {
        let Field { pointer, get, tests, wrong } = field;
        let rule = Self::finding(pointer, move |value, at, broken| {
            let Some(inner) = get(value) else { return };
            for test in &tests {
                test(inner, at, broken);
            }
        });
        Self { wrong: wrong.or(rule.wrong), ..rule }
    }
}

impl<T, V> Debug for Field<T, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Field").field("pointer", &self.pointer).field("tests", &self.tests.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_in_words() {
        assert_eq!(bounds(&(1..=3)), "1 to 3");
        assert_eq!(bounds(&(1..4)), "1 to 3");
        assert_eq!(bounds(&(2..=2)), "exactly 2");
        assert_eq!(bounds(&(1..)), "at least 1");
        assert_eq!(bounds(&(..=9)), "at most 9");
        assert_eq!(bounds(&(..)), "any number of");
    }
}
