//! The view of each visitor of the server, from the current configuration.
//!
//! A visitor's view is a separate service. Its configuration names only the visitor's sources, its
//! sandbox hides private notes, its archive contains only the visitor's runs, and its calls have
//! the visitor's name in the ledger. Every operation gets its view from here, so no other code has
//! to know about tokens.
//!
//! A changed configuration file is used from the next request on. If it is invalid, the older
//! configuration stays in force, and the status reports this.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::SystemTime;

use serde_json::{Map, Value};

use super::bodies::Served;
use crate::cli::context::{Context, roots};
use crate::cli::enter::Needs;
use crate::cli::output::talk;
use crate::cli::{ask, mcp, toolbox};
use crate::mcp::Service;
use crate::serve::{View, Views, Visitor, VisitorRole};
use local_agent_agent::config::{Config, LimitedClient, Loaded, Retrieve};
use local_agent_agent::operations::Library;
use local_agent_agent::operations::privacy;
use local_agent_agent::operations::root_identity::RootIdentities;
use local_agent_agent::tools::Caller;
use local_agent_files::sandbox::{Confinement, PrivateNotes};
use local_agent_index::retrieval::Stale;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// The operations of `/mcp` for a token that may search.
const SEARCHING: [&str; 7] = [
    "search",
    "get",
    "multi_get",
    "links",
    "tags",
    "similar",
    "status",
];

/// The operations of `/mcp` for a token that may ask, in addition.
const ASKING: [&str; 3] = ["ask", "verify", "memory_search"];

/// Problems of the configuration in force, for the status.
pub(super) type Remarks = Arc<Mutex<Vec<Stale>>>;

/// The views, and the configuration from which they are made.
pub(super) struct ConfiguredViews {
    context: Arc<Context>,
    /// The configuration with which the process was confined.
    first: Config,
    confined: bool,
    now: Mutex<InForce>,
    remarks: Remarks,
}

/// The configuration in force, and everything made from it.
struct InForce {
    loaded: Loaded,
    library: Library,
    standing: Option<RootIdentities>,
    private: Arc<PrivateNotes>,
    files: Vec<WatchedFile>,
    reader: ConfigurationReader,
    views: HashMap<Visitor, Arc<View>>,
}

/// A file of the configuration, with its state before it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WatchedFile {
    path: PathBuf,
    state: Option<(SystemTime, u64, u64)>,
}

impl WatchedFile {
    fn of(path: &Path) -> Self {
        let state = fs::metadata(path).ok().and_then(|meta| {
            let time = meta.modified().ok()?;
            Some((time, meta.len(), inode(&meta)))
        });
        Self {
            path: path.to_owned(),
            state,
        }
    }
}

#[cfg(unix)]
fn inode(meta: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}

/// The configuration in the form that the server uses. A person may name any of their files; a
/// client may not.
fn load(context: &Context) -> Result<Loaded> {
    let mut loaded = context.load()?;
    loaded.config.security.allow_any_path = false;
    Ok(loaded)
}

/// The files of a configuration.
fn files_of(context: &Context, loaded: &Loaded) -> Vec<PathBuf> {
    let own = [
        context.environment.user_config(),
        context.environment.trust_file(),
    ];
    let own = own.into_iter().filter_map(Result::ok).map(Path::to_owned);
    let mut files: Vec<PathBuf> = own
        .chain(loaded.layers.iter().map(|layer| layer.path.clone()))
        .collect();
    files.dedup();
    files
}

fn watched(files: &[PathBuf]) -> Vec<WatchedFile> {
    files.iter().map(|path| WatchedFile::of(path)).collect()
}

/// Reads the configuration again, on a separate thread that was started before the kernel confined
/// the others. The thread does nothing else.
struct ConfigurationReader {
    requests: mpsc::Sender<()>,
    replies: mpsc::Receiver<Result<Loaded>>,
}

impl ConfigurationReader {
    fn start(context: Context) -> Result<Self> {
        let (requests, asked) = mpsc::channel();
        let (answers, replies) = mpsc::channel();
        let work = move || {
            for () in asked {
                if answers.send(load(&context)).is_err() {
                    break;
                }
            }
        };
        std::thread::Builder::new()
            .name("configuration".to_owned())
            .spawn(work)
            .map_err(|e| Failure::internal(format!("a thread cannot be started: {e}")))?;
        Ok(Self { requests, replies })
    }

