//! Turns typed values into [`Config`]: resolves paths, checks that roots are inside the security
//! root, and protects the program's own records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::findings::{ConfigArea, Findings, Origin};
use super::folder_context::FolderContext;
use super::load::Ground;
use super::values::{Values, unknown_word};
use super::words;
use super::{
    ApiKeyUse, Ask, Config, Embed, Index, Llm, Mcp, Memory, RerankerName, Retrieve, Runs,
    StateLocation, Tools, VerifyJudge, compat, keys, places,
};
use local_agent_files::sandbox::Security;
use local_agent_index::indexing::Source;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{RelPath, SourceName};

/// Builds the configuration. A problem is added to `findings`, and its value is left out.
///
/// # Errors
/// Only `INTERNAL_ERROR`, when the compiled-in defaults lack a key.
pub(super) fn build(values: &Values, ground: &Ground, findings: &mut Findings) -> Result<Config> {
    let state = State::resolve(values, ground, findings)?;
    let sources = sources(values, ground, &state, findings)?;
    let security = security(values, ground, &state, findings)?;
    let index = index(values, &state, findings)?;
    let embed = embed(values, ground, &state, findings)?;
    let config = Config {
        config_path: ground.config_path.clone(),
        config_root: ground.config_root.clone(),
        workroot: ground.workroot.as_ref().map(|(root, _)| root.clone()),
        security_root: ground.security_root.clone(),
        security,
        contexts: contexts(values, &sources, findings),
        sources,
        index,
        embed,
        retrieve: retrieve(values, ground, findings)?,
        ask: ask(values)?,
        verify_judge: verify_judge(values)?,
        llm: llm(values, ground, findings)?,
        tools: tools(values)?,
        mcp: Mcp {
            operations: values.words("mcp.operations"),
            tools: values.words("mcp.tools"),
            private_notes: values.bool("mcp.private_notes")?,
        },
        runs: Runs {
            dir: state.runs.clone(),
            enabled: values.bool("runs.enabled")?,
            log_evidence_excerpts: values.bool("runs.log_evidence_excerpts")?,
            max_total_evidence_chars: values.int("runs.max_total_evidence_chars")?,
            max_excerpt_chars: values.int("runs.max_excerpt_chars")?,
            keep_evidence: values.bool("runs.keep_evidence")?,
        },
        memory: Memory {
            db_path: state.durable.clone(),
            enabled: values.bool("memory.enabled")?,
        },
        protected: state.protected(),
        state_locations: state.folders(values, ground),
        state_dir: state.dir,
        warnings: std::mem::take(&mut findings.warnings),
        overlaps: std::mem::take(&mut findings.overlaps),
        client: None,
    };
    Ok(config)
}

/// The locations of the program's own files.
struct State {
    dir: PathBuf,
    index: PathBuf,
    embeddings: PathBuf,
    durable: PathBuf,
    runs: PathBuf,
}

/// The Python version's locations below the security root. Each entry is the key, the Python
/// version's location, and our location below the state folder.
const PLACES: [(&str, &str, &str); 4] = [
    ("index.db_path", "index/index.sqlite", "index.sqlite"),
    (
        "embed.db_path",
        "embeddings/db/embeddings.sqlite",
        "embeddings.sqlite",
    ),
    ("memory.db_path", "memory/durable.sqlite", "durable.sqlite"),
    ("runs.dir", "runs", "runs"),
];

impl State {
    fn resolve(values: &Values, ground: &Ground, findings: &mut Findings) -> Result<Self> {
        let ancestor = ground.ancestor && values.origin("state_dir") == Origin::Default;
        let dir = place(values, "state_dir", ground, findings)
            .unwrap_or_else(|| ground.security_root.join(".local-agent"));
        let [index, embeddings, durable, runs] = PLACES.map(|(key, old, new)| {
            let default = || {
                if ancestor {
                    ground.security_root.join(old)
                } else {
                    dir.join(new)
                }
            };
            let path = place(values, key, ground, findings).unwrap_or_else(default);
            own_place(&path, &values.origin(key), ground, findings);
            path
        });
        let one = [&index, &embeddings, &durable];
        if one
            .iter()
            .enumerate()
            .any(|(i, a)| one.iter().skip(i + 1).any(|b| a == b))
        {
            let keys = PLACES.map(|(key, ..)| values.origin(key));
            let origin = keys
                .into_iter()
                .find(|o| *o != Origin::Default)
                .unwrap_or(Origin::Default);
            findings.problem(
                "state_dir",
                &origin,
                "two databases have the same path; each needs a file of its own",
                None,
            );
        }
        Ok(Self {
            dir,
            index,
            embeddings,
            durable,
            runs,
        })
    }

