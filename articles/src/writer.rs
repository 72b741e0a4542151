//! Applies the changes of a session. Changes that arrive during an index run are batched into the next run.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::Builder;

use aurora_pipeline::{CancelToken, Silent};
use aurora_project::{Project, ProjectError};
use aurora_stages::index::{self as indexing, IndexOptions};
use aurora_storage::ProjectDirectory;
use tokio::sync::oneshot;

use crate::articles::{AddedArticle, Article, Articles};
use crate::error::ArticleError;
use crate::run_slots::RunSlots;
use crate::search::Generation;
use crate::source::Changes;

/// Maximum number of queued changes of one session.
const MAX_WAITING: usize = 1_024;
/// Maximum number of changes in one index run. It limits the memory usage of a run, because an article can be several
/// megabytes long.
const MAX_BATCH: usize = 256;

/// Sender of the result of a change.
pub(crate) type ResultSender<T> = oneshot::Sender<Result<T, ArticleError>>;

/// A requested change of a session, with the sender of its result.
pub(crate) enum Change {
    Add(Article, ResultSender<AddedArticle>),
    Remove(u64, ResultSender<()>),
}

impl Change {
    /// Returns `true` if the client no longer waits for the result. The writer skips an abandoned change.
    fn is_abandoned(&self) -> bool {
        match self {
            Self::Add(_, done) => done.is_closed(),
            Self::Remove(_, done) => done.is_closed(),
        }
    }

    fn reject(self, error: ArticleError) {
        match self {
            Self::Add(_, done) => send(done, Err(error)),
            Self::Remove(_, done) => send(done, Err(error)),
        }
    }
}

/// The queue of changes.
#[derive(Default)]
struct Waiting {
    changes: Vec<Change>,
    /// Whether a thread processes the queue.
    is_working: bool,
}

/// The writer of a session. It performs one index run after the other.
pub(crate) struct SessionWriter {
    session: u64,
    project: Project,
    articles: Arc<Articles>,
    slots: Arc<RunSlots>,
    waiting: Mutex<Waiting>,
    /// The mutex is locked while changes are applied and indexed.
    state: Mutex<WriterState>,
    /// The generation that searches use.
    current: RwLock<Arc<Generation>>,
}

struct WriterState {
    /// The next unused article number.
    next: u64,
    /// Whether the index matches the articles. If `false`, the next run processes all articles.
    is_up_to_date: bool,
    /// Whether the writer rejects changes, because the session was removed or is read-only.
    is_closed: bool,
}

impl SessionWriter {
    /// Opens the writer of a session, and updates the index to match the articles. The update repairs an index that a
    /// killed process has left incomplete.
    pub(crate) fn open(
        session: u64,
        project: Project,
        articles: Articles,
        slots: Arc<RunSlots>,
        cancel: &CancelToken,
    ) -> Result<Self, ArticleError> {
        let slot = slots.take(cancel)?;
        let articles = Arc::new(articles);
        let state = WriterState { next: articles.next()?, is_up_to_date: true, is_closed: false };
        let current = run(&project, Changes::all(&articles)?, false, cancel).or_else(|error| {
            if cancel.is_cancelled() {
                return Err(ArticleError::Cancelled);
            }
            // The articles are authoritative: a damaged index is rebuilt from them.
            tracing::warn!(session, "rebuilding the index, because it cannot be updated: {error}");
            articles.clear_index(ProjectDirectory::NAME.as_ref())?;
            run(&project, Changes::all(&articles)?, true, cancel)
        })?;
        drop(slot);
        Ok(Self {
            session,
            project,
            articles,
            slots,
            waiting: Mutex::default(),
            state: Mutex::new(state),
            current: RwLock::new(Arc::new(current)),
        })
    }

    /// Opens a session that this process only reads. The writer rejects all changes.
    pub(crate) fn open_read_only(
        session: u64,
        project: Project,
        articles: Articles,
        slots: Arc<RunSlots>,
    ) -> Result<Self, ArticleError> {
        let state = WriterState { next: 0, is_up_to_date: true, is_closed: true };
        let current = RwLock::new(Arc::new(Generation::open(&project)?));
        let (articles, waiting) = (Arc::new(articles), Mutex::default());
        Ok(Self { session, project, articles, slots, waiting, state: Mutex::new(state), current })
    }

    /// Returns the generation that this process opened or published last.
    pub(crate) fn generation(&self) -> Arc<Generation> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the newest published generation, even if another process has published it.
    pub(crate) fn newest(&self) -> Result<Arc<Generation>, ArticleError> {
        let opened = self.generation();
        let published = self.project.any_snapshot()?;
        if published.manifest().generation == opened.snapshot().manifest().generation {
            return Ok(opened);
        }
        let newest = Arc::new(Generation::open(&self.project)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&newest);
        Ok(newest)
    }

    /// Returns the directory of the articles.
    pub(crate) fn articles(&self) -> &Articles {
        &self.articles
    }

