//! Recall: memory and code with citable ids, for the prompt of an agent.

use aurora_project::SearchRequest;
use aurora_query::{ContextBlock, FilterSpec, Mode, Query, Source};

/// Creates the request of a recall with a budget in tokens, at `now` in Unix seconds.
pub fn recall_request(query: &str, budget: usize, now: i64) -> SearchRequest {
    let query = Query {
        limit: SearchRequest::default_limit(Some(budget)),
        mode: Mode::Hybrid,
        filter: FilterSpec::default(),
        ..Query::new(query, now)
    };
    SearchRequest { snippet_lines: 0, ..SearchRequest::new(query) }
}

/// Formats the header of a recalled text, such as `[know:oauth2-providers] OAuth2 providers`. The header contains the
/// ids that can be cited. `clean` makes a text from an index safe to display on one line.
pub fn recall_header(block: &ContextBlock, clean: impl Fn(&str) -> String) -> String {
    let ids: Vec<String> = block.hits.iter().map(|hit| format!("[{}]", clean(&hit.id))).collect();
    let heading = match block.source {
        Source::Memory => block.hits.first().map(|hit| hit.name.clone()),
        Source::Code | Source::Log => Some(block.header()),
    };
    let heading = heading.map(|heading| format!(" {}", clean(&heading))).unwrap_or_default();
    ids.join(" ") + &heading
}
