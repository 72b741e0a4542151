//! The projects that are served, each with the generation that answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use aurora_project::{Project, ProjectError, Searcher, chain};
use aurora_query::Mode;

use crate::error::ServeError;

/// A project that is served.
pub(crate) struct ServedRoot {
    /// How requests and results name it: the last part of its path.
    pub(crate) name: String,
    pub(crate) project: Project,
    current: RwLock<Option<Arc<Searcher>>>,
    /// Held while a generation is opened, so that it is opened once and never replaces a newer one.
    opening: Mutex<()>,
    /// Whether the last look at the published generation failed.
    is_failing: AtomicBool,
}

/// Every project that is served, in the order in which they were given.
pub(crate) struct Roots(Vec<ServedRoot>);

impl Roots {
    pub(crate) fn new(projects: Vec<Project>) -> Result<Self, ServeError> {
        let mut roots: Vec<ServedRoot> = Vec::new();
        for project in projects {
            let path = project.root();
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
            if roots.iter().any(|other| other.name == name) {
                return Err(ServeError::SameName(name));
            }
            roots.push(ServedRoot {
                name,
                project,
                current: RwLock::new(None),
                opening: Mutex::new(()),
                is_failing: AtomicBool::new(false),
            });
        }
        Ok(Self(roots))
    }

    /// The root called `name`; without a name, the first one.
    pub(crate) fn get(&self, name: Option<&str>) -> Option<&ServedRoot> {
        match name {
            None => self.0.first(),
            Some(name) => self.0.iter().find(|root| root.name == name),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ServedRoot> {
        self.0.iter()
    }
}

impl ServedRoot {
    /// The generation that answers; opened at the first use.
    ///
    /// # Errors
    /// When there is no index, it is not trusted or cannot be read, or the search configuration is wrong.
    pub(crate) fn searcher(&self) -> Result<Arc<Searcher>, ProjectError> {
        if let Some(searcher) = self.opened() {
            return Ok(searcher);
        }
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have opened it meanwhile.
        self.opened().map_or_else(|| self.open(), Ok)
    }

    /// The generation that answers, if one has been opened.
    pub(crate) fn opened(&self) -> Option<Arc<Searcher>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens the published generation, which answers all later requests.
    fn open(&self) -> Result<Arc<Searcher>, ProjectError> {
        let snapshot = self.project.snapshot()?;
        let searcher =
            Arc::new(Searcher::open(&self.project, snapshot, self.project.settings(Vec::new())?, Mode::Hybrid)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&searcher));
        Ok(searcher)
    }

    /// Lets the published generation answer if it is another one than the opened one. Where it cannot be opened, the opened one
    /// is kept, and the log says so once.
    pub(crate) fn follow(&self) {
        let failed = self.newest().err();
        let was_failing = self.is_failing.swap(failed.is_some(), Ordering::Relaxed);
        if let Some(error) = failed.filter(|_| !was_failing) {
            tracing::warn!(
                root = self.name,
                "the new generation cannot be opened, the previous one is kept: {}",
                chain(&error)
            );
        }
    }

    fn newest(&self) -> Result<(), ProjectError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opened) = self.opened() else { return Ok(()) };
        let published = self.project.any_snapshot()?;
        let is_same = published.id() == opened.snapshot().id()
            && published.manifest().generation == opened.snapshot().manifest().generation;
        if is_same { Ok(()) } else { self.open().map(drop) }
    }
}
