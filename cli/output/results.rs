//! Prints search results for people: a table with the matching lines, and on request score boxes and texts below it.

use std::io::{self, Write};

use aurora_query::explain::relative_time;
use aurora_query::{Copies, FileRow, FileState, Hit, Marker, SearchResults, TextFilter};
use aurora_storage::{ChunkHistory, ChunkType, Complexity, HistoryTier};

use crate::output::{
    Links, Painter, Role, ScoreCard, ScorePart, code, fields, sanitize, scores, table, trail, units, width,
};

/// Minimum width of code in columns.
const MIN_CODE_COLUMNS: usize = 12;
/// Maximum number of copies that are listed below a table row. A score box lists more copies.
const MAX_COPIES_BELOW: usize = 2;

/// Display options for results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisplayOptions<'a> {
    /// Whether to leave out the git columns.
    pub(crate) legacy: bool,
    /// Whether to show a score box for every result.
    pub(crate) scores: bool,
    /// Whether to show the text of every result.
    pub(crate) content: bool,
    /// Whether to show the metadata of every result.
    pub(crate) fields: bool,
    /// Width of the terminal; `None` without a terminal.
    pub(crate) columns: Option<usize>,
    pub(crate) paint: Painter,
    pub(crate) links: &'a Links,
    /// Search patterns, to highlight their matches.
    pub(crate) patterns: &'a TextFilter,
    /// Reference time for relative times, in seconds since the epoch.
    pub(crate) now: i64,
}

/// Line above results that are probably not relevant.
pub(crate) const NOTHING_CLOSE: &str = "Nothing close was found; the nearest are:";

/// Writes the results. Writes nothing if there are no results.
pub(crate) fn write(out: &mut impl Write, found: &SearchResults, shown: &DisplayOptions<'_>) -> io::Result<()> {
    if found.hits.is_empty() {
        return Ok(());
    }
    if found.is_distant() {
        writeln!(out, "{}", shown.paint.paint(Role::Warning, NOTHING_CLOSE))?;
    }
    let is_ranked = found.stages.ranked > 0;
    let marker = Marker::new(&found.term_weights, Some(shown.patterns));
    let rows: Vec<table::Row> = found.hits.iter().map(|hit| row(hit, is_ranked, shown)).collect();
    let table = table::render(&rows, shown.legacy, shown.columns, shown.paint, shown.links);
    out.write_all(table.as_bytes())?;
    for hit in &found.hits {
        if shown.scores {
            let card = card(hit, is_ranked, shown.now);
            write!(out, "\n{}", scores::render(&card, shown.columns, shown.paint))?;
        }
        if shown.content {
            if !shown.scores {
                let title = format!("{}. {}", hit.rank, sanitize::line(&place(hit)));
                let (title, line) = (shown.paint.paint(Role::Path, &title), lines(hit).map(|(first, _)| first));
                let complexity = complexity(hit).map(|text| shown.paint.paint(Role::Faint, &format!("  {text}")));
                let title = shown.links.link_to(hit.source, &hit.display_file(), line, &title);
                writeln!(out, "\n{title}{}", complexity.unwrap_or_default())?;
            }
            write_content(out, hit, &marker, shown)?;
        }
    }
    if shown.scores {
        let columns = shown.columns.unwrap_or(usize::MAX);
        write!(out, "\n{}", trail::render(found, shown.now, columns, shown.paint))?;
    }
    Ok(())
}

/// Writes a heading with the query, above its results.
pub(crate) fn write_heading(out: &mut impl Write, query: &str, paint: Painter) -> io::Result<()> {
    let heading = format!("Query: {}", sanitize::line(query));
    writeln!(out, "{}", paint.paint(Role::Heading, &heading))
}

fn row(hit: &Hit, is_ranked: bool, shown: &DisplayOptions<'_>) -> table::Row {
    let (commits, modified) = git_cells(hit, shown.now);
    table::Row {
        file: hit.display_file(),
        source: hit.source,
        line: lines(hit).map(|(first, _)| first),
        kind: abbreviated(hit.chunk_type).to_owned(),
        name: display_name(hit).to_owned(),
        lines: match lines(hit) {
            Some((first, last)) => format!("{first}-{last}"),
            None => "-".to_owned(),
        },
        score: if is_ranked { format!("{:.3}", hit.score) } else { "-".to_owned() },
        commits,
        modified,
        below: below(hit, shown),
    }
}

/// Returns the lines below a table row: the best lines of the hit, other matching chunks of its file, its copies, and
/// its metadata.
fn below(hit: &Hit, shown: &DisplayOptions<'_>) -> Vec<String> {
    let mut below = snippet(hit, shown);
    let mut add_places = |label: &str, places: &str| {
        let line = sanitize::line(&format!("        {label} {places}"));
        below.push(shown.paint.paint(Role::Faint, &width::elide_end(&line, shown.columns.unwrap_or(usize::MAX))));
    };
    if !hit.rows.is_empty() {
        add_places("also here:", &other_chunks(hit));
    }
    if let Some(copies) = copies(hit, MAX_COPIES_BELOW).filter(|_| !hit.snippet.is_empty()) {
        add_places("also in", &copies);
    }
    if shown.fields {
        below.extend(fields::result_lines(&hit.metadata, shown.columns, shown.paint));
    }
    below
}

