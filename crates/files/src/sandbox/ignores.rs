//! Decides which names a walk leaves out, from `.gitignore`, `.ignore` and `.local-agentignore`.
//! Each file applies to its own folder and everything below. A deeper file overrides a higher one,
//! and within one folder the later file in this list overrides the earlier. Files above the root
//! are not read.

use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::place::{look, open_file, read_to_cap};
use super::policy::Policy;
use super::refusal::Refusal;

/// The names of ignore files, in order of precedence, lowest first.
pub(super) const FILES: [&str; 3] = [".gitignore", ".ignore", ".local-agentignore"];
/// Maximum size of an ignore file in bytes. Patterns are compiled, so a huge file would be
/// expensive.
const MAX_BYTES: u64 = 1 << 20;

/// The rules of one folder and of those above it.
pub(super) struct Ignores {
    rules: Gitignore,
    /// Length of the folder's own path with its trailing slash, which is cut off before matching.
    prefix_len: usize,
    above: Option<Arc<Ignores>>,
}

impl Ignores {
    /// Whether `path`, relative to the root, is left out.
    pub(super) fn leaves_out(&self, path: &str, is_dir: bool) -> bool {
        let mut level = Some(self);
        while let Some(here) = level {
            match here.rules.matched(
                Path::new(path.get(here.prefix_len..).unwrap_or(path)),
                is_dir,
            ) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = here.above.as_deref(),
            }
        }
        false
    }

    /// Adds the rules of the folder `dir`, which contains the files `present`. A file that cannot
    /// be read is reported by name, and its rules do not apply.
    pub(super) fn extend(
        above: Option<Arc<Self>>,
        dir: &Dir,
        prefix: &str,
        present: &[&'static str],
        policy: &Policy,
    ) -> (Option<Arc<Self>>, Vec<(&'static str, Refusal)>) {
        let mut policy = policy.clone();
        policy.max_file_bytes = policy.max_file_bytes.min(MAX_BYTES);
        let mut builder = GitignoreBuilder::new("");
        let mut refused = Vec::new();
        for name in FILES.into_iter().filter(|name| present.contains(name)) {
            let opened = look(dir, name, &policy).and_then(|_| open_file(dir, name, &policy));
            match opened.and_then(|(file, stamp)| read_to_cap(file, stamp, &policy)) {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes);
                    for line in text.trim_start_matches('\u{feff}').lines() {
                        // An invalid pattern is skipped, as git does.
                        let _ = builder.add_line(None, line);
                    }
                }
                Err(refusal) => refused.push((name, refusal)),
            }
        }
        let level = match builder.build() {
            Ok(rules) if !rules.is_empty() => Some(Arc::new(Self {
                rules,
                prefix_len: prefix.len(),
                above,
            })),
            _ => above,
        };
        (level, refused)
    }
}
