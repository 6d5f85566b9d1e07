//! (draft, snapshot, freshness) → report. Pure.
