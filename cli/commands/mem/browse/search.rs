//! Searches on a thread of their own: the newest question is answered, from the newest generation of the index.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aurora_project::{IndexEmbedder, Project, ProjectError, SearchRequest, Searcher, Searchers, chain};
use aurora_query::{FilterSpec, Group, Mode, QueryError, SearchConfig};
use aurora_storage::Snapshot;

use crate::commands::mem::browse::latest::Latest;
use crate::commands::mem::browse::row::Found;
use crate::context::refresh::{self, Refreshed};
use crate::output::time;

/// Most results.
const LIMIT: usize = 100;
/// Time between two looks at whether another process has published a generation, while nothing is asked.
const LOOK: Duration = Duration::from_secs(2);

/// What the user asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// Grows with every question.
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) filter: FilterSpec,
    /// Whether to update the index first.
    pub(super) refresh: bool,
}

/// What the thread says.
pub(super) enum Reply {
    /// The same question may be answered again, by a newer generation.
    Answered(Box<Answer>),
    /// Nothing will be answered.
    Failed(ProjectError),
}

/// The answer to a question.
pub(super) struct Answer {
    pub(super) question: Question,
    /// Results, or in words why there are none.
    pub(super) found: Result<Found, String>,
    /// The generation that has answered, by which the numbers of chunks are to be understood.
    pub(super) searcher: Arc<Searcher>,
}

/// What is searched, and how.
pub(super) struct Subject {
    pub(super) project: Project,
    pub(super) snapshot: Snapshot,
    pub(super) config: SearchConfig,
    pub(super) mode: Mode,
    /// How long an update of the index may take; zero for none.
    pub(super) budget: Duration,
    /// Whether this run has just built the index.
    pub(super) is_new: bool,
}

/// The embedder in use, to be ended before the program is.
#[derive(Clone, Default)]
pub(super) struct RunningEmbedder(Arc<Mutex<Option<IndexEmbedder>>>);

impl RunningEmbedder {
    /// Ends its program, if it has one.
    pub(super) fn stop(&self) {
        if let Some(IndexEmbedder::Stage(stage)) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            stage.stop();
        }
    }

    fn becomes(&self, embedder: Option<&IndexEmbedder>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = embedder.cloned();
    }
}

/// A place for the question that is asked next.
pub(super) type Questions = Latest<Question>;

impl Questions {
    /// Asks in the place of an older question. An update that was asked for is made nevertheless.
    pub(super) fn ask(&self, question: Question) {
        self.put(question, |older, newer| Question { refresh: older.refresh || newer.refresh, ..newer });
    }
}

/// Answers until nobody takes the replies: `replies` says whether somebody did.
pub(super) fn answer(
    subject: Subject,
    questions: &Questions,
    embedder: RunningEmbedder,
    replies: &impl Fn(Reply) -> bool,
) {
    let mut answering = match Answering::open(subject, embedder) {
        Ok(answering) => answering,
        Err(error) => {
            replies(Reply::Failed(error));
            return;
        }
    };
    let mut asked: Option<Question> = None;
    loop {
        let new = questions.take(LOOK);
        let is_newer = match &new {
            Some(question) if question.refresh => answering.refresh() | answering.follow(),
            _ => answering.follow(),
        };
        let Some(question) = new.or_else(|| asked.clone().filter(|_| is_newer)) else { continue };
        asked = Some(question.clone());
        let found = answering.search(&question);
        let answer = Answer { question, found, searcher: Arc::clone(&answering.searcher) };
        if !replies(Reply::Answered(Box::new(answer))) {
            return;
        }
    }
}

/// The generation that answers.
struct Answering {
    project: Project,
    config: SearchConfig,
    mode: Mode,
    budget: Duration,
    searcher: Arc<Searcher>,
    embedder: RunningEmbedder,
    /// What the next answer says of the index.
    notes: Vec<String>,
    /// The generation, by its number, that could not be opened.
    refused: Option<u64>,
}

impl Answering {
    fn open(subject: Subject, embedder: RunningEmbedder) -> Result<Self, ProjectError> {
        let Subject { project, snapshot, config, mode, budget, is_new } = subject;
        let Refreshed { newer, note } = if is_new || budget.is_zero() {
            Refreshed::default()
        } else {
            refresh::before_search(&project, &snapshot, budget)
        };
        let snapshot = newer.unwrap_or(snapshot);
        let searcher = Arc::new(Searcher::open(&project, snapshot, config.clone(), mode)?);
        embedder.becomes(searcher.embedder());
        let notes = note.into_iter().chain(searcher.notice().map(ToString::to_string)).collect();
        Ok(Self { project, config, mode, budget, searcher, embedder, notes, refused: None })
    }

    /// Updates the index if that is quick; whether another generation answers now.
    fn refresh(&mut self) -> bool {
        if self.budget.is_zero() {
            return false;
        }
        let Ok(snapshot) = self.project.snapshot() else { return false };
        let Refreshed { newer, note } = refresh::before_search(&self.project, &snapshot, self.budget);
        let snapshot = newer.unwrap_or(snapshot);
        self.notes.extend(note);
        !self.is_current(&snapshot) && self.change_to(snapshot)
    }

    /// Lets the published generation answer if it is another one; whether it is. Where it cannot be opened, the present one is
    /// kept, and the next answer says so once.
    fn follow(&mut self) -> bool {
        let Ok(published) = self.project.any_snapshot() else { return false };
        let generation = published.manifest().generation;
        if self.is_current(&published) || self.refused == Some(generation) {
            return false;
        }
        match self.project.snapshot() {
            Ok(snapshot) => self.change_to(snapshot),
            Err(error) => {
                self.refuse(generation, &error);
                false
            }
        }
    }

    fn is_current(&self, snapshot: &Snapshot) -> bool {
        let current = self.searcher.snapshot();
        snapshot.id() == current.id() && snapshot.manifest().generation == current.manifest().generation
    }

    fn change_to(&mut self, snapshot: Snapshot) -> bool {
        let generation = snapshot.manifest().generation;
        match Searcher::open(&self.project, snapshot, self.config.clone(), self.mode) {
            Ok(searcher) => {
                self.embedder.becomes(searcher.embedder());
                self.searcher = Arc::new(searcher);
                self.refused = None;
                true
            }
            Err(error) => {
                self.refuse(generation, &error);
                false
            }
        }
    }

    fn refuse(&mut self, generation: u64, error: &ProjectError) {
        self.refused = Some(generation);
        self.notes.push(format!("The new generation cannot be opened, the previous one is kept: {}", chain(error)));
    }

    fn search(&mut self, question: &Question) -> Result<Found, String> {
        let request = SearchRequest {
            limit: LIMIT,
            mode: self.mode,
            group: Group::Chunk,
            filter: question.filter.clone(),
            snippet_lines: 0,
            ..SearchRequest::new(question.text.clone())
        };
        let now = time::now();
        let indexed = self.searcher.snapshot().manifest().chunk_count;
        let found = match Searchers::from(Arc::clone(&self.searcher)).search(&request, now) {
            Ok(results) => Found::new(results, now),
            // Nothing typed yet.
            Err(QueryError::Empty) => Found::default(),
            Err(error) => return Err(chain(&error)),
        };
        let notes = self.notes.drain(..).chain(found.notes).collect();
        Ok(Found { notes, indexed, ..found })
    }
}
