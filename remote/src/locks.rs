//! Locks between pushes and prunes.
//!
//! A push relies on parts that exist already, so a prune must not delete parts during a push. Both write an object
//! before they look for objects of the other kind. At least one of two concurrent operations therefore sees the other.
//! Ages are differences between times of the store's clock, so that the clocks of the machines do not matter.

use crate::error::RemoteError;
use crate::store::Store;

/// Name of the lock of a prune.
const PRUNE: &str = "prune";
/// Prefix of the names of the locks of pushes.
const PUSH: &str = "push-";
/// Age in seconds after which the lock of a killed push no longer prevents prunes. A push may not take longer.
const PUSH_SECONDS: i64 = 24 * 3600;
/// Age in seconds after which the lock of a killed prune no longer prevents pushes. A prune may not take longer.
const PRUNE_SECONDS: i64 = 3600;

/// A lock in the remote.
pub(crate) struct Lock {
    name: String,
    /// The time of the store when the lock was written.
    pub(crate) time: i64,
}

impl Lock {
    /// Announces a push.
    ///
    /// # Errors
    /// Fails if a prune is in progress.
    pub(crate) async fn push(store: &Store) -> Result<Self, RemoteError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| RemoteError::Busy(format!("no random numbers: {error}")))?;
        let name = format!("locks/{PUSH}{:016x}", u64::from_le_bytes(random));
        let lock = Self::write(store, name).await?;
        let pruning = store.modified(&format!("locks/{PRUNE}")).await?;
        if pruning.is_some_and(|started| lock.time - started < PRUNE_SECONDS) {
            lock.release(store).await;
            return Err(RemoteError::Busy("a prune of the remote is in progress; push again later".to_owned()));
        }
        Ok(lock)
    }

    /// Announces a prune. Also returns whether a push is in progress.
    ///
    /// # Errors
    /// Fails if another prune is in progress.
    pub(crate) async fn prune(store: &Store) -> Result<(Self, bool), RemoteError> {
        let name = format!("locks/{PRUNE}");
        // The lock of a killed prune is replaced. Its age is known only after the store has written another object.
        let probe = Self::write(store, format!("locks/{PRUNE}-time")).await?;
        let started = store.modified(&name).await?;
        let busy = || RemoteError::Busy("another prune of the remote is in progress".to_owned());
        match started {
            Some(started) if probe.time - started < PRUNE_SECONDS => return Err(busy()),
            Some(_) => store.delete(&name).await?,
            None => {}
        }
        if !store.put_new(&name, Vec::new()).await? {
            return Err(busy());
        }
        let lock = Self { time: store.modified(&name).await?.unwrap_or(probe.time), name };
        probe.release(store).await;
        let mut is_pushing = false;
        for entry in store.list("locks").await?.iter().filter(|entry| entry.name.starts_with(PUSH)) {
            if lock.time - entry.modified < PUSH_SECONDS {
                is_pushing = true;
            } else {
                store.delete(&format!("locks/{}", entry.name)).await?;
            }
        }
        Ok((lock, is_pushing))
    }

    async fn write(store: &Store, name: String) -> Result<Self, RemoteError> {
        store.put(&name, Vec::new()).await?;
        let time = store.modified(&name).await?.ok_or_else(|| RemoteError::damaged(&name, "it has disappeared"))?;
        Ok(Self { name, time })
    }

    /// Removes the lock. A lock that cannot be removed expires.
    pub(crate) async fn release(self, store: &Store) {
        drop(store.delete(&self.name).await);
    }
}
