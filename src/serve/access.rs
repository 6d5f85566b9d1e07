//! Who may access the server: a client with the token, and a browser that was let in by a one-time
//! link.
//!
//! The token is read again for every request, so a renewed one takes effect at once; browsers that
//! were let in with the old one lose access.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::{HeaderMap, header};
use subtle::ConstantTimeEq as _;

use local_agent_files::state::{StateDirectory, refusal};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The file in the state folder with the token, readable only by its owner.
pub(crate) const TOKEN_FILE: &str = "serve.token";

/// The cookie of a browser that was let in.
const COOKIE: &str = "local_agent_session";

/// Lifetime of a one-time link.
const LINK_LIVES: Duration = Duration::from_secs(600);

/// Maximum number of browsers at once; for one more, the oldest loses access.
const MOST_BROWSERS: usize = 16;

/// The token; a new one if there is none or `renew` is set.
///
/// # Errors
/// `WRITE_ERROR` when the file cannot be read or created.
pub(crate) fn token(state_dir: &Path, renew: bool) -> Result<String> {
    let folder = StateDirectory::make_configured(state_dir).map_err(|e| lost(state_dir, &e))?;
    if !renew && let Some(token) = kept(&folder)? {
        return Ok(token);
    }
    let token = secret()?;
    folder
        .replace(TOKEN_FILE, token.as_bytes())
        .map_err(|e| lost(state_dir, &e))?;
    Ok(token)
}

/// The token, if there is one; none is made.
///
/// # Errors
/// `WRITE_ERROR` when the file cannot be read.
pub(crate) fn kept_token(state_dir: &Path) -> Result<Option<String>> {
    let folder = StateDirectory::open_configured(state_dir).map_err(|e| lost(state_dir, &e))?;
    Ok(folder.map(|folder| kept(&folder)).transpose()?.flatten())
}

/// The token in the file. `None`: there is none, or this program did not create it.
fn kept(folder: &StateDirectory) -> Result<Option<String>> {
    let bytes = folder
        .read_bytes(TOKEN_FILE, 1 << 10)
        .map_err(|e| lost(folder.path(), &e))?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.filter(|text| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())))
}

fn lost(state_dir: &Path, e: &std::io::Error) -> Failure {
    refusal(e).unwrap_or_else(|| {
        let message = format!(
            "{} cannot be read or made: {e}",
            state_dir.join(TOKEN_FILE).display()
        );
        Failure::new(ErrorCode::WriteError, message)
            .with_hint("local-agent serve token --renew makes a new one")
    })
}

/// 256 random bits in hexadecimal digits.
fn secret() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|e| Failure::internal(format!("the system gives no random numbers: {e}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// A secret, and the token that was valid when it was issued.
struct Given {
    secret: String,
    token: String,
    at: Instant,
}

/// Unused links, and browsers that were let in.
#[derive(Default)]
struct Guests {
    links: Vec<Given>,
    browsers: Vec<Given>,
}

/// Access control.
pub(super) struct Access {
    state_dir: PathBuf,
    guests: Mutex<Guests>,
}

impl Access {
    pub(super) fn new(state_dir: PathBuf) -> Self {
        Self {
            state_dir,
            guests: Mutex::default(),
        }
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self) -> Result<Given> {
        Ok(Given {
            secret: secret()?,
            token: token(&self.state_dir, false)?,
            at: Instant::now(),
        })
    }

    /// The key for a link that lets one browser in, once.
    pub(super) fn invite(&self) -> Result<String> {
        let given = self.give()?;
        let key = given.secret.clone();
        self.guests().links.push(given);
        Ok(key)
    }

    /// Consumes a link; returns the cookie for the browser. `None`: the link is invalid, used, or
    /// expired.
    pub(super) fn enter(&self, key: &str) -> Result<Option<String>> {
        let given = self.give()?;
        let mut guests = self.guests();
        guests.links.retain(|link| link.at.elapsed() < LINK_LIVES);
        let found = guests
            .links
            .iter()
            .position(|link| same(&link.secret, key) && same(&link.token, &given.token));
        let Some(found) = found else { return Ok(None) };
        guests.links.remove(found);
        if guests.browsers.len() >= MOST_BROWSERS {
            guests.browsers.remove(0);
        }
        let cookie = format!(
            "{COOKIE}={}; HttpOnly; SameSite=Strict; Path=/",
            given.secret
        );
        guests.browsers.push(given);
        Ok(Some(cookie))
    }

    /// Whether these headers contain the token, or the cookie of a browser that was let in.
    pub(super) fn admits(&self, headers: &HeaderMap) -> Result<bool> {
        let folder = StateDirectory::open_configured(&self.state_dir)
            .map_err(|e| lost(&self.state_dir, &e))?;
        // Without the token's file nobody gets access.
        let Some(token) = folder.map(|folder| kept(&folder)).transpose()?.flatten() else {
            return Ok(false);
        };
        if bearer(headers).is_some_and(|given| same(given, &token)) {
            return Ok(true);
        }
        let Some(cookie) = cookie(headers) else {
            return Ok(false);
        };
        let guests = self.guests();
        Ok(guests
            .browsers
            .iter()
            .any(|browser| same(&browser.secret, cookie) && same(&browser.token, &token)))
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let lists = headers.get_all(header::COOKIE).iter();
    lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    #[test]
    fn a_link_lets_one_browser_in_once_and_a_new_token_puts_everybody_out() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::new(folder.path().to_owned());
        let old = token(folder.path(), false).unwrap();
        assert_eq!(token(folder.path(), false).unwrap(), old);
        let bearing = with(header::AUTHORIZATION, &format!("Bearer {old}"));
        assert!(access.admits(&bearing).unwrap());
        let key = access.invite().unwrap();
        assert!(access.enter(&key[..63]).unwrap().is_none());
        let cookie = access.enter(&key).unwrap().unwrap();
        assert!(access.enter(&key).unwrap().is_none(), "used up");
        let browser = with(
            header::COOKIE,
            &format!("a=b; {}", cookie.split(';').next().unwrap()),
        );
        assert!(access.admits(&browser).unwrap());
        let waiting = access.invite().unwrap();
        assert_ne!(token(folder.path(), true).unwrap(), old);
        assert!(!access.admits(&bearing).unwrap() && !access.admits(&browser).unwrap());
        assert!(access.enter(&waiting).unwrap().is_none());
        std::fs::remove_file(folder.path().join(TOKEN_FILE)).unwrap();
        assert!(
            !access
                .admits(&with(header::AUTHORIZATION, "Bearer "))
                .unwrap()
        );
    }
}
