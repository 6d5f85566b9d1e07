//! Decides by names alone what may be opened. Pure: it makes no system calls, so the result cannot
//! depend on the disk.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

use local_agent_text::types::RelPath;

/// Maximum length of a path, in bytes. The same limit as in Linux.
pub(super) const MAX_PATH_BYTES: usize = 4096;
/// Maximum length of a single name, in bytes.
pub(super) const MAX_NAME_BYTES: usize = 255;
/// Maximum nesting depth; limits the open handles of one request.
pub(super) const MAX_DEPTH: usize = 128;
/// Folders for settings and deleted files of other programs, never a person's notes.
const NEVER_WALKED: [&str; 3] = [".obsidian", ".trash", ".trash-local-agent"];

/// `security.*`: the files that the sandbox opens.
#[derive(Debug, Clone)]
pub struct Security {
    /// Folders that may be read even if no source names them; all paths are absolute.
    pub allowed_roots: Vec<PathBuf>,
    /// Allowed extensions in lower case, with the leading dot.
    pub allowed_exts: Vec<String>,
    /// Whether requests with an absolute path are refused.
    pub deny_absolute_paths: bool,
    /// Whether path segments that begin with a dot are refused.
    pub deny_hidden_paths: bool,
    /// Names and `*` patterns that no segment of a path may match, case-insensitively.
    pub deny_names: Vec<String>,
    /// The rule for hard links of files inside the roots.
    pub hard_links: HardLinks,
    /// The rule for symbolic links in every segment below a root.
    pub follow_links: FollowLinks,
    /// Maximum size of a file in bytes. A larger file is listed with that reason and never read.
    pub max_file_bytes: u64,
    /// Notes with one of these tags, or one below it, are private.
    pub private_tags: Vec<String>,
    /// Whether a person's `get` and `ask --read` may name any file. Only `--config` or the user's
    /// configuration can set it.
    pub allow_any_path: bool,
}

impl Security {
    /// The allowed extensions, as [`super::Sandbox::walk`] takes them.
    pub fn extensions(&self) -> Vec<&str> {
        self.allowed_exts.iter().map(String::as_str).collect()
    }
}

/// Whether files with hard links are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HardLinks {
    /// They are refused.
    Deny,
    /// They are opened like any other file.
    Allow,
}

/// Whether symbolic links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowLinks {
    /// A link is listed as a link and never opened.
    Never,
    /// A link is followed if its target is inside the same root.
    Inside,
}

/// Why a request is refused by its text and the policy alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Denied {
    Blank,
    TooLong,
    Control,
    Absolute,
    Home,
    UnknownSource,
    NotBelowARoot,
    Leaves,
    Hidden,
    Name,
    ForeignName,
    Extension,
    OwnState,
    NotSelected,
    AnyPathOff,
}

impl Denied {
    /// The end of the sentence "… is refused because …".
    pub(super) const fn because(self) -> &'static str {
        match self {
            Self::Blank => "it is blank",
            Self::TooLong => "it is longer than any path can be",
            Self::Control => "it holds a control character",
            Self::Absolute => "it is an absolute path",
            Self::Home => "`~` is not expanded",
            Self::UnknownSource => "no source has the name before the colon",
            Self::NotBelowARoot => "it lies below no root",
            Self::Leaves => "its `..` leaves the root",
            Self::Hidden => "it names something hidden",
            Self::Name => "a name in it is on the deny list",
            Self::ForeignName => {
                "a name in it has a special meaning on some systems (a stream, a device)"
            }
            Self::Extension => "its extension is not allowed",
            Self::OwnState => "it lies in this program's own state",
            Self::NotSelected => "its source leaves it out (`include`, `exclude`)",
            Self::AnyPathOff => "files outside the sources are not read",
        }
    }
}

/// The rules of `security.*` in the form in which they are applied. Immutable.
#[derive(Debug, Clone)]
pub struct Policy {
    exts: Vec<String>,
    deny_hidden: bool,
    deny_whole: HashSet<String>,
    /// Patterns with a `*`, split at the stars.
    deny_starred: Vec<Vec<String>>,
    pub(super) deny_absolute: bool,
    pub(super) hard_links: HardLinks,
    pub(super) follow_links: FollowLinks,
    pub(super) max_file_bytes: u64,
    pub(super) allow_any_path: bool,
    pub(super) own_state: Vec<PathBuf>,
    /// Whether names have the special meanings of Windows (`NUL`, `a.md:stream`, trailing dots).
    pub(super) windows_names: bool,
}

