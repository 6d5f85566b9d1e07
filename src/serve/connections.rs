//! Listening and shutdown. The only code of the program that accepts connections.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::callers::CallerConnection;
use super::running::Claim;
use super::{ServerState, TlsIdentity, guard};
use local_agent_text::error::{ErrorCode, Failure};

type Done<T> = local_agent_text::error::Result<T>;

/// How long running requests may take to finish after a termination signal.
pub(super) const FAREWELL: Duration = Duration::from_secs(30);

/// Maximum size of a request's head in bytes, and maximum number of headers.
const MOST_HEAD: (usize, usize) = (16 << 10, 64);

/// Timeout for receiving a request's head, also on a connection that waits for its next request.
const LONGEST_HEAD: Duration = Duration::from_secs(15);

/// Timeout for the handshake of TLS.
const LONGEST_HANDSHAKE: Duration = Duration::from_secs(5);

pub(super) async fn listen(address: SocketAddr) -> Done<TcpListener> {
    TcpListener::bind(address).await.map_err(|e| {
        Failure::new(
            ErrorCode::ConfigError,
            format!("{address} cannot be listened at: {e}"),
        )
        .with_command("local-agent serve --listen 127.0.0.1:0 takes a free port")
    })
}

/// Serves connections until a termination signal, or until somebody asks this server to end, and
/// lets running requests finish.
pub(super) async fn accept(
    listener: TcpListener,
    house: Arc<ServerState>,
    claim: &Claim,
) -> Done<()> {
    let graceful = GracefulShutdown::new();
    let listeners = Arc::clone(&house.listeners);
    let mut end = std::pin::pin!(told_to_end(claim));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            ended = &mut end => {
                ended?;
                break;
            }
        };
        let Ok((stream, address)) = accepted else {
            // Too many open files, or the client disconnected: the next attempt may succeed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let caller = house.callers.enter(address.ip());
        let watcher = graceful.watcher();
        tokio::spawn(serve_caller(stream, Arc::clone(&house), watcher, caller));
    }
    drop(listener);
    listeners.end();
    let _ = timeout(FAREWELL, graceful.shutdown()).await;
    Ok(())
}

/// Serves one connection until it ends, or until it has to leave.
async fn serve_caller(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    house: Arc<ServerState>,
    watcher: Watcher,
    caller: Arc<CallerConnection>,
) {
    let served = serve_stream(stream, house, watcher, Arc::clone(&caller));
    tokio::select! {
        () = served => {}
        () = caller.told_to_leave() => {}
    }
}

/// Serves one connection, over TLS if this server has a certificate.
async fn serve_stream(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    house: Arc<ServerState>,
    watcher: Watcher,
    caller: Arc<CallerConnection>,
) {
    let Some(tls) = house.tls.as_ref().map(TlsIdentity::acceptor) else {
        return serve_requests(stream, house, watcher, caller).await;
    };
    // A client that does not complete the handshake in time is disconnected.
    if let Ok(Ok(stream)) = timeout(LONGEST_HANDSHAKE, tls.accept(stream)).await {
        serve_requests(stream, house, watcher, caller).await;
    }
}

/// Answers the requests of one connection.
async fn serve_requests(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    house: Arc<ServerState>,
    watcher: Watcher,
    caller: Arc<CallerConnection>,
) {
    let service = service_fn(move |request| {
        let (house, caller) = (Arc::clone(&house), Arc::clone(&caller));
        async move { Ok::<_, Infallible>(guard::answer(house, &caller, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEAD)
        .max_buf_size(MOST_HEAD.0)
        .max_headers(MOST_HEAD.1)
        .serve_connection(TokioIo::new(stream), service);
    // A client may break off; that is not an error.
    let _ = watcher.watch(connection).await;
}

/// Waits for a termination signal, or for somebody who asks this server to end.
async fn told_to_end(claim: &Claim) -> Done<()> {
    tokio::select! {
        signalled = signalled() => signalled,
        () = claim.asked_to_end() => Ok(()),
    }
}

/// Waits for a termination signal.
async fn signalled() -> Done<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut term = signal(SignalKind::terminate()).map_err(lost_signals)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(lost_signals)?;
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.map_err(lost_signals)
}

/// The failure if the system's signals cannot be received.
fn lost_signals(e: std::io::Error) -> Failure {
    Failure::internal(format!("the system's signals cannot be listened for: {e}"))
}
