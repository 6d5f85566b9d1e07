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
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::running::Claim;
use super::{ServerState, TlsIdentity, guard};
use local_agent_text::error::{ErrorCode, Failure};

type Done<T> = local_agent_text::error::Result<T>;

/// How long running requests may take to finish after a termination signal.
pub(super) const FAREWELL: Duration = Duration::from_secs(30);

/// Maximum number of concurrent connections; others wait in the system's queue.
const MOST_CONNECTIONS: usize = 64;

/// Maximum size of a request's head in bytes, and maximum number of headers.
const MOST_HEAD: (usize, usize) = (16 << 10, 64);

/// Timeout for receiving a request's head, also on a connection that waits for its next request.
const LONGEST_HEAD: Duration = Duration::from_secs(15);

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
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let listeners = Arc::clone(&house.listeners);
    let mut end = std::pin::pin!(told_to_end(claim));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            ended = &mut end => {
                ended?;
                break;
            }
        };
        let Ok((stream, _)) = accepted else {
            // Too many open files, or the client disconnected: the next attempt may succeed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let house = Arc::clone(&house);
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            let Some(tls) = house.tls.as_ref().map(TlsIdentity::acceptor) else {
                return serve_one(stream, house, watcher, place).await;
            };
            // A client that does not complete the TLS handshake in time is disconnected.
            if let Ok(Ok(stream)) = timeout(LONGEST_HEAD, tls.accept(stream)).await {
                serve_one(stream, house, watcher, place).await;
            }
        });
    }
    drop(listener);
    listeners.end();
    let _ = timeout(FAREWELL, graceful.shutdown()).await;
    Ok(())
}

/// Serves one connection; its permit is held until it has ended.
async fn serve_one(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    house: Arc<ServerState>,
    watcher: Watcher,
    _place: Result<OwnedSemaphorePermit, AcquireError>,
) {
    let service = service_fn(move |request| {
        let house = Arc::clone(&house);
        async move { Ok::<_, Infallible>(guard::answer(house, request).await) }
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