impl From<&Security> for Policy {
    fn from(security: &Security) -> Self {
        let mut deny_whole = HashSet::new();
        let mut deny_starred = Vec::new();
        for pattern in &security.deny_names {
            let pattern = fold(pattern);
            if pattern.contains('*') {
                deny_starred.push(pattern.split('*').map(str::to_owned).collect());
            } else {
                deny_whole.insert(pattern);
            }
        }
        Self {
            exts: security
                .allowed_exts
                .iter()
                .map(|e| e.to_lowercase())
                .collect(),
            deny_hidden: security.deny_hidden_paths,
            deny_whole,
            deny_starred,
            deny_absolute: security.deny_absolute_paths,
            hard_links: security.hard_links,
            follow_links: security.follow_links,
            max_file_bytes: security.max_file_bytes,
            allow_any_path: security.allow_any_path,
            own_state: Vec::new(),
            windows_names: cfg!(windows),
        }
    }
}

impl Policy {
    /// Whether a person's own request may name any file.
    pub fn allows_any_path(&self) -> bool {
        self.allow_any_path
    }

    /// Excludes absolute folders with this program's own state (its databases, its records of
    /// earlier answers). Nothing in them is ever read as a document, even below a root, because an
    /// earlier answer is not evidence.
    #[must_use]
    pub fn keep_out(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.own_state.extend(folders);
        self
    }

    /// Maximum size of a file, in bytes.
    pub const fn max_file_bytes(&self) -> u64 {
        self.max_file_bytes
    }

    /// Checks every name of a path and the extension of the last one; `more`: extensions that the
    /// root allows in addition.
    pub(super) fn check_path(&self, path: &RelPath, more: &[String]) -> Result<(), Denied> {
        self.check_folder(path, more)?;
        self.check_extension(path.file_name(), more)
    }

    /// Checks every name of a folder's path. `more`: see [`Self::check_path`].
    pub(super) fn check_folder(&self, path: &RelPath, more: &[String]) -> Result<(), Denied> {
        if path.as_str().len() > MAX_PATH_BYTES || path.segments().count() > MAX_DEPTH {
            return Err(Denied::TooLong);
        }
        path.segments()
            .try_for_each(|name| self.check_name(name, more))
    }

    /// Checks one name, of a folder or a file. `more`: see [`Self::check_path`].
    pub(super) fn check_name(&self, name: &str, more: &[String]) -> Result<(), Denied> {
        if name.len() > MAX_NAME_BYTES {
            return Err(Denied::TooLong);
        }
        let folded = fold(name);
        // Windows drops trailing dots and spaces, so `.. ` is `..` there, and `.git.` is `.git`.
        let bare = folded.trim_end_matches(['.', ' ']);
        if bare.is_empty() {
            return Err(Denied::ForeignName);
        }
        if self.deny_hidden && is_hidden(&folded) {
            return Err(Denied::Hidden);
        }
        let before_colon = bare.split(':').next().unwrap_or(bare);
        if self.is_denied(bare) || self.is_denied(before_colon) {
            return Err(Denied::Name);
        }
        if self.has_special_meaning(&folded, bare, more) {
            Err(Denied::ForeignName)
        } else {
            Ok(())
        }
    }

    /// Whether the extension of a file name is allowed; the name must have a stem. `more`: see
    /// [`Self::check_path`].
    pub(super) fn check_extension(&self, name: &str, more: &[String]) -> Result<(), Denied> {
        let mut allowed = self.exts.iter().chain(more);
        if allowed.any(|ext| has_extension(name, ext)) {
            Ok(())
        } else {
            Err(Denied::Extension)
        }
    }

    /// The extensions that may be read below a root that allows `more`, lower-case, with their
    /// dots.
    pub(super) fn extensions<'a>(&'a self, more: &'a [String]) -> Vec<&'a str> {
        let own = self.exts.iter();
        let more = more.iter().filter(|ext| !self.exts.contains(ext));
        own.chain(more).map(String::as_str).collect()
    }

    /// Checks only the deny list, for the folders above a file that a person named explicitly.
    pub(super) fn is_deny_listed(&self, name: &str) -> bool {
        let folded = fold(name);
        self.is_denied(folded.trim_end_matches(['.', ' ']))
    }

    /// Whether a walk skips this name silently: hidden names and other programs' folders.
    pub(super) fn is_passed_by(&self, name: &str) -> bool {
        name.starts_with('.')
            && (NEVER_WALKED.contains(&name)
                || matches!(
                    self.check_name(name, &[]),
                    Err(Denied::Hidden | Denied::Name)
                ))
    }

    fn is_denied(&self, folded: &str) -> bool {
        self.deny_whole.contains(folded)
            || self
                .deny_starred
                .iter()
                .any(|parts| star_matches(parts, folded))
    }

