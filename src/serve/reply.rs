//! Results and failures as HTTP, in the envelope of the command line's `--json`.

use std::convert::Infallible;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Map, Value, json};

use local_agent_text::error::{ErrorCode, Failure, Result};

/// The type of a response.
pub(super) type Sent = Response<BoxBody<Bytes, Infallible>>;

/// The JSON object for a result or failure, with the roots.
pub(super) fn reply(done: Result<Value>, roots: &Map<String, Value>) -> Sent {
    match done {
        Ok(mut body) => {
            if let Some(fields) = body.as_object_mut() {
                fields.extend(roots.clone());
                fields.entry("ok").or_insert(Value::Bool(true));
            }
            object(StatusCode::OK, &body)
        }
        Err(failure) => {
            let mut body = envelope(&failure);
            if let Some(fields) = body.as_object_mut() {
                fields.extend(roots.clone());
            }
            with_failure(object(status(failure.code), &body), &failure)
        }
    }
}

/// A failure with a separate status, for a client without access: without the roots.
pub(super) fn refused(status: StatusCode, failure: &Failure) -> Sent {
    with_failure(object(status, &envelope(failure)), failure)
}

/// Keeps the failure with its response, from which a browser gets a page.
fn with_failure(mut response: Sent, failure: &Failure) -> Sent {
    response.extensions_mut().insert(failure.clone());
    response
}

fn envelope(failure: &Failure) -> Value {
    let mut body = json!({
        "ok": false,
        "error_code": failure.code.as_str(),
        "error_message": failure.message,
        "hint": failure.hint,
    });
    if let Some(found) = &failure.found {
        body["closest"] = json!(found.closest);
        body["run_id"] = json!(found.run_id);
    }
    body
}

pub(super) fn object(status: StatusCode, body: &Value) -> Sent {
    let mut response = Response::new(Full::new(Bytes::from(format!("{body}\n"))).boxed());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// The HTTP status for a failure.
pub(super) const fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidArgs | ErrorCode::InvalidQuery => StatusCode::BAD_REQUEST,
        ErrorCode::AccessDenied | ErrorCode::PathDenied => StatusCode::FORBIDDEN,
        ErrorCode::FileNotFound | ErrorCode::RunNotFound | ErrorCode::SymbolNotFound => {
            StatusCode::NOT_FOUND
        }
        ErrorCode::AmbiguousPath | ErrorCode::IndexMissing | ErrorCode::PathIsDirectory => {
            StatusCode::CONFLICT
        }
        ErrorCode::RequestTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::AskCitationInvalid => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::ServerBusy | ErrorCode::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::ServerUnreachable | ErrorCode::ServerError | ErrorCode::ServerUnauthorized => {
            StatusCode::BAD_GATEWAY
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
