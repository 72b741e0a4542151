//! `aur mem search`: answers queries from users and programs.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use aurora_project::{Interface, PackedAnswer, SearchRequest, Searchers, UsageLog, chain, has_sources};
use aurora_query::{
    Context, ContextBlock, FileState, FilterSpec, FlagValue, Fusion, Group, Hit, MAX_QUERY_BYTES, Mode, Query,
    QueryError, SearchResults, ShownChunk, Source, TextFilter, WorkBudget,
};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::context::{
    Failure, FilterArgs, Outcome, Program, SearchedMemory, SearchedRoots, Terminal, args, memories, searched,
};
use crate::output::{Links, Role, context, json, results, units};

/// Search the index; a missing index is built first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem search how are sessions refreshed
  aur mem search UserManager --show-scores
  aur mem search \"parse date\" --type function,method --lang go --path 'internal/**'
  aur mem search billing --where owner=payments --where 'churn>5' --format json
  aur mem search \"retry\" --grep 'sleep\\(\\d+\\)'      only chunks with a match
  aur mem search --fixed 'os.environ['             without a query: sorted by path and line
  aur mem search \"how is auth done\" --budget 4000   context for an agent
  printf 'open file\\nclose file\\n' | aur mem search --stdin --format jsonl --limit 5

Types: function, method, class, interface, type, struct, enum, kb, doc, reasoning, knowledge, note,
turn; `code` stands for all types of source code.")]
pub(crate) struct SearchArgs {
    /// Identifier, keywords or sentence to search for; optional if a filter is given
    #[arg(value_name = "QUERY", required_unless_present_any = ["stdin", "grep", "fixed", "types", "lang", "path", "where_", "source", "scope"], conflicts_with = "stdin")]
    pub(crate) query: Vec<String>,

    /// Maximum number of results [default: 10; 100 with --budget]
    #[arg(long, short = 'n', value_name = "N", value_parser = args::parse_limit)]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Unit of the result list: chunks, or files with their best chunks
    ///
    /// [default: file for tables, else chunk]
    #[arg(long, value_name = "GROUP", value_enum)]
    pub(crate) group: Option<Group>,

    /// Signals that rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<Mode>,

    /// Method of combining the signals
    #[arg(long, value_name = "FUSION", value_enum)]
    pub(crate) fusion: Option<Fusion>,

    /// Weights of BM25, semantic and activation; they must sum to 1
    #[arg(long, value_name = "B,S,A", value_parser = args::parse_weights)]
    pub(crate) weights: Option<[f64; 3]>,

    /// Model that reranks the best results: its name, or `off` (`search.rerank`)
    #[arg(long, value_name = "NAME")]
    pub(crate) rerank: Option<String>,

    /// Explain the score of every result
    #[arg(long)]
    pub(crate) show_scores: bool,

    /// Print the text of every result
    #[arg(long)]
    pub(crate) show_content: bool,

    /// Print the metadata of every result: the values of its columns
    #[arg(long)]
    pub(crate) show_fields: bool,

    /// Show the best matching lines of every result, at most this many
    ///
    /// [default: 2 on a terminal of at least 60 columns, 3 with --grep or --fixed, else 0]
    #[arg(long, value_name = "LINES", num_args = 0..=1, require_equals = true, default_missing_value = "3", value_parser = args::whole_number(0..=100))]
    pub(crate) snippets: Option<usize>,

    /// Print the texts of the best results that fit into this many tokens
    ///
    /// Adjacent and overlapping results of one file are joined. A result that does not fit is cut, or replaced by the
    /// next one. The estimate of tokens tends to be too high; docs/guides/searching.md describes it.
    #[arg(long, value_name = "TOKENS", value_parser = args::parse_budget, conflicts_with_all = ["show_scores", "show_content", "show_fields", "snippets"])]
    pub(crate) budget: Option<usize>,

