//! The generation that answers searches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use aurora_project::{Project, ProjectError, chain};
use aurora_query::{Mode, Searcher};
use aurora_storage::{CacheCounter, CacheCounts, StorageError};

/// Maximum time that [`Generation::release`] waits for searches that still read the generation.
const MAX_RELEASE_WAIT: Duration = Duration::from_secs(1);
/// Time between two checks whether these searches have ended.
const RELEASE_POLL: Duration = Duration::from_millis(5);

/// The opened generation of a project, shared by all searches.
#[derive(Default)]
pub(crate) struct Generation {
    current: RwLock<Option<Arc<Searcher>>>,
    /// Held while a generation is being opened. Prevents two threads from opening the same generation, and an older
    /// generation from replacing a newer one.
    opening: Mutex<()>,
    /// Whether the last attempt to open the published generation failed.
    is_failing: AtomicBool,
    /// Uses of the opened generation. A generation that has to be opened is a miss.
    uses: CacheCounter,
    /// Uses of the caches of earlier generations, in the order of [`Searcher::cache_counts`].
    closed: [CacheCounter; 2],
}

impl Generation {
    /// Returns the current generation. The first call opens it.
    ///
    /// # Errors
    /// Fails if there is no index, if the index is not trusted or cannot be read, or if the search configuration is
    /// invalid.
    pub(crate) fn searcher(&self, project: &Project, name: &str) -> Result<Arc<Searcher>, ProjectError> {
        if let Some(searcher) = self.opened() {
            self.uses.count(true);
            return Ok(searcher);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have opened the generation while this thread waited for the lock.
        self.opened().map_or_else(|| self.open(project, name), Ok)
    }

    /// Returns the current generation, if one has been opened.
    pub(crate) fn opened(&self) -> Option<Arc<Searcher>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the published generation and uses it for all later searches.
    fn open(&self, project: &Project, name: &str) -> Result<Arc<Searcher>, ProjectError> {
        let snapshot = project.snapshot()?;
        let opened = project.searcher(name, snapshot, project.settings(Vec::new())?, Mode::Hybrid)?;
        let searcher = Arc::new(opened.searcher);
        self.uses.count(false);
        let before = self.current.write().unwrap_or_else(PoisonError::into_inner).replace(Arc::clone(&searcher));
        self.keep_counts(before.as_deref());
        Ok(searcher)
    }

    /// Keeps the counts of the caches of a generation that is closed.
    fn keep_counts(&self, closed: Option<&Searcher>) {
        for (kept, (_, counts)) in self.closed.iter().zip(closed.into_iter().flat_map(Searcher::cache_counts)) {
            kept.add(counts);
        }
    }

    /// Returns how often the opened generation and its caches were used, with the name of each cache. The counts never
    /// decrease.
    pub(crate) fn cache_counts(&self) -> Vec<(&'static str, CacheCounts)> {
        let mut found = vec![("generation", self.uses.counts())];
        for (kept, (name, counts)) in self.closed.iter().zip(self.opened().iter().flat_map(|open| open.cache_counts()))
        {
            let CacheCounts { hits, misses } = kept.counts();
            found.push((name, CacheCounts { hits: hits + counts.hits, misses: misses + counts.misses }));
        }
        found
    }

    /// Closes the generation if its index file was deleted or replaced, so that the file now at that path can be
    /// opened.
    pub(crate) fn release_deleted(&self, project: &Project) {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.opened().is_some()
            && matches!(project.any_snapshot(), Err(StorageError::NoIndex { .. } | StorageError::Replaced { .. }))
        {
            self.release();
        }
    }

    /// Closes the generation. Searches that still read it are not affected, and the next search opens it again.
    pub(crate) fn close(&self) {
        let closed = self.current.write().unwrap_or_else(PoisonError::into_inner).take();
        self.keep_counts(closed.as_deref());
    }

    /// Closes the generation, and waits up to [`MAX_RELEASE_WAIT`] for searches that still read it. The index file
    /// stays open until the last of these searches has ended.
    fn release(&self) {
        let opened = self.current.write().unwrap_or_else(PoisonError::into_inner).take();
        self.keep_counts(opened.as_deref());
        let Some(opened) = opened.map(|opened| Arc::downgrade(&opened)) else { return };
        let end = Instant::now() + MAX_RELEASE_WAIT;
        while opened.strong_count() > 0 && Instant::now() < end {
            std::thread::sleep(RELEASE_POLL);
        }
    }

    /// Switches to the published generation if it differs from the opened one. If the published generation cannot be
    /// opened, the opened one remains in use, and a warning is logged once.
    pub(crate) fn follow(&self, project: &Project, name: &str) {
        let failed = self.open_published(project, name).err();
        let was_failing = self.is_failing.swap(failed.is_some(), Ordering::Relaxed);
        if let Some(error) = failed.filter(|_| !was_failing) {
            tracing::warn!(
                root = %project.root().display(),
                "the new generation cannot be opened; the previous one remains in use: {}",
                chain(&error)
            );
        }
    }

    fn open_published(&self, project: &Project, name: &str) -> Result<(), ProjectError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = self.opened() else { return Ok(()) };
        let published = match project.any_snapshot() {
            Err(StorageError::Replaced { .. }) => {
                drop(opened);
                self.release();
                return self.open(project, name).map(drop);
            }
            published => published?,
        };
        let is_same = published.id() == opened.snapshot().id()
            && published.manifest().generation == opened.snapshot().manifest().generation;
        if is_same { Ok(()) } else { self.open(project, name).map(drop) }
    }
}