    /// The outermost folders that contain the program's own files, each once.
    fn folders(&self, values: &Values, ground: &Ground) -> Vec<StateLocation> {
        // The Python version's locations come from a configuration and a workroot that the user
        // named.
        let named = ground.ancestor && ground.untrusted.is_none();
        let [index, embeddings, durable, runs] =
            PLACES.map(|(key, ..)| named || is_users_own(&values.origin(key), ground));
        let all = [
            StateLocation {
                path: self.dir.clone(),
                chosen: named || is_users_own(&values.origin("state_dir"), ground),
            },
            StateLocation {
                path: folder_of(&self.index),
                chosen: index,
            },
            StateLocation {
                path: folder_of(&self.embeddings),
                chosen: embeddings,
            },
            StateLocation {
                path: folder_of(&self.durable),
                chosen: durable,
            },
            StateLocation {
                path: self.runs.clone(),
                chosen: runs,
            },
        ];
        let places = [&self.index, &self.embeddings, &self.durable, &self.runs];
        let state_dir_is_used = places.iter().any(|place| place.starts_with(&self.dir));
        let mut out: Vec<StateLocation> = Vec::new();
        for folder in &all {
            let is_below = all
                .iter()
                .any(|other| other.path != folder.path && folder.path.starts_with(&other.path));
            let is_unused = folder.path == self.dir && !state_dir_is_used;
            if !is_below && !is_unused && !out.iter().any(|other| other.path == folder.path) {
                out.push(folder.clone());
            }
        }
        out
    }

    /// Folders whose content is never readable through the sandbox.
    fn protected(&self) -> Vec<PathBuf> {
        if self.runs.starts_with(&self.dir) {
            vec![self.dir.clone()]
        } else {
            vec![self.dir.clone(), self.runs.clone()]
        }
    }
}

/// The folder of a file.
fn folder_of(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new("/")).to_path_buf()
}

/// The path that a key gives, if it is usable.
fn place(values: &Values, key: &str, ground: &Ground, findings: &mut Findings) -> Option<PathBuf> {
    let text = values.opt_text(key)?;
    let origin = values.origin(key);
    let base = if matches!(origin, Origin::Flag(_)) {
        &ground.inputs.cwd
    } else {
        &ground.security_root
    };
    match places::expand(text, base, ground.inputs.home.as_deref()) {
        Ok(path) => Some(path),
        Err(why) => {
            findings.problem(key, &origin, format_args!("`{key}`: {why}"), None);
            None
        }
    }
}

/// Whether the user typed a value: in their own configuration, as a flag or as a variable.
fn is_users_own(origin: &Origin, ground: &Ground) -> bool {
    match origin {
        Origin::Flag(_) | Origin::Environment(_) => true,
        Origin::File { path, .. } => ground.inputs.user_config.as_ref() == Some(path),
        Origin::Default | Origin::Found(_) => false,
    }
}

/// Checks a place inside a folder that came from somebody else: writing to a state folder that is a
/// link would write through the link.
fn own_place(path: &Path, origin: &Origin, ground: &Ground, findings: &mut Findings) {
    let Some(file) = &ground.untrusted else {
        return;
    };
    let theirs = match origin {
        Origin::Default => true,
        Origin::File { path, .. } => path == file,
        _ => false,
    };
    // The check applies to the file's own folder. A state folder named in the user's configuration
    // may be elsewhere on purpose.
    let by_text = path.starts_with(&ground.security_root);
    if theirs && by_text && !places::is_inside(path, &ground.security_root) {
        let message = format!(
            "{} leads outside {} through a link",
            path.display(),
            ground.security_root.display()
        );
        let hint = "look where the link leads; if you agree, run `local-agent config trust`";
        findings.problems.push(
            Failure::new(ErrorCode::ConfigUntrusted, message)
                .with_command(hint)
                .into(),
        );
    }
}

