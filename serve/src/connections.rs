//! Accepts a limited number of connections, and limits the time that clients may take.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

use crate::descriptors;
use crate::error::ServeError;
use crate::options::Listen;
use crate::rates::Peer;
use crate::state::State;

/// Time that open connections have to finish when the server stops.
const GRACE_PERIOD: Duration = Duration::from_secs(10);
/// Delay before the next attempt if the system fails to accept a connection.
const RETRY_DELAY: Duration = Duration::from_millis(50);
/// Maximum size of the request line and headers, in bytes.
const MAX_HEAD_BYTES: usize = 32 << 10;

/// A socket that listens for connections.
pub(crate) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, std::path::PathBuf),
}

enum Stream {
    Tcp(TcpStream, IpAddr),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Listener {
    pub(crate) async fn bind(listen: &Listen) -> Result<Self, ServeError> {
        let (place, bound) = match listen {
            Listen::Tcp(address) => (address.to_string(), TcpListener::bind(address).await.map(Self::Tcp)),
            Listen::Unix(path) => {
                #[cfg(unix)]
                let bound = bind_socket(path).await.map(|listener| Self::Unix(listener, path.clone()));
                #[cfg(not(unix))]
                let bound = Err(std::io::ErrorKind::Unsupported.into());
                (path.display().to_string(), bound)
            }
        };
        bound.map_err(|source| ServeError::Listen { place, source })
    }

    /// Returns the address, such as `http://127.0.0.1:8080` or `unix:PATH`.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::Tcp(listener) => match listener.local_addr() {
                Ok(address) => format!("http://{address}"),
                Err(error) => format!("an unknown address: {error}"),
            },
            #[cfg(unix)]
            Self::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    async fn accept(&self) -> std::io::Result<Stream> {
        match self {
            Self::Tcp(listener) => {
                let (stream, client) = listener.accept().await?;
                // Disables Nagle's algorithm: answers are complete when they are written.
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream, client.ip()))
            }
            #[cfg(unix)]
            Self::Unix(listener, _) => listener.accept().await.map(|(stream, _)| Stream::Unix(stream)),
        }
    }
}

/// Creates a Unix socket at a path. Replaces a socket that a killed process has left.
#[cfg(unix)]
async fn bind_socket(path: &std::path::Path) -> std::io::Result<UnixListener> {
    use std::os::unix::fs::FileTypeExt as _;

    match UnixListener::bind(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            // Connections to files that are not sockets are refused as well, so check the type of the file.
            let is_socket = path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket());
            let refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
            if !is_socket || !UnixStream::connect(path).await.is_err_and(refused) {
                return Err(error);
            }
            remove_socket(path)?;
            UnixListener::bind(path)
        }
        bound => bound,
    }
}

#[cfg(unix)]
fn remove_socket(path: &std::path::Path) -> std::io::Result<()> {
    #[allow(clippy::disallowed_methods, reason = "the user has given the path, and it is a socket of this program")]
    std::fs::remove_file(path)
}

#[cfg(unix)]
impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = remove_socket(path);
        }
    }
}

/// Accepts connections until the server is stopped, then gives the open connections time to finish.
pub(crate) async fn accept(listener: Listener, router: Router, state: &Arc<State>) {
    let connections = descriptors::connection_limit(state.options.limits.connections, state.options.roots.max_open());
    let permits = Arc::new(Semaphore::new(connections));
    let mut open = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = state.stop.stopped() => break,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                // Usually the process has no free file descriptor. Connections that end will free some.
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(RETRY_DELAY).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
            state.metrics.refused_connections.inc();
            continue;
        };
        let (router, state) = (router.clone(), Arc::clone(state));
        open.spawn(async move {
            state.metrics.open_connections.inc();
            match stream {
                Stream::Tcp(stream, client) => answer(stream, Peer(Some(client)), router, &state).await,
                #[cfg(unix)]
                Stream::Unix(stream) => answer(stream, Peer(None), router, &state).await,
            }
            state.metrics.open_connections.dec();
            drop(permit);
        });
        while open.try_join_next().is_some() {}
    }
    drop(listener);
    let finished = async { while open.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE_PERIOD, finished).await.is_err() {
        tracing::warn!("closed connections that did not end within {} s", GRACE_PERIOD.as_secs());
    }
}

/// Answers the requests of one connection.
async fn answer<S>(stream: S, peer: Peer, router: Router, state: &State)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let idle = state.options.limits.idle;
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(idle).max_buf_size(MAX_HEAD_BYTES);
    // The same time limit applies to a client that does not read its answers.
    let mut stream = Box::pin(TimeoutStream::new(stream));
    stream.as_mut().set_write_timeout_pinned(Some(idle));
    let service = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request
    });
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)).with_upgrades();
    let mut connection = pin!(connection);
    let stopped = pin!(state.stop.stopped());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopped => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended early: {error}");
    }
}
