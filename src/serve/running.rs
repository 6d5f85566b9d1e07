//! The server of a state folder. At most one runs, and others find it by a small file.
//!
//! The lock and not the file shows whether it runs: a killed server leaves the file, but not the
//! lock.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::lost;
use local_agent_files::state::StateDirectory;
use local_agent_index::store::JobLock;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::Sha256;

/// The file in the state folder that names the running server.
const FILE: &str = "serve.running.json";

/// The lock that the running server holds.
const LOCK: &str = "serve.lock";

/// The file that asks the running server to end. A signal would need its process id, which means
/// another process in another container, and Windows has no such signal.
const END: &str = "serve.end";

/// The interval at which the running server looks for that file.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RunningServer {
    pub pid: u32,
    pub listening: SocketAddr,
    pub url: String,
    /// The address of the proxy in front of it, for other machines.
    pub public_url: Option<String>,
    /// The hash of the certificate with which it uses TLS itself.
    pub certificate_sha256: Option<Sha256>,
    /// RFC 3339, UTC.
    pub started_at: String,
}

/// The server that runs on this state folder; `None` if none runs, or it does not listen yet.
///
/// # Errors
/// `WRITE_ERROR` when the file cannot be read.
pub(crate) fn running(state_dir: &Path) -> Result<Option<RunningServer>> {
    let failed = |e: std::io::Error| lost(state_dir, FILE, &e);
    let folder = StateDirectory::open_configured(state_dir).map_err(failed)?;
    match folder {
        Some(folder) if is_held(&folder) => named(&folder),
        _ => Ok(None),
    }
}

/// Whether a server runs on this state folder.
pub(crate) fn is_running(state_dir: &Path) -> bool {
    let folder = StateDirectory::open_configured(state_dir);
    folder.is_ok_and(|folder| folder.is_some_and(|folder| is_held(&folder)))
}

/// Asks the running server to end. It answers the requests that it has, and ends within a few
/// seconds after them.
///
/// # Errors
/// `WRITE_ERROR` when the state folder cannot be written.
pub(crate) fn ask_to_end(state_dir: &Path) -> Result<()> {
    let failed = |e: std::io::Error| lost(state_dir, END, &e);
    let folder = StateDirectory::make_configured(state_dir).map_err(failed)?;
    folder.replace(END, b"").map_err(failed)
}

/// Checks that no server runs on this state folder.
///
/// # Errors
/// `LOCKED` with the address of the server that runs already; `WRITE_ERROR`.
pub(crate) fn refuse_second(state_dir: &Path) -> Result<()> {
    let folder = StateDirectory::open_configured(state_dir);
    let folder = folder.map_err(|e| lost(state_dir, FILE, &e))?;
    folder.map_or(Ok(()), |folder| refuse_second_in(&folder))
}

fn refuse_second_in(folder: &StateDirectory) -> Result<()> {
    if !is_held(folder) {
        return Ok(());
    }
    let at = named(folder)?.map_or_else(String::new, |one| {
        format!(" at {} (process {})", one.url, one.pid)
    });
    let message = format!("a server of this state folder runs already{at}");
    Err(Failure::new(ErrorCode::Locked, message).with_command("local-agent serve stop"))
}

fn is_held(folder: &StateDirectory) -> bool {
    JobLock::holder_in(folder, LOCK).is_some()
}

fn named(folder: &StateDirectory) -> Result<Option<RunningServer>> {
    let bytes = folder
        .read_bytes(FILE, 1 << 14)
        .map_err(|e| lost(folder.path(), FILE, &e))?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// The claim of this process to be the server. It ends when the value is dropped.
pub(super) struct Claim {
    folder: StateDirectory,
    _lock: JobLock,
}

impl Claim {
    /// Makes this process the server of the state folder.
    ///
    /// # Errors
    /// `LOCKED` with the address of the server that runs already; `WRITE_ERROR`.
    pub(super) fn make(state_dir: &Path) -> Result<Self> {
        let failed = |e: std::io::Error| lost(state_dir, FILE, &e);
        let folder = StateDirectory::make_configured(state_dir).map_err(failed)?;
        refuse_second_in(&folder)?;
        let holder = format!("pid {}, `local-agent serve`", std::process::id());
        let lock = JobLock::take_in(&folder, LOCK, &holder, Duration::ZERO)?;
        // The files of a killed server.
        folder.remove(FILE).map_err(failed)?;
        folder.remove(END).map_err(failed)?;
        Ok(Self {
            folder,
            _lock: lock,
        })
    }

    /// Records the address of this server.
    pub(super) fn announce(&self, server: &RunningServer) -> Result<()> {
        let text = serde_json::to_string(server)
            .map_err(|e| Failure::internal(format!("an address is not JSON: {e}")))?;
        self.folder
            .replace(FILE, (text + "\n").as_bytes())
            .map_err(|e| lost(self.folder.path(), FILE, &e))
    }

    /// Waits until somebody asks this server to end.
    pub(super) async fn asked_to_end(&self) {
        while !self.is_asked_to_end() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// A state folder that cannot be read asks for nothing.
    fn is_asked_to_end(&self) -> bool {
        self.folder.metadata(END).is_ok_and(|file| file.is_some())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = self.folder.remove(FILE);
        let _ = self.folder.remove(END);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_holds_a_state_folder_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        assert!(running(state).unwrap().is_none() && !is_running(state));
        let claim = Claim::make(state).unwrap();
        assert!(is_running(state) && running(state).unwrap().is_none());
        let server = RunningServer {
            pid: 7,
            listening: "127.0.0.1:8377".parse().unwrap(),
            url: "http://127.0.0.1:8377".to_owned(),
            public_url: None,
            certificate_sha256: None,
            started_at: "now".to_owned(),
        };
        claim.announce(&server).unwrap();
        assert_eq!(running(state).unwrap(), Some(server));
        let second = Claim::make(state).err().unwrap();
        assert_eq!(second.code, ErrorCode::Locked);
        assert!(
            second
                .message
                .contains("at http://127.0.0.1:8377 (process 7)")
        );
        assert!(!claim.is_asked_to_end());
        ask_to_end(state).unwrap();
        assert!(claim.is_asked_to_end());
        drop(claim);
        assert!(running(state).unwrap().is_none());
        assert!(!state.join(FILE).exists() && !state.join(END).exists());
        // The file of a killed server names no server.
        std::fs::write(state.join(FILE), "{").unwrap();
        assert!(running(state).unwrap().is_none());
        // What was asked of a killed server does not end the next one.
        ask_to_end(state).unwrap();
        assert!(!Claim::make(state).unwrap().is_asked_to_end());
    }
}
