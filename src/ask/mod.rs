//! Question → snapshot → draft → verify → answer or abstention.
