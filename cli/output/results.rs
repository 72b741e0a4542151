//! Search results for people: the table, and below it boxes and text where they were asked for.

use std::io::{self, Write};

use aurora_query::Hit;
use aurora_query::explain::relative_time;
use aurora_storage::{ChunkType, GitSignal};

use super::scores::{self, Part, ScoreCard};
use super::style::{Painter, Role};
use super::table::{self, Row};
use super::{sanitize, time, units, width};

/// What of the results is shown, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// Leave out the git columns.
    pub(crate) legacy: bool,
    /// A box for every result.
    pub(crate) scores: bool,
    /// The text of every result.
    pub(crate) content: bool,
    /// Width of the terminal, `None` where there is none.
    pub(crate) columns: Option<usize>,
    /// Colours.
    pub(crate) paint: Painter,
    /// Seconds since the epoch that relative times count from.
    pub(crate) now: i64,
}

/// Writes the results; nothing at all when there are none.
pub(crate) fn write(out: &mut impl Write, hits: &[Hit], shown: &Shown) -> io::Result<()> {
    if hits.is_empty() {
        return Ok(());
    }
    let rows: Vec<Row> = hits.iter().map(|hit| row(hit, shown.now)).collect();
    let table = table::render(&rows, shown.legacy, shown.columns, shown.paint);
    out.write_all(table.as_bytes())?;
    for hit in hits {
        if shown.scores {
            let card = card(hit, shown.now);
            write!(out, "\n{}", scores::render(&card, shown.columns, shown.paint))?;
        }
        if shown.content {
            if !shown.scores {
                let title = format!("{}. {}", hit.rank, sanitize::line(&place(hit)));
                writeln!(out, "\n{}", shown.paint.paint(Role::Path, &title))?;
            }
            write_content(out, hit, shown.paint)?;
        }
    }
    Ok(())
}

/// Writes which query the results below belong to.
pub(crate) fn write_heading(out: &mut impl Write, query: &str, paint: Painter) -> io::Result<()> {
    let heading = format!("Query: {}", sanitize::line(query));
    writeln!(out, "{}", paint.paint(Role::Heading, &heading))
}

fn row(hit: &Hit, now: i64) -> Row {
    let (commits, modified) = git_cells(hit, now);
    Row {
        file: hit.file.clone(),
        kind: abbreviated(hit.chunk_type).to_owned(),
        name: shown_name(hit).to_owned(),
        lines: match lines(hit) {
            Some((first, last)) => format!("{first}-{last}"),
            None => "-".to_owned(),
        },
        score: format!("{:.3}", hit.score),
        commits,
        modified,
    }
}

fn abbreviated(kind: ChunkType) -> &'static str {
    match kind {
        ChunkType::Reasoning => "reas",
        ChunkType::Knowledge => "know",
        other => other.as_str(),
    }
}

/// Methods of several types often have one name, so theirs is shown with the type.
fn shown_name(hit: &Hit) -> &str {
    match hit.chunk_type {
        ChunkType::Method if !hit.qualified_name.is_empty() => &hit.qualified_name,
        _ if hit.name.is_empty() => &hit.qualified_name,
        _ => &hit.name,
    }
}

/// Memories come from places without lines that a reader could open.
fn lines(hit: &Hit) -> Option<(u32, u32)> {
    match hit.chunk_type {
        ChunkType::Reasoning | ChunkType::Knowledge => None,
        _ => Some((hit.line_start, hit.line_end)),
    }
}

/// The two git columns: relative times for what is in files, dates for memories.
fn git_cells(hit: &Hit, now: i64) -> (String, String) {
    if matches!(hit.chunk_type, ChunkType::Reasoning | ChunkType::Knowledge) {
        let date = hit.date.map_or_else(|| "-".to_owned(), time::date);
        return ("-".to_owned(), date);
    }
    match &hit.git {
        GitSignal::Tracked(history) => {
            (units::count(u64::from(history.commits)), relative_time(history.newest_time, now))
        }
        GitSignal::None | GitSignal::Untracked => ("- (untracked)".to_owned(), "- (untracked)".to_owned()),
        GitSignal::Unavailable { .. } => ("- (unavailable)".to_owned(), "- (unavailable)".to_owned()),
    }
}

fn card(hit: &Hit, now: i64) -> ScoreCard {
    let why = &hit.explanation;
    let part =
        |score: Option<f32>, reason: &str| Part { score: score.map(f64::from), reason: reason.to_owned(), star: false };
    let rules: Vec<String> =
        why.rules.iter().map(|applied| format!("{} {:+.3}", applied.rule, applied.effect)).collect();
    ScoreCard {
        file: hit.file.clone(),
        kind: abbreviated(hit.chunk_type).to_owned(),
        name: shown_name(hit).to_owned(),
        lines: lines(hit),
        final_score: f64::from(hit.score),
        bm25: Part { star: why.exact_term.is_some(), ..part(Some(hit.scores.bm25), &why.bm25) },
        semantic: part(hit.scores.semantic, &why.semantic),
        activation: part(Some(hit.scores.activation), &why.activation),
        rules: (!rules.is_empty()).then(|| rules.join(", ")),
        git: match &hit.git {
            GitSignal::Tracked(history) => Some(format!(
                "{}, last modified {}",
                units::counted(u64::from(history.commits), "commit"),
                relative_time(history.newest_time, now)
            )),
            GitSignal::Untracked => Some("not tracked".to_owned()),
            GitSignal::Unavailable { reason } => Some(format!("unavailable, {reason}")),
            GitSignal::None => None,
        },
    }
}

fn place(hit: &Hit) -> String {
    match lines(hit) {
        Some((first, last)) => format!("{}:{first}-{last} {}", hit.file, shown_name(hit)),
        None => format!("{} {}", hit.file, shown_name(hit)),
    }
}

/// The text with its line numbers, where a line of the text is a line of the file.
fn write_content(out: &mut impl Write, hit: &Hit, paint: Painter) -> io::Result<()> {
    let text = sanitize::block(hit.text.trim_end_matches('\n'));
    let count = text.lines().count();
    let numbered = lines(hit).filter(|(first, last)| (last + 1).saturating_sub(*first) as usize == count);
    let Some((first, last)) = numbered else {
        return text.lines().try_for_each(|line| writeln!(out, "  {line}"));
    };
    let columns = width::of(&last.to_string());
    for (number, line) in (first..=last).zip(text.lines()) {
        let number = paint.paint(Role::Faint, &format!("{number:>columns$} │"));
        writeln!(out, "{}", format!("{number} {line}").trim_end())?;
    }
    Ok(())
}