    /// Leave out the git columns of the table
    #[arg(long)]
    pub(crate) legacy: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ResultFormat::Table)]
    pub(crate) format: ResultFormat,

    /// Read one query per line from standard input
    #[arg(long)]
    pub(crate) stdin: bool,

    #[command(flatten)]
    pub(crate) roots: SearchedRoots,

    #[command(flatten)]
    pub(crate) memory: SearchedMemory,

    /// Do not record which results were shown
    #[arg(long)]
    pub(crate) no_record: bool,

    /// Fail instead of building a missing index
    #[arg(long)]
    pub(crate) no_index: bool,

    /// Search the index as it is, without a quick update first (`search.refresh`)
    #[arg(long)]
    pub(crate) no_refresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// Table for people
    Table,
    /// One JSON object, indented
    Json,
    /// One JSON object per line
    Jsonl,
}

/// Maximum size of a line of standard input in bytes.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// Maximum number of lines that are answered together.
const MAX_BLOCK_LINES: usize = 64;
/// Default number of snippet lines on a terminal.
const TERMINAL_SNIPPET: usize = 2;
/// Default number of snippet lines for a search with patterns, and in JSON.
const PATTERN_SNIPPET: usize = 3;
/// Minimum width of a terminal that shows snippets by default, in columns.
const SNIPPET_COLUMNS: usize = 60;
/// Maximum number of changed files that a note names.
const NAMED_FILES: usize = 3;

/// Answers the query, or every query on standard input.
pub(crate) fn run(args: &SearchArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let mut filter = args.filter.spec()?;
    filter.sources = args.memory.source.clone();
    let query = args.query.join(" ");
    if query.trim().is_empty() && filter.is_empty() && args.memory.scope.is_some() {
        // Only entries of memory have scopes, so a scope without a query or filter selects entries of memory.
        filter.sources = vec![Source::Memory];
    }
    let patterns = filter.text(&WorkBudget::default())?;
    if !args.stdin && query.trim().is_empty() && filter.is_empty() {
        return Err(Failure::from_error(&QueryError::Empty));
    }
    // Reject a query that is too long before an index is built for it.
    QueryError::check_length(&query)?;
    let SearchArgs { roots, memory, no_index, no_refresh, .. } = args;
    let selected = searched::SearchedArgs {
        roots,
        memory,
        no_index: *no_index,
        no_refresh: *no_refresh,
        read_only: false,
        skips_missing: false,
    };
    let searched = searched::open(&selected, &flags(args), args.mode.unwrap_or_default(), program)?;
    searched.indexes.searchers.check(&filter)?;
    let projects = searched.indexes.searchers.iter().filter(|searcher| !searcher.is_memory());
    let roots: Vec<_> = projects.filter_map(|searcher| Some((searcher.name(), searcher.root()?))).collect();
    let links = Links::detect(terminal.out, roots.into_iter());
    let missing = searched.missing;
    let mut session = Session { args, program, terminal, filter, patterns, links, searched };
    if args.stdin {
        session.answer_lines(BufReader::new(std::io::stdin().lock()))?
    } else {
        session.answer(&query)?
    }
    match missing {
        0 => Ok(()),
        missing => Err(Failure::Short(format!("{} not searched", units::counted(missing as u64, "root")))),
    }
}

/// The opened indexes, and the presentation of their answers.
struct Session<'a> {
    args: &'a SearchArgs,
    program: &'a Program,
    terminal: &'a Terminal,
    filter: FilterSpec,
    patterns: TextFilter,
    links: Links,
    searched: searched::Searched,
}

/// Results, and their packed texts if a budget is given.
struct Answer {
    found: SearchResults,
    packed: Option<Context>,
}

impl Answer {
    fn new(searchers: &Searchers, request: &SearchRequest, args: &SearchArgs) -> Result<Self, QueryError> {
        let found = searchers.search(request)?;
        let work = WorkBudget::default();
        let packed = args.budget.map(|tokens| match args.format {
            // The budget also covers the headings of the texts.
            ResultFormat::Table => searchers.packed_as(&found, tokens, &work, context::plain),
            ResultFormat::Json | ResultFormat::Jsonl => searchers.packed(&found, tokens, &work),
        });
        Ok(Self { packed: packed.transpose()?, found })
    }