/// The kind of a folder whose files may be read.
#[derive(Clone, Copy)]
enum RootKind<'a> {
    Source(&'a SourceName),
    Allowed,
}

impl RootKind<'_> {
    /// The name in messages.
    fn words(self) -> String {
        match self {
            Self::Source(name) => format!("the source `{name}` at"),
            Self::Allowed => "the allowed root".to_owned(),
        }
    }

    /// The key that names the folder.
    const fn key(self) -> &'static str {
        match self {
            Self::Source(_) => "sources",
            Self::Allowed => "security.allowed_roots",
        }
    }
}

/// Resolves one root and checks that it is inside the security root, if required.
fn root(
    text: &str,
    kind: RootKind<'_>,
    origin: &Origin,
    must_be_inside: bool,
    ground: &Ground,
    findings: &mut Findings,
) -> Option<PathBuf> {
    let path = match places::expand(text, &ground.security_root, ground.inputs.home.as_deref()) {
        Ok(path) => path,
        Err(why) => {
            findings.problem(
                kind.key(),
                origin,
                format_args!("{}: {why}", kind.words()),
                None,
            );
            return None;
        }
    };
    if must_be_inside && !places::is_inside(&path, &ground.security_root) {
        let really = places::real(&path).filter(|real| *real != path);
        let really = really.map_or_else(String::new, |real| {
            format!(" (in truth {})", real.display())
        });
        let security_root = ground.security_root.display();
        let message = format!(
            "{} {}{really} is outside the security root {security_root}",
            kind.words(),
            path.display()
        );
        let fix = "name a workroot that holds it with --workroot, or set \
                   `security.roots_must_be_within_security_root: false` in your own configuration";
        match kind {
            RootKind::Source(_) => {
                findings.problem(kind.key(), origin, message, Some(fix.to_owned()));
            }
            RootKind::Allowed => {
                let area = ConfigArea::AllowedRootOutside;
                findings.problem_in(area, origin, message, Some(fix.to_owned()));
            }
        }
        return None;
    }
    Some(path)
}

const MUST_BE_INSIDE: &str = "security.roots_must_be_within_security_root";

fn sources(
    values: &Values,
    ground: &Ground,
    state: &State,
    findings: &mut Findings,
) -> Result<Vec<Source>> {
    let must = values.bool(MUST_BE_INSIDE)?;
    let origin = values.origin("sources");
    let mut out: Vec<Source> = Vec::new();
    let mut roots = Roots::default();
    for typed in values.sources() {
        let here = origin.at(typed.root.line);
        let kind = RootKind::Source(&typed.name);
        let Some(root) = root(&typed.root.text, kind, &here, must, ground, findings) else {
            continue;
        };
        if let Some(own) = state
            .protected()
            .into_iter()
            .find(|own| lies_in(&root, own))
        {
            let why = format!(
                "the source `{}` lies in {}, which holds this program's own records",
                typed.name,
                own.display()
            );
            findings.problem(
                "sources",
                &here,
                why,
                Some("name another folder, or another `state_dir`".to_owned()),
            );
            continue;
        }
        if let Some(other) = roots
            .enter(&root, out.len())
            .and_then(|first| out.get(first))
        {
            roots.overlaps += 1;
            if roots.overlaps <= MOST_OVERLAPS {
                let (one, two) = (&other.name, &typed.name);
                findings.warn_of_overlap(
                    &here,
                    format!(
                        "the sources `{one}` and `{two}` overlap; shared files are found twice"
                    ),
                );
            }
        }
        out.push(Source {
            name: typed.name.clone(),
            root,
            kind: typed.kind.clone(),
            code: typed.code,
            selection: typed.selection.clone(),
        });
    }
    if let Some(more) = roots
        .overlaps
        .checked_sub(MOST_OVERLAPS)
        .filter(|more| *more > 0)
    {
        findings.warn_of_overlap(&origin, format!("{more} more sources overlap with others"));
    }
    Ok(out)
}

/// Maximum number of overlapping sources that are listed one by one.
const MOST_OVERLAPS: usize = 10;

/// Roots seen so far, with the index of the source that named each first.
#[derive(Default)]
struct Roots {
    seen: BTreeMap<PathBuf, usize>,
    overlaps: usize,
}

