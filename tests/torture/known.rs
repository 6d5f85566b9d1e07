//! Defects that are being fixed. The short form excuses a finding whose case begins with one of
//! these; the long form counts them all.

/// The beginning of a case, and the reason why it is excused.
pub(crate) const KNOWN: &[(&str, &str)] = &[];
