//! `recall`, `remember` and `outcome`: the memory of agents.

use aurora_live::{LiveProject, Roots, Upkeep};
use aurora_memory::{
    AgentMemory, DATA_NOTICE, MemoryError, NewMemory, Scope, TaskOutcome, recall_header, recall_request,
};
use aurora_project::Interface;
use aurora_query::{Context, ContextBlock, Source};
use serde::Deserialize;

use crate::agent_search::AgentSearch;
use crate::tools::common::{ToolError, format_notes};

#[derive(Debug, Deserialize)]
pub(crate) struct Recall {
    query: String,
    session: Option<String>,
    scope: Option<Scope>,
    /// Whether to return the nearest texts even if they are probably not relevant.
    #[serde(default)]
    nearest: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TaskResult {
    session: Option<String>,
    result: TaskOutcome,
}

/// Answers from memory and code.
pub(super) fn recall(
    arguments: &Recall,
    roots: &Roots,
    memory: &AgentMemory,
    budget: usize,
) -> Result<String, ToolError> {
    let mut search = AgentSearch::for_recall(roots, memory, arguments.session.as_deref(), arguments.scope)?;
    let now = aurora_clock::now_seconds();
    let request = recall_request(&arguments.query, budget, now);
    let mut found = search.search(&request)?;
    // The client must name an issued session in later calls. The session of a connection needs no name.
    let is_new = arguments.session.is_none() && memory.session(None)?.is_none();
    let session = search.session().filter(|_| is_new).map(|session| format!("Session: {}", session.id));
    let notes: Vec<String> = session.into_iter().chain(notes(&search, &found.notes)).collect();
    roots.searched(Interface::Mcp, &found, true, now);
    if !arguments.nearest && !found.hits.is_empty() {
        found.remove_distant();
        if found.hits.is_empty() {
            return Ok(nothing_close(&notes));
        }
    }
    let pack = |packed: &Context| format_recall(&notes, packed);
    let packed = search.searchers().packed_as(&found, budget, &request.query.work, pack)?;
    search.record(&arguments.query, packed.shown(), now);
    Ok(pack(&packed))
}

/// Returns the notes at the beginning of an answer.
pub(super) fn notes(search: &AgentSearch<'_>, of_answer: &[String]) -> Vec<String> {
    let notes = format_notes(search.memory_notes()).chain(format_notes(of_answer));
    search.root_notes().iter().cloned().chain(notes).collect()
}

/// Returns the answer if no text is likely to be relevant.
pub(super) fn nothing_close(notes: &[String]) -> String {
    let answer = "Nothing close was found. Use nearest: true to see the nearest results.";
    notes.iter().map(String::as_str).chain([answer]).collect::<Vec<_>>().join("\n\n")
}

fn format_recall(notes: &[String], packed: &Context) -> String {
    format_blocks(notes, packed, !packed.blocks.is_empty(), |block| recall_header(block, one_line))
}

/// Formats notes and packed texts, each below its header. `has_notice` adds the notice that texts are data.
pub(super) fn format_blocks(
    notes: &[String],
    packed: &Context,
    has_notice: bool,
    header: impl Fn(&ContextBlock) -> String,
) -> String {
    let texts = packed.blocks.iter().map(|block| format!("{}\n{}", header(block), data_text(block)));
    let rest = match (packed.blocks.len(), packed.skipped) {
        (0, 0) => Some("Nothing was found.".to_owned()),
        (0, skipped) => Some(format!("Results found: {skipped}; none fits into the budget.")),
        (_, 0) => None,
        (_, skipped) => Some(format!("Further results that did not fit into the budget: {skipped}.")),
    };
    let notice = has_notice.then(|| DATA_NOTICE.to_owned());
    notes.iter().cloned().chain(notice).chain(texts).chain(rest).collect::<Vec<_>>().join("\n\n")
}

/// Returns the text of a block. Every line of memory begins with `> `, so that a text cannot imitate the parts of an
/// answer.
fn data_text(block: &ContextBlock) -> String {
    let text = block.text.trim_end_matches('\n');
    match block.source {
        Source::Memory => {
            let text = text.replace("\r\n", "\n");
            text.split(is_line_end).map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
        }
        Source::Code | Source::Log => text.to_owned(),
    }
}

/// Replaces line ends and other control characters by spaces.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_line_end(c) { ' ' } else { c }).collect()
}

/// Whether a character ends a line (Unicode Standard Annex #14, mandatory breaks).
fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Adds an entry to the memory of the caller. Returns the outcome as JSON.
pub(super) fn remember(arguments: &NewMemory, roots: &Roots, memory: &AgentMemory) -> Result<String, ToolError> {
    let root = writable_root(roots)?;
    let remembered = memory.remember(arguments, root.project().root(), aurora_clock::now_seconds())?;
    Ok(serde_json::to_string(&remembered).expect("a struct of texts is valid JSON"))
}

/// Judges everything that was retrieved in a session.
pub(super) fn outcome(arguments: &TaskResult, roots: &Roots, memory: &AgentMemory) -> Result<String, ToolError> {
    let session = memory.session(arguments.session.as_deref())?;
    let session = session.ok_or_else(|| ToolError::Arguments("`session` is missing".to_owned()))?;
    let root = writable_root(roots)?;
    let learning = root.project().settings(Vec::new())?.activation.learning;
    let report = memory.outcome(&session, arguments.result, &learning, aurora_clock::now_seconds())?;
    let (judged, unchanged) = (report.chunks.len(), report.unchanged);
    Ok(format!("Recorded. Results judged: {judged}; unchanged: {unchanged}."))
}

fn writable_root(roots: &Roots) -> Result<&LiveProject, ToolError> {
    let root = roots.iter().next().ok_or_else(|| ToolError::Arguments("there is no root".to_owned()))?;
    if root.upkeep() == Upkeep::ReadOnly { Err(MemoryError::ReadOnly.into()) } else { Ok(root) }
}