/// Describes the complexity of a hit with branches or loops, such as `complexity 0.23 (2 branches, 1 loop)`.
fn complexity(hit: &Hit) -> Option<String> {
    let Complexity { branches, loops, score } = hit.complexity.filter(|complexity| complexity.score > 0.0)?;
    let branches = format!("{branches} {}", if branches == 1 { "branch" } else { "branches" });
    Some(format!("complexity {score:.2} ({branches}, {})", units::counted(loops.into(), "loop")))
}

/// Lists the other matching chunks of the hit's file, such as `Pool.get 12-40, Pool.put 42-60`.
fn other_chunks(hit: &Hit) -> String {
    let describe = |row: &FileRow| {
        let name = display_name_of(row.chunk_type, &row.name, &row.qualified_name);
        format!("{name} {}-{}", row.line_start, row.line_end).trim_start().to_owned()
    };
    hit.rows.iter().map(describe).collect::<Vec<_>>().join(", ")
}

/// Lists at most `named` copies of a hit and the number of other copies, such as `a.py:3, b.py:9 and 4 more`.
fn copies(hit: &Hit, named: usize) -> Option<String> {
    let places = &hit.copies.places[..named.min(hit.copies.places.len())];
    let more = match hit.copies.count - places.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!places.is_empty()).then(|| places.join(", ") + &more)
}

/// Returns the best lines of a hit without their common indentation. A line is numbered if it is a line of the file.
fn snippet(hit: &Hit, shown: &DisplayOptions<'_>) -> Vec<String> {
    let highlights = if shown.paint.is_enabled() { code::highlight(&hit.text, &hit.language) } else { Vec::new() };
    let code = |at: usize| {
        let line = &hit.snippet[at];
        let highlights = highlights.get(line.place).map_or(&[][..], Vec::as_slice);
        code::CodeLine { text: &line.text, highlights, matches: &line.matches }
    };
    let numbers: Vec<String> =
        hit.snippet.iter().map(|line| line.line.map_or_else(String::new, |line| line.to_string())).collect();
    let columns = numbers.iter().map(String::len).max().unwrap_or(0).max(5);
    let indentation = (0..hit.snippet.len()).filter_map(|at| code(at).indentation()).min().unwrap_or(0);
    let room = shown.columns.map(|all| all.saturating_sub(columns + 5).max(MIN_CODE_COLUMNS));
    let line = |at: usize| {
        let number = shown.paint.paint(Role::Faint, &format!("{:>columns$} │", numbers[at]));
        let number = shown.links.link_to(hit.source, &hit.display_file(), hit.snippet[at].line, &number);
        format!("  {number} {}", code(at).render(indentation, room, shown.paint))
    };
    (0..hit.snippet.len()).map(line).collect()
}

/// Returns the type of a chunk in at most nine letters.
fn abbreviated(kind: ChunkType) -> &'static str {
    match kind {
        ChunkType::Reasoning => "reas",
        ChunkType::Knowledge => "know",
        other => other.as_str(),
    }
}

/// Returns the name of a hit. A method is shown with its type, because methods of several types often share a name.
fn display_name(hit: &Hit) -> &str {
    display_name_of(hit.chunk_type, &hit.name, &hit.qualified_name)
}

fn display_name_of<'a>(chunk_type: ChunkType, name: &'a str, qualified_name: &'a str) -> &'a str {
    match chunk_type {
        ChunkType::Method if !qualified_name.is_empty() => qualified_name,
        _ if name.is_empty() => qualified_name,
        _ => name,
    }
}

/// Returns the first and last line of a hit; `None` for memories, which have no lines that a reader could open.
fn lines(hit: &Hit) -> Option<(u32, u32)> {
    match hit.chunk_type {
        kind if kind.is_memory() => None,
        _ => Some((hit.line_start, hit.line_end)),
    }
}

/// Returns the cells of the two git columns: the number of commits, and the time of the last change. The time is
/// relative for code, and a date for memories.
fn git_cells(hit: &Hit, now: i64) -> (String, String) {
    if hit.chunk_type.is_memory() {
        let date = hit.date.map_or_else(|| "-".to_owned(), units::date);
        return ("-".to_owned(), date);
    }
    match &hit.git {
        ChunkHistory::Tracked(history) => {
            let of_file = if history.tier == HistoryTier::File { " (file)" } else { "" };
            (units::count(u64::from(history.commits)) + of_file, relative_time(history.newest_time, now))
        }
        ChunkHistory::Pending => ("- (pending)".to_owned(), "- (pending)".to_owned()),
        ChunkHistory::None | ChunkHistory::Untracked => ("- (untracked)".to_owned(), "- (untracked)".to_owned()),
        ChunkHistory::Unavailable { .. } => ("- (unavailable)".to_owned(), "- (unavailable)".to_owned()),
    }
}

