//! Limits for the entries that agents add.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

use crate::error::MemoryError;

/// Maximum size of an entry, in bytes of JSON.
pub const MAX_ENTRY_BYTES: usize = 64 << 10;
/// Maximum number of entries of a session within a minute.
pub const MAX_SESSION_ENTRIES: u32 = 120;
/// Maximum size of the entries of a session within a minute, in bytes.
pub const MAX_SESSION_BYTES: u32 = 1 << 20;
/// Maximum number of entries of all sessions of a server within a minute.
pub const MAX_SERVER_ENTRIES: u32 = 600;
/// Maximum size of the entries of all sessions of a server within a minute, in bytes.
pub const MAX_SERVER_BYTES: u32 = 8 << 20;
/// Number of sessions above which sessions without recent entries are forgotten.
const TIDY_SESSIONS: usize = 1_000;

type Instant = <MonotonicClock as governor::clock::Clock>::Instant;
type Server = RateLimiter<NotKeyed, InMemoryState, MonotonicClock, NoOpMiddleware<Instant>>;
type Sessions = RateLimiter<String, HashMapStateStore<String>, MonotonicClock, NoOpMiddleware<Instant>>;

/// Counts the entries and their sizes, per session and in total.
pub(super) struct Quotas {
    server_entries: Server,
    server_bytes: Server,
    session_entries: Sessions,
    session_bytes: Sessions,
}

impl Default for Quotas {
    fn default() -> Self {
        let quota = |most: u32| Quota::per_minute(NonZeroU32::new(most).expect("the limits are not zero"));
        let sessions = |most| Sessions::new(quota(most), HashMapStateStore::default(), MonotonicClock);
        let server = |most| Server::direct_with_clock(quota(most), MonotonicClock);
        Self {
            server_entries: server(MAX_SERVER_ENTRIES),
            server_bytes: server(MAX_SERVER_BYTES),
            session_entries: sessions(MAX_SESSION_ENTRIES),
            session_bytes: sessions(MAX_SESSION_BYTES),
        }
    }
}

impl Quotas {
    /// Counts an entry of a session. An entry without a session counts for the server only. A refused entry may count,
    /// too.
    ///
    /// # Errors
    /// Returns [`MemoryError::TooLarge`] or [`MemoryError::Quota`] if the entry exceeds a limit.
    pub(super) fn count(&self, session: Option<&str>, bytes: usize) -> Result<(), MemoryError> {
        let size = u32::try_from(bytes).ok().filter(|_| bytes <= MAX_ENTRY_BYTES).and_then(NonZeroU32::new);
        let size = size.ok_or(MemoryError::TooLarge { bytes, max: MAX_ENTRY_BYTES })?;
        let now = || MonotonicClock.now();
        if let Some(session) = session.map(str::to_owned) {
            if self.session_entries.len() > TIDY_SESSIONS {
                self.session_entries.retain_recent();
                self.session_bytes.retain_recent();
            }
            let entries = self.session_entries.check_key(&session).map_err(|until| until.wait_time_from(now()));
            entries.map_err(|wait| refusal("a session", MAX_SESSION_ENTRIES, MAX_SESSION_BYTES, wait))?;
            // The limits exceed the maximum size of an entry, so the outer error does not occur.
            if let Ok(Err(until)) = self.session_bytes.check_key_n(&session, size) {
                let wait = until.wait_time_from(now());
                return Err(refusal("a session", MAX_SESSION_ENTRIES, MAX_SESSION_BYTES, wait));
            }
        }
        let entries = self.server_entries.check().map_err(|until| until.wait_time_from(now()));
        entries.map_err(|wait| refusal("a server", MAX_SERVER_ENTRIES, MAX_SERVER_BYTES, wait))?;
        if let Ok(Err(until)) = self.server_bytes.check_n(size) {
            return Err(refusal("a server", MAX_SERVER_ENTRIES, MAX_SERVER_BYTES, until.wait_time_from(now())));
        }
        Ok(())
    }
}

fn refusal(who: &'static str, entries: u32, bytes: u32, wait: Duration) -> MemoryError {
    let seconds = wait.as_millis().div_ceil(1_000).max(1);
    MemoryError::Quota(format!(
        "{who} stores at most {entries} entries and {} MiB within a minute; try again in {seconds} seconds",
        bytes >> 20
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds entries of a size until one is refused, and returns the reason. The limits grow with time, so the number of
    /// accepted entries is not known exactly.
    fn refusal_after(quotas: &Quotas, session: impl Fn(usize) -> Option<String>, bytes: usize) -> (usize, String) {
        let refused = (0..1_000).find_map(|number| {
            let refused = quotas.count(session(number).as_deref(), bytes).err()?;
            Some((number, refused.to_string()))
        });
        refused.expect("an entry exceeds a limit")
    }

    fn session(name: &str) -> impl Fn(usize) -> Option<String> {
        move |_| Some(name.to_owned())
    }

    #[test]
    fn a_session_has_a_limited_number_of_entries() {
        let quotas = Quotas::default();
        let (accepted, reason) = refusal_after(&quotas, session("a"), 10);
        assert!(accepted >= MAX_SESSION_ENTRIES as usize, "{accepted}");
        assert!(reason.contains("a session stores at most 120 entries and 1 MiB") && reason.contains("try again in"));
        quotas.count(Some("b"), 10).expect("another session has its own limit");
        quotas.count(None, 10).expect("an entry without a session counts for the server");
        let (_, reason) = refusal_after(&quotas, |_| None, 10);
        assert!(reason.contains("a server stores at most 600 entries and 8 MiB"), "{reason}");
    }

    #[test]
    fn sizes_are_limited() {
        let quotas = Quotas::default();
        let too_large = quotas.count(Some("a"), MAX_ENTRY_BYTES + 1).expect_err("the entry is too large");
        assert!(too_large.to_string().contains("at most 65536 are allowed"), "{too_large}");
        let (accepted, reason) = refusal_after(&quotas, session("a"), MAX_ENTRY_BYTES);
        assert!((16..120).contains(&accepted) && reason.contains("a session"), "{accepted}: {reason}");
        let (accepted, reason) = refusal_after(&quotas, |number| Some(number.to_string()), MAX_ENTRY_BYTES);
        assert!((100..600).contains(&accepted) && reason.contains("a server"), "{accepted}: {reason}");
    }
}
