//! Runs searches on a separate thread, which answers the latest question from the latest generation of the index.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aurora_project::{IndexEmbedder, OpenedSearcher, Project, ProjectError, SearchRequest, Searchers, chain};
use aurora_query::{FilterSpec, Group, Mode, Query, QueryError, SearchConfig, Searcher};
use aurora_storage::Snapshot;

use crate::commands::mem::browse::latest::Latest;
use crate::commands::mem::browse::row::Found;
use crate::context::refresh;

/// Maximum number of results.
const MAX_RESULTS: usize = 100;
/// Interval between checks for a generation published by another process, while there is no question.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// A question of the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// Number of the question; later questions have larger numbers.
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) filter: FilterSpec,
    /// Whether to update the index first.
    pub(super) refresh: bool,
}

/// The answer to a question. After a new generation is published, the same question is answered again.
pub(super) struct Answer {
    pub(super) question: Question,
    /// Results, or the message of an error.
    pub(super) found: Result<Found, String>,
    /// The searcher that answered. The chunk ids of the results belong to its generation.
    pub(super) searcher: Arc<Searcher>,
}

/// The project to search, and the options of the search.
pub(super) struct Subject {
    pub(super) project: Project,
    pub(super) snapshot: Snapshot,
    pub(super) config: SearchConfig,
    pub(super) mode: Mode,
    /// Maximum duration of an update of the index; zero disables updates.
    pub(super) budget: Duration,
    /// Whether this run has just built the index.
    pub(super) is_new: bool,
}

/// The embedder in use, which must be stopped before this program ends.
#[derive(Clone, Default)]
pub(super) struct RunningEmbedder(Arc<Mutex<Option<IndexEmbedder>>>);

impl RunningEmbedder {
    /// Stops the program of the embedder, if it has one.
    pub(super) fn stop(&self) {
        if let Some(IndexEmbedder::Stage(stage)) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            stage.stop();
        }
    }

    fn set(&self, embedder: Option<IndexEmbedder>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = embedder;
    }
}

/// The slot for the next question.
pub(super) type Questions = Latest<Question>;

impl Questions {
    /// Replaces an older question. If the older one requested an update, the new one does too.
    pub(super) fn ask(&self, question: Question) {
        self.put(question, |older, newer| Question { refresh: older.refresh || newer.refresh, ..newer });
    }
}

/// Passes the answers to questions to `send`, until `send` returns false because the receiver is gone.
///
/// # Errors
///
/// Fails if the index cannot be opened.
pub(super) fn answer(
    subject: Subject,
    questions: &Questions,
    embedder: RunningEmbedder,
    send: &impl Fn(Answer) -> bool,
) -> Result<(), ProjectError> {
    let mut answering = Answering::open(subject, embedder)?;
    let mut asked: Option<Question> = None;
    loop {
        let new = questions.take(CHECK_INTERVAL);
        let is_newer = match &new {
            Some(question) if question.refresh => answering.refresh() | answering.follow(),
            _ => answering.follow(),
        };
        let Some(question) = new.or_else(|| asked.clone().filter(|_| is_newer)) else { continue };
        asked = Some(question.clone());
        let found = answering.search(&question);
        if !send(Answer { question, found, searcher: Arc::clone(&answering.searcher) }) {
            return Ok(());
        }
    }
}

/// The state of the search thread.
struct Answering {
    project: Project,
    config: SearchConfig,
    mode: Mode,
    budget: Duration,
    searcher: Arc<Searcher>,
    embedder: RunningEmbedder,
    /// Notes about the index for the next answer.
    notes: Vec<String>,
    /// Number of a generation that could not be opened.
    refused: Option<u64>,
}

impl Answering {
    fn open(subject: Subject, embedder: RunningEmbedder) -> Result<Self, ProjectError> {
        let Subject { project, snapshot, config, mode, budget, is_new } = subject;
        let refresh::Refreshed { newer, note } = if is_new || budget.is_zero() {
            refresh::Refreshed::default()
        } else {
            refresh::before_search(&project, &snapshot, budget)
        };
        let snapshot = newer.unwrap_or(snapshot);
        let opened = project.searcher("", snapshot, config.clone(), mode)?;
        let OpenedSearcher { searcher, embedder: running, notice } = opened;
        embedder.set(running);
        let notes = note.into_iter().chain(notice.map(|notice| notice.to_string())).collect();
        let searcher = Arc::new(searcher);
        Ok(Self { project, config, mode, budget, searcher, embedder, notes, refused: None })
    }

    /// Updates the index if the update is possible within the budget. Returns whether another generation is now in use.
    fn refresh(&mut self) -> bool {
        if self.budget.is_zero() {
            return false;
        }
        let Ok(snapshot) = self.project.snapshot() else { return false };
        let refresh::Refreshed { newer, note } = refresh::before_search(&self.project, &snapshot, self.budget);
        let snapshot = newer.unwrap_or(snapshot);
        self.notes.extend(note);
        !self.is_current(&snapshot) && self.change_to(snapshot)
    }

    /// Changes to the published generation if it is not the current one. Returns whether the generation changed. If the
    /// new generation cannot be opened, the current one stays in use, and the next answer has a note about the error.
    fn follow(&mut self) -> bool {
        let Ok(published) = self.project.any_snapshot() else { return false };
        let generation = published.manifest().generation;
        if self.is_current(&published) || self.refused == Some(generation) {
            return false;
        }
        match self.project.snapshot() {
            Ok(snapshot) => self.change_to(snapshot),
            Err(error) => self.refuse(generation, &error),
        }
    }

    fn is_current(&self, snapshot: &Snapshot) -> bool {
        let current = self.searcher.snapshot();
        snapshot.id() == current.id() && snapshot.manifest().generation == current.manifest().generation
    }

    fn change_to(&mut self, snapshot: Snapshot) -> bool {
        let generation = snapshot.manifest().generation;
        match self.project.searcher("", snapshot, self.config.clone(), self.mode) {
            Ok(opened) => {
                self.embedder.set(opened.embedder);
                self.searcher = Arc::new(opened.searcher);
                self.refused = None;
                true
            }
            Err(error) => self.refuse(generation, &error),
        }
    }

    /// Adds a note that a generation cannot be opened. Returns false, because the generation in use does not change.
    fn refuse(&mut self, generation: u64, error: &ProjectError) -> bool {
        self.refused = Some(generation);
        self.notes
            .push(format!("The new generation cannot be opened, so the previous one stays in use: {}", chain(error)));
        false
    }

    fn search(&mut self, question: &Question) -> Result<Found, String> {
        let now = aurora_clock::now_seconds();
        let query = Query {
            limit: MAX_RESULTS,
            mode: self.mode,
            group: Group::Chunk,
            filter: question.filter.clone(),
            ..Query::new(question.text.clone(), now)
        };
        let request = SearchRequest { snippet_lines: 0, ..SearchRequest::new(query) };
        let indexed = self.searcher.snapshot().manifest().chunk_count;
        let found = match Searchers::from(Arc::clone(&self.searcher)).search(&request) {
            Ok(results) => Found::new(results, now),
            // The user has not typed anything yet.
            Err(QueryError::Empty) => Found::default(),
            Err(error) => return Err(chain(&error)),
        };
        let notes = self.notes.drain(..).chain(found.notes).collect();
        Ok(Found { notes, indexed, ..found })
    }
}
