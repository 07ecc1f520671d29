//! The server: two pages over HTTP, with TLS where asked for. A slow or silent client holds nobody up.

use super::Offered;
use super::access::Access;
use super::web_config::{Settings, WebConfig};
use crate::exit::{Exit, Failure};
use ::report::metrics::Format;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// Connections served at once; more wait.
const CONNECTIONS_MAX: usize = 64;
/// A client that takes longer for its handshake or its request is dropped.
const PATIENCE: Duration = Duration::from_secs(10);
/// No connection stays longer, whatever it does.
const CONNECTION_MAX: Duration = Duration::from_secs(600);

const LANDING: &str = "<!doctype html><html lang=\"en\"><title>plimsoll export</title><h1>plimsoll export</h1>\
    <p><a href=\"/metrics\">Metrics</a></p></html>\n";

/// Where it listens and how.
pub struct Address {
    /// The address in use.
    pub at: SocketAddr,
    /// Whether it speaks TLS.
    pub tls: bool,
    /// Whether a password is asked for.
    pub guarded: bool,
}

/// Listens and serves on a thread of its own. It ends with the process.
pub fn start(listen: &str, config: Option<WebConfig>, offered: Arc<Offered>) -> Result<Address, Failure> {
    let wrong = |cause: std::io::Error| {
        Failure::new(Exit::Environment, format!("listening on {listen}: {cause}"))
            .hint("--listen ADDRESS:PORT names another address, like 127.0.0.1:9998")
    };
    // An address that is none is wrong usage, a port that is taken is not.
    let listen_on = std::net::ToSocketAddrs::to_socket_addrs(listen)
        .map_err(|cause| Failure::new(Exit::Usage, format!("'{listen}' is no address and port: {cause}")))?
        .collect::<Vec<_>>();
    let socket = std::net::TcpListener::bind(&listen_on[..]).map_err(wrong)?;
    socket.set_nonblocking(true).map_err(wrong)?;
    let at = socket.local_addr().map_err(wrong)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(wrong)?;
    let settings = Arc::new(Followed(Mutex::new(config)));
    let now = settings.now();
    let address = Address { at, tls: now.tls.is_some(), guarded: !now.access.is_open() };
    let serve = move || {
        runtime.block_on(async {
            match TcpListener::from_std(socket) {
                Ok(listener) => accept(listener, settings, offered).await,
                Err(cause) => eprintln!("warning: the server ends: {cause}"),
            }
        });
    };
    std::thread::Builder::new().name("http".to_owned()).spawn(serve).map_err(wrong)?;
    Ok(address)
}

/// The file, if there is one.
struct Followed(Mutex<Option<WebConfig>>);

impl Followed {
    /// The settings as they stand, asked for with each connection and each request: scrapers keep connections for hours.
    fn now(&self) -> Settings {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(config) => {
                let (settings, trouble) = config.current();
                if let Some(words) = trouble {
                    eprintln!("warning: {words}");
                }
                settings
            }
            None => Settings { tls: None, access: Arc::new(open()) },
        }
    }
}

fn open() -> Access {
    Access::new(HashMap::new()).unwrap_or_else(|_| unreachable!("no user has a bad hash"))
}

async fn accept(listener: TcpListener, settings: Arc<Followed>, offered: Arc<Offered>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Out of descriptors, most likely: there will be some again.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (settings, offered) = (Arc::clone(&settings), Arc::clone(&offered));
        tokio::spawn(async move {
            // Whoever goes away in the middle, or speaks something else, has no more to be told.
            let _ = tokio::time::timeout(CONNECTION_MAX, connection(stream, settings, offered)).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, settings: Arc<Followed>, offered: Arc<Offered>) {
    match settings.now().tls {
        Some(tls) => {
            let handshake = TlsAcceptor::from(tls).accept(stream);
            if let Ok(Ok(stream)) = tokio::time::timeout(PATIENCE, handshake).await {
                requests(stream, settings, offered).await;
            }
        }
        None => requests(stream, settings, offered).await,
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    settings: Arc<Followed>,
    offered: Arc<Offered>,
) {
    let serve = service_fn(|request: Request<Incoming>| {
        let (access, offered) = (settings.now().access, Arc::clone(&offered));
        async move { Ok::<_, Infallible>(answer(&request, access, offered).await) }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(16 << 10);
    // A connection that breaks needs no answer.
    let _ = http.serve_connection(TokioIo::new(stream), serve).await;
}

async fn answer(
    request: &Request<Incoming>,
    access: Arc<Access>,
    offered: Arc<Offered>,
) -> Response<Full<Bytes>> {
    let header =
        |name| request.headers().get(name).and_then(|v: &HeaderValue| v.to_str().ok()).unwrap_or_default();
    if !allowed(access, header(AUTHORIZATION).to_owned()).await {
        let mut refused = plain(StatusCode::UNAUTHORIZED, "user and password, please\n");
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic"));
        return refused;
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
    }
    match request.uri().path() {
        "/metrics" => {
            let format = Format::accepted(header(ACCEPT));
            typed(StatusCode::OK, format.content_type(), offered.page(format))
        }
        "/" => typed(StatusCode::OK, "text/html; charset=utf-8", LANDING.to_owned()),
        _ => plain(StatusCode::NOT_FOUND, "the metrics are at /metrics\n"),
    }
}

async fn allowed(access: Arc<Access>, authorization: String) -> bool {
    if access.is_open() || access.remembers(&authorization) {
        return true;
    }
    // Slow on purpose: off the thread that serves the others.
    tokio::task::spawn_blocking(move || access.check(&authorization)).await.unwrap_or(false)
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    typed(status, "text/plain; charset=utf-8", text.to_owned())
}

fn typed(status: StatusCode, content_type: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
