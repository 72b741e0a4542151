//! A bounded cache of computed values.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Maximum number of entries in a cache.
const MAX_CACHE_ENTRIES: usize = 4_096;

/// A cache of at most `MOST` computed values, which is cleared when it is full.
pub(super) struct Cache<K, V, const MOST: usize = MAX_CACHE_ENTRIES>(RefCell<FxHashMap<K, V>>);

impl<K, V, const MOST: usize> Default for Cache<K, V, MOST> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Hash + Eq, V: Clone, const MOST: usize> Cache<K, V, MOST> {
    /// Returns the value of a key, computed by `find` unless it is cached.
    ///
    /// # Errors
    /// Fails if `find` fails.
    pub(super) fn get_or<Q, E>(&self, key: &Q, find: impl FnOnce() -> Result<V, E>) -> Result<V, E>
    where
        K: Borrow<Q>,
        Q: ToOwned<Owned = K> + Hash + Eq + ?Sized,
    {
        if let Some(known) = self.0.borrow().get(key) {
            return Ok(known.clone());
        }
        let found = find()?;
        self.insert(key.to_owned(), found.clone());
        Ok(found)
    }

    /// Removes the value of a key.
    pub(super) fn remove<Q: Hash + Eq + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.0.borrow_mut().remove(key);
    }

    /// Sets the value of a key.
    pub(super) fn insert(&self, key: K, value: V) {
        let mut entries = self.0.borrow_mut();
        if entries.len() >= MOST {
            entries.clear();
        }
        entries.insert(key, value);
    }
}
