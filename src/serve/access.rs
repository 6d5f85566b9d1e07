//! Access to the server: for the owner with the token, or with a browser that used a one-time link;
//! for others with a named token.
//!
//! The tokens are read again for every request, so a change takes effect at once. Browsers that
//! were admitted with an old or removed token lose access.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hyper::{HeaderMap, header};
use subtle::ConstantTimeEq as _;

use super::links::{self, Guest};
use super::tokens::{NamedToken, VisitorRole, named, named_tokens};
use local_agent_files::state::{StateDirectory, refusal, to_move_aside};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// The file in the state folder with the token, readable only by its owner.
pub(crate) const TOKEN_FILE: &str = "serve.token";

/// The beginning of the name of an admitted browser's cookie. The port follows it, because a browser
/// sends the cookies of a machine to each of its servers.
const COOKIE: &str = "local_agent_session";

/// Maximum number of admitted browsers of one token; if one more is admitted, the oldest loses
/// access.
const MOST_BROWSERS: usize = 16;

/// The token; creates one if none exists or `renew` is set.
///
/// # Errors
/// `WRITE_ERROR` when the file cannot be read or created.
pub(crate) fn token(state_dir: &Path, renew: bool) -> Result<String> {
    let folder =
        StateDirectory::make_configured(state_dir).map_err(|e| lost(state_dir, TOKEN_FILE, &e))?;
    if !renew && let Some(token) = kept(&folder)? {
        return Ok(token);
    }
    let token = secret()?;
    folder
        .replace(TOKEN_FILE, token.as_bytes())
        .map_err(|e| lost(state_dir, TOKEN_FILE, &e))?;
    Ok(token)
}

/// The token, if one exists; this does not create one.
///
/// # Errors
/// `WRITE_ERROR` when the file cannot be read.
pub(crate) fn kept_token(state_dir: &Path) -> Result<Option<String>> {
    let folder =
        StateDirectory::open_configured(state_dir).map_err(|e| lost(state_dir, TOKEN_FILE, &e))?;
    Ok(folder.map(|folder| kept(&folder)).transpose()?.flatten())
}

/// The token in the file; `None` if the file is missing or another program created it.
fn kept(folder: &StateDirectory) -> Result<Option<String>> {
    let bytes = folder
        .read_bytes(TOKEN_FILE, 1 << 10)
        .map_err(|e| lost(folder.path(), TOKEN_FILE, &e))?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(text.filter(|text| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())))
}

/// The failure for a file of the server that cannot be read or written.
pub(super) fn lost(state_dir: &Path, file: &str, e: &std::io::Error) -> Failure {
    refusal(e).unwrap_or_else(|| {
        let message = format!(
            "{} cannot be read or made: {e}",
            state_dir.join(file).display()
        );
        let path = state_dir.join(file);
        let hint = match path.is_dir() {
            true => to_move_aside(&path),
            false => {
                "free some space or allow writing there, then run the same command again".to_owned()
            }
        };
        Failure::new(ErrorCode::WriteError, message).with_hint(hint)
    })
}

