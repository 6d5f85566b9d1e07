//! Loads a configuration from the inputs of the command line: finds the files, their order and the
//! workroot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::{ConfigProblem, Findings, Origin};
use super::keys::Key;
use super::raw::{self, Node, Value};
use super::this_machine;
use super::trust::{Fault, JudgedFile};
use super::typed::{self, Typed, Val};
use super::values::Values;
use super::workroot::{config_root, given, ignored_workroot, named_config, workroot};
use super::{ApiKey, Config, compat, places, show, trust, validate};
use local_agent_text::error::{Failure, Result};

/// The file that marks a workroot.
pub const WORKROOT_FILE: &str = "local-agent.yaml";

/// The key with the address of the model server.
const SERVER: &str = "llm.base_url";

/// The lowest layer, compiled in.
pub(super) const DEFAULT_YAML: &str = include_str!("../../../../configs/default.yaml");

/// Everything that determines the configuration. This module reads neither the environment nor the
/// command line; the caller does. Blank strings count as unset everywhere.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The caller's current folder, absolute.
    pub cwd: PathBuf,
    /// Where the user's configuration would be; it need not exist.
    pub user_config: Option<PathBuf>,
    /// `--config`.
    pub config_flag: Option<PathBuf>,
    /// `--workroot`.
    pub workroot_flag: Option<PathBuf>,
    /// LOCAL_AGENT_WORKROOT.
    pub env_workroot: Option<String>,
    /// LOCAL_AGENT_CONFIG.
    pub env_config: Option<String>,
    /// LOCAL_AGENT_OLLAMA_BASE_URL, OLLAMA_BASE_URL.
    pub env_ollama_urls: [Option<String>; 2],
    /// LOCAL_AGENT_API_KEY.
    pub env_api_key: Option<ApiKey>,
    /// `--ollama-base-url`.
    pub ollama_url_flag: Option<String>,
    /// Other flags that set a key; later ones win.
    pub flags: Vec<FlagValue>,
    /// The meaning of `~`.
    pub home: Option<PathBuf>,
    /// The file that records which found configurations are trusted; without it, none is.
    pub trust_file: Option<PathBuf>,
    /// A text in place of what is in one of the files.
    pub edited: Option<EditedFile>,
}

/// The text that a configuration file is about to get. It counts as trusted, because the person's
/// own command makes it; the file need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedFile {
    /// The file, as in [`Layer::path`].
    pub path: PathBuf,
    /// Its new content.
    pub bytes: Vec<u8>,
}

impl Inputs {
    /// The new content of a file, if it is the edited one.
    fn edited_bytes(&self, path: &Path) -> Option<&[u8]> {
        let edited = self.edited.as_ref().filter(|edited| edited.path == path)?;
        Some(&edited.bytes)
    }
}

/// A flag that sets a key for this run. A relative path in it is relative to the current folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagValue {
    /// With its dashes, for messages.
    pub flag: String,
    /// The dotted key.
    pub key: &'static str,
    /// As typed. Blank: the flag sets nothing. A list cannot be given.
    pub value: String,
}

/// A configuration and its origin.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The validated values. Usable only if there are no problems.
    pub config: Config,
    /// Every key of this program with its value and the value's origin, in the order of the table.
    pub origins: Vec<Setting>,
    /// The files that were read, lowest first; the compiled-in defaults are not among them.
    pub layers: Vec<Layer>,
    /// The problems; empty after [`load`]. An invalid value is left out, so the value of the layer
    /// below is used. That is enough for a report, but not for running.
    pub problems: Vec<ConfigProblem>,
}

/// One key for `config show`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// The dotted key.
    pub key: &'static str,
    /// The effective value, with paths resolved. `null`: unset.
    pub value: serde_json::Value,
    /// Where the value was typed.
    pub origin: Origin,
    /// Why the effective value differs from the one in a file, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Layer {
    /// The file's absolute path.
    pub path: PathBuf,
    /// Why the file was read.
    pub kind: LayerKind,
    /// Whether the operator trusts exactly these bytes; checked only for a workroot's file.
    pub trusted: bool,
    /// Whether the file must be trusted to be used in full.
    pub needs_trust: bool,
    /// Whether it was written for the Python version (it has `phase2` or `phase3`).
    pub ancestor: bool,
}

