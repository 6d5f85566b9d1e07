//! Sessions of the Model Context Protocol. Two clients with the same token are distinguished by their
//! sessions, so a client can cancel its own requests and nobody else's.
//!
//! A session contains nothing of a note's text: only the token that began it, the requests that are
//! running, and the addresses of the notes to which it subscribed. Each request is checked again by its token.

use std::collections::HashMap;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rmcp::model::RequestId;
use tokio::sync::oneshot;

use super::access::secret;
use crate::mcp::{ClientName, Subscriptions};
use local_agent_text::error::Result;
use local_agent_text::types::Sha256;

/// Maximum number of sessions of one token; if one more begins, the one that was unused for longest
/// ends. It is larger than the number of requests at work, so one without a request is found.
const MOST_EACH: usize = 64;

/// A session that was unused for so long ends.
const LONGEST_IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The sessions of all visitors, by their ids.
#[derive(Default)]
pub(super) struct Sessions {
    kept: Mutex<HashMap<String, Session>>,
}

struct Session {
    /// The hash of the token that began it.
    token: Sha256,
    used: Instant,
    running: Vec<Running>,
    /// The number of requests so far.
    requests: u64,
    subscriptions: Arc<Subscriptions>,
    /// What the client called itself.
    client: Option<ClientName>,
}

struct Running {
    id: RequestId,
    number: u64,
    /// The request is cancelled when this is dropped.
    _cancel: oneshot::Sender<()>,
}

impl Sessions {
    fn kept(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        // A session is changed in single steps.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session of a token for a client that called itself so; returns its id.
    ///
    /// # Errors
    /// `INTERNAL_ERROR`: the system provides no random numbers.
    pub(super) fn begin(
        &self,
        token: Sha256,
        client: Option<ClientName>,
        now: Instant,
    ) -> Result<String> {
        let id = secret()?;
        let mut kept = self.kept();
        kept.retain(|_, session| !session.is_over(now));
        let own = kept.iter().filter(|(_, session)| session.token == token);
        let idle = own
            .clone()
            .filter(|(_, session)| session.running.is_empty());
        let oldest = idle.min_by_key(|(_, session)| session.used);
        if own.count() >= MOST_EACH
            && let Some((oldest, _)) = oldest
        {
            let oldest = oldest.clone();
            kept.remove(&oldest);
        }
        let session = Session {
            token,
            used: now,
            running: Vec::new(),
            requests: 0,
            subscriptions: Arc::default(),
            client,
        };
        kept.insert(id.clone(), session);
        Ok(id)
    }

    /// Whether the token has this session; it counts as used now.
    pub(super) fn has(&self, id: &str, token: Sha256, now: Instant) -> bool {
        let mut kept = self.kept();
        let session = kept.get_mut(id).filter(|session| session.token == token);
        let Some(session) = session.filter(|session| !session.is_over(now)) else {
            return false;
        };
        session.used = now;
        true
    }

    /// What the client of a session called itself.
    pub(super) fn client(&self, id: &str) -> Option<ClientName> {
        self.kept().get(id)?.client.clone()
    }

    /// Ends a session and cancels its requests.
    pub(super) fn end(&self, id: &str) {
        self.kept().remove(id);
    }

    /// Cancels a request of a session.
    pub(super) fn cancel(&self, id: &str, request: &RequestId) {
        if let Some(session) = self.kept().get_mut(id) {
            session.running.retain(|running| running.id != *request);
        }
    }

    /// The notes to which a session subscribed; `None` if it has ended.
    pub(super) fn subscriptions(&self, id: &str) -> Option<Arc<Subscriptions>> {
        let kept = self.kept();
        kept.get(id)
            .map(|session| Arc::clone(&session.subscriptions))
    }

    /// Enters a request of a session; `None` if the session has ended.
    pub(super) fn run(self: &Arc<Self>, id: &str, request: RequestId) -> Option<RunningRequest> {
        let mut kept = self.kept();
        let session = kept.get_mut(id)?;
        let (cancel, cancelled) = oneshot::channel();
        session.requests += 1;
        let number = session.requests;
        session.running.push(Running {
            id: request,
            number,
            _cancel: cancel,
        });
        Some(RunningRequest {
            sessions: Arc::clone(self),
            session: id.to_owned(),
            number,
            cancelled,
        })
    }
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        self.running.is_empty() && now.saturating_duration_since(self.used) >= LONGEST_IDLE
    }
}

