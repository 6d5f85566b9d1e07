//! The setup for tests of the tools: one root, a file outside it, and every tool.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::{ToolFactory, ToolOutcome, ToolPolicy};
use crate::config::Config;
use local_agent_files::sandbox::{Policy, RootSpec, Sandbox, Selection};
use local_agent_text::types::SourceName;

pub(super) struct World {
    _dir: TempDir,
    pub vault: PathBuf,
}

impl World {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let vault = base.join("vault");
        fs::create_dir(&vault).unwrap();
        fs::create_dir(base.join("outside")).unwrap();
        fs::write(base.join("outside/secret.md"), "SECRET").unwrap();
        Self { _dir: dir, vault }
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        self.write_bytes(path, text.as_bytes());
    }

    pub(super) fn write_bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.vault.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[cfg(unix)]
    pub(super) fn link(&self, target: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(target, self.vault.join(path)).unwrap();
    }

    pub(super) fn sandbox(&self) -> Sandbox {
        Self::over(&[("notes", &self.vault)])
    }

    fn over(roots: &[(&str, &Path)]) -> Sandbox {
        let rules = Config::defaults(Path::new("/nowhere")).unwrap().security;
        let spec = |(name, path): &(&str, &Path)| RootSpec {
            name: SourceName::new(*name).unwrap(),
            path: path.to_path_buf(),
            kind: "notes".into(),
            code: true,
            selection: Selection::default(),
        };
        Sandbox::open(roots.iter().map(spec).collect(), Policy::from(&rules)).unwrap()
    }

    /// Tools over the vault and one more root that does not exist.
    pub(super) fn with_lost_root(&self, name: &str) -> ToolFactory {
        let lost = self.vault.join("../lost");
        ToolFactory::new(
            Self::over(&[("notes", &self.vault), (name, &lost)]),
            ToolPolicy::default(),
        )
    }

    pub(super) fn factory(&self) -> ToolFactory {
        ToolFactory::new(self.sandbox(), ToolPolicy::default())
    }

    pub(super) fn run(&self, tool: &str, args: Value) -> ToolOutcome {
        self.factory().get(tool).unwrap().run(&args)
    }
}

/// The JSON of a successful outcome.
pub(super) fn ok(outcome: &ToolOutcome) -> Value {
    let body = outcome.to_json();
    assert_eq!(body["ok"], true, "{body}");
    body
}

/// The code of a failed one.
pub(super) fn code(outcome: &ToolOutcome) -> String {
    let body = outcome.to_json();
    assert_eq!(body["ok"], false, "{body}");
    assert!(
        body["error_message"]
            .as_str()
            .is_some_and(|m| !m.is_empty()),
        "{body}"
    );
    body["error_code"].as_str().unwrap().to_owned()
}