    /// Whether a system interprets the name as something other than a plain file of that name. A
    /// colon after an extension that may be read (by the policy, or `more`) is an NTFS stream on
    /// any system that mounts such a disk; otherwise a colon is an ordinary character.
    fn has_special_meaning(&self, folded: &str, bare: &str, more: &[String]) -> bool {
        let allowed = || self.exts.iter().chain(more);
        if folded
            .match_indices(':')
            .any(|(at, _)| allowed().any(|ext| folded[..at].ends_with(ext.as_str())))
        {
            return true;
        }
        self.windows_names && (folded != bare || folded.contains(':') || is_windows_device(bare))
    }
}

/// Whether `name` ends in `ext` (lower-case, with its dot) after at least one other character.
pub(super) fn has_extension(name: &str, ext: &str) -> bool {
    let (name, ext) = (name.as_bytes(), ext.as_bytes());
    name.len() > ext.len()
        && !ext.is_empty()
        && name[name.len() - ext.len()..].eq_ignore_ascii_case(ext)
}

/// Whether a name is hidden: it has one leading dot. `..foo` is an ordinary name.
fn is_hidden(name: &str) -> bool {
    let after = name.trim_start_matches('.');
    name.len() - after.len() == 1 || (after.is_empty() && !name.is_empty())
}

fn is_windows_device(folded: &str) -> bool {
    let stem = folded.split('.').next().unwrap_or(folded).trim_end();
    matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || is_numbered_device(stem, "com")
        || is_numbered_device(stem, "lpt")
}

/// Whether the name is this prefix and one digit.
fn is_numbered_device(stem: &str, prefix: &str) -> bool {
    stem.strip_prefix(prefix)
        .is_some_and(|n| n.chars().count() == 1 && n.chars().all(|c| c.is_ascii_digit()))
}

