//! Searches of sessions that are not stored yet.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::store::Retrieved;

/// Maximum number of searches that are kept. The oldest search is discarded first.
const MAX_PENDING: usize = 1_000;
/// Maximum number of chunks that are kept of one search.
const MAX_CHUNKS: usize = 1_000;

/// A query and the chunks that it retrieved.
type Search = (String, Vec<Retrieved>);

/// The newest searches that are not stored yet, with their sessions.
#[derive(Default)]
pub(super) struct PendingSearches(Mutex<VecDeque<(String, Search)>>);

impl PendingSearches {
    /// Adds a search of a session.
    pub(super) fn add(&self, session: &str, query: &str, mut retrieved: Vec<Retrieved>) {
        retrieved.truncate(MAX_CHUNKS);
        let mut searches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if searches.len() == MAX_PENDING {
            searches.pop_front();
        }
        searches.push_back((session.to_owned(), (query.to_owned(), retrieved)));
    }

    /// Removes and returns the searches of a session, oldest first.
    pub(super) fn take(&self, session: &str) -> Vec<Search> {
        let mut searches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, others) = searches.drain(..).partition(|(of, _)| of == session);
        *searches = others;
        let own: VecDeque<(String, Search)> = own;
        own.into_iter().map(|(_, search)| search).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(key: &str) -> Retrieved {
        Retrieved { home: "/p/.aurora".into(), key: key.to_owned() }
    }

    #[test]
    fn a_session_gets_only_its_own_searches() {
        let pending = PendingSearches::default();
        pending.add("a", "first", vec![chunk("x")]);
        pending.add("b", "second", vec![chunk("y")]);
        pending.add("a", "third", Vec::new());
        assert_eq!(pending.take("a"), [("first".to_owned(), vec![chunk("x")]), ("third".to_owned(), Vec::new())]);
        assert_eq!(pending.take("a"), []);
        assert_eq!(pending.take("b"), [("second".to_owned(), vec![chunk("y")])]);
    }

    #[test]
    fn the_oldest_searches_are_discarded() {
        let pending = PendingSearches::default();
        for number in 0..=MAX_PENDING {
            pending.add(&number.to_string(), "query", Vec::new());
        }
        assert!(pending.take("0").is_empty() && !pending.take("1").is_empty());
    }
}
