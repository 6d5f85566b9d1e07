//! The open connections, by who opened them.
//!
//! A connection is a stranger's until a request on it carries a valid token. Strangers share a few
//! places and have little time. If all of their places are taken, a new connection gets the place of
//! the oldest one, of the address that has most of them: so whoever has a token is always let in,
//! whatever others do. A connection with a token leaves the strangers' places.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use local_agent_text::types::Sha256;

/// Maximum number of concurrent connections without a token.
pub(super) const MOST_STRANGERS: usize = 32;

/// Maximum number of concurrent connections of one token.
pub(super) const MOST_OF_ONE_TOKEN: usize = 128;

/// How long a connection may be open until a request on it carries a valid token.
const STRANGERS_TIME: Duration = Duration::from_secs(10);

/// Number of wrong tokens of one address that are answered at once; it grows again by one with each
/// [`ONE_MORE_AFTER`].
const WRONG_TOKENS: f64 = 8.0;

const ONE_MORE_AFTER: Duration = Duration::from_secs(10);

/// How long the answer to a further wrong token takes.
const SLOWED: Duration = Duration::from_secs(2);

/// Maximum number of addresses whose wrong tokens are counted.
const MOST_ADDRESSES: usize = 1024;

/// All open connections.
#[derive(Default)]
pub(super) struct Callers {
    open: Mutex<OpenConnections>,
    wrong_tokens: Mutex<HashMap<IpAddr, WrongTokens>>,
}

#[derive(Default)]
struct OpenConnections {
    /// The number of the next connection.
    next: u64,
    /// The connections without a token, oldest first.
    strangers: Vec<Stranger>,
    /// The number of connections of each token.
    held: HashMap<Sha256, usize>,
}

struct Stranger {
    number: u64,
    address: IpAddr,
    leave: Arc<Notify>,
}

/// The wrong tokens of one address.
struct WrongTokens {
    /// Number of wrong tokens that are still answered at once.
    left: f64,
    counted: Instant,
}

/// One open connection. Its place is free when the last copy is dropped.
pub(super) struct CallerConnection {
    callers: Arc<Callers>,
    number: u64,
    address: IpAddr,
    leave: Arc<Notify>,
    /// The token of its last request that carried a valid one.
    token: Mutex<Option<Sha256>>,
}

/// The address for which a client counts. A machine usually has a whole /64 of IPv6.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let network = u128::from(v6) & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each state is changed in single steps.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Callers {
    /// A place for a new connection from this address. It is never refused: if there is none, the
    /// stranger that has to leave is told so.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Arc<CallerConnection> {
        let address = counted(address);
        let leave = Arc::new(Notify::new());
        let mut open = locked(&self.open);
        if open.strangers.len() >= MOST_STRANGERS {
            open.make_room();
        }
        let number = open.next;
        open.next += 1;
        open.strangers.push(Stranger {
            number,
            address,
            leave: Arc::clone(&leave),
        });
        Arc::new(CallerConnection {
            callers: Arc::clone(self),
            number,
            address,
            leave,
            token: Mutex::default(),
        })
    }

    /// Counts a wrong token; returns how long its answer has to wait.
    fn count_wrong_token(&self, address: IpAddr, now: Instant) -> Duration {
        let mut all = locked(&self.wrong_tokens);
        if all.len() >= MOST_ADDRESSES && !all.contains_key(&address) {
            all.retain(|_, known| known.left_at(now) < WRONG_TOKENS);
            if all.len() >= MOST_ADDRESSES {
                return SLOWED;
            }
        }
        let known = all.entry(address).or_insert(WrongTokens {
            left: WRONG_TOKENS,
            counted: now,
        });
        let left = known.left_at(now);
        known.counted = now;
        known.left = (left - 1.0).max(0.0);
        if left < 1.0 { SLOWED } else { Duration::ZERO }
    }
}

impl WrongTokens {
    fn left_at(&self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.counted);
        let grown = passed.as_secs_f64() / ONE_MORE_AFTER.as_secs_f64();
        (self.left + grown).min(WRONG_TOKENS)
    }
}

impl OpenConnections {
    /// Tells the oldest stranger of the address with the most strangers to leave.
    fn make_room(&mut self) {
        let of = |address: IpAddr| {
            let same = |stranger: &&Stranger| stranger.address == address;
            self.strangers.iter().filter(same).count()
        };
        let most = self
            .strangers
            .iter()
            .rev()
            .max_by_key(|stranger| of(stranger.address));
        let Some(address) = most.map(|stranger| stranger.address) else {
            return;
        };
        let oldest = self.strangers.iter().position(|one| one.address == address);
        if let Some(oldest) = oldest {
            self.strangers.remove(oldest).leave.notify_one();
        }
    }

    fn leave(&mut self, token: Sha256) {
        if let Some(own) = self.held.get_mut(&token) {
            *own -= 1;
            if *own == 0 {
                self.held.remove(&token);
            }
        }
    }
}