    fn read(&self) -> Result<Loaded> {
        let ended = || Failure::internal("the thread that reads the configuration ended");
        self.requests.send(()).map_err(|_| ended())?;
        self.replies.recv().map_err(|_| ended())?
    }
}

impl ConfiguredViews {
    /// Reads the configuration and confines this process to what it needs.
    ///
    /// # Errors
    /// Those of the configuration, of the sources and of the model.
    pub(super) fn open(context: &Context) -> Result<Self> {
        let loaded = load(context)?;
        let files = files_of(context, &loaded);
        let config = &loaded.config;
        let tools = toolbox::factory(context, config, Caller::Agent, None)?;
        mcp::offers_exist(config, &tools)?;
        let reader = ConfigurationReader::start(context.clone())?;
        let confined = context.enter(config, &Needs::state())? != Confinement::Absent;
        let in_force = InForce {
            library: Library::for_server(config, Some(context.embedding(config)?))
                .with_reranker(config, context.reranker(config)?),
            standing: confined.then(|| RootIdentities::of(config)),
            private: Arc::new(PrivateNotes::new(&config.security)),
            files: watched(&files),
            views: HashMap::new(),
            reader,
            loaded: loaded.clone(),
        };
        Ok(Self {
            context: Arc::new(context.clone()),
            first: loaded.config,
            confined,
            now: Mutex::new(in_force),
            remarks: Arc::default(),
        })
    }

    /// The folder of the server's own files.
    pub(super) fn state_dir(&self) -> PathBuf {
        self.first.state_dir.clone()
    }

    fn now(&self) -> MutexGuard<'_, InForce> {
        // The configuration in force is replaced as a whole.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remark(&self, remarks: Vec<Stale>) {
        for one in &remarks {
            talk(&format!("{}; fix: {}", one.why, one.fix));
        }
        *self.remarks.lock().unwrap_or_else(PoisonError::into_inner) = remarks;
    }

    /// Loads a changed configuration, or reports why it cannot be used.
    fn look_again(&self, now: &mut InForce) {
        let paths: Vec<PathBuf> = now.files.iter().map(|file| file.path.clone()).collect();
        let files = watched(&paths);
        if files == now.files {
            return;
        }
        // Set before the file is read, so that a change during reading is noticed at the next
        // request.
        now.files = files;
        match self.taken_up(now) {
            Ok(remarks) => self.remark(remarks),
            Err(failure) => self.remark(vec![Stale {
                what: "configuration",
                why: format!(
                    "the changed configuration is not in force, the older one is: {}",
                    failure.message
                ),
                fix: "local-agent config check",
            }]),
        }
    }

    fn taken_up(&self, now: &mut InForce) -> Result<Vec<Stale>> {
        let loaded = now.reader.read()?;
        let config = &loaded.config;
        if self.places(config) != self.places(&self.first) {
            return Err(Failure::new(
                ErrorCode::ConfigError,
                "it has other folders for the program's own files, which takes a restart",
            ));
        }
        let tools = toolbox::factory(&self.context, config, Caller::Agent, None)?;
        mcp::offers_exist(config, &tools)?;
        if reads_otherwise(&now.loaded.config, config) {
            let model = self.context.embedding(config)?;
            now.library = Library::for_server(config, Some(model))
                .with_reranker(config, self.context.reranker(config)?);
        }
        let remarks = self.out_of_reach(config);
        now.standing = self.confined.then(|| RootIdentities::of(config));
        now.private = Arc::new(PrivateNotes::new(&config.security));
        let known = std::mem::take(&mut now.files);
        now.files = files_of(&self.context, &loaded)
            .into_iter()
            .map(|path| watched_before(&known, path))
            .collect();
        now.views.clear();
        now.loaded = loaded;
        Ok(remarks)
    }

    /// The folders of the program's own files.
    fn places<'c>(&self, config: &'c Config) -> Vec<&'c Path> {
        let own = config.state_locations.iter().map(|one| one.path.as_path());
        own.chain([config.state_dir.as_path()]).collect()
    }

    /// Sources that the kernel does not let this process read, because it was started without them.
    fn out_of_reach(&self, config: &Config) -> Vec<Stale> {
        let first = &self.first;
        let lost = config
            .sources
            .iter()
            .filter(|one| !is_reachable(first, &one.root));
        lost.filter(|_| self.confined)
            .map(|source| Stale {
                what: "configuration",
                why: format!(
                    "the source `{}` lies outside of the folders that this server was started for, and is \
                     not searched until it is started again",
                    source.name
                ),
                fix: "local-agent serve stop && local-agent serve",
            })
            .collect()
    }

    /// The roots in results and records; a limited visitor learns no folder of this machine.
    fn roots_for(&self, visitor: &Visitor) -> Map<String, Value> {
        if visitor.is_limited() {
            roots(None, None)
        } else {
            self.context.roots()
        }
    }

    fn made(&self, now: &InForce, visitor: &Visitor) -> Result<Arc<View>> {
        let loaded = seen_by(&now.loaded, visitor);
        let config = &loaded.config;
        let asked_by = visitor.asked_by();
        let files = toolbox::factory(&self.context, config, Caller::Agent, None)?;
        let audit = toolbox::audit_of(config, &files, None, Some(asked_by.clone()));
        let files = files.with(Caller::Agent, Some(Arc::clone(&audit)), None);
        let private = if visitor.is_limited() {
            Some(Arc::clone(&now.private))
        } else {
            privacy::kept_from_agents(config)
        };
        let service = Arc::new(Service {
            confined_to: now.standing.clone(),
            audit,
            files,
            private,
            library: now.library.clone(),
            roots: self.roots_for(visitor),
            log: Box::new(talk),
            today: ask::today,
            loaded,
        });
        let served = Served {
            service: Arc::clone(&service),
            context: Arc::clone(&self.context),
            asked_by: asked_by.clone(),
            remarks: Arc::clone(&self.remarks),
        };
        Ok(View::new(service, Box::new(served), &asked_by))
    }
}

