//! The state that all requests share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aurora_articles::{ArticleError, ArticleStore};
use aurora_live::LiveProject;
use aurora_memory::AgentMemory;
use aurora_project::{CancelToken, Project, chain};
use aurora_query::{Searcher, WorkBudget};
use axum::http::{HeaderValue, StatusCode};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

use crate::answer::{Answer, json};
use crate::metrics::Metrics;
use crate::options::{Limits, ServeOptions};
use crate::problem::Problem;
use crate::rates::Rates;
use crate::stop::Stop;

/// The state that all requests share.
pub(crate) struct State {
    pub(crate) options: ServeOptions,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stop: Stop,
    /// `None` if there is no rate limit.
    pub(crate) rates: Option<Rates>,
    /// The memory of the clients, or the error that answers requests for memory.
    pub(crate) memory: Result<Arc<AgentMemory>, Problem>,
    /// The store of sessions, opened at the first use.
    knowledge: Mutex<Option<Arc<ArticleStore>>>,
    /// A permit for each task that may run at the same time.
    pub(crate) running: Arc<Semaphore>,
    /// A permit for each request that may run or wait.
    admitted: Arc<Semaphore>,
    /// A permit for each [`SHARE_BYTES`] of large bodies that are not parsed yet, and of large MCP messages.
    bodies: Arc<Semaphore>,
    /// A permit for each [`SHARE_BYTES`] of the answers that are being sent.
    unsent: Arc<Semaphore>,
}

/// Unit in which the memory of bodies and answers is counted, in bytes.
const SHARE_BYTES: usize = 1 << 10;
/// Maximum length of a body that needs no permits, in bytes.
const SMALL_BODY_BYTES: usize = 16 << 10;

/// The work for a request. It is cancelled when no client waits for it any more.
#[derive(Clone, Default)]
pub(crate) struct RequestWork {
    /// Limits for the searches of the request.
    pub(crate) budget: WorkBudget,
    /// Cancels index runs and directory walks of the request.
    pub(crate) cancel: CancelToken,
}

impl State {
    pub(crate) fn new(options: ServeOptions, stop: Stop) -> Arc<Self> {
        let Limits { running, waiting, rate, bodies, unsent, .. } = options.limits;
        let metrics = Arc::new(Metrics::new());
        let observed = Arc::clone(&metrics);
        options.roots.on_search(move |via, found| observed.searched(via, found));
        let memory = agent_memory(&options);
        if let Ok(memory) = &memory {
            let observed = Arc::clone(&metrics);
            memory.on_operation(move |operation, result, took| observed.remembered(operation, result, took));
        }
        Arc::new(Self {
            memory,
            metrics,
            stop,
            rates: rate.map(Rates::new),
            knowledge: Mutex::default(),
            running: Arc::new(Semaphore::new(running)),
            admitted: Arc::new(Semaphore::new(running + waiting)),
            bodies: Arc::new(Semaphore::new(bodies / SHARE_BYTES)),
            unsent: Arc::new(Semaphore::new(unsent / SHARE_BYTES)),
            options,
        })
    }

    /// Returns the root that a request names, or the first root.
    pub(crate) fn root(&self, name: Option<&str>) -> Result<&Arc<LiveProject>, Problem> {
        Ok(self.options.roots.get(name)?)
    }

    /// Returns the store of article sessions for reading. Opens the store read-only if this server is read-only, or if
    /// another server has locked the store.
    pub(crate) fn knowledge(&self) -> Result<Arc<ArticleStore>, Problem> {
        self.sessions(
            |_| true,
            |place| match self.options.read_only {
                true => ArticleStore::open_read_only(place),
                false => ArticleStore::open(place).or_else(|error| match error {
                    ArticleError::Locked(_) => ArticleStore::open_read_only(place),
                    error => Err(error),
                }),
            },
        )
    }

    /// Returns the store of article sessions for writing. Only one server at a time can open the store for writing.
    pub(crate) fn writable_knowledge(&self) -> Result<Arc<ArticleStore>, Problem> {
        if self.options.read_only {
            return Err(Problem::read_only());
        }
        self.sessions(ArticleStore::is_writable, ArticleStore::open)
    }

