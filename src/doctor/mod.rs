//! Is everything true that the other commands rely on?