/// The form in which names are compared: compatibility-composed, lower-case, without the characters
/// that some file systems ignore. Two names that any system treats as the same have the same form.
pub(super) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfkc()
        .filter(|c| !is_ignorable(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether file systems ignore the character when they compare names.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether `name` matches a pattern that was split at its stars.
fn star_matches(parts: &[String], name: &str) -> bool {
    let [first, middle @ .., last] = parts else {
        return false;
    };
    // A quick test for most names, because every name of every path is checked here.
    if !last.is_empty() && name.as_bytes().last() != last.as_bytes().last() {
        return false;
    }
    let Some(mut rest) = name
        .strip_prefix(first.as_str())
        .and_then(|r| r.strip_suffix(last.as_str()))
    else {
        return false;
    };
    middle.iter().all(|part| match rest.find(part.as_str()) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

/// The names of an absolute path, lexically normalised, for comparison with requests.
pub(super) fn names_of(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in path.to_string_lossy().split(std::path::is_separator) {
        match part {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name.to_owned()),
        }
    }
    names
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The default rules.
    pub(crate) fn security() -> Security {
        let deny = ".env .env.* *.env .git .ssh .gnupg .aws id_rsa id_dsa id_ecdsa id_ed25519 *.pem *.key *.p12 *.pfx \
                    *.kdbx .netrc .npmrc credentials.json";
        Security {
            allowed_roots: vec![],
            allowed_exts: [".md", ".txt", ".json"].map(String::from).to_vec(),
            deny_absolute_paths: true,
            deny_hidden_paths: true,
            deny_names: deny.split_whitespace().map(String::from).collect(),
            hard_links: HardLinks::Deny,
            follow_links: FollowLinks::Never,
            private_tags: vec!["private".to_owned()],
            max_file_bytes: 1 << 20,
            allow_any_path: false,
        }
    }

    fn judge(path: &str) -> Result<(), Denied> {
        Policy::from(&security()).check_path(&RelPath::new(path).unwrap(), &[])
    }

    #[test]
    fn s17_two_leading_dots_are_an_ordinary_name() {
        assert_eq!(judge("..foo/..bar.md"), Ok(()));
        assert_eq!(judge("a..b/c...md"), Ok(()));
        assert_eq!(judge(".foo/bar.md"), Err(Denied::Hidden));
        assert_eq!(judge(".../bar.md"), Err(Denied::ForeignName));
    }

    #[test]
    fn s23_denied_names_count_in_every_segment_and_any_case() {
        let mut open = security();
        open.deny_hidden_paths = false;
        let policy = Policy::from(&open);
        for path in [
            ".git/a.md",
            "x/.GIT/a.md",
            "x/.git/y/a.md",
            "keys/ID_RSA/a.md",
            "a/credentials.json",
            "a/Credentials.JSON",
            "server.pem/a.md",
            ".env.local/x.md",
            "prod.env/x.md",
            "x/.ssh/notes.md",
            "id_rsa./x.md",
            ".git /x.md",
            "x/\u{ff49}d_rsa/a.md",
            ".g\u{200c}it/a.md",
            "id_r\u{17f}a/a.md",
            "id_rsa:a.md",
        ] {
            assert_eq!(
                policy.check_path(&RelPath::new(path).unwrap(), &[]),
                Err(Denied::Name),
                "{path:?}"
            );
        }
        for path in [
            "environment.md",
            "my.key.md",
            "git/a.md",
            "monkey.md",
            ".github/a.md",
        ] {
            assert_eq!(
                policy.check_path(&RelPath::new(path).unwrap(), &[]),
                Ok(()),
                "{path:?}"
            );
        }
    }

    #[test]
    fn s24_only_the_last_extension_counts_in_any_case() {
        for path in ["a.md", "a.MD", "a.exe.md", "a.Txt"] {
            assert_eq!(judge(path), Ok(()), "{path:?}");
        }
        for path in [
            "a.md.exe",
            "a",
            "a.",
            "a.md.",
            "a.md ",
            "a.m\u{ff44}",
            "a.md\u{200b}",
        ] {
            assert_eq!(judge(path), Err(Denied::Extension), "{path:?}");
        }
    }

    #[test]
    fn s04_streams_are_refused_everywhere_and_device_names_where_they_mean_devices() {
        for path in ["file.md:stream.md", "file.md::$DATA.md", "file.TXT:x.md"] {
            assert_eq!(judge(path), Err(Denied::ForeignName), "{path:?}");
        }
        let mut policy = Policy::from(&security());
        policy.windows_names = false;
        // A stream only where such files are read.
        let script = RelPath::new("Node.js: basics.md").unwrap();
        assert_eq!(policy.check_path(&script, &[]), Ok(()));
        let refused = policy.check_path(&script, &[".js".to_owned()]);
        assert_eq!(refused, Err(Denied::ForeignName));
        let ok = |policy: &Policy, path: &str| {
            policy.check_path(&RelPath::new(path).unwrap(), &[]).is_ok()
        };
        for path in [
            "10:30.md",
            "NUL.md",
            "con/x.md",
            "com1.md",
            "dir./x.md",
            "dir /x.md",
        ] {
            assert!(ok(&policy, path), "{path:?}");
        }
        policy.windows_names = true;
        for path in [
            "10:30.md",
            "NUL.md",
            "con/x.md",
            "com1.md",
            "lpt9.x.md",
            "aux .md",
            "dir./x.md",
            "dir /x.md",
        ] {
            assert!(!ok(&policy, path), "{path:?}");
        }
        assert!(ok(&policy, "console/common.md"));
    }

    #[test]
    fn s16_over_long_paths_are_refused_by_their_text() {
        assert_eq!(
            judge(&format!("{}.md", "x".repeat(300))),
            Err(Denied::TooLong)
        );
        assert_eq!(
            judge(&format!("{}a.md", "d/".repeat(200))),
            Err(Denied::TooLong)
        );
        assert_eq!(
            judge(&format!("{}a.md", "dddddddddd/".repeat(500))),
            Err(Denied::TooLong)
        );
    }

    #[test]
    fn a_star_stands_for_any_text_and_never_overlaps() {
        let fits = |pattern: &str, name: &str| {
            star_matches(
                &pattern.split('*').map(String::from).collect::<Vec<_>>(),
                name,
            )
        };
        assert!(
            fits("*.env", "a.env")
                && fits("*.env", ".env")
                && fits("a*b*c", "axxbyyc")
                && fits("*", "x")
        );
        assert!(!fits("ab*ba", "aba") && !fits("a*b*c", "acb") && !fits("*.pem", "pem"));
    }

    proptest! {
        #[test]
        fn a_denied_name_stays_denied_in_any_case_and_depth(
            name in prop::sample::select(vec![".git", "id_rsa", "x.pem", ".env.local", "credentials.json", ".ssh"]),
            upper in prop::collection::vec(any::<bool>(), 16),
            before in "([a-z]{1,4}/){0,3}",
            tail in "[. ]{0,2}",
        ) {
            let name: String = name.chars().zip(upper).map(|(c, up)| if up { c.to_ascii_uppercase() } else { c }).collect();
            let path = format!("{before}{name}{tail}/x.md");
            prop_assert!(judge(&path).is_err());
        }

        #[test]
        fn judging_never_panics(text in any::<String>()) {
            let policy = Policy::from(&security());
            let _ = policy.check_name(&text, &[]);
            let _ = policy.is_passed_by(&text);
            if let Ok(path) = RelPath::new(text) { let _ = policy.check_path(&path, &[".rs".to_owned()]); }
        }
    }
}