impl CallerConnection {
    /// A request on this connection carried this valid token. `false` if the token has as many
    /// connections as it may.
    pub(super) fn admit(&self, token: Sha256) -> bool {
        let mut own = locked(&self.token);
        if *own == Some(token) {
            return true;
        }
        let mut open = locked(&self.callers.open);
        let held = open.held.entry(token).or_default();
        if *held >= MOST_OF_ONE_TOKEN {
            return false;
        }
        *held += 1;
        open.strangers.retain(|one| one.number != self.number);
        if let Some(former) = own.replace(token) {
            open.leave(former);
        }
        true
    }

    /// Whether no request on this connection has carried a valid token.
    pub(super) fn is_stranger(&self) -> bool {
        locked(&self.token).is_none()
    }

    /// Counts a wrong token on this connection; returns how long its answer has to wait.
    pub(super) fn count_wrong_token(&self) -> Duration {
        let callers = &self.callers;
        callers.count_wrong_token(self.address, Instant::now())
    }

    /// Waits until this connection has to end: its time is over or its place is needed, and it is
    /// still a stranger's.
    pub(super) async fn told_to_leave(&self) {
        let _ = tokio::time::timeout(STRANGERS_TIME, self.leave.notified()).await;
        if !self.is_stranger() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for CallerConnection {
    fn drop(&mut self) {
        let mut open = locked(&self.callers.open);
        open.strangers.retain(|one| one.number != self.number);
        if let Some(token) = *locked(&self.token) {
            open.leave(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    /// Whether the connection was told to leave.
    async fn has_to_leave(connection: &CallerConnection) -> bool {
        let told = connection.told_to_leave();
        tokio::time::timeout(Duration::from_millis(5), told)
            .await
            .is_ok()
    }

    #[tokio::test]
    async fn strangers_push_out_each_other_and_nobody_with_a_token() {
        let callers: Arc<Callers> = Arc::default();
        let holder = callers.enter(address(1));
        let token = Sha256::of(b"token");
        assert!(holder.is_stranger() && holder.admit(token) && !holder.is_stranger());
        let other = callers.enter(address(2));
        let mut crowd: Vec<_> = (1..MOST_STRANGERS)
            .map(|_| callers.enter(address(1)))
            .collect();
        assert!(!has_to_leave(&crowd[0]).await);
        // One more of the crowd takes the place of its own oldest.
        crowd.push(callers.enter(address(1)));
        assert!(has_to_leave(&crowd[0]).await);
        // A newcomer from another address takes the place of the crowd's next one.
        let newcomer = callers.enter(address(3));
        assert!(has_to_leave(&crowd[1]).await);
        for kept in [&holder, &other, &newcomer, &crowd[2]] {
            assert!(!has_to_leave(kept).await);
        }
        drop(crowd);
        drop((other, newcomer));
        assert!(locked(&callers.open).strangers.is_empty());
        drop(holder);
        assert!(locked(&callers.open).held.is_empty());
    }

    #[tokio::test]
    async fn a_connection_that_was_told_to_leave_and_then_shows_a_token_stays() {
        let callers: Arc<Callers> = Arc::default();
        let first = callers.enter(address(1));
        let _crowd: Vec<_> = (0..MOST_STRANGERS)
            .map(|_| callers.enter(address(1)))
            .collect();
        assert!(first.admit(Sha256::of(b"token")));
        assert!(!has_to_leave(&first).await);
    }

    #[test]
    fn a_token_has_so_many_connections() {
        let callers: Arc<Callers> = Arc::default();
        let [one, two] = [b"one", b"two"].map(|token| Sha256::of(token));
        let mut open: Vec<_> = (0..=MOST_OF_ONE_TOKEN)
            .map(|_| callers.enter(address(1)))
            .collect();
        let admitted = open
            .iter()
            .filter(|connection| connection.admit(one))
            .count();
        assert_eq!(admitted, MOST_OF_ONE_TOKEN);
        let last = open.pop().unwrap();
        assert!(last.admit(two) && !last.admit(one));
        open.pop();
        assert!(last.admit(one));
        assert_eq!(locked(&callers.open).held.get(&two), None);
    }

    #[test]
    fn wrong_tokens_of_an_address_are_answered_ever_later() {
        let callers: Arc<Callers> = Arc::default();
        let start = Instant::now();
        let wrong = |who: u8, after: u64| {
            let now = start + Duration::from_secs(after);
            callers.count_wrong_token(address(who), now)
        };
        for _ in 0..8 {
            assert_eq!(wrong(1, 0), Duration::ZERO);
        }
        assert_eq!((wrong(1, 0), wrong(1, 1)), (SLOWED, SLOWED));
        assert_eq!(wrong(2, 1), Duration::ZERO);
        assert_eq!((wrong(1, 11), wrong(1, 11)), (Duration::ZERO, SLOWED));
    }

    #[test]
    fn a_machine_is_one_address_with_all_of_its_network() {
        let of = |text: &str| counted(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:3:4:5:6"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), address(1));
    }
}
