//! The operations over HTTP, for programs and a browser on this machine: JSON below `/api`, the
//! Model Context Protocol at `/mcp`, pages, and `/health`.
//!
//! Clients without a token, under another name, or from another site get no access. A visitor's
//! rights are applied once, when its [`View`] is made: its configuration names only its sources,
//! its sandbox hides private notes, and its archive contains only its own runs. The core is
//! synchronous: each operation runs on a separate thread, with a flag that is set when the client
//! stops waiting.
//!
//! | file | contents |
//! | --- | --- |
//! | `names` | the names and origins under which clients may address this server |
//! | `access` | the owner's token, the browsers that were admitted; who a visitor is |
//! | `links` | the links that admit one browser, once |
//! | `tokens` | the named tokens: roles and sources |
//! | `callers` | the open connections: few places and little time for those without a token |
//! | `limits` | the number of requests per minute and at once |
//! | `guard` | checks for every request: headers, names, access, limits |
//! | `api` | the endpoints below `/api` |
//! | `body` | the bodies of requests to them |
//! | `protocol` | messages of the Model Context Protocol |
//! | `sessions` | its sessions, in which a client can cancel its requests |
//! | `site` | the addresses of the pages |
//! | `browser_advice` | advice about a failure for whoever reads a page |
//! | `page` | the frame of every page; search, failures |
//! | `page_note` | a note with its links |
//! | `page_proof` | an answer with the proof of each sentence |
//! | `marks` | the words that two texts share, and those that differ |
//! | `page_runs`, `page_state` | the pages of runs; those of memory and of the program itself |
//! | `stream` | an answer in steps |
//! | `reply` | results and failures as HTTP |
//! | `tls` | the certificate and its key |
//! | `running` | the one server of a state folder |
//! | `listening` | streams that report changed notes |
//! | `connections` | listening and shutdown |

mod access;
mod api;
mod body;
mod browser_advice;
mod callers;
mod connections;
mod guard;
mod limits;
mod links;
mod listening;
mod marks;
mod names;
mod page;
mod page_note;
mod page_proof;
mod page_runs;
mod page_state;
mod protocol;
mod reply;
mod running;
mod sessions;
mod site;
mod stream;
mod tls;
mod tokens;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::mcp;
use local_agent_agent::operations::Limits;
use local_agent_text::error::{ErrorCode, Failure, Result};

pub(crate) use access::{TOKEN_FILE, Visitor, kept_token, token};
pub(crate) use links::invite;
pub(crate) use running::{RunningServer, ask_to_end, is_running, refuse_second, running};
pub(crate) use tls::TlsIdentity;
pub(crate) use tokens::{VisitorRole, add_token, named_tokens, remove_token};

use access::Access;
use callers::Callers;
use limits::Limiter;
use listening::Listeners;
use names::Names;
use running::Claim;
use sessions::Sessions;

/// Maximum number of concurrent requests; further ones are refused.
const AT_ONCE: usize = 16;

/// Maximum size of a request's body in bytes.
const MOST_BYTES: usize = 1 << 20;

/// The settings of the server.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub listen: SocketAddr,
    /// The certificate with which the server itself uses TLS.
    pub tls: Option<TlsIdentity>,
    /// The public name of the proxy in front of this server.
    pub behind_proxy: Option<String>,
    /// Whether to create a link for one browser.
    pub open: bool,
    /// The folder with the tokens.
    pub state_dir: PathBuf,
    /// Maximum number of requests of one visitor per minute.
    pub per_minute: u32,
    /// The start time, RFC 3339.
    pub started_at: String,
}

/// The data that is reported once the server listens.
#[derive(Debug, Clone)]
pub(crate) struct Listening {
    pub address: SocketAddr,
    /// Its address on this machine.
    pub url: String,
    /// A link that admits one browser, once.
    pub link: Option<String>,
}