/// Why a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// The user's configuration.
    User,
    /// The workroot's file, where the workroot was found by walking up.
    Found,
    /// The workroot's file, where the operator named the workroot.
    Workroot,
    /// `--config` or LOCAL_AGENT_CONFIG.
    Named,
}

impl LayerKind {
    /// The word for it, as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Found => "found",
            Self::Workroot => "workroot",
            Self::Named => "named",
        }
    }
}

/// A file's typed keys, with the Python version's already translated.
pub(super) struct Read {
    pub layer: Layer,
    pub typed: Vec<Typed>,
    bytes: Vec<u8>,
}

/// Loads the configuration.
///
/// # Errors
/// The first problem, counting the others: `CONFIG_ERROR` for an unreadable file, an unknown key, a
/// wrong value or roots that cannot be used; `CONFIG_UNTRUSTED`; `INVALID_ARGS` for a flag's value.
pub fn load(inputs: &Inputs) -> Result<Loaded> {
    let loaded = load_lenient(inputs)?;
    let Some(first) = loaded.problems.first() else {
        return Ok(loaded);
    };
    let mut failure = first.failure.clone();
    let more = loaded.problems.len() - 1;
    if more > 0 {
        failure.message = format!(
            "{} (and {more} more: `local-agent config check` lists them)",
            failure.message
        );
    }
    Err(failure)
}

/// Loads what can be loaded and puts the problems into `problems`, so that `doctor` and `config
/// check` can report them.
///
/// # Errors
/// Only `INTERNAL_ERROR`.
pub fn load_lenient(inputs: &Inputs) -> Result<Loaded> {
    let mut findings = Findings::default();
    let defaults = default_values()?;
    let mut files = Vec::new();
    let home = inputs.home.as_deref();
    if let Some(path) = inputs.user_config.as_deref() {
        let path = places::normalise(&inputs.cwd.join(path));
        if path.exists() || path.is_symlink() || inputs.edited_bytes(&path).is_some() {
            files.extend(read(&path, LayerKind::User, inputs, &mut findings));
        }
    }
    let named = named_config(inputs, &mut findings);
    let named = named.and_then(|path| read(&path, LayerKind::Named, inputs, &mut findings));
    let workroot = workroot(inputs, named.as_ref(), files.first(), &mut findings);
    if let Some((root, origin)) = &workroot {
        let kind = if matches!(origin, Origin::Found(_)) {
            LayerKind::Found
        } else {
            LayerKind::Workroot
        };
        if let Some(mut file) = workroot_file(
            root,
            kind,
            inputs,
            [named.as_ref(), files.first()],
            &mut findings,
        ) {
            let below = merge(defaults.clone(), &files, Vec::new()).0;
            let server = server_in_force(inputs, named.as_ref(), &file, &below);
            let faults = trust::faults(&JudgedFile {
                layer: &file.typed,
                below: &below,
                folder: root,
                home,
                found: kind == LayerKind::Found,
                is_server_far: server.is_some_and(this_machine::is_far),
            });
            check_trust(&mut file, &faults, inputs, &mut findings);
            ignored_workroot(&file, root, home, &mut findings);
            files.push(file);
        }
    }
    files.extend(named);
    let (values, notes) = merge(defaults, &files, overlays(inputs, &mut findings)?);
    let ground = Ground::new(inputs, &files, workroot);
    let config = validate::build(&values, &ground, &mut findings)?;
    let origins = show::settings(&values, &config, &notes, &ground);
    let layers = files.into_iter().map(|f| f.layer).collect();
    Ok(Loaded {
        config,
        origins,
        layers,
        problems: findings.problems,
    })
}

/// The defaults relative to `inputs.cwd`, without reading any file.
pub(super) fn without_files(inputs: &Inputs) -> Result<Config> {
    let ground = Ground::new(inputs, &[], None);
    validate::build(&default_values()?, &ground, &mut Findings::default())
}

