//! Learning from task outcomes. The chunks that were retrieved in the task's session gain or lose activation.

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

/// Minimum score of a task that counts as a success.
const MIN_SUCCESS: f64 = 0.8;
/// Minimum score of a task that counts as a partial success.
const MIN_PARTIAL: f64 = 0.5;

/// The outcome of a task.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskOutcome {
    /// The task was solved: every retrieved chunk gains 0.2.
    Success,
    /// The task was partly solved: helpful chunks gain 0.05, unhelpful chunks lose 0.05.
    Partial,
    /// The task was not solved: retrieved reasoning patterns lose 0.1.
    Failure,
}

/// The helpful and unhelpful chunks of a partly solved task.
///
/// If `helpful` is empty, all chunks that are not in `unhelpful` count as helpful. Otherwise, all chunks that are not
/// in `helpful` count as unhelpful. A chunk in both lists is unhelpful.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Helpfulness {
    /// Ids of helpful chunks.
    pub helpful: Vec<String>,
    /// Ids of unhelpful chunks.
    pub unhelpful: Vec<String>,
}

/// The effects of a task outcome.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomeReport {
    /// The session of the task.
    pub session: String,
    /// The outcome of the task.
    pub outcome: TaskOutcome,
    /// The chunks whose activation has changed, grouped by project and verdict.
    pub chunks: Vec<JudgedChunk>,
    /// Number of retrieved chunks whose activation is unchanged.
    pub unchanged: usize,
    /// The session's queries if the task failed. They are recorded as difficult.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub difficult: Vec<String>,
}

/// Maximum number of chunks that are recorded per session. The same limit applies separately to queries.
const MAX_REMEMBERED: usize = 2_000;

impl TaskOutcome {
    /// Returns the outcome of a task with a score from 0 to 1: success from 0.8, partial from 0.5.
    pub fn from_score(score: f64) -> Self {
        match score {
            score if score >= MIN_SUCCESS => Self::Success,
            score if score >= MIN_PARTIAL => Self::Partial,
            _ => Self::Failure,
        }
    }

    /// Returns the verdict on a retrieved chunk; `None` if the outcome does not affect the chunk.
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
    /// Records the query of a search in a session, and the chunks that the search returned.
    ///
    /// # Errors
    /// Fails if the session name is invalid or the store cannot be written.
    pub fn note_search(&self, session: &str, query: &str, shown: Vec<Retrieved>) -> Result<(), MemoryError> {
        check_session(session)?;
        let query = masked(query.to_owned());
        self.store().write(|writer| {
            let mut searches = writer.searches(session)?.unwrap_or_default();
            for chunk in shown {
                if searches.retrieved.len() < MAX_REMEMBERED && !searches.retrieved.contains(&chunk) {
                    searches.retrieved.push(chunk);
                }
            }
            let is_new = !query.trim().is_empty() && !searches.queries.contains(&query);
            if searches.queries.len() < MAX_REMEMBERED && is_new {
                searches.queries.push(query.clone());
            }
            writer.set_searches(session, Some(&searches))
        })
    }

    /// Applies a task outcome to every chunk that was retrieved in the session since the last outcome.
    ///
    /// # Errors
    /// Returns [`MemoryError::NoSession`] if nothing was retrieved. Fails if a chunk in `helpfulness` was not
    /// retrieved, or if an access history cannot be written.
    pub fn apply_outcome(
        &self,
        session: &str,
        outcome: TaskOutcome,
        helpfulness: &Helpfulness,
        learning: &LearningConfig,
        now: i64,
    ) -> Result<OutcomeReport, MemoryError> {
        check_session(session)?;
        let found = self.view()?.searches(session)?;
        let searches = found.ok_or_else(|| MemoryError::NoSession(session.to_owned()))?;
        let named = helpfulness.helpful.iter().chain(&helpfulness.unhelpful);
        let is_unknown = |id: &&String| !searches.retrieved.iter().any(|chunk| chunk.key == **id);
        if let Some(unknown) = named.into_iter().find(is_unknown) {
            return Err(MemoryError::Unfit(format!("{unknown} was not retrieved in session {session}")));
        }
        let mut judged: BTreeMap<(&Path, Verdict), Vec<String>> = BTreeMap::new();
        let mut unchanged = 0;
        for Retrieved { home, key } in &searches.retrieved {
            match outcome.verdict(key, helpfulness) {
                // The project of the chunk may have been deleted in the meantime.
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

    /// Returns the number of failed tasks in which a query was searched.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub fn failures(&self, query: &str) -> Result<u32, MemoryError> {
        self.view()?.failures(&masked(query.to_owned()))
    }
}
