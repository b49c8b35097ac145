//! What can be wrong with the settings. Once they are right, nothing here returns an error: a store that cannot be
//! reached leaves each process to itself.

/// Why a [`RedisState`](crate::RedisState) could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedisStateError {
    /// The address is none. It is not repeated here, for it may hold a password.
    #[error(
        "the address of Redis cannot be used: write it as redis://[user:password@]host[:port][/database], with \
         special characters in the password percent-encoded; rediss:// needs the feature `rustls` or `native-tls`"
    )]
    Address,
    /// A setting makes no sense.
    #[error("`{setting}` {problem}")]
    Setting {
        /// Which one.
        setting: &'static str,
        /// What is wrong with it, and what would be right.
        problem: &'static str,
    },
}
