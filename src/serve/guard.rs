//! The checks for every request, in this order: host name, origin, access, number of concurrent
//! requests, size, time. Every response gets headers that keep a browser from running or loading
//! anything from elsewhere.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode};
use serde_json::Map;
use tokio::sync::OwnedSemaphorePermit;

use super::reply::{Sent, refused, reply};
use super::{AT_ONCE, House, MOST_BYTES, api};
use local_agent_text::error::{ErrorCode, Failure};

/// Timeout for one request including its body and answer; a chat model on a slow machine takes
/// minutes.
const LONGEST: Duration = Duration::from_secs(300);

/// Timeout for receiving a body.
const LONGEST_BODY: Duration = Duration::from_secs(20);

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
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

/// The slot that a request holds until its work has ended; none for public endpoints.
#[derive(Clone)]
pub(super) struct AtWork {
    _place: Option<Arc<OwnedSemaphorePermit>>,
}

/// Answers a request if it passes the checks.
pub(super) async fn answer(house: Arc<House>, request: Request<Incoming>) -> Sent {
    let mut response = match checked(&house, request).await {
        Ok((place, request)) => in_time(&house, place, request).await,
        Err(response) => *response,
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn in_time(house: &Arc<House>, place: AtWork, request: Request<Bytes>) -> Sent {
    let work = api::answer(house, place, request);
    match tokio::time::timeout(LONGEST, work).await {
        Ok(response) => response,
        Err(_) => {
            let message = format!("this took longer than {} s", LONGEST.as_secs());
            let failure = Failure::new(ErrorCode::ServerBusy, message);
            reply(Err(failure), house.roots())
        }
    }
}

type Checked<T> = Result<T, Box<Sent>>;

async fn checked(house: &House, request: Request<Incoming>) -> Checked<(AtWork, Request<Bytes>)> {
    let path = request.uri().path();
    if !speaks_to_us(house, &request) {
        return deny(
            StatusCode::FORBIDDEN,
            "this server is not spoken to under this name",
            "use the address that `local-agent serve` printed",
        );
    }
    if comes_from_elsewhere(house, request.headers()) {
        return deny(
            StatusCode::FORBIDDEN,
            "another site asks, and gets nothing",
            "open the page at the address that `local-agent serve` printed",
        );
    }
    if path == "/health" || path == "/enter" {
        // Its body is not read: a client without the token takes no slot.
        return Ok((AtWork { _place: None }, request.map(|_| Bytes::new())));
    }
    match house.access.admits(request.headers()) {
        Ok(true) => {}
        Ok(false) => {
            return deny(
                StatusCode::UNAUTHORIZED,
                "the token is missing or wrong",
                "send `Authorization: Bearer` with what `local-agent serve token` prints; for a browser: \
                     local-agent serve --open",
            );
        }
        Err(failure) => return Err(Box::new(reply(Err(failure), &Map::new()))),
    }
    let Ok(place) = Arc::clone(&house.at_work).try_acquire_owned() else {
        let mut response = refused(
            StatusCode::SERVICE_UNAVAILABLE,
            &Failure::new(
                ErrorCode::ServerBusy,
                format!("{AT_ONCE} requests are at work already"),
            )
            .with_hint("ask again in a second"),
        );
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        return Err(Box::new(response));
    };
    let request = with_whole_body(request).await?;
    let place = AtWork {
        _place: Some(Arc::new(place)),
    };
    Ok((place, request))
}

fn deny(status: StatusCode, message: &str, hint: &str) -> Checked<(AtWork, Request<Bytes>)> {
    let failure = Failure::new(ErrorCode::AccessDenied, message).with_hint(hint);
    let mut response = refused(status, &failure);
    if status == StatusCode::UNAUTHORIZED {
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    Err(Box::new(response))
}

/// Whether the request names this server: with exactly one `Host`, and the same name in its request
/// line if that contains one.
fn speaks_to_us(house: &House, request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let is_ours = host.to_str().is_ok_and(|host| house.names.is_host(host));
    let line = request.uri().authority();
    is_ours && line.is_none_or(|authority| house.names.is_host(authority.as_str()))
}

/// Whether a browser says that the request comes from another site. `Sec-Fetch-Site` also shows
/// requests from another port of this machine, which would include the cookie.
fn comes_from_elsewhere(house: &House, headers: &HeaderMap) -> bool {
    let foreign = |value: &HeaderValue| !value.to_str().is_ok_and(|o| house.names.is_origin(o));
    let site = |value: &HeaderValue| value != "same-origin" && value != "none";
    headers.get_all(header::ORIGIN).iter().any(foreign)
        || headers.get_all("sec-fetch-site").iter().any(site)
}

/// The request with its complete body, if that is not too long and arrived in time.
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
        &Failure::new(ErrorCode::ServerBusy, message).with_hint("send less at once"),
    )
}