/// The base of all relative paths, and facts about the files.
pub(super) struct Ground<'a> {
    pub inputs: &'a Inputs,
    pub workroot: Option<(PathBuf, Origin)>,
    pub config_path: Option<PathBuf>,
    pub config_root: Option<PathBuf>,
    pub security_root: PathBuf,
    /// Whether some file was written for the Python version, so that the Python version's locations
    /// are the defaults.
    pub ancestor: bool,
    /// The workroot's file if it was found by walking up and is untrusted.
    pub untrusted: Option<PathBuf>,
}

impl<'a> Ground<'a> {
    fn new(inputs: &'a Inputs, files: &[Read], workroot: Option<(PathBuf, Origin)>) -> Self {
        let config_path = files.last().map(|f| f.layer.path.clone());
        let config_root = config_path.as_deref().and_then(config_root);
        let named = workroot.as_ref().map(|(root, _)| root.clone());
        let security_root = named
            .or_else(|| config_root.clone())
            .unwrap_or_else(|| places::normalise(&inputs.cwd));
        let ancestor = files.iter().any(|f| f.layer.ancestor);
        let found = files
            .iter()
            .find(|f| f.layer.kind == LayerKind::Found && !f.layer.trusted);
        let untrusted = found.map(|f| f.layer.path.clone());
        Self {
            inputs,
            workroot,
            config_path,
            config_root,
            security_root,
            ancestor,
            untrusted,
        }
    }
}

/// The compiled-in layer as values.
pub(super) fn default_values() -> Result<Values> {
    let mut findings = Findings::default();
    let map = raw::parse("default.yaml", DEFAULT_YAML.as_bytes()).map_err(|e| {
        Failure::internal(format!(
            "the default configuration cannot be read: {}",
            e.message
        ))
    })?;
    let typed = typed::read_map(&map, "", &Origin::Default, false, &mut findings);
    match findings.problems.first() {
        Some(problem) => Err(Failure::internal(problem.failure.message.clone())),
        None => Ok(Values(typed.into_iter().map(|t| (t.key.path, t)).collect())),
    }
}

fn read(path: &Path, kind: LayerKind, inputs: &Inputs, findings: &mut Findings) -> Option<Read> {
    let bytes = match inputs.edited_bytes(path) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => raw::read_file(path, raw::MAX_FILE_BYTES),
    };
    let parsed = bytes
        .map_err(|why| raw::unreadable(path, &why))
        .and_then(|bytes| Ok((raw::parse(&path.display().to_string(), &bytes)?, bytes)));
    let (map, bytes) = match parsed {
        Ok(parsed) => parsed,
        Err(problem) => {
            findings.problems.push(problem.into());
            return None;
        }
    };
    let ancestor = compat::is_ancestor(&map);
    let origin = Origin::File {
        path: path.to_owned(),
        line: 1,
    };
    let typed = typed::read_map(&map, "", &origin, ancestor, findings);
    let typed = compat::translate(typed, findings);
    let layer = Layer {
        path: path.to_owned(),
        kind,
        trusted: false,
        needs_trust: false,
        ancestor,
    };
    Some(Read {
        layer,
        typed,
        bytes,
    })
}

/// The workroot's own file, unless it was read already.
fn workroot_file(
    root: &Path,
    kind: LayerKind,
    inputs: &Inputs,
    known: [Option<&Read>; 2],
    findings: &mut Findings,
) -> Option<Read> {
    let path = root.join(WORKROOT_FILE);
    if !path.exists() && !path.is_symlink() {
        return None;
    }
    let same = |other: &Read| other.layer.path.canonicalize().ok() == path.canonicalize().ok();
    if known.into_iter().flatten().any(same) {
        return None;
    }
    read(&path, kind, inputs, findings)
}

/// The address of the model server that would be in force with this file.
fn server_in_force<'a>(
    inputs: &'a Inputs,
    named: Option<&'a Read>,
    file: &'a Read,
    below: &'a Values,
) -> Option<&'a str> {
    let [first, second] = &inputs.env_ollama_urls;
    let flags = inputs.flags.iter().rev();
    let flag = flags
        .filter(|flag| flag.key == SERVER)
        .find_map(|flag| given(Some(&flag.value)));
    flag.or_else(|| given(inputs.ollama_url_flag.as_deref()))
        .or_else(|| given(first.as_deref()))
        .or_else(|| given(second.as_deref()))
        .or_else(|| server_of(named?))
        .or_else(|| server_of(file))
        .or_else(|| below.opt_text(SERVER))
}

