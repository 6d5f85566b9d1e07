//! The only code that opens what users' roots hold.