/// The body of `/api/search`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedSearch {
    pub query: String,
    /// Maximum number of hits; default 5.
    pub limit: Option<usize>,
    /// The half-life in days for ranking newer notes higher.
    pub recent: Option<u32>,
    #[serde(default)]
    pub within: Within,
}

/// The body of `/api/ask`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedAnswer {
    pub question: String,
    /// Whether to fail if a sentence does not pass or is in doubt.
    #[serde(default)]
    pub strict: bool,
    #[serde(default)]
    pub within: Within,
}

/// The limits of a search.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Within {
    #[serde(default)]
    pub source: Vec<String>,
    #[serde(default)]
    pub path: Vec<String>,
    #[serde(default)]
    pub tag: Vec<String>,
    pub after: Option<String>,
    pub before: Option<String>,
}

impl From<Within> for Limits {
    fn from(within: Within) -> Self {
        let Within {
            source,
            path,
            tag,
            after,
            before,
        } = within;
        Self {
            source,
            path,
            tag,
            after,
            before,
        }
    }
}

/// The operations. Each returns the object that the command line prints with `--json`.
pub(crate) trait Operations: Send + Sync + 'static {
    /// The result of `query --json`.
    fn search(&self, wanted: &WantedSearch) -> Result<Value>;
    /// The result of `query --json`, in which each hit has the `day` of its note, and says if its note
    /// is `gone`.
    fn search_with_days(&self, wanted: &WantedSearch) -> Result<Value>;
    /// The result of `ask --json`. Stops with `CANCELLED` if the flag is set; `tell` receives each
    /// step, and each sentence that passed before the answer is final.
    fn ask(
        &self,
        wanted: &WantedAnswer,
        cancelled: &AtomicBool,
        tell: &dyn Fn(AskEvent),
    ) -> Result<Value>;
    /// The result of `get --json`.
    fn get(&self, address: &str) -> Result<Value>;
    /// A note for its page: `document` is the result of `get --json`, with its outline, its links,
    /// the notes that link to it and similar notes.
    fn note(&self, address: &str) -> Result<Value>;
    /// The result of `status --json`.
    fn status(&self) -> Result<Value>;
    /// The result of `runs list --json`, without the newest `skip` runs.
    fn runs(&self, skip: usize, limit: usize) -> Result<Value>;
    /// The same, in which each run says who asked (`asked_by`).
    fn runs_with_askers(&self, skip: usize, limit: usize) -> Result<Value>;
    /// The result of `runs show --json`.
    fn run(&self, id: &str) -> Result<Value>;
    /// Two runs as `a` and `b`, each the result of `runs show --json`.
    fn compare(&self, a: &str, b: &str) -> Result<Value>;
    /// The result of `runs replay --json`.
    fn replay(&self, id: &str) -> Result<Value>;
    /// The result of `memory list --json` or, with words, of `memory search --json`.
    fn memory(&self, words: &str) -> Result<Value>;
    /// The result of `doctor --offline --json`.
    fn doctor(&self) -> Result<Value>;
}

/// What is reported before an answer is final.
#[derive(Debug, Clone)]
pub(crate) enum AskEvent {
    Step(AskStep),
    Sentence(PassedSentence),
}

/// A sentence that the verifier passed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PassedSentence {
    /// The number of the draft with the sentence, while it may still change; `null` in the answer.
    /// If this differs from that of the sentence before, all earlier sentences are void.
    pub draft: Option<u32>,
    pub verdict: String,
    pub text: String,
}

/// A step on the way to an answer. It never contains text of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(crate) enum AskStep {
    /// The evidence is final; `places` are `source:path` with the lines of each item.
    Evidence { items: usize, places: Vec<String> },
    /// A model is asked.
    Asking { model: String },
    /// The size of its reply so far.
    Receiving { characters: usize },
}

