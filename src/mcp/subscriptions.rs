//! Subscriptions to notes: a client hears when a note that it named has changed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};

use super::resources::{self, seen, subject_of};
use super::{Service, tools};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::FileStamp;

/// The interval at which subscribed notes are checked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Maximum number of notes that one client may subscribe to.
const MOST_WATCHED: usize = 1000;

/// The notes to which a client subscribed, each with its last known state; `None` if it cannot be
/// read.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    watched: Mutex<BTreeMap<String, Option<FileStamp>>>,
    /// Whether a task checks them.
    has_watcher: Mutex<bool>,
}

impl Subscriptions {
    fn watched(&self) -> MutexGuard<'_, BTreeMap<String, Option<FileStamp>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to watch a note that can be read now, on a thread of its own.
    ///
    /// # Errors
    /// Notes are not offered as resources; the errors of the sandbox and of the ledger;
    /// `INVALID_ARGS` above the maximum number of notes.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        service: &Arc<Service>,
        uri: String,
    ) -> std::result::Result<(), ErrorData> {
        resources::must_be_offered(service)?;
        let (this, own) = (Arc::clone(self), Arc::clone(service));
        tokio::task::spawn_blocking(move || this.add(&own, &uri))
            .await
            .unwrap_or_else(|_| Err(Failure::internal("the request panicked")))
            .map_err(|failure| resources::error(&failure, service))
    }

    /// Begins to watch a note that can be read now. The ledger records the call like that of a tool.
    fn add(&self, service: &Service, uri: &str) -> Result<()> {
        let done = self.begin(service, uri);
        let has_begun = done.is_ok();
        let subject = subject_of(uri);
        let entered = tools::enter(service, "resources/subscribe", subject, done, |()| 0);
        if has_begun && entered.is_err() {
            self.remove(uri);
        }
        entered
    }

    fn begin(&self, service: &Service, uri: &str) -> Result<()> {
        let sandbox = service.sandbox()?;
        let stamp = seen(&sandbox, uri)?;
        let mut watched = self.watched();
        if watched.len() >= MOST_WATCHED && !watched.contains_key(uri) {
            let message = format!("a client may subscribe to {MOST_WATCHED} notes");
            return Err(Failure::new(ErrorCode::InvalidArgs, message)
                .with_hint("unsubscribe from another note"));
        }
        watched.insert(uri.to_owned(), Some(stamp));
        Ok(())
    }

    /// Stops watching a note.
    pub(crate) fn remove(&self, uri: &str) {
        self.watched().remove(uri);
    }

    /// The notes that changed since the last check.
    fn changed(&self, service: &Service) -> Vec<String> {
        let before = self.watched().clone();
        if before.is_empty() {
            return Vec::new();
        }
        // Without a sandbox nothing is known; the next check may have one.
        let Ok(sandbox) = service.sandbox() else {
            return Vec::new();
        };
        let now = before.into_iter().filter_map(|(uri, stamp)| {
            let now = seen(&sandbox, &uri).ok();
            (now != stamp).then_some((uri, now))
        });
        let changed: Vec<_> = now.collect();
        let mut watched = self.watched();
        let mut told = Vec::new();
        for (uri, stamp) in changed {
            if let Some(known) = watched.get_mut(&uri) {
                *known = stamp;
                told.push(uri);
            }
        }
        told
    }

    /// Waits for the time of the next check, and returns the notes that changed since the last one.
    pub(crate) async fn next_changes(self: &Arc<Self>, service: &Arc<Service>) -> Vec<String> {
        tokio::time::sleep(LOOK_EVERY).await;
        let (this, service) = (Arc::clone(self), Arc::clone(service));
        let look = tokio::task::spawn_blocking(move || this.changed(&service));
        look.await.unwrap_or_default()
    }

    /// Notifies the client of changes until it disconnects. Called after a subscription was added;
    /// only the first call starts the task.
    pub(super) fn watch(self: &Arc<Self>, service: &Arc<Service>, peer: Peer<RoleServer>) {
        let mut has_watcher = self
            .has_watcher
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *has_watcher, true) {
            return;
        }
        tokio::spawn(notify(Arc::clone(self), Arc::clone(service), peer));
    }
}

async fn notify(subscriptions: Arc<Subscriptions>, service: Arc<Service>, peer: Peer<RoleServer>) {
    while !peer.is_transport_closed() {
        for uri in subscriptions.next_changes(&service).await {
            let told = ResourceUpdatedNotificationParam::new(uri);
            if peer.notify_resource_updated(told).await.is_err() {
                return;
            }
        }
    }
}

/// The part of a filter that can be accepted: the notes that the client may see, up to the maximum
/// number. The ledger records the others like calls of a tool that failed.
pub(super) fn acceptable(service: &Service, wanted: &SubscriptionFilter) -> SubscriptionFilter {
    let named = wanted.resource_subscriptions.iter().flatten();
    let sandbox = service.sandbox();
    let visible = named
        .take(MOST_WATCHED)
        .filter(|uri| can_be_seen(service, &sandbox, uri));
    let mut accepted = SubscriptionFilter::new();
    accepted.resource_subscriptions = Some(visible.cloned().collect());
    accepted
}

fn can_be_seen(service: &Service, sandbox: &Result<Sandbox>, uri: &str) -> bool {
    let looked = match sandbox {
        Ok(sandbox) => seen(sandbox, uri),
        Err(failure) => Err(failure.clone()),
    };
    match looked {
        Ok(_) => true,
        Err(failure) => {
            let subject = subject_of(uri);
            let name = "resources/subscribe";
            // A failure of the ledger refuses the note too.
            let _ = tools::enter(service, name, subject, Err::<(), _>(failure), |()| 0);
            false
        }
    }
}

/// Notifies a client of changes of the notes that were accepted, until it cancels the request.
pub(super) async fn listen(service: &Arc<Service>, context: &SubscriptionContext) {
    let subscriptions = Arc::new(Subscriptions::default());
    for uri in context.accepted().resource_subscriptions.iter().flatten() {
        // A note that is gone by now is not watched.
        let _ = subscriptions.subscribe(service, uri.clone()).await;
    }
    loop {
        let changed = tokio::select! {
            changed = subscriptions.next_changes(service) => changed,
            () = context.cancelled() => return,
        };
        for uri in changed {
            if context.sink().notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
    }
}
