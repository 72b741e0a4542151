//! Learning from the outcome of a task: what was retrieved in its session gains or loses activation (seed 004, §6.7 and
//! Appendix D).

use std::collections::BTreeMap;
use std::path::Path;

use aurora_memory_schema::Kind;
use aurora_project::{JudgedChunk, judge, user};
use aurora_query::LearningConfig;
use aurora_redact::masked;
use aurora_storage::{AccessLog, Verdict};
use serde::{Deserialize, Serialize};

use crate::error::MemoryError;
use crate::memory::Memory;
use crate::session::check_session;
use crate::store::Retrieved;

/// A score from which on a task has succeeded, and one from which on it has in part.
const SUCCESS: f64 = 0.8;
const PARTIAL: f64 = 0.5;

/// How a task has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskOutcome {
    /// It was solved: everything that was retrieved gains 0.2.
    Success,
    /// It was solved in part: what helped gains 0.05, what did not loses 0.05.
    Partial,
    /// It was not solved: reasoning patterns that were retrieved lose 0.1.
    Failure,
}

/// What helped in a task that was solved in part, by ids. Without any, everything did; with one of the lists, the rest belongs to
/// the other one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Helpfulness {
    /// What helped.
    pub helpful: Vec<String>,
    /// What did not.
    pub unhelpful: Vec<String>,
}

/// What an outcome has changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomeReport {
    /// The session.
    pub session: String,
    /// How its task has ended.
    pub outcome: TaskOutcome,
    /// The chunks whose activation has changed, by verdict.
    pub chunks: Vec<JudgedChunk>,
    /// How many more were retrieved, and stay as they were.
    pub unchanged: usize,
    /// Queries of a failed task, which are noted as difficult.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub difficult: Vec<String>,
}

/// Most chunks and queries of a session that are remembered.
const MOST: usize = 2_000;

impl TaskOutcome {
    /// The outcome of a task with a score, 0..=1: success from 0.8 on, partial from 0.5 on.
    pub fn of_score(score: f64) -> Self {
        match score {
            score if score >= SUCCESS => Self::Success,
            score if score >= PARTIAL => Self::Partial,
            _ => Self::Failure,
        }
    }

    /// The verdict on a chunk that was retrieved; `None` where the outcome says nothing about it.
    fn verdict(self, key: &str, helpfulness: &Helpfulness) -> Option<Verdict> {
        let Helpfulness { helpful, unhelpful } = helpfulness;
        let names = |list: &[String]| list.iter().any(|id| id == key);
        match self {
            Self::Success => Some(Verdict::Good),
            Self::Partial if names(unhelpful) => Some(Verdict::Unhelpful),
            Self::Partial if names(helpful) || helpful.is_empty() => Some(Verdict::Helpful),
            Self::Partial => Some(Verdict::Unhelpful),
            Self::Failure => key.starts_with(Kind::Reasoning.prefix()).then_some(Verdict::Bad),
        }
    }
}

impl Memory {
    /// Remembers what a search of a session has shown at `now`, in Unix seconds.
    ///
    /// # Errors
    /// When the session has no name, or it cannot be written.
    pub fn note_search(&self, session: &str, query: &str, shown: Vec<Retrieved>) -> Result<(), MemoryError> {
        check_session(session)?;
        let query = masked(query.to_owned());
        self.store().write(|writer| {
            let mut searches = writer.searches(session)?.unwrap_or_default();
            for chunk in shown {
                if searches.retrieved.len() < MOST && !searches.retrieved.contains(&chunk) {
                    searches.retrieved.push(chunk);
                }
            }
            let is_new = !query.trim().is_empty() && !searches.queries.contains(&query);
            if searches.queries.len() < MOST && is_new {
                searches.queries.push(query.clone());
            }
            writer.set_searches(session, Some(&searches))
        })
    }

    /// Applies the outcome of a session's task to everything that was retrieved in it since the last outcome.
    ///
    /// # Errors
    /// [`MemoryError::NoSession`] where nothing was retrieved, or that an access history cannot be written.
    pub fn apply_outcome(
        &self,
        session: &str,
        outcome: TaskOutcome,
        helpfulness: &Helpfulness,
        learning: &LearningConfig,
        now: i64,
    ) -> Result<OutcomeReport, MemoryError> {
        check_session(session)?;
        let known = self.view()?.searches(session)?;
        let searches = known.ok_or_else(|| MemoryError::NoSession(session.to_owned()))?;
        let named = helpfulness.helpful.iter().chain(&helpfulness.unhelpful);
        let is_known = |id: &&String| !searches.retrieved.iter().any(|chunk| chunk.key == **id);
        if let Some(unknown) = named.into_iter().find(is_known) {
            return Err(MemoryError::Unfit(format!("{unknown} was not retrieved in session {session}")));
        }
        let mut judged: BTreeMap<(&Path, Verdict), Vec<String>> = BTreeMap::new();
        let mut unchanged = 0;
        for Retrieved { home, key } in &searches.retrieved {
            match outcome.verdict(key, helpfulness) {
                // A project may have gone since.
                Some(verdict) if home.is_dir() => judged.entry((home, verdict)).or_default().push(key.clone()),
                _ => unchanged += 1,
            }
        }
        let mut chunks = Vec::new();
        for ((home, verdict), keys) in judged {
            let report = judge(&AccessLog::open(home, &user::trust().known)?, learning, verdict, &keys, now)?;
            chunks.extend(report.chunks);
        }
        let difficult = if outcome == TaskOutcome::Failure { searches.queries } else { Vec::new() };
        self.store().write(|writer| {
            difficult.iter().try_for_each(|query| writer.note_difficult(query))?;
            writer.set_searches(session, None)
        })?;
        Ok(OutcomeReport { session: session.to_owned(), outcome, chunks, unchanged, difficult })
    }

    /// How many tasks with a query have failed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn failures(&self, query: &str) -> Result<u32, MemoryError> {
        self.view()?.failures(&masked(query.to_owned()))
    }
}
