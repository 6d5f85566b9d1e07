//! Named tokens for visitors other than the owner, each with a role and a list of sources.
//!
//! The state folder contains their hashes, readable only by the owner. A token of 256 random bits
//! needs no slow hash. The file is read again for every request, so a removed token stops working
//! at once.

use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::access::{lost, secret};
use super::links::OpenLink;
use local_agent_files::state::{StateDirectory, to_move_aside};
use local_agent_index::store::JobLock;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// The file in the state folder with the named tokens.
pub(crate) const TOKENS_FILE: &str = "serve.tokens.json";

/// The lock for changes of that file.
const LOCK: &str = "serve.tokens.lock";

/// Maximum length of a name.
const LONGEST_NAME: usize = 40;

/// Maximum size of the file.
const MOST_BYTES: u64 = 1 << 20;

/// The rights of a token. Each role includes the rights of the one before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VisitorRole {
    /// Search and read notes.
    Search,
    /// Ask, and see its own runs.
    Ask,
    /// Call the file tools.
    Tools,
    /// See private notes, memory, all runs and the state of the program.
    Owner,
}

impl VisitorRole {
    /// Its name on the command line.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Ask => "ask",
            Self::Tools => "tools",
            Self::Owner => "owner",
        }
    }
}

/// One named token, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NamedToken {
    pub name: String,
    pub role: VisitorRole,
    /// The visible sources; empty: all.
    pub sources: Vec<String>,
    /// RFC 3339, UTC.
    pub made_at: String,
    /// The hash of the token.
    pub(super) sha256: Sha256,
}

/// The content of the file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenFile {
    schema_version: u32,
    pub(super) tokens: Vec<NamedToken>,
    /// The links that nobody has used yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) links: Vec<OpenLink>,
}

const SCHEMA_VERSION: u32 = 1;

impl Default for TokenFile {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            tokens: Vec::new(),
            links: Vec::new(),
        }
    }
}

/// The named tokens, in the order of their creation.
///
/// # Errors
/// `WRITE_ERROR` when the file cannot be read, or another program created it.
pub(crate) fn named_tokens(state_dir: &Path) -> Result<Vec<NamedToken>> {
    Ok(kept_file(state_dir)?.map_or_else(Vec::new, |file| file.tokens))
}

/// The file; `None` if there is no state folder.
///
/// # Errors
/// As [`named_tokens`].
pub(super) fn kept_file(state_dir: &Path) -> Result<Option<TokenFile>> {
    let folder =
        StateDirectory::open_configured(state_dir).map_err(|e| lost(state_dir, TOKENS_FILE, &e))?;
    folder.map(|folder| kept(&folder)).transpose()
}

fn kept(folder: &StateDirectory) -> Result<TokenFile> {
    let bytes = folder
        .read_bytes(TOKENS_FILE, MOST_BYTES)
        .map_err(|e| lost(folder.path(), TOKENS_FILE, &e))?;
    let Some(bytes) = bytes else {
        return Ok(TokenFile::default());
    };
    match serde_json::from_slice::<TokenFile>(&bytes) {
        Ok(file) if file.schema_version == SCHEMA_VERSION => Ok(file),
        Ok(_) => Err(damaged_tokens(folder, "was written by a newer version")),
        Err(_) => Err(damaged_tokens(folder, "is damaged")),
    }
}

/// The failure for a file of tokens that cannot be used.
fn damaged_tokens(folder: &StateDirectory, why: &str) -> Failure {
    let file = folder.path().join(TOKENS_FILE);
    let message = format!("{} {why}, so no named token works", file.display());
    Failure::new(ErrorCode::WriteError, message).with_hint(to_move_aside(&file))
}

/// Creates a token and stores its hash; returns the token.
///
/// # Errors
/// `INVALID_ARGS` for a name that is taken or cannot be one; `LOCKED`; `WRITE_ERROR`.
pub(crate) fn add_token(
    state_dir: &Path,
    name: &str,
    role: VisitorRole,
    sources: &[String],
    now: &str,
) -> Result<String> {
    check_name(name)?;
    let token = secret()?;
    change(state_dir, |TokenFile { tokens, .. }| {
        if tokens.iter().any(|known| known.name == name) {
            let message = format!("there is already a token called `{name}`");
            return Err(Failure::new(ErrorCode::InvalidArgs, message)
                .with_command(format!("local-agent serve token remove {name}")));
        }
        tokens.push(NamedToken {
            name: name.to_owned(),
            role,
            sources: sources.to_vec(),
            made_at: now.to_owned(),
            sha256: Sha256::of(token.as_bytes()),
        });
        Ok(())
    })?;
    Ok(token)
}

