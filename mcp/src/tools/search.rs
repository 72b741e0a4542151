//! `search`: the texts that answer a question, within a budget.

use aurora_live::{OpenedRoots, Roots};
use aurora_project::SearchRequest;
use aurora_query::{Context, FilterSpec};
use serde::Deserialize;

use crate::tools::common::{CommonArguments, OneOrMore, ToolError, listed, noted};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    query: String,
    path: Option<OneOrMore>,
    r#type: Option<OneOrMore>,
    lang: Option<OneOrMore>,
    #[serde(flatten)]
    pub(super) common: CommonArguments,
}

pub(super) fn answer(arguments: &Arguments, roots: &Roots, budget: usize) -> Result<String, ToolError> {
    let OpenedRoots { searchers, notes } = roots.open()?;
    let request = SearchRequest {
        limit: SearchRequest::default_limit(Some(budget)),
        filter: FilterSpec {
            paths: listed(&arguments.path),
            types: listed(&arguments.r#type),
            languages: listed(&arguments.lang),
            ..FilterSpec::default()
        },
        snippet_lines: 0,
        ..SearchRequest::new(arguments.query.clone())
    };
    let now = aurora_clock::now_seconds();
    let found = searchers.search(&request, now)?;
    let notes: Vec<String> = notes.into_iter().chain(noted(&found.notes)).collect();
    let packed = searchers.packed_as(&found, budget, |packed| written(&notes, packed))?;
    roots.record(packed.shown(), now);
    Ok(written(&notes, &packed))
}

fn written(notes: &[String], packed: &Context) -> String {
    let text = packed.blocks.iter().map(|block| format!("{}\n{}", block.header(), block.text.trim_end_matches('\n')));
    let rest = match (packed.blocks.len(), packed.skipped) {
        (0, 0) => Some("Nothing was found.".to_owned()),
        (0, skipped) => Some(format!("{skipped} results were found, and none fits into the budget.")),
        (_, 0) => None,
        (_, skipped) => Some(format!("{skipped} further results did not fit into the budget.")),
    };
    let blocks: Vec<String> = notes.iter().cloned().chain(text).chain(rest).collect();
    blocks.join("\n\n")
}