/// The address of the model server in one file.
fn server_of(file: &Read) -> Option<&str> {
    let typed = file.typed.iter().find(|typed| typed.key.path == SERVER);
    match typed.map(|typed| &typed.val) {
        Some(Val::Text(url)) => Some(url),
        _ => None,
    }
}

/// Leaves out the keys of a workroot's file that are at fault, and reports them, unless the file is
/// trusted.
fn check_trust(file: &mut Read, faults: &[Fault], inputs: &Inputs, findings: &mut Findings) {
    file.layer.needs_trust = !faults.is_empty();
    if let Some(store) = &inputs.trust_file {
        match trust::holds(store, &file.layer.path, &file.bytes) {
            Ok(trusted) => file.layer.trusted = trusted,
            Err(problem) if file.layer.needs_trust => findings.problems.push(problem.into()),
            // Nothing in the file needs the trust store.
            Err(problem) => findings.warnings.push(problem.message),
        }
    }
    file.layer.trusted |= inputs.edited_bytes(&file.layer.path).is_some();
    if file.layer.needs_trust && !file.layer.trusted {
        findings
            .problems
            .push(trust::untrusted(&file.layer.path, faults).into());
        file.typed
            .retain(|t| !faults.iter().any(|f| f.key == t.key.path));
    }
}

/// The settings from the environment and flags, lowest first.
fn overlays(inputs: &Inputs, findings: &mut Findings) -> Result<Vec<Typed>> {
    let [first, second] = &inputs.env_ollama_urls;
    let mut urls = vec![
        (Origin::Environment("OLLAMA_BASE_URL"), second),
        (Origin::Environment("LOCAL_AGENT_OLLAMA_BASE_URL"), first),
    ];
    let flag = Origin::Flag("--ollama-base-url".to_owned());
    urls.push((flag, &inputs.ollama_url_flag));
    let mut out = Vec::new();
    for (origin, text) in urls {
        if let Some(text) = given(text.as_deref()) {
            let key = Key::find(SERVER)
                .ok_or_else(|| Failure::internal("there is no key `llm.base_url`"))?;
            out.push(Typed {
                key,
                val: Val::Text(text.to_owned()),
                origin,
            });
        }
    }
    for flag in &inputs.flags {
        let key = Key::find(flag.key).filter(|k| !k.is_ancestor());
        let key =
            key.ok_or_else(|| Failure::internal(format!("{} stands for no key", flag.flag)))?;
        let node = Node {
            line: 0,
            value: Value::Scalar {
                text: flag.value.clone(),
                plain: true,
            },
        };
        let origin = Origin::Flag(flag.flag.clone());
        if !node.is_unset()
            && let Some(val) = typed::check(key, &node, &origin, false, findings)
        {
            out.push(Typed { key, val, origin });
        }
    }
    Ok(out)
}

/// Why a typed value is not in effect, by key.
pub(super) type Notes = BTreeMap<&'static str, String>;

/// Keys of the user that locate the index. An index belongs to its sources. If another file's
/// sources used these locations, the user's own index would be replaced.
const WITH_SOURCES: [&str; 3] = ["state_dir", "index.db_path", "embed.db_path"];

/// Merges the layers, the last one winning; lists are replaced, not joined.
fn merge(mut values: Values, files: &[Read], overlays: Vec<Typed>) -> (Values, Notes) {
    let mut notes = Notes::new();
    let elsewhere = files
        .iter()
        .filter(|f| f.layer.kind > LayerKind::User)
        .any(|f| f.typed.iter().any(|t| t.key.path == "sources"));
    for file in files {
        for typed in &file.typed {
            if elsewhere
                && file.layer.kind == LayerKind::User
                && WITH_SOURCES.contains(&typed.key.path)
            {
                notes.insert(
                    typed.key.path,
                    format!("{} holds only with that file's own sources", typed.origin),
                );
                continue;
            }
            values.0.insert(typed.key.path, typed.clone());
        }
    }
    for typed in overlays {
        values.0.insert(typed.key.path, typed);
    }
    (values, notes)
}