/// Removes a token.
///
/// # Errors
/// `INVALID_ARGS` if no token has this name; `LOCKED`; `WRITE_ERROR`.
pub(crate) fn remove_token(state_dir: &Path, name: &str) -> Result<()> {
    change(state_dir, |TokenFile { tokens, .. }| {
        let before = tokens.len();
        tokens.retain(|known| known.name != name);
        match tokens.len() < before {
            true => Ok(()),
            false => Err(unknown_token(name)),
        }
    })
}

/// The failure for a name that no token has.
pub(super) fn unknown_token(name: &str) -> Failure {
    let shown: String = name.chars().filter(|c| !c.is_control()).collect();
    let message = format!("there is no token called `{shown}`");
    Failure::new(ErrorCode::InvalidArgs, message).with_command("local-agent serve token list")
}

/// Changes the file while no other process can change it.
///
/// # Errors
/// Those of `how`; `LOCKED`; `WRITE_ERROR`.
pub(super) fn change(
    state_dir: &Path,
    how: impl FnOnce(&mut TokenFile) -> Result<()>,
) -> Result<()> {
    let failed = |e: std::io::Error| lost(state_dir, TOKENS_FILE, &e);
    let folder = StateDirectory::make_configured(state_dir).map_err(failed)?;
    let holder = format!("pid {}, `local-agent serve token`", std::process::id());
    let _lock = JobLock::take_in(&folder, LOCK, &holder, Duration::from_secs(5))?;
    let mut file = kept(&folder)?;
    how(&mut file)?;
    let text = serde_json::to_string_pretty(&file)
        .map_err(|e| Failure::internal(format!("the tokens cannot be written as JSON: {e}")))?;
    folder
        .replace(TOKENS_FILE, (text + "\n").as_bytes())
        .map_err(failed)
}

fn check_name(name: &str) -> Result<()> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if starts_well && name.len() <= LONGEST_NAME && name.chars().all(is_plain_name) {
        return Ok(());
    }
    let message = format!(
        "a name begins with a letter or a digit and has up to {LONGEST_NAME} letters, digits, `-` and `_`"
    );
    Err(Failure::new(ErrorCode::InvalidArgs, message)
        .with_command("local-agent serve token add laptop --role search"))
}

/// Whether the name of a token may contain the character.
fn is_plain_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// The named token that equals `given`. Every hash is compared, so that the time reveals nothing.
pub(super) fn named<'t>(tokens: &'t [NamedToken], given: &str) -> Option<&'t NamedToken> {
    let given = Sha256::of(given.as_bytes()).to_string();
    let mut found = None;
    for token in tokens {
        let own = token.sha256.to_string();
        if bool::from(own.as_bytes().ct_eq(given.as_bytes())) {
            found = Some(token);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_kept_as_a_hash_and_found_by_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let add = |name: &str| {
            add_token(
                folder.path(),
                name,
                VisitorRole::Ask,
                &["a".to_owned()],
                "now",
            )
        };
        let token = add("laptop").unwrap();
        let other = add("phone").unwrap();
        assert_eq!(add("phone").unwrap_err().code, ErrorCode::InvalidArgs);
        let text = std::fs::read_to_string(folder.path().join(TOKENS_FILE)).unwrap();
        assert!(!text.contains(&token) && !text.contains(&other));
        let tokens = named_tokens(folder.path()).unwrap();
        assert_eq!(named(&tokens, &token).unwrap().name, "laptop");
        assert_eq!(named(&tokens, &other).unwrap().name, "phone");
        assert_eq!(named(&tokens, &token[..63]), None);
        remove_token(folder.path(), "laptop").unwrap();
        assert_eq!(named(&named_tokens(folder.path()).unwrap(), &token), None);
        assert_eq!(
            remove_token(folder.path(), "laptop").unwrap_err().code,
            ErrorCode::InvalidArgs
        );
    }

    #[test]
    fn a_name_is_plain() {
        for name in ["a", "Laptop-2", "x_y"] {
            check_name(name).unwrap();
        }
        let long = "a".repeat(LONGEST_NAME + 1);
        for name in ["", "-a", "_a", "a b", "a)", "é", "a\n", long.as_str()] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_damaged_file_is_a_failure_and_not_an_empty_list() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(TOKENS_FILE), "{").unwrap();
        assert_eq!(
            named_tokens(folder.path()).unwrap_err().code,
            ErrorCode::WriteError
        );
        let newer = r#"{"schema_version": 2, "tokens": []}"#;
        std::fs::write(folder.path().join(TOKENS_FILE), newer).unwrap();
        assert!(add_token(folder.path(), "a", VisitorRole::Ask, &[], "now").is_err());
    }
}
