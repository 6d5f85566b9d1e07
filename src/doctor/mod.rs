//! Is everything true that the other commands rely on?

/// Every code a check can have, with its meaning.
pub fn codes() -> &'static [(&'static str, &'static str)] {
    &[]
}
