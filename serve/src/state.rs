//! What all requests share.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aurora_knowledge::{KnowledgeError, KnowledgeStore};
use aurora_live::Root;
use aurora_project::Searcher;
use axum::http::StatusCode;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::metrics::Metrics;
use crate::options::{Limits, ServeOptions};
use crate::problem::Problem;
use crate::rates::Rates;

/// What all requests share.
pub(crate) struct State {
    pub(crate) options: ServeOptions,
    pub(crate) metrics: Metrics,
    /// Nothing where clients may send as much as they like.
    pub(crate) rates: Option<Rates>,
    /// Opened at the first use.
    knowledge: Mutex<Option<Arc<KnowledgeStore>>>,
    /// A permit for each piece of work that may run at the same time.
    pub(crate) running: Arc<Semaphore>,
    /// A permit for each request that runs or waits.
    admitted: Arc<Semaphore>,
}

impl State {
    pub(crate) fn new(options: ServeOptions) -> Arc<Self> {
        let Limits { running, waiting, rate, .. } = options.limits;
        Arc::new(Self {
            metrics: Metrics::new(),
            rates: rate.map(Rates::new),
            knowledge: Mutex::default(),
            running: Arc::new(Semaphore::new(running)),
            admitted: Arc::new(Semaphore::new(running + waiting)),
            options,
        })
    }

    /// The root that a request names.
    pub(crate) fn root(&self, name: Option<&str>) -> Result<&Root, Problem> {
        Ok(self.options.roots.get(name)?)
    }

    /// The sessions of articles, to be read: beside another server that has them, without the right to write.
    pub(crate) fn knowledge(&self) -> Result<Arc<KnowledgeStore>, Problem> {
        self.sessions(
            |_| true,
            |place| match self.options.read_only {
                true => KnowledgeStore::reading(place),
                false => KnowledgeStore::open(place).or_else(|error| match error {
                    KnowledgeError::Taken(_) => KnowledgeStore::reading(place),
                    error => Err(error),
                }),
            },
        )
    }

    /// The sessions of articles, to be changed, which one server may do at a time.
    pub(crate) fn writable_knowledge(&self) -> Result<Arc<KnowledgeStore>, Problem> {
        if self.options.read_only {
            return Err(Problem::read_only());
        }
        self.sessions(KnowledgeStore::is_writable, KnowledgeStore::open)
    }

    /// The open store if it is enough, or else a newly opened one.
    fn sessions(
        &self,
        is_enough: impl Fn(&KnowledgeStore) -> bool,
        open: impl Fn(&Path) -> Result<KnowledgeStore, KnowledgeError>,
    ) -> Result<Arc<KnowledgeStore>, Problem> {
        let place = self.options.knowledge.as_ref().ok_or_else(|| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no directory for sessions is known")
                .with_help("`--knowledge DIRECTORY` gives one")
        })?;
        let mut store = self.knowledge.lock().unwrap_or_else(PoisonError::into_inner);
        match &*store {
            Some(store) if is_enough(store) => Ok(Arc::clone(store)),
            _ => Ok(Arc::clone(store.insert(Arc::new(open(place)?)))),
        }
    }

    /// Does work that reads an index on a thread of its own, when it is its turn. `work` gets the generation that answers.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        root: Option<&str>,
        work: impl FnOnce(&Searcher) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let name = self.root(root)?.name.clone();
        let state = Arc::clone(self);
        self.work(move || {
            let searcher = state.root(Some(&name))?.live.searcher()?;
            work(&searcher)
        })
        .await
    }

    /// Does work on a thread of its own, when it is its turn.
    ///
    /// A request whose time is up gets an answer at once; its work keeps its permit until it ends, so that no more than the
    /// permitted number runs.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let time = self.options.limits.time;
        let Ok(admitted) = Arc::clone(&self.admitted).try_acquire_owned() else { return Err(Problem::busy()) };
        let running = Arc::clone(&self.running);
        let begun = Instant::now();
        let permit = tokio::time::timeout(time, running.acquire_owned()).await.map_err(|_| Problem::busy())?;
        let task = tokio::task::spawn_blocking(move || {
            let _permits = (admitted, permit);
            work()
        });
        let left = time.saturating_sub(begun.elapsed()).max(Duration::from_millis(1));
        match tokio::time::timeout(left, task).await {
            Ok(done) => done.map_err(|error: JoinError| Problem::bug(&error))?,
            Err(_) => Err(Problem::too_slow(time)),
        }
    }
}