/// A request of a session, which may be cancelled until this is dropped.
pub(super) struct RunningRequest {
    sessions: Arc<Sessions>,
    session: String,
    number: u64,
    cancelled: oneshot::Receiver<()>,
}

impl RunningRequest {
    /// Ready once the request is cancelled, or its session has ended.
    pub(super) fn poll_cancelled(&mut self, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.cancelled).poll(context).map(drop)
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.kept().get_mut(&self.session) {
            session.running.retain(|one| one.number != self.number);
            session.used = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str) -> Sha256 {
        Sha256::of(name.as_bytes())
    }

    fn is_cancelled(request: &mut RunningRequest) -> bool {
        let mut context = Context::from_waker(std::task::Waker::noop());
        request.poll_cancelled(&mut context).is_ready()
    }

    #[test]
    fn a_session_belongs_to_its_token() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let id = sessions.begin(token("a"), None, now).unwrap();
        assert_eq!(id.len(), 64);
        assert!(sessions.has(&id, token("a"), now));
        assert!(!sessions.has(&id, token("b"), now) && !sessions.has("", token("a"), now));
        sessions.end(&id);
        assert!(!sessions.has(&id, token("a"), now));
    }

    #[test]
    fn a_request_is_cancelled_in_its_own_session_only() {
        let (sessions, now) = (Arc::<Sessions>::default(), Instant::now());
        let [one, other] = [(); 2].map(|()| sessions.begin(token("a"), None, now).unwrap());
        let run = |session: &str, id: i64| sessions.run(session, RequestId::Number(id)).unwrap();
        let mut first = run(&one, 1);
        let mut second = run(&one, 2);
        let mut of_other = run(&other, 1);
        sessions.cancel(&one, &RequestId::String("1".into()));
        assert!(!is_cancelled(&mut first));
        sessions.cancel(&one, &RequestId::Number(1));
        assert!(is_cancelled(&mut first) && !is_cancelled(&mut second));
        assert!(!is_cancelled(&mut of_other));
        // The end of a session cancels the rest of it.
        sessions.end(&one);
        assert!(is_cancelled(&mut second) && !is_cancelled(&mut of_other));
        assert!(sessions.run(&one, RequestId::Number(3)).is_none());
        drop(of_other);
        assert!(sessions.kept()[&other].running.is_empty());
    }

    #[test]
    fn sessions_are_bounded_in_number_and_in_time() {
        let (sessions, now) = (Arc::<Sessions>::default(), Instant::now());
        let foreign = sessions.begin(token("b"), None, now).unwrap();
        let busy = sessions.begin(token("a"), None, now).unwrap();
        let running = sessions.run(&busy, RequestId::Number(1)).unwrap();
        let idle = sessions.begin(token("a"), None, now).unwrap();
        for second in 0..MOST_EACH as u64 {
            let later = now + Duration::from_secs(1 + second);
            sessions.begin(token("a"), None, later).unwrap();
        }
        assert_eq!(sessions.kept().len(), MOST_EACH + 1);
        assert!(!sessions.has(&idle, token("a"), now));
        assert!(sessions.has(&busy, token("a"), now) && sessions.has(&foreign, token("b"), now));
        // What is running is not unused.
        let later = now + LONGEST_IDLE + Duration::from_secs(3600);
        assert!(!sessions.has(&foreign, token("b"), later));
        sessions.begin(token("c"), None, later).unwrap();
        assert_eq!(sessions.kept().len(), 2);
        assert!(sessions.has(&busy, token("a"), later));
        drop(running);
    }
}
