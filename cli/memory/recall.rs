//! `aur mem recall`: memory and code for an agent's prompt, with ids to cite.

use std::io::{self, Write};

use aurora_project::{PackedAnswer, SearchRequest, Searchers};
use aurora_query::explain::relative_time;
use aurora_query::{Context, Hit, SearchResults, Source};
use aurora_storage::{ChunkHistory, ChunkType};

use crate::args_memory::{RecallArgs, RecallFormat};
use crate::failure::{Failure, Outcome};
use crate::memories::note_search;
use crate::output::{json, sanitize, time};
use crate::program::Program;
use crate::searched::{self, SearchedArgs};
use crate::terminal::Terminal;

/// What passive retrieval gives: so many chunks, and none below this activation (seed 004, §9.9).
const PASSIVE_LIMIT: usize = 10;
const PASSIVE_ACTIVATION: f32 = 0.5;
/// Results of the list of §9.9.
const LIST_LIMIT: usize = 10;

/// Prints what memory and code know about a question.
pub(crate) fn recall(args: &RecallArgs, program: &Program) -> Outcome {
    let query = args.query.join(" ");
    let opened =
        SearchedArgs { roots: &args.roots, memory: &args.memory, no_index: args.no_index, no_refresh: args.no_refresh };
    let mode = aurora_query::Mode::Hybrid;
    let searched = searched::open(&opened, &[], mode, program)?;
    let default = match (args.passive, args.format) {
        (true, _) => PASSIVE_LIMIT,
        (false, RecallFormat::Recall) => LIST_LIMIT,
        (false, _) => SearchRequest::default_limit(Some(args.budget)),
    };
    let mut request = SearchRequest { limit: args.limit.unwrap_or(default), mode, ..SearchRequest::new(&query) };
    request.filter.sources = searched::sources(&args.memory);
    request.content = args.format == RecallFormat::Recall;
    request.snippet_lines = if args.format == RecallFormat::Recall { 1 } else { 0 };
    let now = time::now();
    let mut found = searched.searchers.search(&request, now).map_err(|error| Failure::from_error(&error))?;
    found.notes.splice(0..0, searched.notes);
    let least = args.min_activation.unwrap_or(if args.passive { PASSIVE_ACTIVATION } else { 0.0 });
    // Of what no word asks for, something is always activated most.
    let is_asked = |hit: &Hit| !args.passive || !hit.explanation.matched_terms.is_empty();
    found.hits.retain(|hit| hit.scores.activation >= least && is_asked(hit));
    let packed =
        searched.searchers.packed(&found, args.budget, &request.work).map_err(|error| Failure::from_error(&error))?;
    print(args.format, &found, &packed, now, &program.terminal)?;
    if !args.read_only && !args.passive {
        remember(args, &query, &searched.searchers, &found, &packed, now)?;
    }
    Ok(())
}

fn print(format: RecallFormat, found: &SearchResults, packed: &Context, now: i64, terminal: &Terminal) -> Outcome {
    let mut out = terminal.stdout();
    match format {
        RecallFormat::Json => json::write_indented(&mut out, &PackedAnswer::new(found, packed))?,
        RecallFormat::Text => write_texts(&mut out, packed)?,
        RecallFormat::Recall => write_list(&mut out, found, now)?,
    }
    out.flush()?;
    if format != RecallFormat::Json {
        found.notes.iter().for_each(|note| terminal.note(note));
        if found.hits.is_empty() {
            terminal.note("nothing was recalled");
        }
    }
    Ok(())
}

/// Remembers what was shown, as a search does.
fn remember(
    args: &RecallArgs,
    query: &str,
    searchers: &Searchers,
    found: &SearchResults,
    packed: &Context,
    now: i64,
) -> Outcome {
    let shown: Vec<_> = match args.format {
        RecallFormat::Recall => found.shown().collect(),
        RecallFormat::Text | RecallFormat::Json => packed.shown().collect(),
    };
    searchers.record(shown.iter().copied(), now);
    match &args.memory.session {
        Some(session) => note_search(session, query, searchers, &shown),
        None => Ok(()),
    }
}

