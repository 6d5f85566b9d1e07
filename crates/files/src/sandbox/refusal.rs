//! The wording of refusals. All errors that depend on the disk have the same wording, so that no
//! reply reveals anything about files outside the roots; the real reason is a [`Why`], for the
//! operator's records only.

use std::fmt;

use super::policy::Denied;
use local_agent_extract::NoText;
use local_agent_text::documents::CODE_EXTENSIONS;
use local_agent_text::error::{ErrorCode, Failure, Fix};
use local_agent_text::types::SkipReason;

/// The real reason behind a `FILE_NOT_FOUND`. For the operator's audit row; never shown to a model
/// or a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefusalReason {
    /// Nothing has that name.
    Missing,
    /// There is a symbolic link in the path, and links are not followed.
    Symlink,
    /// A followed link leaves the root, or its target is absolute.
    LinkLeaves,
    /// More than eight links in a row.
    LinkLoop,
    /// A followed link leads to a name or an extension that the policy denies.
    Denied,
    /// A FIFO, socket or device.
    NotRegular,
    /// The file has more than one hard link.
    HardLink,
    /// The system refused to open it.
    NoPermission,
    /// The system failed in another way.
    SystemError,
    /// The root itself could not be opened.
    RootUnavailable,
    /// It is a private note, and these are withheld.
    Private,
}

impl RefusalReason {
    /// The stable name, as written in audit rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Symlink => "symlink",
            Self::LinkLeaves => "link_leaves",
            Self::LinkLoop => "link_loop",
            Self::Denied => "denied",
            Self::NotRegular => "not_regular",
            Self::HardLink => "hard_link",
            Self::NoPermission => "no_permission",
            Self::SystemError => "system_error",
            Self::RootUnavailable => "root_unavailable",
            Self::Private => "private",
        }
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a path that the policy allows was not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It looks as if the file did not exist: the reply is always the same sentence.
    Unseen(RefusalReason),
    Directory,
    TooLarge {
        size: u64,
        cap: u64,
    },
    /// Opened and allowed, but reading failed, with the system's message.
    Broken(String),
    /// Allowed, but no text could be extracted.
    NoText(NoText),
}

impl Refusal {
    /// An error of the system while looking up a name.
    pub(super) fn of_lookup(error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        Self::Unseen(match error.kind() {
            NotFound | NotADirectory => RefusalReason::Missing,
            PermissionDenied => RefusalReason::NoPermission,
            _ => RefusalReason::SystemError,
        })
    }

    /// The reason under which a walk lists it; `None` when there is nothing to list.
    pub(super) const fn as_skipped(&self) -> Option<SkipReason> {
        Some(match self {
            Self::Unseen(RefusalReason::Missing) | Self::Directory => return None,
            Self::Unseen(
                RefusalReason::Symlink | RefusalReason::LinkLeaves | RefusalReason::LinkLoop,
            ) => SkipReason::Symlink,
            Self::Unseen(RefusalReason::Denied) => SkipReason::Denied,
            Self::Unseen(RefusalReason::NotRegular) => SkipReason::NotRegular,
            Self::Unseen(RefusalReason::HardLink) => SkipReason::HardLink,
            Self::TooLarge { .. } => SkipReason::TooLarge,
            Self::NoText(NoText::NotBuilt(_)) => SkipReason::NotBuilt,
            Self::NoText(_) => SkipReason::NotExtracted,
            Self::Unseen(_) | Self::Broken(_) => SkipReason::Unreadable,
        })
    }

    pub(super) fn into_failure(self, request: &str) -> Failure {
        let request = shown(request);
        match self {
            Self::Unseen(_) => not_found(&request),
            Self::Directory => Failure::new(
                ErrorCode::PathIsDirectory,
                format!("`{request}` is a folder."),
            )
            .with_hint("name a file in it, for example `source:folder/file.md`"),
            Self::TooLarge { size, cap } => Failure::new(
                ErrorCode::FileTooLarge,
                format!("`{request}` has {size} bytes; `security.max_file_bytes` allows {cap}."),
            )
            .with_fix(
                Fix::ChangeSetting,
                "raise `security.max_file_bytes` in the configuration",
            ),
            Self::Broken(words) => Failure::new(
                ErrorCode::FileReadError,
                format!("`{request}` could not be read to its end: {words}."),
            )
            .with_command("local-agent doctor"),
            Self::NoText(why) => {
                let hint = match why {
                    NoText::NotBuilt(feature) => {
                        format!("cargo install --path . --features {feature}")
                    }
                    _ => "open the file in the program that it is made for".to_owned(),
                };
                let message = format!("`{request}` gives no text, because {why}.");
                Failure::new(ErrorCode::FileReadError, message).with_hint(hint)
            }
        }
    }
}

/// The failure with the sentence that all of these share.
pub(super) fn not_found(request: &str) -> Failure {
    Failure::new(
        ErrorCode::FileNotFound,
        format!("There is no readable file at `{}`.", shown(request)),
    )
    .with_command("local-agent ls")
}

/// The failure for a request that its text and the policy rule out.
pub(super) fn denied(request: &str, denied: Denied) -> Failure {
    denied_as(request, denied, "name a file as `source:folder/file.md`")
}

/// As [`denied`], for a request that must name a folder.
pub(super) fn denied_folder(request: &str, denied: Denied) -> Failure {
    denied_as(request, denied, NAME_A_FOLDER)
}

/// How a folder is named.
const NAME_A_FOLDER: &str = "name a folder as `source:folder`, or a whole source as `source:`";

/// The failure for a request for a folder that does not exist, or that nobody may see.
pub(super) fn no_folder(request: &str) -> Failure {
    let message = format!("There is no readable folder at `{}`.", shown(request));
    Failure::new(ErrorCode::FileNotFound, message).with_hint(NAME_A_FOLDER)
}

fn denied_as(request: &str, denied: Denied, example: &str) -> Failure {
    let code = if denied == Denied::Blank {
        ErrorCode::InvalidArgs
    } else {
        ErrorCode::PathDenied
    };
    let (fix, hint) = match denied {
        Denied::Extension if is_code(request) => {
            (Fix::ChangeSetting, "set `code: true` for its source")
        }
        Denied::Extension => (
            Fix::RunCommand,
            "local-agent config show (see `security.allowed_exts`)",
        ),
        Denied::Hidden | Denied::Name => (
            Fix::RunCommand,
            "see `security` in: local-agent config show",
        ),
        Denied::UnknownSource | Denied::NotBelowARoot => {
            (Fix::ListSources, "local-agent source list")
        }
        _ => (Fix::Words, example),
    };
    Failure::new(
        code,
        format!(
            "`{}` is refused because {}.",
            shown(request),
            denied.because()
        ),
    )
    .with_fix(fix, hint)
}

/// Whether the request names a file of source code, which a source takes in with `code: true`.
fn is_code(request: &str) -> bool {
    let lower = request.to_lowercase();
    let file = lower.split(['#', ' ']).next().unwrap_or(&lower);
    CODE_EXTENSIONS.iter().any(|ending| file.ends_with(ending))
}

/// The request as shown in a message: at most 200 characters.
fn shown(request: &str) -> String {
    match request.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", &request[..at]),
        None => request.to_owned(),
    }
}
