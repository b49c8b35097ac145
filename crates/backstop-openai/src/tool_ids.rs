//! Ids of tool calls, for servers that take only some.

use std::borrow::Cow;

use crate::preset::ToolIds;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH: usize = 9;

/// The id as the server takes it. A conversation that another vendor has begun brings ids of that vendor; the same id
/// becomes the same one, so that results still belong to their calls.
pub(crate) fn fit(id: &str, ids: ToolIds) -> Cow<'_, str> {
    let fits = id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match ids {
        ToolIds::NineAlphanumeric if !fits => Cow::Owned(nine(hash(id))),
        _ => Cow::Borrowed(id),
    }
}

/// FNV-1a: the same in every process, so that a prompt stays the same for the vendor's cache.
fn hash(id: &str) -> u64 {
    id.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn nine(mut number: u64) -> String {
    let mut digit = || {
        let digit = DIGITS.get((number % 62) as usize).copied().unwrap_or(b'0');
        number /= 62;
        char::from(digit)
    };
    (0..LENGTH).map(|_| digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_that_fit_stay() {
        assert_eq!(fit("abcDEF123", ToolIds::NineAlphanumeric), "abcDEF123");
        assert_eq!(fit("call_1", ToolIds::Any), "call_1");
        assert_ne!(fit("call_1", ToolIds::NineAlphanumeric), fit("call_2", ToolIds::NineAlphanumeric));
    }

    proptest! {
        #[test]
        fn every_id_becomes_one_that_fits_and_always_the_same(id in ".{0,40}") {
            let fitted = fit(&id, ToolIds::NineAlphanumeric);
            prop_assert!(fitted.len() == LENGTH && fitted.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            prop_assert_eq!(&fitted, &fit(&id, ToolIds::NineAlphanumeric));
        }
    }
}