/// 256 random bits in hexadecimal digits.
pub(super) fn secret() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)
        .map_err(|e| Failure::internal(format!("the system gives no random numbers: {e}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// An admitted browser.
struct Browser {
    cookie: String,
    /// The owner's token at that time.
    token: String,
    guest: Guest,
}

/// Access control.
pub(super) struct Access {
    state_dir: PathBuf,
    /// Whether cookies are sent only over TLS.
    is_secure: bool,
    /// The name of the cookie.
    cookie: String,
    browsers: Mutex<Vec<Browser>>,
}

impl Access {
    pub(super) fn new(state_dir: PathBuf, is_secure: bool, port: u16) -> Self {
        Self {
            state_dir,
            is_secure,
            cookie: format!("{COOKIE}_{port}"),
            browsers: Mutex::default(),
        }
    }

    fn browsers(&self) -> MutexGuard<'_, Vec<Browser>> {
        self.browsers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses up a link and returns the cookie for the browser; `None` if the link is invalid, used
    /// or expired.
    pub(super) fn enter(&self, key: &str) -> Result<Option<String>> {
        let token = token(&self.state_dir, false)?;
        let Some(guest) = links::enter(&self.state_dir, key, &token)? else {
            return Ok(None);
        };
        let secret = secret()?;
        let cookie = format!(
            "{}={secret}; HttpOnly; SameSite=Strict; Path=/{}",
            self.cookie,
            if self.is_secure { "; Secure" } else { "" }
        );
        let mut browsers = self.browsers();
        let is_of_guest = |browser: &Browser| browser.guest == guest;
        if browsers.iter().filter(|one| is_of_guest(one)).count() >= MOST_BROWSERS
            && let Some(oldest) = browsers.iter().position(is_of_guest)
        {
            browsers.remove(oldest);
        }
        browsers.push(Browser {
            cookie: secret,
            token,
            guest,
        });
        Ok(Some(cookie))
    }

    /// The client that these headers identify: the holder of a token, or an admitted browser.
    pub(super) fn admits(&self, headers: &HeaderMap) -> Result<Option<Admitted>> {
        let folder = StateDirectory::open_configured(&self.state_dir)
            .map_err(|e| lost(&self.state_dir, TOKEN_FILE, &e))?;
        // Without the owner's token, nobody gets access.
        let Some(token) = folder.map(|folder| kept(&folder)).transpose()?.flatten() else {
            return Ok(None);
        };
        if let Some(given) = bearer(headers) {
            if same(given, &token) {
                return Ok(Some(Admitted::owner(&token)));
            }
            let tokens = named_tokens(&self.state_dir)?;
            return Ok(named(&tokens, given).map(Admitted::from));
        }
        let Some(cookie) = cookie(headers, &self.cookie) else {
            return Ok(None);
        };
        let browsers = self.browsers();
        let browser = browsers
            .iter()
            .find(|browser| same(&browser.cookie, cookie) && same(&browser.token, &token));
        match browser.map(|browser| &browser.guest) {
            None => Ok(None),
            Some(Guest::Owner) => Ok(Some(Admitted::owner(&token))),
            Some(Guest::Named(token)) => {
                let is_valid = named_tokens(&self.state_dir)?.contains(token);
                Ok(is_valid.then(|| Admitted::from(token)))
            }
        }
    }
}

/// An admitted client, and the token that lets it in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Admitted {
    pub visitor: Visitor,
    /// The hash of the token. A new token of the same name has another one.
    pub token: Sha256,
}

impl Admitted {
    fn owner(token: &str) -> Self {
        Self {
            visitor: Visitor::owner(),
            token: Sha256::of(token.as_bytes()),
        }
    }
}

impl From<&NamedToken> for Admitted {
    fn from(token: &NamedToken) -> Self {
        Self {
            visitor: Visitor::from(token),
            token: token.sha256,
        }
    }
}

/// What a client may see.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Visitor {
    /// The name of the token; `None` for the owner's.
    pub name: Option<String>,
    pub role: VisitorRole,
    /// The visible sources; empty: all.
    pub sources: Vec<String>,
    /// When the token was created, RFC 3339; empty for the owner's.
    pub since: String,
}

impl Visitor {
    /// The owner, who sees everything.
    pub(crate) fn owner() -> Self {
        Self {
            name: None,
            role: VisitorRole::Owner,
            sources: Vec::new(),
            since: String::new(),
        }
    }

    /// The name in the ledger and in the records of runs. A client's own name only comes after a
    /// colon, so nobody can take the owner's name.
    pub(crate) fn asked_by(&self) -> String {
        match &self.name {
            None => "serve".to_owned(),
            Some(name) => format!("serve ({name})"),
        }
    }

    /// Whether access is limited: see [`local_agent_agent::config::LimitedClient`].
    pub(crate) fn is_limited(&self) -> bool {
        self.role != VisitorRole::Owner || !self.sources.is_empty()
    }
}

impl From<&NamedToken> for Visitor {
    fn from(token: &NamedToken) -> Self {
        Self {
            name: Some(token.name.clone()),
            role: token.role,
            sources: token.sources.clone(),
            since: token.made_at.clone(),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie<'h>(headers: &'h HeaderMap, wanted: &str) -> Option<&'h str> {
    let lists = headers.get_all(header::COOKIE).iter();
    lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == wanted)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::{add_token, remove_token};

    fn with(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, value.parse().unwrap())])
    }

    fn visitor_of(access: &Access, headers: &HeaderMap) -> Option<Visitor> {
        let admitted = access.admits(headers).unwrap();
        admitted.map(|admitted| admitted.visitor)
    }

    #[test]
    fn a_browser_stays_in_at_two_servers_of_one_machine() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let servers = [8377, 8378].map(|port| {
            let folder = &folders[usize::from(port - 8377)];
            Access::new(folder.path().to_owned(), false, port)
        });
        let mut kept = Vec::new();
        for server in &servers {
            let key = links::invite(&server.state_dir, None).unwrap();
            let cookie = server.enter(&key).unwrap().unwrap();
            let (name, value) = cookie.split_once('=').unwrap();
            // The browser replaces a cookie of the same name.
            kept.retain(|(known, _)| known != name);
            let value = value.split(';').next().unwrap().to_owned();
            kept.push((name.to_owned(), value));
        }
        let sent: Vec<String> = kept
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let headers = with(header::COOKIE, &sent.join("; "));
        for server in &servers {
            assert_eq!(visitor_of(server, &headers), Some(Visitor::owner()));
        }
    }

    #[test]
    fn a_browser_of_a_named_token_has_its_rights_and_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let access = Access::new(state.to_owned(), false, 8377);
        let sources = ["notes".to_owned()];
        let add = || add_token(state, "phone", VisitorRole::Search, &sources, "now").unwrap();
        add();
        let key = links::invite(state, Some("phone")).unwrap();
        let cookie = access.enter(&key).unwrap().unwrap();
        let browser = with(header::COOKIE, cookie.split(';').next().unwrap());
        let visitor = visitor_of(&access, &browser).unwrap();
        assert_eq!(visitor.asked_by(), "serve (phone)");
        assert_eq!(
            (visitor.role, visitor.sources),
            (VisitorRole::Search, sources.to_vec())
        );
        // Another token of the same name does not let the browser in again.
        remove_token(state, "phone").unwrap();
        assert_eq!(visitor_of(&access, &browser), None);
        add();
        assert_eq!(visitor_of(&access, &browser), None);
    }

    #[test]
    fn a_link_lets_one_browser_in_once_and_a_new_token_puts_everybody_out() {
        let folder = tempfile::tempdir().unwrap();
        let access = Access::new(folder.path().to_owned(), false, 8377);
        let old = token(folder.path(), false).unwrap();
        assert_eq!(token(folder.path(), false).unwrap(), old);
        let bearing = with(header::AUTHORIZATION, &format!("Bearer {old}"));
        assert_eq!(visitor_of(&access, &bearing), Some(Visitor::owner()));
        let key = links::invite(folder.path(), None).unwrap();
        assert!(access.enter(&key[..63]).unwrap().is_none());
        let cookie = access.enter(&key).unwrap().unwrap();
        assert!(access.enter(&key).unwrap().is_none(), "used up");
        let browser = with(
            header::COOKIE,
            &format!("a=b; {}", cookie.split(';').next().unwrap()),
        );
        assert_eq!(visitor_of(&access, &browser), Some(Visitor::owner()));
        let waiting = links::invite(folder.path(), None).unwrap();
        assert_ne!(token(folder.path(), true).unwrap(), old);
        assert_eq!(visitor_of(&access, &bearing), None);
        assert_eq!(visitor_of(&access, &browser), None);
        assert!(access.enter(&waiting).unwrap().is_none());
        std::fs::remove_file(folder.path().join(TOKEN_FILE)).unwrap();
        let blank = with(header::AUTHORIZATION, "Bearer ");
        assert_eq!(visitor_of(&access, &blank), None);
    }
}
