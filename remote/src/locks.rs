//! Coordination of pushes and prunes.
//!
//! A push relies on parts that exist already, and a prune may delete them. A push therefore writes an object before it
//! lists the parts, and a prune removes the objects of all pushes before it reads the manifests. A push whose object has
//! been removed does not know which of its parts still exist, and repeats its work. If the object still exists after the
//! push has written its manifest, every prune that follows reads this manifest. An object that a killed push leaves
//! behind prevents nothing.
//!
//! A push does not start during a prune. Whether a prune was killed is known from the age of its object, which is a
//! difference between two times of the store's clock, so that the clocks of the machines do not matter.
//!
//! A store with conditional writes accepts only one manifest of a number. In a store without them, a push writes its
//! manifest while it holds a lock: it writes an object with a random name and lists all objects. It holds the lock if
//! there is no other object of this kind; otherwise, it removes its object and tries again later. Of two pushes, the
//! one that lists later finds the object of the other one, because a store lists an object as soon as it has been
//! written.

use std::time::{Duration, Instant, SystemTime};

use crate::error::RemoteError;
use crate::store::{Entry, Store};

/// Prefix of the names of the objects of prunes.
const PRUNE: &str = "prune-";
/// Prefix of the names of the objects of pushes.
const PUSH: &str = "push-";
/// Prefix of the names of the objects of pushes that write a manifest.
const MANIFEST: &str = "manifest-";
/// Age in seconds of the object of a killed prune, or of a push that was killed while it wrote its manifest.
const KILLED_SECONDS: i64 = 1200;
/// Maximum time of a prune, and of a push that writes its manifest. It leaves time for requests that are under way.
const MAX_HELD: Duration = Duration::from_secs(600);
/// Maximum time for which a push waits for the manifests of other pushes.
const MAX_WAIT: Duration = Duration::from_secs(3600);
/// Maximum time for removing an object after the operation was stopped.
const MAX_RELEASE: Duration = Duration::from_secs(5);
/// Interval at which a push checks whether a prune has ended.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The object of a push or a prune in progress.
pub(crate) struct Lock {
    name: String,
    /// The time of the store when the object was written.
    pub(crate) time: i64,
    started: (Instant, SystemTime),
}

impl Lock {
    /// Announces a push. Calls `wait` before it waits for the end of a prune.
    pub(crate) async fn push(store: &Store, wait: &(dyn Fn() + Sync)) -> Result<Self, RemoteError> {
        let mut has_waited = false;
        loop {
            let (lock, others) = Self::write(store, PUSH).await?;
            match lock {
                Some(lock) if !others.iter().any(|other| lock.is_rival(other, PRUNE)) => return Ok(lock),
                Some(lock) => lock.release(store).await,
                // A prune has begun in the meantime.
                None => {}
            }
            if !std::mem::replace(&mut has_waited, true) {
                wait();
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Announces a prune. Unless nothing will be deleted, also removes the objects of all pushes and of killed prunes.
    ///
    /// # Errors
    /// Fails if another prune is in progress.
    pub(crate) async fn prune(store: &Store, dry_run: bool) -> Result<Self, RemoteError> {
        let busy = || RemoteError::Busy("another prune of the remote is in progress".to_owned());
        let (lock, others) = Self::write(store, PRUNE).await?;
        let lock = lock.ok_or_else(busy)?;
        if others.iter().any(|other| lock.is_rival(other, PRUNE)) {
            lock.release(store).await;
            return Err(busy());
        }
        for other in others.into_iter().filter(|other| !dry_run && !lock.is_rival(other, MANIFEST)) {
            store.delete(&format!("locks/{}", other.name)).await?;
        }
        Ok(lock)
    }

    /// Waits until no other machine writes a manifest, and prevents all others from doing so.
    ///
    /// # Errors
    /// Fails if other machines write manifests for too long.
    pub(crate) async fn manifest(store: &Store) -> Result<Self, RemoteError> {
        let begun = Instant::now();
        while begun.elapsed() < MAX_WAIT {
            let (lock, others) = Self::write(store, MANIFEST).await?;
            match lock {
                Some(lock) if !others.iter().any(|other| lock.is_rival(other, MANIFEST)) => return Ok(lock),
                Some(lock) => lock.release(store).await,
                None => {}
            }
            // The delay is random, so that two machines do not prevent each other forever.
            tokio::time::sleep(Duration::from_millis(100 + u64::from(random()? as u8) * 4)).await;
        }
        Err(RemoteError::Busy("other machines write manifests; push again".to_owned()))
    }

    /// Writes an object. Returns it and all others; `None` if another machine has already removed it.
    async fn write(store: &Store, prefix: &str) -> Result<(Option<Self>, Vec<Entry>), RemoteError> {
        let started = (Instant::now(), SystemTime::now());
        let name = format!("{prefix}{:016x}", random()?);
        let mut lock = Self { name: format!("locks/{name}"), time: 0, started };
        let written = async {
            store.put(&lock.name, Vec::new()).await?;
            store.list("locks").await
        };
        let listed = match written.await {
            Ok(listed) => listed,
            Err(error) => {
                // The request may have written the object nevertheless.
                lock.release(store).await;
                return Err(error);
            }
        };
        let (own, others): (Vec<Entry>, _) = listed.into_iter().partition(|entry| entry.name == name);
        let own = own.first().map(|own| {
            lock.time = own.modified;
            lock
        });
        Ok((own, others))
    }

    /// Whether an object has a prefix and is of a process that was not killed.
    fn is_rival(&self, other: &Entry, prefix: &str) -> bool {
        other.name.starts_with(prefix) && self.time - other.modified < KILLED_SECONDS
    }

    /// Whether no prune has removed the object of a push.
    pub(crate) async fn is_held(&self, store: &Store) -> Result<bool, RemoteError> {
        Ok(store.modified(&self.name).await?.is_some())
    }

    /// Checks that the process has not held the lock for so long that others could consider it killed.
    pub(crate) fn check_time(&self) -> Result<(), RemoteError> {
        // A computer that sleeps stops the monotonic clock.
        let (instant, time) = self.started;
        if instant.elapsed().max(time.elapsed().unwrap_or_default()) > MAX_HELD {
            return Err(RemoteError::Busy("the operation takes too long; repeat it to continue".to_owned()));
        }
        Ok(())
    }

    /// Removes the object, also after the operation was stopped. An object that cannot be removed is ignored later.
    pub(crate) async fn release(self, store: &Store) {
        if store.stopper.is_stopped() {
            drop(tokio::time::timeout(MAX_RELEASE, store.unstopped().delete(&self.name)).await);
        } else {
            drop(store.delete(&self.name).await);
        }
    }
}

fn random() -> Result<u64, RemoteError> {
    getrandom::u64().map_err(|error| RemoteError::Busy(format!("no random numbers: {error}")))
}
