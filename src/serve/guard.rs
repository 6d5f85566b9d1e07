//! The checks for every request, in this order: host name, origin, access, number of requests, size,
//! time; `api` then checks the role. Every response gets headers that keep a browser from running or
//! loading anything from elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode};
use serde_json::Map;
use tokio::sync::OwnedSemaphorePermit;

use super::access::{Admitted, Visitor};
use super::browser_advice::for_browser;
use super::callers::{CallerConnection, MOST_OF_ONE_TOKEN};
use super::limits::{AT_ONCE_EACH, TooMany};
use super::reply::{Sent, refused, reply};
use super::{AT_ONCE, MOST_BYTES, ServerState, View, api, page, site};
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::Sha256;

/// Timeout for one request including its body and answer; a chat model on a slow machine takes
/// minutes.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Timeout for receiving a body.
const LONGEST_BODY: Duration = Duration::from_secs(20);

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // With `no-referrer`, a browser says `Origin: null` when it sends a form of this server's pages.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// An admitted request: its visitor, the visitor's view, and the permits that it holds until its
/// work has ended.
#[derive(Clone)]
pub(super) struct Visit {
    pub visitor: Visitor,
    /// The hash of the visitor's token.
    pub token: Sha256,
    pub view: Arc<View>,
    /// Whether a browser wants to show the response as a page.
    pub is_browser: bool,
    pub permits: Permits,
}

/// A permit among all requests, and one among those of the same token. They are free when the last
/// copy is dropped.
#[derive(Clone)]
pub(super) struct Permits {
    _held: Arc<HeldPermits>,
}

#[cfg(test)]
impl Permits {
    /// Permits of a server with a single one.
    pub(super) fn unlimited() -> Self {
        let all = Arc::new(tokio::sync::Semaphore::new(1));
        let all = all.try_acquire_owned().unwrap();
        Self {
            _held: Arc::new(HeldPermits {
                _all: all,
                _own: None,
            }),
        }
    }
}

struct HeldPermits {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
}

/// Answers a request if it passes the checks. A connection without a token ends with its response.
pub(super) async fn answer(
    house: Arc<ServerState>,
    caller: &CallerConnection,
    request: Request<Incoming>,
) -> Sent {
    let is_for_page = wants_page(&request);
    let mut response = match checked(&house, caller, request, is_for_page).await {
        Ok((visit, request)) => in_time(&house, visit, request).await,
        Err(response) => *response,
    };
    if let Some(failure) = response.extensions_mut().remove::<Failure>()
        && is_for_page
    {
        response = as_page(response, &failure);
    }
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    if caller.is_stranger() || response.status() == StatusCode::UNAUTHORIZED {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}

/// Whether a browser wants to show the response as a page.
fn wants_page(request: &Request<Incoming>) -> bool {
    let path = request.uri().path();
    let is_for_programs = path.starts_with("/api/") || matches!(path, "/mcp" | "/health");
    let accept = request.headers().get(header::ACCEPT);
    let accept = accept.and_then(|accept| accept.to_str().ok());
    !is_for_programs && accept.is_some_and(|accept| accept.contains("text/html"))
}

/// A refusal as a page, with its status and its own headers.
fn as_page(response: Sent, failure: &Failure) -> Sent {
    let (mut parts, _) = response.into_parts();
    let (page, body) = site::html(page::refused(&for_browser(failure))).into_parts();
    parts.headers.extend(page.headers);
    Sent::from_parts(parts, body)
}

async fn in_time(house: &Arc<ServerState>, visit: Option<Visit>, request: Request<Bytes>) -> Sent {
    let Some(visit) = visit else {
        return api::answer_anybody(house, &request);
    };
    let roots = visit.view.service.roots.clone();
    match tokio::time::timeout(REQUEST_TIMEOUT, api::answer(house, visit, request)).await {
        Ok(response) => response,
        Err(_) => {
            let message = format!("this took longer than {} s", REQUEST_TIMEOUT.as_secs());
            let failure = Failure::new(ErrorCode::ServerBusy, message);
            reply(Err(failure), &roots)
        }
    }
}

type Checked<T> = Result<T, Box<Sent>>;

async fn checked(
    house: &ServerState,
    caller: &CallerConnection,
    request: Request<Incoming>,
    is_for_page: bool,
) -> Checked<(Option<Visit>, Request<Bytes>)> {
    if !speaks_to_us(house, &request) {
        return Err(deny(
            StatusCode::FORBIDDEN,
            "this server is not spoken to under this name",
            "use the address that `local-agent serve` printed",
        ));
    }
    if comes_from_elsewhere(house, request.headers()) {
        return Err(deny(
            StatusCode::FORBIDDEN,
            "another site asks, and gets nothing",
            "open the page at the address that `local-agent serve` printed",
        ));
    }
    if api::is_for_anybody(request.uri().path()) {
        // The body is not read, so a client without a token needs no permit.
        return Ok((None, request.map(|_| Bytes::new())));
    }
    let Some(admitted) = admitted(house, &request)? else {
        return Err(without_access(caller, request.headers(), is_for_page).await);
    };
    if !caller.admit(admitted.token) {
        return Err(Box::new(too_many_connections()));
    }
    let visit = visit(house, admitted, is_for_page)?;
    let request = with_whole_body(request).await?;
    Ok((Some(visit), request))
}

/// What a browser without access is told.
pub(super) const NO_ACCESS: &str =
    "this browser has no access, or lost it when the server was started again";

/// A failure as the answer to a request.
fn failed(failure: Failure) -> Box<Sent> {
    Box::new(reply(Err(failure), &Map::new()))
}

/// The client that makes the request, if it has access.
fn admitted(house: &ServerState, request: &Request<Incoming>) -> Checked<Option<Admitted>> {
    house.access.admits(request.headers()).map_err(failed)
}

/// The refusal of a client without access; it takes longer the more wrong tokens its address sent.
async fn without_access(
    caller: &CallerConnection,
    headers: &HeaderMap,
    is_for_page: bool,
) -> Box<Sent> {
    if headers.contains_key(header::AUTHORIZATION) {
        tokio::time::sleep(caller.count_wrong_token()).await;
    }
    let (message, hint) = match is_for_page {
        true => (
            NO_ACCESS,
            "open a new link here; whoever runs the server gets one with `local-agent serve link`",
        ),
        false => (
            "the token is missing or wrong",
            "send `Authorization: Bearer` with what `local-agent serve token` prints; for a browser: \
             local-agent serve link",
        ),
    };
    deny(StatusCode::UNAUTHORIZED, message, hint)
}

fn too_many_connections() -> Sent {
    let message = format!("{MOST_OF_ONE_TOKEN} connections of this token are open already");
    busy(StatusCode::TOO_MANY_REQUESTS, message, 1)
}

/// The visitor's view with its permits, if it is within its limits.
fn visit(house: &ServerState, admitted: Admitted, is_browser: bool) -> Checked<Visit> {
    let Admitted { visitor, token } = admitted;
    let own = house
        .limiter
        .admit(&visitor, Instant::now())
        .map_err(|too_many| Box::new(too_often(&too_many)))?;
    let Ok(all) = Arc::clone(&house.at_work).try_acquire_owned() else {
        let message = format!("{AT_ONCE} requests are at work already");
        return Err(Box::new(busy(StatusCode::SERVICE_UNAVAILABLE, message, 1)));
    };
    let view = house.views.of(&visitor).map_err(failed)?;
    Ok(Visit {
        visitor,
        token,
        view,
        is_browser,
        permits: Permits {
            _held: Arc::new(HeldPermits {
                _all: all,
                _own: own,
            }),
        },
    })
}

fn too_often(too_many: &TooMany) -> Sent {
    let (message, wait) = match too_many {
        TooMany::InAMinute { wait } => (
            "this token made more requests than it may in a minute".to_owned(),
            *wait,
        ),
        TooMany::AtOnce => (
            format!("{AT_ONCE_EACH} requests of this token are at work already"),
            1,
        ),
    };
    busy(StatusCode::TOO_MANY_REQUESTS, message, wait)
}

fn busy(status: StatusCode, message: String, wait: u64) -> Sent {
    let hint = match wait {
        0 | 1 => "ask again in a second".to_owned(),
        wait => format!("ask again in {wait} seconds"),
    };
    let failure = Failure::new(ErrorCode::ServerBusy, message).with_hint(hint);
    let mut response = refused(status, &failure);
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from(wait.max(1)));
    response
}

