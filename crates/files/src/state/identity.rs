//! Checks whether this user created a state folder on this machine.
//!
//! A folder that was created here contains a random number that is also recorded in the user's own
//! configuration folder. A folder that came with a clone or an archive contains none, or one that
//! is not recorded: its databases, its ledger and its locks are somebody else's data, and are not
//! used until the user agrees.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::StateDirectory;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::to_hex;

/// The file in a state folder that contains its random number.
pub const IDENTITY_FILE: &str = "local-agent-id";

/// Maximum size of the file of recorded folders: some ten thousand folders.
const MAX_NOTES: u64 = 4 << 20;

/// The origin of a state folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// The folder does not exist, or contains only unfinished files.
    Empty,
    /// This user created it on this machine, or agreed to use it.
    Known,
    /// The folder is not recorded.
    Unknown,
}

/// The list of state folders that this user created or agreed to use.
#[derive(Debug, Clone)]
pub struct KnownStates {
    file: PathBuf,
}

impl KnownStates {
    /// The list in `file`, which need not exist. This does not access the disk.
    pub fn new(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
        }
    }

    /// The origin of the folder at `path`. Creates nothing.
    ///
    /// # Errors
    /// `CONFIG_UNTRUSTED` when the file with its number is a link, `FILE_READ_ERROR` when the
    /// folder or the list cannot be read.
    pub fn provenance(&self, path: &Path) -> Result<Provenance> {
        let fail = |e: io::Error| unreadable(path, &e);
        let folder = match StateDirectory::open_configured(path) {
            Ok(Some(folder)) => folder,
            Ok(None) => return Ok(Provenance::Empty),
            // The code that uses the folder reports the file in its place.
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => return Ok(Provenance::Empty),
            Err(e) => return Err(fail(e)),
        };
        match folder.read_bytes(IDENTITY_FILE, 64).map_err(fail)? {
            Some(bytes) if self.holds(&bytes, owner(path))? => Ok(Provenance::Known),
            Some(_) => Ok(Provenance::Unknown),
            // A run that was killed while it created the folder leaves unfinished files.
            None if folder
                .entries()
                .map_err(fail)?
                .iter()
                .all(|entry| super::is_unfinished(&entry.name)) =>
            {
                Ok(Provenance::Empty)
            }
            None => Ok(Provenance::Unknown),
        }
    }

    /// Gives the folder at `path` a new number and records it; creates the folder if it does not
    /// exist. After that it is [`Provenance::Known`].
    ///
    /// # Errors
    /// `WRITE_ERROR` when the folder or the list cannot be written, `CONFIG_UNTRUSTED` when there
    /// is something other than a file at the path of the number.
    pub fn adopt(&self, path: &Path) -> Result<()> {
        let fail = |e: io::Error| {
            super::refusal(&e).unwrap_or_else(|| {
                Failure::new(
                    ErrorCode::WriteError,
                    format!("the state folder {} cannot be made: {e}", path.display()),
                )
                .with_hint(
                    "free some space or allow writing there, or set `state_dir` to another folder",
                )
            })
        };
        let folder = StateDirectory::make_configured(path).map_err(fail)?;
        let mut number = [0; 16];
        getrandom::fill(&mut number).map_err(|e| fail(io::Error::other(e)))?;
        let number = to_hex(&number);
        // It is recorded first, because a folder with an unrecorded number would be refused.
        self.note(&number, owner(path), path)?;
        folder
            .replace(IDENTITY_FILE, format!("{number}\n").as_bytes())
            .map_err(fail)
    }

    /// Whether the list contains this number for a folder of this owner.
    fn holds(&self, number: &[u8], owner: u32) -> Result<bool> {
        let Some(number) = std::str::from_utf8(number)
            .ok()
            .map(str::trim)
            .filter(|n| is_number(n))
        else {
            return Ok(false);
        };
        let wanted = format!("{number} {owner} ");
        Ok(self.read()?.lines().any(|line| line.starts_with(&wanted)))
    }

    fn read(&self) -> Result<String> {
        match fs::metadata(&self.file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(e) => return Err(unreadable(&self.file, &e)),
            Ok(meta) if meta.len() > MAX_NOTES => {
                let message = format!(
                    "the list of state folders {} is too long",
                    self.file.display()
                );
                return Err(Failure::new(ErrorCode::ConfigError, message).with_command(format!(
                    "mv {0} {0}.old && local-agent config trust (in each folder that you trust)",
                    super::quoted(&self.file)
                )));
            }
            Ok(_) => {}
        }
        // A damaged line matches no folder; the lines around it are still valid.
        let bytes = fs::read(&self.file).map_err(|e| unreadable(&self.file, &e))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Adds one line. Each line is written with one call, so processes that write at the same time
    /// do not mix their lines.
    fn note(&self, number: &str, owner: u32, path: &Path) -> Result<()> {
        let shown = path.display().to_string().replace(char::is_control, "?");
        let mut line = format!("{number} {owner} {shown}\n");
        let mut write = || {
            if let Some(folder) = self.file.parent() {
                super::make_all(folder)?;
            }
            let mut options = fs::OpenOptions::new();
            options.read(true).append(true).create(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&self.file)?;
            // The rest of a line that a crash left must not be joined to the new line.
            if !ends_a_line(&mut file)? {
                line.insert(0, '\n');
            }
            io::Write::write_all(&mut file, line.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|e| {
            let message = format!(
                "that the state folder {} is yours cannot be noted in {}: {e}",
                path.display(),
                self.file.display()
            );
            Failure::new(ErrorCode::WriteError, message).with_fix(
                Fix::ByPerson,
                "set XDG_CONFIG_HOME to a folder that can be written, and run the command again",
            )
        })
    }
}

/// Whether a file is empty or ends with a line break.
fn ends_a_line(file: &mut fs::File) -> io::Result<bool> {
    use io::{Read as _, Seek as _};
    if file.seek(io::SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(io::SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Thirty-two hexadecimal digits.
fn is_number(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    super::refusal(error).unwrap_or_else(|| {
        Failure::new(
            ErrorCode::FileReadError,
            format!("{} cannot be read: {error}", path.display()),
        )
        .with_hint("allow reading there, and run the command again")
    })
}

/// The owner of the folder at `path`; 0 if the system does not report it.
#[cfg(unix)]
fn owner(path: &Path) -> u32 {
    fs::metadata(path).map_or(0, |meta| std::os::unix::fs::MetadataExt::uid(&meta))
}

#[cfg(not(unix))]
fn owner(_: &Path) -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> (tempfile::TempDir, KnownStates, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (trusted, state) = (
            KnownStates::new(&dir.path().join("own/states")),
            dir.path().join("vault/state"),
        );
        (dir, trusted, state)
    }

    #[test]
    fn a_folder_is_known_only_where_it_was_made() {
        let (dir, trusted, state) = world();
        assert_eq!(trusted.provenance(&state).unwrap(), Provenance::Empty);
        assert!(!state.exists(), "looking makes nothing");
        trusted.adopt(&state).unwrap();
        assert_eq!(trusted.provenance(&state).unwrap(), Provenance::Known);
        // The list of another user or another machine does not contain its number.
        let other = KnownStates::new(&dir.path().join("another/states"));
        assert_eq!(other.provenance(&state).unwrap(), Provenance::Unknown);
        // A folder that its owner moved is still known.
        let moved = dir.path().join("moved");
        fs::rename(&state, &moved).unwrap();
        assert_eq!(trusted.provenance(&moved).unwrap(), Provenance::Known);
    }

    #[test]
    fn a_folder_with_anything_in_it_and_no_number_is_unknown() {
        let (_dir, trusted, state) = world();
        fs::create_dir_all(&state).unwrap();
        assert_eq!(trusted.provenance(&state).unwrap(), Provenance::Empty);
        fs::write(state.join("embed.lock"), "").unwrap();
        assert_eq!(trusted.provenance(&state).unwrap(), Provenance::Unknown);
        for wrong in [
            "",
            "0123",
            "not a number at all, but as long as.",
            "../../../../../../../etc/passwd0",
        ] {
            fs::write(state.join(IDENTITY_FILE), wrong).unwrap();
            assert_eq!(
                trusted.provenance(&state).unwrap(),
                Provenance::Unknown,
                "{wrong}"
            );
        }
        trusted.adopt(&state).unwrap();
        assert_eq!(trusted.provenance(&state).unwrap(), Provenance::Known);
    }

    /// An attacker who planted a number could plant the same number in another folder.
    #[test]
    fn agreeing_to_a_folder_gives_it_a_new_number() {
        let (_dir, trusted, state) = world();
        fs::create_dir_all(&state).unwrap();
        let planted = "0123456789abcdef0123456789abcdef";
        fs::write(state.join(IDENTITY_FILE), planted).unwrap();
        trusted.adopt(&state).unwrap();
        assert_ne!(
            fs::read_to_string(state.join(IDENTITY_FILE))
                .unwrap()
                .trim(),
            planted
        );
        fs::write(state.join(IDENTITY_FILE), planted).unwrap();
        assert_eq!(trusted.provenance(&state).unwrap(), Provenance::Unknown);
    }

    #[cfg(unix)]
    #[test]
    fn a_number_behind_a_link_is_not_read() {
        let (dir, trusted, state) = world();
        trusted.adopt(&state).unwrap();
        let hostile = dir.path().join("hostile");
        fs::create_dir(&hostile).unwrap();
        std::os::unix::fs::symlink(state.join(IDENTITY_FILE), hostile.join(IDENTITY_FILE)).unwrap();
        assert_eq!(
            trusted.provenance(&hostile).unwrap_err().code,
            ErrorCode::ConfigUntrusted
        );
    }
}