impl Roots {
    /// Adds a root; returns the index of a source with the same root, or with one above or below
    /// it.
    fn enter(&mut self, root: &Path, number: usize) -> Option<usize> {
        let above = root.ancestors().find_map(|folder| self.seen.get(folder));
        // Paths are ordered name by name, so the paths below a folder follow directly after it.
        let below = || {
            self.seen
                .range(root.to_path_buf()..)
                .next()
                .filter(|(path, _)| path.starts_with(root))
        };
        let found = above.or_else(|| below().map(|(_, number)| number)).copied();
        self.seen.entry(root.to_path_buf()).or_insert(number);
        found
    }
}

/// Whether two values are from the same file.
fn are_of_one_file(one: &Origin, other: &Origin) -> bool {
    match (one, other) {
        (Origin::File { path: one, .. }, Origin::File { path: other, .. }) => one == other,
        _ => false,
    }
}

/// Parses `contexts`. An invalid entry is a problem. An entry about an unknown source is a warning
/// if the sources are in the same file; those of another file take the place of the ones it is about.
fn contexts(values: &Values, sources: &[Source], findings: &mut Findings) -> Vec<FolderContext> {
    let origin = values.origin("contexts");
    let must_be_known = are_of_one_file(&origin, &values.origin("sources"));
    let mut out = Vec::new();
    for item in values.list("contexts") {
        let here = origin.at(item.line);
        match FolderContext::parse(&item.text) {
            Ok(context) => {
                if let Some(name) = context
                    .source
                    .as_ref()
                    .filter(|_| must_be_known)
                    .filter(|name| !sources.iter().any(|source| source.name == **name))
                {
                    findings.warn(
                        &here,
                        format!("`contexts` names `{name}`, which is not a source"),
                    );
                }
                out.push(context);
            }
            Err(why) => findings.problem(
                "contexts",
                &here,
                why,
                Some("write `- \"notes/projects: one file a project\"`".into()),
            ),
        }
    }
    out
}

fn security(
    values: &Values,
    ground: &Ground,
    state: &State,
    findings: &mut Findings,
) -> Result<Security> {
    let must = values.bool(MUST_BE_INSIDE)?;
    let deny_hidden_paths = values.bool("security.deny_hidden_paths")?;
    let origin = values.origin("security.allowed_roots");
    let mut allowed_roots = Vec::new();
    for item in values.list("security.allowed_roots") {
        let here = origin.at(item.line);
        let Some(root) = root(&item.text, RootKind::Allowed, &here, must, ground, findings) else {
            continue;
        };
        if state
            .protected()
            .iter()
            .any(|own| exposes(&root, own, deny_hidden_paths))
        {
            let why = format!(
                "the allowed root `{}` is left out: this program's own records are not evidence",
                item.text
            );
            findings.warn(&here, why);
        } else if !allowed_roots.contains(&root) {
            allowed_roots.push(root);
        }
    }
    Ok(Security {
        allowed_roots,
        allowed_exts: values.words("security.allowed_exts"),
        deny_absolute_paths: values.bool("security.deny_absolute_paths")?,
        deny_hidden_paths,
        deny_names: values.words("security.deny_names"),
        hard_links: values.word("security.hard_links", &words::HARD_LINKS)?,
        follow_links: values.word("security.follow_links", &words::FOLLOW_LINKS)?,
        max_file_bytes: values.int("security.max_file_bytes")?,
        private_tags: values.words("security.private_tags"),
        allow_any_path: values.bool("security.allow_any_path")?,
    })
}

/// Whether `own` could be read through `root`: `own` is at or above the root, or below it and not
/// in a hidden folder.
fn exposes(root: &Path, own: &Path, deny_hidden: bool) -> bool {
    lies_in(root, own)
        || holds_openly(deny_hidden, root, own)
        || places::real(root)
            .zip(places::real(own))
            .is_some_and(|(root, own)| holds_openly(deny_hidden, &root, &own))
}

/// Whether the root shows the folder.
fn holds_openly(deny_hidden: bool, root: &Path, own: &Path) -> bool {
    own.strip_prefix(root)
        .is_ok_and(|below| !(deny_hidden && is_hidden_path(below)))
}

/// Whether a part of the path begins with a dot.
fn is_hidden_path(below: &Path) -> bool {
    below
        .components()
        .any(|c| c.as_os_str().as_encoded_bytes().starts_with(b"."))
}