    /// Appends a change to the queue. Starts a thread if no thread processes the queue.
    pub(crate) fn submit(self: &Arc<Self>, change: Change) -> Result<(), ArticleError> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.changes.len() >= MAX_WAITING {
            return Err(ArticleError::Busy(self.session));
        }
        waiting.changes.push(change);
        if !waiting.is_working {
            let writer = Arc::clone(self);
            let thread = Builder::new().name("aurora-articles".to_owned()).spawn(move || writer.work());
            if thread.is_err() {
                waiting.changes.pop();
                return Err(ArticleError::Busy(self.session));
            }
            waiting.is_working = true;
        }
        Ok(())
    }

    /// Waits until the current index run ends. All later changes are rejected.
    pub(crate) fn close(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
    }

    fn work(&self) {
        // If this thread panics, the senders of all unprocessed changes are dropped, and their clients get an error.
        let _idle = Idle(self);
        loop {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.changes.is_empty() {
                // The queue is still locked, so the next submitted change sees `false` and starts another thread.
                waiting.is_working = false;
                return;
            }
            let count = waiting.changes.len().min(MAX_BATCH);
            let changes = waiting.changes.drain(..count).collect();
            drop(waiting);
            self.apply(changes);
        }
    }

    /// Makes changes durable, publishes a generation with them, and sends each client the result of its change.
    fn apply(&self, changes: Vec<Change>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_closed || self.articles.are_gone() {
            for change in changes {
                change.reject(ArticleError::NoSession(self.session));
            }
            return;
        }
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for change in changes.into_iter().filter(|change| !change.is_abandoned()) {
            match change {
                Change::Add(article, done) => match self.articles.write(state.next, &article) {
                    Ok(()) => {
                        added.push((state.next, done));
                        state.next += 1;
                    }
                    Err(error) => send(done, Err(self.no_session_or(error))),
                },
                Change::Remove(id, done) => match self.remove(id, state.next) {
                    Ok(()) => removed.push((id, done)),
                    Err(error) => send(done, Err(self.no_session_or(error))),
                },
            }
        }
        if added.is_empty() && removed.is_empty() {
            return;
        }
        let ids = (added.iter().map(|(id, _)| *id).collect(), removed.iter().map(|(id, _)| *id).collect());
        match self.publish(&mut state, ids) {
            Ok(generation) => {
                for (id, done) in added {
                    send(done, self.added(id, &generation));
                }
                removed.into_iter().for_each(|(_, done)| send(done, Ok(())));
            }
            Err(error) => {
                let error = self.no_session_or(error);
                // Removes the articles that were not acknowledged, so that the next run does not index them.
                for (id, done) in added {
                    let _ = self.articles.remove(id, state.next);
                    send(done, Err(error.clone()));
                }
                removed.into_iter().for_each(|(_, done)| send(done, Err(error.clone())));
            }
        }
    }

    /// Makes the written and removed articles durable, and publishes a generation that includes the changes.
    fn publish(
        &self,
        state: &mut WriterState,
        (added, removed): (Vec<u64>, Vec<u64>),
    ) -> Result<Arc<Generation>, ArticleError> {
        let was_up_to_date = std::mem::replace(&mut state.is_up_to_date, false);
        self.articles.synchronise()?;
        let changes = match was_up_to_date {
            true => Changes { articles: Arc::clone(&self.articles), added, removed, keeps_rest: true },
            false => Changes::all(&self.articles)?,
        };
        let never = CancelToken::new();
        let _slot = self.slots.take(&never)?;
        let generation = Arc::new(run(&self.project, changes, !was_up_to_date, &never)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&generation);
        state.is_up_to_date = true;
        Ok(generation)
    }

    /// Returns the error of a change, or `NoSession` if the session was removed in the meantime.
    fn no_session_or(&self, error: ArticleError) -> ArticleError {
        if self.articles.are_gone() { ArticleError::NoSession(self.session) } else { error }
    }

    fn remove(&self, id: u64, next: u64) -> Result<(), ArticleError> {
        if !self.articles.contains(id) {
            return Err(ArticleError::NoArticle { session: self.session, article: id });
        }
        self.articles.remove(id, next)
    }

    fn added(&self, id: u64, generation: &Generation) -> Result<AddedArticle, ArticleError> {
        Ok(AddedArticle { article_id: id, chunks: generation.chunks(id)?.len() })
    }
}

/// Performs one index run and opens the resulting generation. `force` rebuilds the index.
fn run(project: &Project, changes: Changes, force: bool, cancel: &CancelToken) -> Result<Generation, ArticleError> {
    let options = IndexOptions { force, cancel: cancel.clone(), ..project.options_of_source(Arc::new(changes))? };
    indexing::run(&options, &Silent).map_err(ProjectError::from)?;
    if options.cancel.is_cancelled() {
        // The index keeps the finished part, and the next run continues from there.
        return Err(ArticleError::Cancelled);
    }
    Generation::open(project)
}

/// A guard that clears the queue and resets `is_working` if the thread panics, so that the next change starts another
/// thread.
struct Idle<'a>(&'a SessionWriter);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.is_working = false;
            waiting.changes.clear();
        }
    }
}

/// Sends a result. A send to a client that has disconnected fails, and the failure is ignored.
fn send<T>(done: ResultSender<T>, result: Result<T, ArticleError>) {
    let _ = done.send(result);
}
