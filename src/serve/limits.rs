//! Limits the requests of one visitor per minute, and the number of concurrent ones.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::access::Visitor;

/// Maximum number of concurrent requests of one named token, so that others get permits.
pub(super) const AT_ONCE_EACH: usize = 8;

/// The requests of all visitors.
pub(super) struct Limiter {
    per_minute: f64,
    accounts: Mutex<HashMap<Option<String>, Account>>,
}

/// The requests of one visitor.
struct Account {
    /// Number of requests that it may make now; it grows by `per_minute` each minute.
    left: f64,
    counted: Instant,
    at_work: Arc<Semaphore>,
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TooMany {
    /// The limit per minute was reached; wait this many seconds.
    InAMinute {
        wait: u64,
    },
    AtOnce,
}

impl Limiter {
    /// A limiter without any request yet.
    pub(super) fn new(per_minute: u32) -> Self {
        Self {
            per_minute: f64::from(per_minute.max(1)),
            accounts: Mutex::default(),
        }
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<Option<String>, Account>> {
        // An account is changed in single steps.
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request. The permit is held until the request has ended. `None`: the owner needs no
    /// permit.
    pub(super) fn admit(
        &self,
        visitor: &Visitor,
        now: Instant,
    ) -> Result<Option<OwnedSemaphorePermit>, TooMany> {
        let mut accounts = self.accounts();
        let account = accounts
            .entry(visitor.name.clone())
            .or_insert_with(|| Account {
                left: self.per_minute,
                counted: now,
                at_work: Arc::new(Semaphore::new(AT_ONCE_EACH)),
            });
        let seconds = now.saturating_duration_since(account.counted).as_secs_f64();
        account.left = (account.left + seconds * self.per_minute / 60.0).min(self.per_minute);
        account.counted = now;
        if account.left < 1.0 {
            let seconds = (1.0 - account.left) * 60.0 / self.per_minute;
            // The subtraction keeps a whole number of seconds unchanged despite rounding errors.
            let wait = (seconds - 1e-6).ceil();
            return Err(TooMany::InAMinute { wait: wait as u64 });
        }
        account.left -= 1.0;
        if visitor.name.is_none() {
            return Ok(None);
        }
        let permit = Arc::clone(&account.at_work).try_acquire_owned();
        permit.map(Some).map_err(|_| TooMany::AtOnce)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::serve::VisitorRole;

    fn named(name: &str) -> Visitor {
        Visitor {
            name: Some(name.to_owned()),
            role: VisitorRole::Search,
            ..Visitor::owner()
        }
    }

    #[test]
    fn a_minute_has_so_many_requests_and_each_visitor_its_own() {
        let limiter = Limiter::new(2);
        let start = Instant::now();
        let admit = |who: &Visitor, after: u64| {
            let now = start + Duration::from_secs(after);
            limiter.admit(who, now).map(drop)
        };
        let (one, owner) = (named("one"), Visitor::owner());
        assert_eq!((admit(&one, 0), admit(&one, 0)), (Ok(()), Ok(())));
        assert_eq!(admit(&one, 0), Err(TooMany::InAMinute { wait: 30 }));
        assert_eq!(admit(&one, 20), Err(TooMany::InAMinute { wait: 10 }));
        assert_eq!((admit(&owner, 20), admit(&one, 31)), (Ok(()), Ok(())));
        assert!(admit(&one, 31).is_err());
        // Unused requests do not accumulate.
        assert_eq!((admit(&one, 900), admit(&one, 900)), (Ok(()), Ok(())));
        assert!(admit(&one, 900).is_err());
    }

    #[test]
    fn a_named_token_leaves_places_for_others() {
        let limiter = Limiter::new(1000);
        let (one, now) = (named("one"), Instant::now());
        let mut held: Vec<_> = (0..AT_ONCE_EACH)
            .map(|_| limiter.admit(&one, now).unwrap())
            .collect();
        assert_eq!(limiter.admit(&one, now).map(drop), Err(TooMany::AtOnce));
        assert!(limiter.admit(&named("two"), now).is_ok());
        assert!(limiter.admit(&Visitor::owner(), now).unwrap().is_none());
        held.pop();
        assert!(limiter.admit(&one, now).is_ok());
    }
}