/// The data that one visitor may see, and the operations on them.
pub(crate) struct View {
    service: Arc<mcp::Service>,
    bodies: Box<dyn Operations>,
    protocol: StreamableHttpService<mcp::Server, NeverSessionManager>,
}

impl View {
    /// The operations of `service`; `asked_by` is the visitor's name in records of runs.
    pub(crate) fn new(
        service: Arc<mcp::Service>,
        bodies: Box<dyn Operations>,
        asked_by: &str,
    ) -> Arc<Self> {
        let protocol = mcp::over_http(&service, MOST_BYTES, asked_by);
        Arc::new(Self {
            service,
            bodies,
            protocol,
        })
    }
}

/// Makes the view of each visitor.
pub(crate) trait Views: Send + Sync + 'static {
    /// The current view of this visitor. Called for every request, so it must be quick.
    ///
    /// # Errors
    /// Those of opening the sources.
    fn of(&self, visitor: &Visitor) -> Result<Arc<View>>;
}

/// The shared state of all requests.
struct ServerState {
    views: Box<dyn Views>,
    names: Names,
    access: Access,
    callers: Arc<Callers>,
    limiter: Limiter,
    sessions: Arc<Sessions>,
    listeners: Arc<Listeners>,
    at_work: Arc<Semaphore>,
    tls: Option<TlsIdentity>,
}

/// The link with this key to the server at this address.
pub(crate) fn link(url: &str, key: &str) -> String {
    format!("{url}/enter?key={key}")
}

/// Serves until a termination signal, or until [`ask_to_end`]; running requests are then finished.
/// `ready` is called once with the address.
///
/// # Errors
/// `INVALID_ARGS` for an address that other machines can reach without a certificate or a proxy;
/// `CONFIG_ERROR` when the server cannot listen at the address; `LOCKED` when another server runs;
/// `WRITE_ERROR` when the token cannot be stored; `INTERNAL_ERROR` when the runtime cannot be
/// created.
pub(crate) fn serve(
    views: Box<dyn Views>,
    settings: &Settings,
    ready: impl FnOnce(&Listening),
) -> Result<()> {
    names::check(settings)?;
    let claim = Claim::make(&settings.state_dir)?;
    token(&settings.state_dir, false)?;
    let runtime = mcp::runtime(AT_ONCE)?;
    mcp::warm_up(&views.of(&Visitor::owner())?.service);
    let ended = runtime.block_on(async {
        let listener = connections::listen(settings.listen).await?;
        let address = listener.local_addr().map_err(|e| {
            Failure::new(
                ErrorCode::ConfigError,
                format!("the address is not known: {e}"),
            )
        })?;
        let tls = settings.tls.clone();
        let own = names::own_address(address);
        // In front of a proxy, browsers use TLS too.
        let is_secure = tls.is_some() || settings.behind_proxy.is_some();
        let access = Access::new(settings.state_dir.clone(), is_secure, own.port());
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{own}");
        let link = settings
            .open
            .then(|| invite(&settings.state_dir, None))
            .transpose()?
            .map(|key| link(&url, &key));
        let house = Arc::new(ServerState {
            views,
            names: Names::new(address, settings.behind_proxy.as_deref(), tls.clone()),
            tls,
            access,
            callers: Arc::default(),
            limiter: Limiter::new(settings.per_minute),
            sessions: Arc::default(),
            listeners: Arc::default(),
            at_work: Arc::new(Semaphore::new(AT_ONCE)),
        });
        claim.announce(&RunningServer {
            pid: std::process::id(),
            listening: address,
            url: url.clone(),
            public_url: settings
                .behind_proxy
                .as_ref()
                .map(|host| format!("https://{host}")),
            certificate_sha256: settings.tls.as_ref().map(TlsIdentity::sha256),
            started_at: settings.started_at.clone(),
        })?;
        ready(&Listening { address, url, link });
        connections::accept(listener, house, &claim).await
    });
    runtime.shutdown_timeout(connections::FAREWELL);
    ended
}
