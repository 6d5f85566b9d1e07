//! The operations over HTTP, for programs and a browser on this machine: JSON below `/api`, the
//! Model Context Protocol at `/mcp`, pages, and `/health`.
//!
//! Clients from other machines, without the token, or from another site get no access. The core is
//! synchronous: each operation runs on a separate thread, with a flag that is set when nobody waits
//! any more.
//!
//! | file | contents |
//! | --- | --- |
//! | `names` | the names and origins under which clients may address this server |
//! | `access` | the token, the one-time link, the browsers that were admitted |
//! | `guard` | checks for every request: headers, names, access, limits |
//! | `api` | the endpoints below `/api` |
//! | `site` | the addresses of the pages |
//! | `page` | the pages themselves, without input or output |
//! | `reply` | results and failures as HTTP |
//! | `connections` | listening and shutdown |

mod access;
mod api;
mod connections;
mod guard;
mod names;
mod page;
mod reply;
mod site;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::mcp;
use local_agent_agent::operations::Limits;
use local_agent_text::error::{ErrorCode, Failure, Result};

pub(crate) use access::{TOKEN_FILE, kept_token, token};

use access::Access;
use names::Names;

/// Maximum number of concurrent requests; further ones are refused.
const AT_ONCE: usize = 16;

/// Maximum size of a request's body in bytes.
const MOST_BYTES: usize = 1 << 20;

/// Where and for whom to serve.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub listen: SocketAddr,
    /// The public name of the proxy in front of this server.
    pub behind_proxy: Option<String>,
    /// Whether to create a link for one browser.
    pub open: bool,
    /// The folder with the token.
    pub state_dir: PathBuf,
}

/// What is reported once the server listens.
#[derive(Debug, Clone)]
pub(crate) struct Listening {
    pub address: SocketAddr,
    /// Its address on this machine.
    pub url: String,
    /// Lets one browser in, once.
    pub link: Option<String>,
}

/// The body of `/api/search`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedSearch {
    pub query: String,
    /// Maximum number of hits; default 5.
    pub limit: Option<usize>,
    #[serde(default)]
    pub within: Within,
}

/// The body of `/api/ask`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WantedAnswer {
    pub question: String,
    /// Fail when a sentence does not pass or is in doubt.
    #[serde(default)]
    pub strict: bool,
    #[serde(default)]
    pub within: Within,
}

/// Where to search.
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

/// The results of the operations: each is the object that the command line prints with `--json`.
pub(crate) trait Bodies: Send + Sync + 'static {
    /// As `query --json`.
    fn search(&self, wanted: &WantedSearch) -> Result<Value>;
    /// As `ask --json`. Stops with `CANCELLED` when the flag is set.
    fn ask(&self, wanted: &WantedAnswer, cancelled: &AtomicBool) -> Result<Value>;
    /// As `get --json`.
    fn get(&self, address: &str) -> Result<Value>;
    /// As `status --json`.
    fn status(&self) -> Result<Value>;
    /// As `runs list --json`.
    fn runs(&self, limit: usize) -> Result<Value>;
    /// As `runs show --json`.
    fn run(&self, id: &str) -> Result<Value>;
}

/// The shared state of all requests.
struct House {
    bodies: Box<dyn Bodies>,
    service: Arc<mcp::Service>,
    protocol: StreamableHttpService<mcp::Server, NeverSessionManager>,
    names: Names,
    access: Access,
    at_work: Arc<Semaphore>,
}

impl House {
    fn roots(&self) -> &Map<String, Value> {
        &self.service.roots
    }
}

/// Serves until a termination signal; running requests are then finished. `ready` is called once
/// with the address.
///
/// # Errors
/// `INVALID_ARGS` for an address beyond this machine without a proxy; `CONFIG_ERROR` when the
/// server cannot listen at the address; `WRITE_ERROR` when the token cannot be stored;
/// `INTERNAL_ERROR` when the runtime cannot be created.
pub(crate) fn serve(
    service: mcp::Service,
    bodies: impl FnOnce(Arc<mcp::Service>) -> Box<dyn Bodies>,
    settings: &Settings,
    ready: impl FnOnce(&Listening),
) -> Result<()> {
    names::check(settings)?;
    token(&settings.state_dir, false)?;
    let runtime = mcp::runtime(AT_ONCE)?;
    let service = Arc::new(service);
    mcp::warm_up(&service);
    let ended = runtime.block_on(async {
        let listener = connections::listen(settings.listen).await?;
        let address = listener.local_addr().map_err(|e| {
            Failure::new(
                ErrorCode::ConfigError,
                format!("the address is not known: {e}"),
            )
        })?;
        let access = Access::new(settings.state_dir.clone());
        let url = format!("http://{address}");
        let link = settings
            .open
            .then(|| access.invite())
            .transpose()?
            .map(|key| format!("{url}/enter?key={key}"));
        let house = Arc::new(House {
            bodies: bodies(Arc::clone(&service)),
            names: Names::new(address, settings.behind_proxy.as_deref()),
            access,
            at_work: Arc::new(Semaphore::new(AT_ONCE)),
            protocol: mcp::over_http(&service, MOST_BYTES),
            service,
        });
        ready(&Listening { address, url, link });
        connections::accept(listener, house).await
    });
    runtime.shutdown_timeout(connections::FAREWELL);
    ended
}
