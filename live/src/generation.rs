//! The generation that answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use aurora_project::{Project, ProjectError, Searcher, chain};
use aurora_query::Mode;

/// The opened generation of a project, which all questions share.
#[derive(Default)]
pub(crate) struct Generation {
    current: RwLock<Option<Arc<Searcher>>>,
    /// Held while a generation is opened, so that it is opened once and never replaces a newer one.
    opening: Mutex<()>,
    /// Whether the last look at the published generation failed.
    is_failing: AtomicBool,
}

impl Generation {
    /// The generation that answers; opened at the first use.
    ///
    /// # Errors
    /// When there is no index, it is not trusted or cannot be read, or the search configuration is wrong.
    pub(crate) fn searcher(&self, project: &Project) -> Result<Arc<Searcher>, ProjectError> {
        if let Some(searcher) = self.opened() {
            return Ok(searcher);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have opened it meanwhile.
        self.opened().map_or_else(|| self.open(project), Ok)
    }

    /// The generation that answers, if one has been opened.
    pub(crate) fn opened(&self) -> Option<Arc<Searcher>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the published generation, which answers all later questions.
    fn open(&self, project: &Project) -> Result<Arc<Searcher>, ProjectError> {
        let snapshot = project.snapshot()?;
        let searcher = Arc::new(Searcher::open(project, snapshot, project.settings(Vec::new())?, Mode::Hybrid)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&searcher));
        Ok(searcher)
    }

    /// Lets the published generation answer if it is another one than the opened one. Where it cannot be opened, the opened one
    /// is kept, and the log says so once.
    pub(crate) fn follow(&self, project: &Project) {
        let failed = self.newest(project).err();
        let was_failing = self.is_failing.swap(failed.is_some(), Ordering::Relaxed);
        if let Some(error) = failed.filter(|_| !was_failing) {
            tracing::warn!(
                root = %project.root().display(),
                "the new generation cannot be opened, the previous one is kept: {}",
                chain(&error)
            );
        }
    }

    fn newest(&self, project: &Project) -> Result<(), ProjectError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = self.opened() else { return Ok(()) };
        let published = project.any_snapshot()?;
        let is_same = published.id() == opened.snapshot().id()
            && published.manifest().generation == opened.snapshot().manifest().generation;
        if is_same { Ok(()) } else { self.open(project).map(drop) }
    }
}
