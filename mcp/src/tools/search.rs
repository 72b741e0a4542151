//! `search`: the best texts for a query, within a budget.

use aurora_live::{OpenedRoots, Roots};
use aurora_project::SearchRequest;
use aurora_query::{Context, FilterSpec, Query};
use serde::Deserialize;

use crate::tools::common::{OneOrMore, ToolError, format_notes, values, with_conditions};

/// The answer if no chunk is likely to be relevant.
const NOTHING_CLOSE: &str = "Nothing close was found. Use nearest: true to see the nearest results.";

#[derive(Debug, Deserialize)]
pub(crate) struct Arguments {
    #[serde(default)]
    query: String,
    path: Option<OneOrMore>,
    r#type: Option<OneOrMore>,
    lang: Option<OneOrMore>,
    r#where: Option<OneOrMore>,
    /// Whether to return the nearest chunks even if they are probably not relevant.
    #[serde(default)]
    nearest: bool,
}

impl Arguments {
    /// Returns the filter that the arguments describe.
    fn filter(&self) -> Result<FilterSpec, ToolError> {
        let filter = FilterSpec {
            paths: values(&self.path),
            types: values(&self.r#type),
            languages: values(&self.lang),
            ..FilterSpec::default()
        };
        with_conditions(filter, &self.r#where)
    }

    /// Returns an error if the arguments contain neither a query nor a filter, or if the filter is invalid.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.query.trim().is_empty() && self.filter()?.is_empty() {
            return Err(ToolError::Arguments(
                "the query is empty; give a query or a filter: where, path, type or lang".to_owned(),
            ));
        }
        Ok(())
    }
}

pub(super) fn answer(arguments: &Arguments, roots: &Roots, budget: usize) -> Result<String, ToolError> {
    let OpenedRoots { searchers, notes } = roots.open()?;
    let now = aurora_clock::now_seconds();
    let query = Query {
        limit: SearchRequest::default_limit(Some(budget)),
        filter: arguments.filter()?,
        ..Query::new(arguments.query.clone(), now)
    };
    let request = SearchRequest { snippet_lines: 0, ..SearchRequest::new(query) };
    let found = searchers.search(&request)?;
    let notes: Vec<String> = notes.into_iter().chain(format_notes(&found.notes)).collect();
    if found.is_distant() && !arguments.nearest {
        return Ok(notes.iter().map(String::as_str).chain([NOTHING_CLOSE]).collect::<Vec<_>>().join("\n\n"));
    }
    let packed = searchers.packed_as(&found, budget, &request.query.work, |packed| format_answer(&notes, packed))?;
    roots.record(packed.shown(), now);
    Ok(format_answer(&notes, &packed))
}

fn format_answer(notes: &[String], packed: &Context) -> String {
    let text = packed.blocks.iter().map(|block| format!("{}\n{}", block.header(), block.text.trim_end_matches('\n')));
    let rest = match (packed.blocks.len(), packed.skipped) {
        (0, 0) => Some("Nothing was found.".to_owned()),
        (0, skipped) => Some(format!("Results found: {skipped}; none fits into the budget.")),
        (_, 0) => None,
        (_, skipped) => Some(format!("Further results that did not fit into the budget: {skipped}.")),
    };
    let blocks: Vec<String> = notes.iter().cloned().chain(text).chain(rest).collect();
    blocks.join("\n\n")
}