/// Whether `path` is `folder` or below it, lexically or with links resolved.
fn lies_in(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder)
        || places::real(path)
            .zip(places::real(folder))
            .is_some_and(|(path, folder)| path.starts_with(folder))
}

fn index(values: &Values, state: &State, findings: &mut Findings) -> Result<Index> {
    let (max_chars, overlap): (usize, usize) =
        (values.int("index.max_chars")?, values.int("index.overlap")?);
    if overlap >= max_chars {
        let typed = ["index.overlap", "index.max_chars"].map(|key| values.origin(key));
        let origin = typed
            .into_iter()
            .find(|o| *o != Origin::Default)
            .unwrap_or(Origin::Default);
        let why = format!(
            "`index.overlap` ({overlap}) must be less than `index.max_chars` ({max_chars})"
        );
        findings.problem("index.overlap", &origin, why, None);
    }
    Ok(Index {
        db_path: state.index.clone(),
        scheme: values.word("index.scheme", &words::SCHEMES)?,
        max_tokens: values.int("index.max_tokens")?,
        max_chars,
        overlap,
    })
}

/// The model requested from a server if `embed.model` is unset.
const MODEL_OF_A_SERVER: &str = "all-MiniLM-L6-v2";

fn embed(
    values: &Values,
    ground: &Ground,
    state: &State,
    findings: &mut Findings,
) -> Result<Embed> {
    let provider = values.word("embed.provider", &words::EMBED_PROVIDERS)?;
    let is_unset = values.origin("embed.model") == Origin::Default;
    let model = match values.text("embed.model")? {
        "auto" if provider.is_server() && is_unset => MODEL_OF_A_SERVER,
        model => model,
    };
    if provider.is_server() && model == "auto" {
        let why = "`embed.model: auto` chooses among the compiled-in models, and `embed.provider` is a server";
        let how = "write the name of a model of that server as `embed.model`";
        findings.problem(
            "embed.model",
            &values.origin("embed.model"),
            why,
            Some(how.into()),
        );
    }
    let dimensions = values.opt_int("embed.dimensions")?;
    if provider.is_server() && dimensions.is_some() {
        let why = "`embed.dimensions` cuts vectors of models inside this program, and `embed.provider` is a server";
        let how = "remove `embed.dimensions`";
        findings.problem(
            "embed.dimensions",
            &values.origin("embed.dimensions"),
            why,
            Some(how.into()),
        );
    }
    Ok(Embed {
        db_path: state.embeddings.clone(),
        provider,
        model: model.to_owned(),
        model_path: place(values, "embed.model_path", ground, findings),
        precision: values.word("embed.precision", &words::PRECISIONS)?,
        instructions: instructions(values)?,
        batch_tokens: values.int("embed.batch_tokens")?,
        max_length: values.opt_int("embed.max_length")?,
        query_prefix: values.opt_text("embed.query_prefix").map(str::to_owned),
        passage_prefix: values.opt_text("embed.passage_prefix").map(str::to_owned),
        dimensions,
        threads: values.int("embed.threads")?,
        keep_unused_days: values.int("embed.keep_unused_days")?,
    })
}

/// The instruction set; `None`: the best one.
fn instructions(values: &Values) -> Result<Option<&'static str>> {
    let name = values.text("embed.instructions")?;
    let known = keys::INSTRUCTIONS.iter().position(|known| *known == name);
    match known {
        Some(0) => Ok(None),
        Some(at) => Ok(keys::INSTRUCTIONS.get(at).copied()),
        None => Err(unknown_word("embed.instructions", name)),
    }
}

/// The reranker, by its name or with its folder made absolute.
fn reranker(values: &Values, ground: &Ground, findings: &mut Findings) -> Option<RerankerName> {
    let text = values.opt_text("retrieve.reranker")?;
    if places::is_folder_name(text) {
        return place(values, "retrieve.reranker", ground, findings).map(RerankerName::Folder);
    }
    Some(RerankerName::Named(text.to_owned()))
}