fn deny(status: StatusCode, message: &str, hint: &str) -> Box<Sent> {
    let failure = Failure::new(ErrorCode::AccessDenied, message).with_hint(hint);
    let mut response = refused(status, &failure);
    if status == StatusCode::UNAUTHORIZED {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    Box::new(response)
}

/// Whether the request names this server: it has exactly one `Host`, and the same name in its
/// request line if that contains one.
fn speaks_to_us(house: &ServerState, request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let is_ours = host.to_str().is_ok_and(|host| house.names.is_host(host));
    let line = request.uri().authority();
    is_ours && line.is_none_or(|authority| house.names.is_host(authority.as_str()))
}

/// Whether a browser reports that the request comes from another site. `Sec-Fetch-Site` also
/// reveals requests from another port of this machine, with which the browser would send the
/// cookie.
fn comes_from_elsewhere(house: &ServerState, headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ORIGIN)
        .iter()
        .any(|value| is_foreign_origin(house, value))
        || headers.get_all("sec-fetch-site").iter().any(is_other_site)
}

/// Whether a browser reports another site as the sender of the request.
fn is_other_site(value: &HeaderValue) -> bool {
    value != "same-origin" && value != "none"
}

/// Whether the origin is not one of this server's.
fn is_foreign_origin(house: &ServerState, value: &HeaderValue) -> bool {
    !value.to_str().is_ok_and(|o| house.names.is_origin(o))
}

/// The request with its complete body, if the body is within the limit and arrived in time.
async fn with_whole_body(request: Request<Incoming>) -> Checked<Request<Bytes>> {
    let (parts, body) = request.into_parts();
    let announced = parts
        .headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(Box::new(too_large()));
    }
    let whole = Limited::new(body, MOST_BYTES).collect();
    match tokio::time::timeout(LONGEST_BODY, whole).await {
        Ok(Ok(whole)) => Ok(Request::from_parts(parts, whole.to_bytes())),
        Ok(Err(_)) => Err(Box::new(too_large())),
        Err(_) => Err(Box::new(refused(
            StatusCode::REQUEST_TIMEOUT,
            &Failure::new(ErrorCode::ServerBusy, "the body took too long to come"),
        ))),
    }
}

fn too_large() -> Sent {
    let message = format!("the body is longer than {MOST_BYTES} bytes, or broke off");
    refused(
        StatusCode::PAYLOAD_TOO_LARGE,
        &Failure::new(ErrorCode::RequestTooLarge, message).with_hint("send less at once"),
    )
}
