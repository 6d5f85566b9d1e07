//! The same operations for agents, over the Model Context Protocol.
//!
//! The core is synchronous, and this module connects it to tokio: each call runs on a separate
//! thread, with a flag that is set when the client cancels the call. A failure is reported to the
//! model as a result with the code, message and fix of the command line, never as a crash. Nothing
//! here writes to the person's files.
//!
//! | file | contents |
//! | --- | --- |
//! | `transport` | reads and writes one JSON object per line |
//! | `server` | the protocol: lists, calls, progress, the prompt |
//! | `arguments` | converts the arguments of a call to the schema's types |
//! | `advice` | advice for an agent about a failure |
//! | `resources` | notes as resources |
//! | `subscriptions` | tells clients of changed notes |
//! | `tools` | the tools, with their descriptions |
//! | `shapes` | inputs and results of tools; their schemas are generated from here |
//! | `page` | cursors and byte budgets |
//! | `guide` | the instructions on citing |
//! | `relay` | passes a client's calls to a running `serve` |

mod advice;
mod arguments;
mod guide;
mod page;
mod relay;
mod resources;
mod server;
mod shapes;
mod subscriptions;
mod tools;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};

use local_agent_agent::ask::Day;
use local_agent_agent::config::Loaded;
use local_agent_agent::operations::root_identity::RootIdentities;
use local_agent_agent::operations::{self, Library};
use local_agent_agent::tools::{Audit, Tool, ToolFactory};
use local_agent_files::sandbox::{PrivateNotes, Sandbox};
use local_agent_text::error::{ErrorCode, Failure, Result};

pub(crate) use arguments::fit;
pub use relay::{FarAddress, endpoint, relay};
pub(crate) use server::ClientName;
pub use server::Server;
pub(crate) use subscriptions::Subscriptions;
pub use tools::names;
pub(crate) use transport::message_in;

/// Maximum number of concurrent calls; others wait. Each search keeps an index open while it runs.
const AT_ONCE: usize = 16;

/// The value in place of a size while no model writes.
const NOT_DRAFTING: usize = usize::MAX;

/// How long the process waits for running calls after the client has disconnected.
const FAREWELL: Duration = Duration::from_secs(3);

/// The state of a server.
pub struct Service {
    /// The configuration, with the origin of each value.
    pub loaded: Loaded,
    /// The notes hidden from agents; `None`: they see everything.
    pub private: Option<Arc<PrivateNotes>>,
    /// The index and the models, which stay open: see [`Library::for_server`].
    pub library: Library,
    /// Makes the file tools; those listed in `mcp.tools` are offered.
    pub files: ToolFactory,
    /// The log for calls.
    pub audit: Arc<Audit>,
    /// The folders that the kernel confines this process to; `None` if it does not.
    pub confined_to: Option<RootIdentities>,
    /// The five root folders named in records.
    pub roots: Map<String, Value>,
    /// Messages for people; never written to the protocol's stream.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
    /// Returns the current day.
    pub today: fn() -> Day,
}

impl Service {
    /// The sandbox for one call of an agent. It hides private notes unless the configuration shows
    /// them to agents.
    ///
    /// # Errors
    /// As [`Service::whole_sandbox`].
    pub fn sandbox(&self) -> Result<Sandbox> {
        let sandbox = self.whole_sandbox()?;
        Ok(match &self.private {
            Some(private) => sandbox.without_private(Arc::clone(private)),
            None => sandbox,
        })
    }

    /// The sandbox for one call of the notes' owner. It is opened now, so that a root that was
    /// moved away and recreated is noticed.
    ///
    /// # Errors
    /// `FILE_READ_ERROR` when this process is confined to the folder that was replaced.
    pub fn whole_sandbox(&self) -> Result<Sandbox> {
        if let Some(path) = self.confined_to.as_ref().and_then(RootIdentities::replaced) {
            let message = format!(
                "{} was made again since this server started",
                path.display()
            );
            return Err(Failure::new(ErrorCode::FileReadError, message).with_hint(
                "restart the server: \
                the kernel confines it to the folders that it started with",
            ));
        }
        operations::sandbox(&self.loaded.config)
    }

    /// The file tools offered in addition to the operations, as listed in the configuration; they
    /// only read.
    fn file_tools(&self) -> impl Iterator<Item = Tool> {
        let readers = self.files.read_only();
        let named = move |name: &String| {
            readers
                .iter()
                .find(|tool| tool.name() == name.as_str())
                .cloned()
        };
        self.loaded.config.mcp.tools.iter().filter_map(named)
    }
}

/// A single-threaded runtime, with at most `at_once` threads for running calls.
///
/// # Errors
/// `INTERNAL_ERROR`: the system provides no threads or handles.
pub fn runtime(at_once: usize) -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(at_once)
        .build()
        .map_err(|e| Failure::internal(format!("the runtime cannot be made: {e}")))
}

/// Serves one client until it closes its end.
///
/// Errors: `INTERNAL_ERROR` when the runtime cannot be created; `WRITE_ERROR` when writing to the
/// client fails.
pub fn serve<R, W>(service: Service, streams: impl FnOnce() -> (R, W)) -> Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let runtime = runtime(AT_ONCE)?;
    let service = Arc::new(service);
    warm_up(&service);
    let ended = runtime.block_on(async {
        let (reader, writer) = streams();
        let server = Server::new(Arc::clone(&service), Arc::from(server::OVER_STDIO));
        match server.serve(transport::Lines::new(reader, writer)).await {
            Ok(running) => {
                let _ = running.waiting().await;
                Ok(())
            }
            // The client disconnected before its first request.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(e) => Err(Failure::new(
                ErrorCode::WriteError,
                format!("the client was lost: {e}"),
            )),
        }
    });
    runtime.shutdown_timeout(FAREWELL);
    ended
}

/// The protocol over HTTP, for a server that authenticates each request before passing it on. Every
/// request is independent: the library keeps no session, so that each request sees the current
/// configuration. `way` is the client's name in the records of runs.
pub fn over_http(
    service: &Arc<Service>,
    most_bytes: usize,
    way: &str,
) -> StreamableHttpService<Server, NeverSessionManager> {
    let service = Arc::clone(service);
    // Names and origins were already checked.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(most_bytes)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let way: Arc<str> = Arc::from(way);
    let make = move || Ok(Server::new(Arc::clone(&service), Arc::clone(&way)));
    StreamableHttpService::new(make, Arc::default(), config)
}

/// Loads the model and opens the index, so that the first question does not wait for them. A
/// failure here is reported at the first use, where it occurs again.
pub fn warm_up(service: &Arc<Service>) {
    let service = Arc::clone(service);
    std::thread::spawn(move || {
        let opened = service.library.with(|engine| Ok(engine.has_vectors()));
        if matches!(opened, Ok(true)) {
            let _ = service.library.embedder().get();
        }
    });
}