/// The texts, each under the ids that stand for it: `[know:oauth2-providers] OAuth2 providers`.
fn write_texts(out: &mut impl Write, packed: &Context) -> io::Result<()> {
    for (at, block) in packed.blocks.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let ids: Vec<String> = block.hits.iter().map(|hit| format!("[{}]", sanitize::line(&hit.id))).collect();
        let place = match block.source {
            Source::Memory => String::new(),
            Source::Code | Source::Log => format!(" {}", sanitize::line(&block.header())),
        };
        let title = block.hits.first().filter(|_| block.source == Source::Memory).map(|hit| hit.name.as_str());
        let title = title.map(|title| format!(" {}", sanitize::line(title))).unwrap_or_default();
        writeln!(out, "{}{place}{title}", ids.join(" "))?;
        writeln!(out, "{}", sanitize::block(&block.text))?;
    }
    Ok(())
}

/// The list of seed 004, §9.9: by activation, with what each result is good for.
fn write_list(out: &mut impl Write, found: &SearchResults, now: i64) -> io::Result<()> {
    let mut hits: Vec<&Hit> = found.hits.iter().collect();
    hits.sort_by(|a, b| b.scores.activation.total_cmp(&a.scores.activation));
    writeln!(out, "Memory Search Results for: \"{}\"\n", sanitize::line(&found.query))?;
    writeln!(out, "Found {} relevant patterns (sorted by activation):", hits.len())?;
    for (at, hit) in hits.into_iter().enumerate() {
        writeln!(out, "\n{}. [{}] ID: {}", at + 1, kind(hit), sanitize::line(&hit.key))?;
        writeln!(out, "   Activation: {:.2} | {}", hit.scores.activation, used(hit, now))?;
        if !hit.signature.is_empty() {
            let signature = hit.signature.split_whitespace().collect::<Vec<_>>().join(" ");
            writeln!(out, "   Function: {}", sanitize::line(&signature))?;
        }
        if let Some(context) = context(hit) {
            writeln!(out, "   Context: {}", sanitize::line(&context))?;
        }
        let steps = decomposition(hit);
        if !steps.is_empty() {
            writeln!(out, "   Decomposition: [{}]", sanitize::line(&steps.join(", ")))?;
        }
    }
    Ok(())
}

fn kind(hit: &Hit) -> &'static str {
    match hit.chunk_type {
        ChunkType::Reasoning => "Reasoning Pattern",
        ChunkType::Knowledge if hit.source == Source::Log => "Conversation Log",
        ChunkType::Knowledge => "Knowledge",
        ChunkType::Note => "Note",
        ChunkType::Turn => "Conversation Turn",
        ChunkType::Kb | ChunkType::Doc => "Document",
        _ => "Code Chunk",
    }
}

/// When a memory was used, or when code was changed.
fn used(hit: &Hit, now: i64) -> String {
    let accessed = hit.access.as_ref().filter(|access| access.count > 0).map(|access| access.last);
    match (&hit.git, hit.source) {
        (ChunkHistory::Tracked(history), Source::Code) => {
            format!("Last modified: {}", relative_time(history.newest_time, now))
        }
        _ => match accessed.or(hit.date) {
            Some(time) => format!("Last used: {}", relative_time(time, now)),
            None => "Last used: never".to_owned(),
        },
    }
}

/// What a result is about: its documentation, or the line of it that fits the query best.
fn context(hit: &Hit) -> Option<String> {
    let first = |text: &str| text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    let best = || hit.snippet.first().and_then(|line| first(&line.text));
    if hit.doc.trim().is_empty() { best() } else { first(&hit.doc) }
}

/// The steps of a reasoning pattern: the lines of its text that are no field.
fn decomposition(hit: &Hit) -> Vec<String> {
    const FIELDS: [&str; 6] = ["Pattern", "Query", "Role", "Domain", "Keywords", "Tools"];
    if hit.chunk_type != ChunkType::Reasoning {
        return Vec::new();
    }
    let steps = hit.text.lines().filter_map(|line| line.split_once(": ")).filter(|(name, _)| !FIELDS.contains(name));
    steps.map(|(name, text)| format!("{name}: {text}")).collect()
}
