//! `search`: the best texts for a query from code and memory, within a budget.

use std::cmp::Ordering;

use aurora_live::Roots;
use aurora_memory::AgentMemory;
use aurora_project::{Interface, SearchRequest};
use aurora_query::{Context, FilterSpec, Query, Source};
use aurora_storage::Complexity;
use serde::Deserialize;

use crate::agent_search::AgentSearch;
use crate::tools::common::{OneOrMore, ToolError, notable_complexity, values, with_conditions};
use crate::tools::memory::{format_blocks, notes, nothing_close, one_line};

#[derive(Debug, Deserialize)]
pub(crate) struct Arguments {
    #[serde(default)]
    query: String,
    path: Option<OneOrMore>,
    r#type: Option<OneOrMore>,
    lang: Option<OneOrMore>,
    r#where: Option<OneOrMore>,
    /// The session of the caller, if the server has memory.
    session: Option<String>,
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

pub(super) fn answer(
    arguments: &Arguments,
    roots: &Roots,
    memory: Option<&AgentMemory>,
    budget: usize,
) -> Result<String, ToolError> {
    let mut search = AgentSearch::open(roots, memory, arguments.session.as_deref())?;
    let now = aurora_clock::now_seconds();
    let query = Query {
        limit: SearchRequest::default_limit(Some(budget)),
        filter: arguments.filter()?,
        ..Query::new(arguments.query.clone(), now)
    };
    let request = SearchRequest { snippet_lines: 0, ..SearchRequest::new(query) };
    let found = search.search(&request)?;
    let notes = notes(&search, &found.notes);
    roots.searched(Interface::Mcp, &found, true, now);
    if found.is_distant() && !arguments.nearest {
        return Ok(nothing_close(&notes));
    }
    let pack = |packed: &Context| format_answer(&notes, packed);
    let packed = search.searchers().packed_as(&found, budget, &request.query.work, pack)?;
    search.record(&arguments.query, packed.shown(), now);
    Ok(pack(&packed))
}

fn format_answer(notes: &[String], packed: &Context) -> String {
    let has_memory = packed.blocks.iter().any(|block| block.source == Source::Memory);
    format_blocks(notes, packed, has_memory, |block| match block.source {
        Source::Memory => format!("memory {}", one_line(&block.header())),
        Source::Code | Source::Log => match block.hits.iter().filter_map(|hit| hit.complexity).max_by(by_score) {
            Some(complexity) if let Some(notable) = notable_complexity(&complexity) => {
                format!("{} {notable}", block.header())
            }
            _ => block.header(),
        },
    })
}

fn by_score(a: &Complexity, b: &Complexity) -> Ordering {
    a.score.total_cmp(&b.score)
}
