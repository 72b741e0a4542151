//! Searches the memories for the questions of LoCoMo.

use aurora_evaluation::golden::Question;
use aurora_evaluation::metrics::{DEPTH, Found, Measured, measure};
use aurora_memory::{Memory, Scope, Visibility};
use aurora_project::{SearchRequest, Searchers};
use aurora_query::{Query, QueryError, SearchResults};
use rayon::prelude::*;

use crate::memories::Memories;
use crate::setting::Setting;

/// Measures the search results of every question, in the order of the questions.
pub(crate) fn ask_all(memories: &Memories, setting: &Setting) -> Result<Vec<Measured>, String> {
    let mut all = Vec::new();
    for round in &memories.rounds {
        all.extend(ask(&memories.stored[round.memory].memory, setting, round.now, &round.questions)?);
    }
    Ok(all)
}

/// Measures the search results of one memory. Questions are asked in parallel, because their results are independent.
pub(crate) fn ask(
    memory: &Memory,
    setting: &Setting,
    now: i64,
    questions: &[Question],
) -> Result<Vec<Measured>, String> {
    let searchers = searchers(memory, setting)?;
    let answer = |question: &Question| {
        let found = search(&searchers, setting, now, &question.query, DEPTH)?;
        let found: Vec<Found> = found
            .iter()
            .flat_map(|found| &found.hits)
            .map(|hit| Found { file: hit.key.clone(), lines: None })
            .collect();
        Ok(measure(question, &found, None))
    };
    questions.par_iter().map(answer).collect()
}

/// Opens a memory for searches that cover all sessions.
pub(crate) fn searchers(memory: &Memory, setting: &Setting) -> Result<Searchers, String> {
    let visibility = Visibility { scope: Some(Scope::User), ..Visibility::default() };
    let searcher = memory.searcher(setting.config.clone(), setting.mode, &setting.rules()?, &visibility);
    let searcher = searcher.map_err(|error| error.to_string())?.ok_or("the memory is empty")?;
    Ok(Searchers::from(searcher))
}

/// Returns the best `limit` turns for a question, or `None` if the question has no searchable words.
pub(crate) fn search(
    searchers: &Searchers,
    setting: &Setting,
    now: i64,
    text: &str,
    limit: usize,
) -> Result<Option<SearchResults>, String> {
    let query = Query { limit, mode: setting.mode, ..Query::new(text, now) };
    match searchers.search(&SearchRequest { snippet_lines: 0, ..SearchRequest::new(query) }) {
        Ok(found) => Ok(Some(found)),
        Err(QueryError::Empty | QueryError::NoTerms(_)) => Ok(None),
        Err(error) => Err(format!("{text}: {error}")),
    }
}
