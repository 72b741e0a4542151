//! Collects everything that users can see of a memory.

use std::sync::Arc;

use aurora_memory::{ListFilter, Memory, MemoryError, MemoryRules, Scope, Visibility};
use aurora_project::{SearchRequest, Searchers};
use aurora_query::{Hit, Mode, Query, SearchConfig};

use crate::content::{SESSIONS, TEXTS};

/// Returns the entries with their reports, the digest of the index, and search results with their scores.
pub(crate) fn answers(memory: &Memory, now: i64) -> Vec<String> {
    let mut answers = Vec::new();
    for id in every_id(memory, now) {
        let version = memory.get(&id).expect("readable").expect("the entry exists");
        let (created, edited, scope, session) = (version.created, version.edited, version.scope, version.session);
        let document = serde_json::to_string(&version.document).expect("JSON");
        answers.push(format!("{id}: {created} {edited} {scope} {session:?} {document}"));
        let report = memory.report(&id, (&MemoryRules::default(), &SearchConfig::default()), now).expect("readable");
        let mut report = serde_json::to_value(report).expect("JSON");
        // The number of the version is ignored, because the memory in which the changes are replayed can have fewer
        // versions.
        report["version"] = 0.into();
        answers.push(format!("{id}: {report}"));
    }
    let snapshot = memory.snapshot().expect("the index can be updated");
    if let Some(snapshot) = snapshot.filter(|snapshot| !snapshot.live().is_empty()) {
        answers.push(format!("digest {}", snapshot.digest().expect("the index is valid")));
    }
    for mode in [Mode::Hybrid, Mode::Sparse, Mode::Dense] {
        for visibility in visibilities() {
            for text in &TEXTS[if mode == Mode::Hybrid { 0..4 } else { 1..3 }] {
                for hit in search(memory, text, &visibility, mode, now).expect("the index is valid") {
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
    let visibility = |scope, session: Option<usize>, with_archived| {
        let session = session.map(|number| SESSIONS[number].to_owned());
        Visibility { scope, session, with_archived, is_confined: false }
    };
    vec![
        visibility(None, None, false),
        visibility(None, Some(0), true),
        visibility(Some(Scope::Session), Some(1), false),
        visibility(Some(Scope::User), None, false),
        visibility(Some(Scope::Project), Some(2), false),
        visibility(Some(Scope::Global), None, true),
    ]
}

/// Returns the ids of all entries, including archived entries, in ascending order.
pub(crate) fn every_id(memory: &Memory, now: i64) -> Vec<String> {
    let mut ids = Vec::new();
    for state in [None, Some("archived".to_owned())] {
        let filter = ListFilter { state, ..ListFilter::default() };
        let rules = (&MemoryRules::default(), &SearchConfig::default());
        let listed = memory.for_each(&filter, rules, now, |report| {
            ids.push(report.entry.id().to_owned());
            Ok(())
        });
        listed.expect("readable");
    }
    ids.sort_unstable();
    ids
}

/// Returns the keys of the hits of a search that sees all entries.
pub(crate) fn search_all(memory: &Memory, text: &str, now: i64) -> Result<Vec<String>, MemoryError> {
    let everything = Visibility { scope: Some(Scope::Global), with_archived: true, ..Visibility::default() };
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