fn retrieve(values: &Values, ground: &Ground, findings: &mut Findings) -> Result<Retrieve> {
    Ok(Retrieve {
        fusion: values.word("retrieve.fusion", &words::FUSIONS)?,
        vector_weight: values.opt_float("retrieve.vector_weight"),
        path_prefix: values
            .opt_text("retrieve.path_prefix")
            .map(RelPath::new)
            .transpose()
            .map_err(|e| {
                Failure::internal(format!(
                    "`retrieve.path_prefix` was checked and is not a path: {e}"
                ))
            })?,
        reranker: reranker(values, ground, findings),
        reranker_ms: values.int("retrieve.reranker_ms")?,
    })
}

fn ask(values: &Values) -> Result<Ask> {
    Ok(Ask {
        provider: values.word("ask.provider", &words::ASK_PROVIDERS)?,
        top_n: values.int("ask.top_n")?,
        max_evidence_tokens: values.int("ask.max_evidence_tokens")?,
        strict: values.bool("ask.strict")?,
        heading_match: values.word("ask.heading_match", &words::HEADING_MATCHES)?,
        normalize_heading: values.bool("ask.normalize_heading")?,
        show_as_verified: values.get(compat::VALIDATION_ENABLED).is_none()
            || values.bool(compat::VALIDATION_ENABLED)?,
    })
}

fn verify_judge(values: &Values) -> Result<VerifyJudge> {
    Ok(VerifyJudge {
        provider: values.word("verify.judge.provider", &words::JUDGE_PROVIDERS)?,
        model: values.opt_text("verify.judge.model").map(str::to_owned),
    })
}

/// The rule of every tool, from its key.
fn tools(values: &Values) -> Result<Tools> {
    let mut rules = BTreeMap::new();
    for key in keys::KEYS.iter().filter(|key| key.kind == keys::RULES) {
        let Some(name) = key.path.strip_prefix("tools.") else {
            continue;
        };
        rules.insert(name, values.word(key.path, &words::TOOL_RULES)?);
    }
    Ok(Tools {
        rules,
        max_turns: values.int("tools.max_turns")?,
        max_result_bytes: values.int("tools.max_result_bytes")?,
        timeout_s: values.int("tools.timeout_s")?,
        max_writes: values.int("tools.max_writes")?,
    })
}

/// Whether the key may be sent to the server. The user gave it for an address that they chose. An
/// untrusted file, or the default, could name a port on which any program listens.
fn api_key_use(origin: &Origin, ground: &Ground, findings: &mut Findings) -> ApiKeyUse {
    if ground.inputs.env_api_key.is_none() {
        return ApiKeyUse::NotSet;
    }
    match origin {
        Origin::File { path, .. } if ground.untrusted.as_ref() == Some(path) => {
            let message = format!(
                "LOCAL_AGENT_API_KEY is not sent: `llm.base_url` comes from {}, which is not trusted (`local-agent config \
                 trust` changes that)",
                path.display()
            );
            findings.warnings.push(message);
            ApiKeyUse::FileNotTrusted
        }
        Origin::Default | Origin::Found(_) => ApiKeyUse::AddressNotChosen,
        _ => ApiKeyUse::Sent,
    }
}

fn llm(values: &Values, ground: &Ground, findings: &mut Findings) -> Result<Llm> {
    let text = |key: &str| values.opt_text(key).map(str::to_owned);
    let api_key_use = api_key_use(&values.origin("llm.base_url"), ground, findings);
    let api_key = ground.inputs.env_api_key.clone();
    Ok(Llm {
        model: text("llm.model"),
        model_fast: text("llm.model_fast"),
        model_big: text("llm.model_big"),
        prefer_fast: values.bool("llm.prefer_fast")?,
        big_triggers: values
            .words("llm.big_triggers")
            .iter()
            .map(|w| w.to_lowercase())
            .collect(),
        base_url: values.text("llm.base_url")?.to_owned(),
        base_url_origin: values.origin("llm.base_url"),
        api_key: api_key.filter(|_| api_key_use == ApiKeyUse::Sent),
        api_key_use,
        max_tokens: values.int("llm.max_tokens")?,
        max_tokens_big_second: values.int("llm.max_tokens_big_second")?,
        temperature: values.float("llm.temperature")?,
        num_ctx: values.opt_int("llm.num_ctx")?,
        keep_alive: text("llm.keep_alive"),
        timeout_s: values.int("llm.timeout_s")?,
        timeout_s_big_second: values.int("llm.timeout_s_big_second")?,
        max_chars_full_read: values.int("llm.max_chars_full_read")?,
    })
}