    /// Returns the open store if `suffices` returns true for it. Otherwise, opens the store with `open`.
    fn sessions(
        &self,
        suffices: impl Fn(&ArticleStore) -> bool,
        open: impl Fn(&Path) -> Result<ArticleStore, ArticleError>,
    ) -> Result<Arc<ArticleStore>, Problem> {
        let place = self.options.knowledge.as_ref().ok_or_else(|| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server has no directory for sessions")
                .with_help("start it with `--knowledge DIRECTORY`")
        })?;
        let mut store = self.knowledge.lock().unwrap_or_else(PoisonError::into_inner);
        match &*store {
            Some(store) if suffices(store) => Ok(Arc::clone(store)),
            _ => Ok(Arc::clone(store.insert(Arc::new(open(place)?)))),
        }
    }

    /// Answers from the current generation of a root; see [`Self::answer`].
    pub(crate) async fn read<T: Serialize>(
        self: &Arc<Self>,
        root: Option<&str>,
        work: impl FnOnce(&Project, &Searcher, &RequestWork) -> Result<T, Problem> + Send + 'static,
    ) -> Result<Answer, Problem> {
        let name = self.root(root)?.name().to_owned();
        self.answer(move |state, request| {
            let root = state.root(Some(&name))?;
            let searcher = root.searcher()?;
            work(root.project(), &searcher, request)
        })
        .await
    }

    /// Runs work on a separate thread, which also serializes the result as JSON; see [`Self::work`].
    pub(crate) async fn answer<T: Serialize>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &RequestWork) -> Result<T, Problem> + Send + 'static,
    ) -> Result<Answer, Problem> {
        let json = self.work(|state, request| json(&work(state, request)?, state.options.limits.answer)).await?;
        self.send(json)
    }

    /// Creates an answer. The answer occupies a part of the memory for answers until it has been sent.
    pub(crate) fn send(&self, json: Vec<u8>) -> Result<Answer, Problem> {
        let shares = u32::try_from(json.len().div_ceil(SHARE_BYTES)).unwrap_or(u32::MAX);
        match Arc::clone(&self.unsent).try_acquire_many_owned(shares) {
            Ok(share) => Ok(Answer::new(json, share)),
            Err(_) => Err(Problem::busy()),
        }
    }

    /// Reserves memory for a large body, according to its `Content-Length`. Small bodies need no reservation. A body
    /// has at most `max_bytes`, and occupies `factor` times its length in memory.
    pub(crate) fn body_share(
        &self,
        length: Option<&HeaderValue>,
        max_bytes: usize,
        factor: usize,
    ) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        let bytes = length.unwrap_or(usize::MAX).min(max_bytes);
        if bytes <= SMALL_BODY_BYTES {
            return Ok(None);
        }
        let shares = u32::try_from(bytes.saturating_mul(factor).div_ceil(SHARE_BYTES)).unwrap_or(u32::MAX);
        Arc::clone(&self.bodies).try_acquire_many_owned(shares).map(Some).map_err(|_| Problem::busy())
    }

    /// Counts a request as running or waiting until the permit is dropped.
    pub(crate) fn admit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.admitted).try_acquire_owned().map_err(|_| Problem::busy())
    }

    /// Changes a session: `prepare` runs as in [`Self::work`], then the writer of the session makes the change. If the
    /// time limit of the request passes before the writer begins the change, the change is not made.
    pub(crate) async fn change<P: Send + 'static, T: Serialize, F: Future<Output = Result<T, ArticleError>>>(
        self: &Arc<Self>,
        prepare: impl FnOnce(&Self, &RequestWork) -> Result<P, Problem> + Send + 'static,
        change: impl FnOnce(P) -> F,
    ) -> Result<Answer, Problem> {
        let (time, begun) = (self.options.limits.time, Instant::now());
        // Changes that wait for the writer count as waiting requests, because each holds an article in memory.
        let _admitted = self.admit()?;
        let prepared = self.work(prepare).await?;
        match tokio::time::timeout(time.saturating_sub(begun.elapsed()), change(prepared)).await {
            Ok(done) => self.send(json(&done?, self.options.limits.answer)?),
            Err(_) => Err(Problem::too_slow(time)),
        }
    }

    /// Runs work on a separate thread as soon as a permit is free.
    ///
    /// The work is cancelled when its time is up or its client disconnects. In this case, the request is answered
    /// immediately. The work keeps its permit until it ends, so that the number of running tasks stays limited.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &RequestWork) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let time = self.options.limits.time;
        let admitted = self.admit()?;
        let running = Arc::clone(&self.running);
        let begun = Instant::now();
        let permit = tokio::time::timeout(time, running.acquire_owned()).await.map_err(|_| Problem::busy())?;
        let waiting = CancelOnDrop(RequestWork::default());
        let (state, request) = (Arc::clone(self), waiting.0.clone());
        let task = tokio::task::spawn_blocking(move || {
            let _permits = (admitted, permit);
            request.budget.check()?;
            work(&state, &request)
        });
        let left = time.saturating_sub(begun.elapsed()).max(Duration::from_millis(1));
        match tokio::time::timeout(left, task).await {
            Ok(done) => done.map_err(|error: JoinError| Problem::bug(&error))?,
            Err(_) => Err(Problem::too_slow(time)),
        }
    }
}

/// Opens the memory of the clients. Without a token, any program on this machine is a client, so there is no memory.
fn agent_memory(options: &ServeOptions) -> Result<Arc<AgentMemory>, Problem> {
    if options.token.is_none() {
        let error = "the server does not give access to memory, because it has no token";
        return Err(Problem::forbidden(error).with_help("start it with `--token-file FILE`"));
    }
    let roots: Vec<PathBuf> = options.roots.iter().map(|root| root.project().root().to_owned()).collect();
    AgentMemory::for_server(&roots, options.read_only).map(Arc::new).map_err(|error| {
        tracing::warn!("memory is not available: {}", chain(&error));
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "memory is not available; see the server's log")
    })
}

/// Cancels work when it is dropped.
struct CancelOnDrop(RequestWork);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.budget.cancel();
        self.0.cancel.cancel();
    }
}