    /// Returns the chunks that are shown.
    fn shown_chunks(&self) -> Vec<ShownChunk<'_>> {
        match &self.packed {
            Some(packed) => packed.shown().collect(),
            None => self.found.shown().collect(),
        }
    }
}

impl Session<'_> {
    fn answer(&mut self, text: &str) -> Outcome {
        let now = aurora_clock::now_seconds();
        let answer = self.search(text, now)?;
        let mut out = self.terminal.stdout();
        self.present(&mut out, &answer, now)?;
        self.record(&[answer], now);
        Ok(())
    }

    /// Answers every line, in order. A single line is answered immediately, so that a program can send its next query
    /// after an answer. Lines that arrive together are searched on all cores. For a query that cannot be
    /// answered, prints a warning or, in JSON, an object with an `error`, and continues with the next line.
    fn answer_lines(&mut self, mut input: BufReader<impl Read>) -> Outcome {
        let mut out = self.terminal.stdout();
        let unread = |error| Failure::new(format!("cannot read standard input: {error}"));
        let mut line = Vec::new();
        while read_line(&mut input, &mut line).map_err(unread)? {
            let mut texts = vec![query_of(&line)];
            while texts.len() < MAX_BLOCK_LINES && input.buffer().contains(&b'\n') {
                read_line(&mut input, &mut line).map_err(unread)?;
                texts.push(query_of(&line));
            }
            let now = aurora_clock::now_seconds();
            let mut shown = Vec::new();
            for (text, answer) in texts.iter().zip(self.search_all(&texts, now)) {
                match answer {
                    Ok(answer) => {
                        if self.args.format == ResultFormat::Table {
                            results::write_heading(&mut out, text, self.terminal.out)?;
                        }
                        self.present(&mut out, &answer, now)?;
                        shown.push(answer);
                    }
                    Err(error) => {
                        self.print_error(&mut out, text, &error)?;
                        out.flush()?;
                    }
                }
            }
            self.record(&shown, now);
        }
        Ok(())
    }

    /// Answers several queries.
    fn search_all(&mut self, texts: &[String], now: i64) -> Vec<Result<Answer, QueryError>> {
        if let [text] = texts {
            return vec![self.search(text, now)];
        }
        self.searched.finish_updates();
        let (searchers, args) = (&self.searched.indexes.searchers, self.args);
        let requests: Vec<SearchRequest> = texts.iter().map(|text| self.request(text, now)).collect();
        let answers: Vec<_> = requests.par_iter().map(|request| Answer::new(searchers, request, args)).collect();
        let mut notes = std::mem::take(&mut self.searched.indexes.notes);
        let finished = texts.iter().zip(answers).map(|(text, answer)| match answer {
            // If an index is damaged, this search rebuilds it.
            Err(QueryError::Storage(_)) => self.search(text, now),
            Ok(mut answer) => {
                answer.found.notes.splice(0..0, std::mem::take(&mut notes));
                Ok(answer)
            }
            error => error,
        });
        finished.collect()
    }

    fn search(&mut self, text: &str, now: i64) -> Result<Answer, QueryError> {
        let (request, args) = (self.request(text, now), self.args);
        let mut answer = self.searched.ask(|searchers| Answer::new(searchers, &request, args), self.program)?;
        answer.found.notes.splice(0..0, std::mem::take(&mut self.searched.indexes.notes));
        Ok(answer)
    }

    fn request(&self, text: &str, now: i64) -> SearchRequest {
        let query = Query {
            limit: self.args.limit.unwrap_or_else(|| SearchRequest::default_limit(self.args.budget)),
            mode: self.args.mode.unwrap_or_default(),
            group: self.group(),
            filter: self.filter.clone(),
            // Snippets in a table need the whole text, because their highlighting depends on the text around them.
            content: self.args.show_content || (self.is_table() && self.snippet_lines() > 0),
            ..Query::new(text, now)
        };
        SearchRequest { snippet_lines: self.snippet_lines(), ..SearchRequest::new(query) }
    }

    /// Returns the unit of the result list. By default, tables group results by file. JSON and packed texts list every
    /// chunk separately.
    fn group(&self) -> Group {
        match self.args.group {
            Some(Group::File) => Group::File,
            None if self.is_table() && self.args.budget.is_none() => Group::File,
            Some(Group::Chunk) | None => Group::Chunk,
        }
    }

    fn is_table(&self) -> bool {
        self.args.format == ResultFormat::Table
    }

    /// Returns the maximum number of snippet lines per result. By default, JSON includes snippets, because they are
    /// cheap. Tables include snippets only if there are patterns or the terminal is wide.
    fn snippet_lines(&self) -> usize {
        let args = self.args;
        let is_wide = self.terminal.columns.is_some_and(|columns| columns >= SNIPPET_COLUMNS);
        match args.snippets {
            _ if args.budget.is_some() => 0,
            Some(lines) => lines,
            None if !self.is_table() => PATTERN_SNIPPET,
            None if args.show_scores || args.show_content => 0,
            None if !self.patterns.is_empty() => PATTERN_SNIPPET,
            None if is_wide => TERMINAL_SNIPPET,
            None => 0,
        }
    }

    fn present(&self, out: &mut impl Write, answer: &Answer, now: i64) -> io::Result<()> {
        match &answer.packed {
            Some(packed) => self.print_packed(out, &answer.found, packed)?,
            None => self.print(out, &answer.found, now)?,
        }
        out.flush()
    }

    fn print_packed(&self, out: &mut impl Write, found: &SearchResults, packed: &Context) -> io::Result<()> {
        if !self.is_table() {
            return self.write_json(out, &PackedAnswer::new(found, packed));
        }
        self.print_notes(found);
        if packed.blocks.is_empty() && !found.hits.is_empty() {
            self.terminal.note(&format!("no result fits into {} tokens", packed.budget));
        }
        if found.is_distant() && !packed.blocks.is_empty() {
            writeln!(out, "{}\n", self.terminal.out.paint(Role::Warning, results::NOTHING_CLOSE))?;
        }
        let language = |block: &ContextBlock| {
            let is_of = |hit: &&Hit| (&hit.root, &hit.file) == (&block.root, &block.file);
            found.hits.iter().find(is_of).map_or_else(String::new, |hit| hit.language.clone())
        };
        context::write(out, packed, &language, self.terminal.out, &self.links)
    }

    /// Prints the notes of an answer to standard error.
    fn print_notes(&self, found: &SearchResults) {
        for note in &found.notes {
            self.terminal.note(note);
        }
        if found.hits.is_empty() {
            let nothing = match found.query.trim().is_empty() {
                true => "no chunk passes the filters".to_owned(),
                false => format!("no results for \"{}\"", found.query),
            };
            self.terminal.note(&nothing);
        }
        let mut stale: Vec<String> = Vec::new();
        for hit in &found.hits {
            let is_stale = matches!(hit.file_state, Some(FileState::Changed | FileState::Gone));
            let file = hit.display_file();
            if is_stale && !stale.contains(&file) {
                stale.push(file);
            }
        }
        if !stale.is_empty()
            && self.searched.indexes.searchers.iter().all(|searcher| !searcher.root().is_some_and(has_sources))
        {
            self.terminal.note("the sources are missing; the texts come from the index");
        } else if !stale.is_empty() {
            let more = if stale.len() > NAMED_FILES { ", …" } else { "" };
            let named = stale[..stale.len().min(NAMED_FILES)].join(", ");
            self.terminal
                .note(&format!("changed or deleted since indexing: {named}{more}; `aur mem index` updates the index"));
        }
    }

    fn print(&self, out: &mut impl Write, found: &SearchResults, now: i64) -> io::Result<()> {
        if !self.is_table() {
            return self.write_json(out, found);
        }
        self.print_notes(found);
        let shown = results::DisplayOptions {
            legacy: self.args.legacy,
            scores: self.args.show_scores,
            content: self.args.show_content,
            fields: self.args.show_fields,
            columns: self.terminal.columns,
            paint: self.terminal.out,
            links: &self.links,
            patterns: &self.patterns,
            now,
        };
        results::write(out, found, &shown)
    }

    fn print_error(&self, out: &mut impl Write, text: &str, error: &QueryError) -> io::Result<()> {
        if self.is_table() {
            self.terminal.warn(&chain(error));
            return Ok(());
        }
        let answer = json!({
            "query": &text[..text.floor_char_boundary(MAX_QUERY_BYTES)],
            "mode": self.args.mode.unwrap_or_default(),
            "results": [],
            "took_ms": 0.0,
            "error": chain(error),
        });
        self.write_json(out, &answer)
    }

    fn write_json(&self, out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
        match self.args.format {
            ResultFormat::Json => json::write_indented(out, value),
            ResultFormat::Jsonl | ResultFormat::Table => json::write_line(out, value),
        }
    }

    /// Records the shown results in one transaction. An error does not make the search fail.
    fn record(&self, answers: &[Answer], now: i64) {
        if self.args.no_record {
            return;
        }
        let shown: Vec<Vec<ShownChunk<'_>>> = answers.iter().map(Answer::shown_chunks).collect();
        self.searched.indexes.searchers.record(shown.iter().flatten().copied(), now);
        record_usage(answers.iter().map(|answer| &answer.found), &self.searched.indexes.searchers, now);
        if let Some(session) = &self.args.memory.session {
            for (answer, shown) in answers.iter().zip(&shown) {
                memories::note_search(session, &answer.found.query, &self.searched.indexes, shown, self.terminal);
            }
        }
    }
}