/// Whether the process was given access to the folder when it started.
fn is_reachable(first: &Config, root: &Path) -> bool {
    let sources = first.sources.iter().map(|source| source.root.as_path());
    let others = first.security.allowed_roots.iter().map(PathBuf::as_path);
    sources.chain(others).any(|open| root.starts_with(open))
}

/// The file in its recorded state, or in its current state if it is new.
fn watched_before(known: &[WatchedFile], path: PathBuf) -> WatchedFile {
    let file = known.iter().find(|file| file.path == path);
    file.cloned().unwrap_or_else(|| WatchedFile::of(&path))
}

impl Views for ConfiguredViews {
    fn of(&self, visitor: &Visitor) -> Result<Arc<View>> {
        let mut now = self.now();
        self.look_again(&mut now);
        if let Some(view) = now.views.get(visitor) {
            return Ok(Arc::clone(view));
        }
        let view = self.made(&now, visitor)?;
        now.views.insert(visitor.clone(), Arc::clone(&view));
        Ok(view)
    }
}

/// Whether the new configuration needs another index or model in memory.
fn reads_otherwise(before: &Config, after: &Config) -> bool {
    reading_settings(before) != reading_settings(after)
}

/// The settings that determine how notes are read, as text.
fn reading_settings(config: &Config) -> String {
    let (embed, llm) = (&config.embed, &config.llm);
    let Retrieve {
        reranker,
        reranker_ms,
        ..
    } = &config.retrieve;
    format!(
        "{embed:?} {llm:?} {:?} {reranker:?} {reranker_ms}",
        config.index
    )
}

/// The configuration as a visitor may see it.
fn seen_by(loaded: &Loaded, visitor: &Visitor) -> Loaded {
    let mut loaded = loaded.clone();
    let role = visitor.role;
    if visitor.is_limited() {
        let client = LimitedClient {
            asked_by: visitor.asked_by(),
            since: visitor.since.clone(),
        };
        loaded.config = loaded.config.limited_to(&visitor.sources, client);
    }
    let offers = &mut loaded.config.mcp;
    if role < VisitorRole::Tools {
        offers.tools.clear();
        offers.operations.retain(|name| {
            let name = name.as_str();
            SEARCHING.contains(&name) || role == VisitorRole::Ask && ASKING.contains(&name)
        });
    }
    loaded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_belongs_to_a_role() {
        let mut all: Vec<&str> = SEARCHING.into_iter().chain(ASKING).collect();
        all.sort_unstable();
        for name in crate::mcp::names() {
            assert!(all.contains(&name), "{name} is for no role but `tools`");
        }
    }
}
