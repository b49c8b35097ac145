//! What a breaker's state is called in Redis.

use backstop_core::breaker::BreakerKey;

/// The keys of one breaker. The part in braces is the same in all of them, which keeps them on one node of a
/// cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) state: String,
    pub(crate) lease: String,
    pub(crate) reporters: String,
}

impl Names {
    pub(crate) fn new(prefix: &str, key: &BreakerKey) -> Self {
        let stem = format!("{prefix}:{{{}|{}}}", escaped(&key.provider), escaped(&key.group));
        Self {
            state: format!("{stem}:state"),
            lease: format!("{stem}:lease"),
            reporters: format!("{stem}:reporters"),
        }
    }
}

/// A brace would end the part that is hashed, a bar would make two keys one.
fn escaped(part: &str) -> String {
    part.replace('%', "%25").replace('{', "%7B").replace('}', "%7D").replace('|', "%7C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_read() {
        let names = Names::new("backstop", &BreakerKey::new("openai@https://api.openai.com", "gpt-4o"));
        assert_eq!(names.state, "backstop:{openai@https://api.openai.com|gpt-4o}:state");
        assert_eq!(names.lease, "backstop:{openai@https://api.openai.com|gpt-4o}:lease");
        assert_eq!(names.reporters, "backstop:{openai@https://api.openai.com|gpt-4o}:reporters");
    }

    #[test]
    fn every_key_has_one_hash_tag_of_its_own() {
        let parts = ["", "a", "}", "{}", "a|", "|", "a%7C", "%", "模型"];
        let mut seen = std::collections::HashSet::new();
        for provider in parts {
            for group in parts {
                let name = Names::new("p", &BreakerKey::new(provider, group)).state;
                let (open, close) = (name.find('{').unwrap(), name.find('}').unwrap());
                assert!(close > open + 1, "an empty tag counts for nothing: {name}");
                assert_eq!(name.matches(['{', '}']).count(), 2, "{name}");
                assert!(seen.insert(name));
            }
        }
    }
}