/// Adds searches to the record of searches. Errors are ignored.
pub(super) fn record_usage<'a>(answers: impl Iterator<Item = &'a SearchResults>, searchers: &Searchers, now: i64) {
    if let Some(usage) = UsageLog::open() {
        let projects = searchers.iter().filter(|searcher| !searcher.is_memory());
        let roots: Vec<&Path> = projects.filter_map(|searcher| searcher.root()).collect();
        usage.searches(Interface::Cli, answers, &roots, now);
    }
}

fn query_of(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches('\r').to_owned()
}

/// Reads a line without its newline. If the line is too long for a query, stores only its start, which is still too
/// long, and skips the rest. Returns false at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let max_bytes = MAX_QUERY_BYTES + 2;
    if input.by_ref().take(max_bytes as u64).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.pop_if(|last| *last == b'\n').is_none() && line.len() == max_bytes {
        let skipped = input.by_ref().take(MAX_LINE_BYTES).skip_until(b'\n')?;
        if skipped as u64 == MAX_LINE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a line exceeds {MAX_LINE_BYTES} bytes")));
        }
    }
    Ok(true)
}

fn flags(args: &SearchArgs) -> Vec<FlagValue> {
    let flag =
        |flag: &str, key: &str, value: String| FlagValue { flag: flag.to_owned(), key: format!("search.{key}"), value };
    let mut flags = Vec::new();
    if let Some(fusion) = args.fusion {
        flags.push(flag("--fusion", "hybrid.fusion", fusion.as_str().to_owned()));
    }
    if let Some(weights) = args.weights {
        for (name, weight) in ["bm25", "semantic", "activation"].into_iter().zip(weights) {
            flags.push(flag("--weights", &format!("hybrid.weights.{name}"), weight.to_string()));
        }
    }
    if let Some(name) = &args.rerank {
        flags.push(flag("--rerank", "rerank", name.clone()));
        flags.push(flag("--rerank", "rerank_words", "1".to_owned()));
    }
    flags
}