/// Returns the score of a hit, with its components and additional facts.
pub(crate) fn card(hit: &Hit, is_ranked: bool, now: i64) -> ScoreCard {
    let why = &hit.explanation;
    let signal = |label: &str, score: Option<f32>, amount: f32, reason: &str| ScorePart {
        label: label.to_owned(),
        score: score.map(f64::from),
        is_signal: true,
        reason: reason.to_owned(),
        star: false,
        amount: f64::from(amount),
    };
    let (scores, weighted) = (&hit.scores, &hit.scores.weighted);
    let mut parts = vec![
        signal("BM25:", Some(scores.bm25), weighted.bm25, &why.bm25),
        signal("Semantic:", scores.semantic, weighted.semantic, &why.semantic),
        signal("Activation:", Some(scores.activation), weighted.activation, &why.activation),
    ];
    parts[0].star = why.exact_term.is_some();
    parts.extend(why.rules.iter().map(|boost| ScorePart {
        label: boost.rule.to_string(),
        reason: boost.reason.clone(),
        amount: f64::from(boost.effect),
        ..ScorePart::default()
    }));
    let mut facts = Vec::new();
    if is_ranked {
        let cosine = scores.raw.cosine.map_or_else(String::new, |cosine| format!(", cosine {cosine:.3}"));
        let words = scores.raw.words.map_or_else(String::new, |words| format!(", word by word {words:.3}"));
        let (bm25, activation) = (scores.raw.bm25, scores.raw.activation);
        let rerank = scores.raw.rerank.map_or_else(String::new, |rerank| format!(", reranker {rerank:.3}"));
        facts.push(("Raw", format!("BM25 {bm25:.3}{cosine}{words}, activation {activation:.3}{rerank}")));
    } else {
        facts.push(("Score", "none, because there is no query; results are sorted by path and line".to_owned()));
    }
    facts.extend(git_fact(hit, now).map(|fact| ("Git", fact)));
    facts.extend(file_fact(hit).map(|fact| ("File", fact.to_owned())));
    facts.extend(copies(hit, Copies::NAMED).map(|places| ("Copies", places)));
    ScoreCard {
        file: hit.display_file(),
        kind: abbreviated(hit.chunk_type).to_owned(),
        name: display_name(hit).to_owned(),
        lines: lines(hit),
        final_score: is_ranked.then_some(f64::from(hit.score)),
        parts: if is_ranked { parts } else { Vec::new() },
        facts,
    }
}

fn git_fact(hit: &Hit, now: i64) -> Option<String> {
    match &hit.git {
        ChunkHistory::Tracked(history) => {
            let of = if history.tier == HistoryTier::File { "of the file" } else { "in these lines" };
            let commits = units::counted(history.commits.into(), "commit");
            let (touches, modified) = (units::count(history.touches.into()), relative_time(history.newest_time, now));
            Some(format!("{commits} {of}, touched {touches}x, last modified {modified}"))
        }
        ChunkHistory::Pending => Some("history not read yet".to_owned()),
        ChunkHistory::Untracked => Some("not tracked".to_owned()),
        ChunkHistory::Unavailable { reason } => Some(format!("unavailable, {reason}")),
        ChunkHistory::None => None,
    }
}

fn file_fact(hit: &Hit) -> Option<&'static str> {
    match hit.file_state? {
        FileState::Unchanged => Some("as it was indexed"),
        FileState::Changed => Some("changed since it was indexed; lines may have moved"),
        FileState::Gone => Some("deleted since it was indexed"),
        FileState::Unknown => None,
    }
}

fn place(hit: &Hit) -> String {
    match lines(hit) {
        Some((first, last)) => format!("{}:{first}-{last} {}", hit.display_file(), display_name(hit)),
        None => format!("{} {}", hit.display_file(), display_name(hit)),
    }
}

/// Writes the text. Lines are numbered if the text consists of lines of the file.
fn write_content(out: &mut impl Write, hit: &Hit, marker: &Marker<'_>, shown: &DisplayOptions<'_>) -> io::Result<()> {
    let text = hit.text.trim_end_matches('\n');
    let (highlights, matches) = if shown.paint.is_enabled() {
        (code::highlight(text, &hit.language), marker.matches(text))
    } else {
        (Vec::new(), Vec::new())
    };
    let count = text.lines().count();
    let numbered = lines(hit).filter(|(first, last)| (last + 1).saturating_sub(*first) as usize == count);
    let columns = numbered.map_or(0, |(_, last)| width::measure(&last.to_string()));
    for (at, line) in text.lines().enumerate() {
        let highlights = highlights.get(at).map_or(&[][..], Vec::as_slice);
        let matches = matches.get(at).map_or(&[][..], Vec::as_slice);
        let code = code::CodeLine { text: line, highlights, matches }.render(0, None, shown.paint);
        match numbered {
            Some((first, _)) => {
                let number = format!("{:>columns$} │", first as usize + at);
                let space = if code.is_empty() { "" } else { " " };
                writeln!(out, "{}{space}{code}", shown.paint.paint(Role::Faint, &number))?;
            }
            None => writeln!(out, "  {code}")?,
        }
    }
    Ok(())
}
