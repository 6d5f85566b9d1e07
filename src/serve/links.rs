//! Links that admit one browser, once. Each is a line of the file of named tokens, so a command can
//! make one for a server that runs already. The file holds only hashes.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::{secret, token};
use super::tokens::{NamedToken, TokenFile, change, kept_file, unknown_token};
use local_agent_text::error::Result;
use local_agent_text::types::Sha256;

/// Lifetime of a link.
const LINK_LIVES: Duration = Duration::from_secs(600);

/// Maximum number of open links; if one more is made, the oldest ends.
const MOST_LINKS: usize = 64;

/// A link that nobody has used yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct OpenLink {
    /// The named token as which the browser is admitted; `None`: the owner.
    name: Option<String>,
    /// Seconds since 1970.
    made_at: u64,
    /// The hash of the link's key and of the owner's token: a new token ends the link.
    sha256: Sha256,
}

impl OpenLink {
    fn is_alive(&self, now: u64) -> bool {
        now.checked_sub(self.made_at)
            .is_some_and(|age| age < LINK_LIVES.as_secs())
    }
}

/// Who enters by a link: the owner, or the holder of a named token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Guest {
    Owner,
    Named(NamedToken),
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn hash(key: &str, owners_token: &str) -> Sha256 {
    Sha256::of_fields(&[key.as_bytes(), owners_token.as_bytes()])
}

/// Makes a link for one browser, and returns its key. The browser gets the rights of the named
/// token, or without a name those of the owner.
///
/// # Errors
/// `INVALID_ARGS` if no token has this name; `LOCKED`; `WRITE_ERROR`.
pub(crate) fn invite(state_dir: &Path, name: Option<&str>) -> Result<String> {
    let key = secret()?;
    let sha256 = hash(&key, &token(state_dir, false)?);
    let now = now();
    change(state_dir, |file| {
        if let Some(name) = name
            && !file.tokens.iter().any(|known| known.name == name)
        {
            return Err(unknown_token(name));
        }
        file.links.retain(|link| link.is_alive(now));
        if file.links.len() >= MOST_LINKS {
            file.links.remove(0);
        }
        file.links.push(OpenLink {
            name: name.map(str::to_owned),
            made_at: now,
            sha256,
        });
        Ok(())
    })?;
    Ok(key)
}

/// Uses up a link; `None` if the link is invalid, used or expired.
///
/// # Errors
/// `LOCKED`; `WRITE_ERROR`.
pub(super) fn enter(state_dir: &Path, key: &str, owners_token: &str) -> Result<Option<Guest>> {
    let sha256 = hash(key, owners_token);
    let is_known = |file: &TokenFile| file.links.iter().any(|link| link.sha256 == sha256);
    // Anybody may try a key; only one that fits changes the file.
    if !kept_file(state_dir)?.is_some_and(|file| is_known(&file)) {
        return Ok(None);
    }
    let mut guest = None;
    change(state_dir, |file| {
        let found = file.links.iter().position(|link| link.sha256 == sha256);
        let link = found.map(|at| file.links.remove(at));
        guest = link
            .filter(|link| link.is_alive(now()))
            .and_then(|link| guest_of(&link, &file.tokens));
        Ok(())
    })?;
    Ok(guest)
}

/// Who enters by a link; `None` if its token was removed.
fn guest_of(link: &OpenLink, tokens: &[NamedToken]) -> Option<Guest> {
    let Some(name) = &link.name else {
        return Some(Guest::Owner);
    };
    let token = tokens.iter().find(|known| known.name == *name);
    token.cloned().map(Guest::Named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::{VisitorRole, add_token, remove_token};
    use local_agent_text::error::ErrorCode;

    #[test]
    fn a_link_is_used_once_and_ends_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let owner = token(state, false).unwrap();
        let key = invite(state, None).unwrap();
        let file = std::fs::read_to_string(state.join(super::super::tokens::TOKENS_FILE)).unwrap();
        assert!(!file.contains(&key), "{file}");
        assert_eq!(enter(state, &key[..63], &owner).unwrap(), None);
        assert_eq!(enter(state, &key, &owner).unwrap(), Some(Guest::Owner));
        assert_eq!(enter(state, &key, &owner).unwrap(), None);
        let link = OpenLink {
            name: None,
            made_at: 1000,
            sha256: hash("", ""),
        };
        for (now, is_alive) in [(999, false), (1000, true), (1599, true), (1600, false)] {
            assert_eq!(link.is_alive(now), is_alive, "{now}");
        }
    }

    #[test]
    fn a_link_of_a_token_ends_with_the_token() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let owner = token(state, false).unwrap();
        let unknown = invite(state, Some("phone")).unwrap_err();
        assert_eq!(unknown.code, ErrorCode::InvalidArgs);
        add_token(state, "phone", VisitorRole::Search, &[], "now").unwrap();
        let [used, left] = [(); 2].map(|()| invite(state, Some("phone")).unwrap());
        let guest = enter(state, &used, &owner).unwrap();
        assert!(matches!(guest, Some(Guest::Named(token)) if token.name == "phone"));
        remove_token(state, "phone").unwrap();
        assert_eq!(enter(state, &left, &owner).unwrap(), None);
    }

    #[test]
    fn only_the_newest_links_stay_open() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let owner = token(state, false).unwrap();
        let first = invite(state, None).unwrap();
        for _ in 0..MOST_LINKS {
            invite(state, None).unwrap();
        }
        assert_eq!(enter(state, &first, &owner).unwrap(), None);
    }
}
