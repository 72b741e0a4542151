//! The answers of a memory that users see.

use std::sync::Arc;

use aurora_memory::{ListFilter, Memory, MemoryError, MemoryRules, Scope, Visibility};
use aurora_project::{SearchRequest, Searchers};
use aurora_query::{Hit, Mode, Query, SearchConfig};

use crate::content::{SESSIONS, TEXTS};

/// Returns the entries with the facts about them, the digest of the index, and search results with their scores.
pub(crate) fn answers(memory: &Memory, now: i64) -> Vec<String> {
    let mut answers = Vec::new();
    for id in every_id(memory, now) {
        let version = memory.get(&id).expect("reads").expect("is there");
        let (created, edited, scope, session) = (version.created, version.edited, version.scope, version.session);
        let document = serde_json::to_string(&version.document).expect("JSON");
        answers.push(format!("{id}: {created} {edited} {scope} {session:?} {document}"));
        let report = memory.report(&id, (&MemoryRules::default(), &SearchConfig::default()), now).expect("reads");
        let mut report = serde_json::to_value(report).expect("JSON");
        // The number of versions may differ.
        report["version"] = 0.into();
        answers.push(format!("{id}: {report}"));
    }
    let snapshot = memory.snapshot().expect("is brought up to date");
    if let Some(snapshot) = snapshot.filter(|snapshot| !snapshot.live().is_empty()) {
        answers.push(format!("digest {}", snapshot.digest().expect("sound")));
    }
    for mode in [Mode::Hybrid, Mode::Sparse, Mode::Dense] {
        for visibility in visibilities() {
            for text in &TEXTS[if mode == Mode::Hybrid { 0..4 } else { 1..3 }] {
                for hit in search(memory, text, &visibility, mode, now).expect("sound") {
                    let (key, bits) = (&hit.key, hit.score.to_bits());
                    let whole = serde_json::to_string(&hit).expect("JSON");
                    answers.push(format!("{mode:?} {visibility:?} {text}: {key} {bits:x} {whole}"));
                }
            }
        }
    }
    answers
}

fn visibilities() -> Vec<Visibility> {
    let of = |scope, session: Option<usize>, with_archived| {
        let session = session.map(|number| SESSIONS[number].to_owned());
        Visibility { scope, session, with_archived }
    };
    vec![
        of(None, None, false),
        of(None, Some(0), true),
        of(Some(Scope::Session), Some(1), false),
        of(Some(Scope::User), None, false),
        of(Some(Scope::Project), Some(2), false),
        of(Some(Scope::Global), None, true),
    ]
}

/// Returns the ids of all entries, including archived ones, in order.
pub(crate) fn every_id(memory: &Memory, now: i64) -> Vec<String> {
    let mut ids = Vec::new();
    for state in [None, Some("archived".to_owned())] {
        let filter = ListFilter { state, ..ListFilter::default() };
        let rules = (&MemoryRules::default(), &SearchConfig::default());
        let listed = memory.for_each(&filter, rules, now, |report| {
            ids.push(report.entry.id().to_owned());
            Ok(())
        });
        listed.expect("reads");
    }
    ids.sort_unstable();
    ids
}

/// Returns the keys of the hits of a search that sees all entries.
pub(crate) fn search_all(memory: &Memory, text: &str, now: i64) -> Result<Vec<String>, MemoryError> {
    let everything = Visibility { scope: Some(Scope::Global), session: None, with_archived: true };
    let found = search(memory, text, &everything, Mode::Hybrid, now)?;
    Ok(found.into_iter().map(|hit| hit.key).collect())
}

fn search(memory: &Memory, text: &str, visibility: &Visibility, mode: Mode, now: i64) -> Result<Vec<Hit>, MemoryError> {
    let rules = Arc::new(MemoryRules::default());
    let searcher = memory.searcher(SearchConfig::default(), mode, &rules, visibility)?;
    let Some(searcher) = searcher else { return Ok(Vec::new()) };
    let query = Query { mode, content: true, limit: 8, ..Query::new(text, now) };
    Ok(Searchers::from(searcher).search(&SearchRequest::new(query))?.hits)
}
