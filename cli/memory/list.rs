//! `aur mem list`: the entries, filtered and sorted.

use std::io::Write;

use aurora_memory::{EntryReport, ListFilter, ListOrder, MemoryError};
use aurora_memory_schema::Kind;

use crate::args_memory::{AnyKindArg, ListArgs, OrderArg, StateArg};
use crate::failure::Outcome;
use crate::memories::{Memories, failure};
use crate::output::style::Role;
use crate::output::{json, sanitize, time, units, width};
use crate::program::Program;
use crate::terminal::Terminal;
use crate::values::ReportFormat;

/// Entries of a table.
const SHOWN: usize = 20;
/// Columns that a title may take.
const TITLE: usize = 60;

/// Prints the entries that pass the filters.
pub(crate) fn list(args: &ListArgs, program: &Program) -> Outcome {
    let mut memories = Memories::open(&args.memories, program)?;
    memories.tell_left_out(program)?;
    let filter = filter(args);
    let now = time::now();
    let mut reports: Vec<EntryReport> = Vec::new();
    for memory in memories.iter() {
        let keep = |report| -> Result<(), MemoryError> {
            reports.push(report);
            Ok(())
        };
        memory.for_each(&filter, (&memories.rules, &memories.config), now, keep).map_err(failure)?;
    }
    order(args.sort).sort(&mut reports);
    if args.reverse {
        reports.reverse();
    }
    let found = reports.len();
    let shown = args.limit.or((args.format == ReportFormat::Text).then_some(SHOWN));
    reports.truncate(shown.unwrap_or(usize::MAX));
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &reports)?,
        ReportFormat::Text => write_table(&mut out, &reports, &program.terminal)?,
    }
    out.flush()?;
    if args.format == ReportFormat::Text {
        match found - reports.len() {
            0 if found == 0 => program.terminal.note("no entries"),
            0 => {}
            more => program.terminal.note(&format!("{} more; --limit shows them", units::count(more as u64))),
        }
    }
    Ok(())
}

fn write_table(out: &mut impl Write, reports: &[EntryReport], terminal: &Terminal) -> std::io::Result<()> {
    if reports.is_empty() {
        return Ok(());
    }
    let rows: Vec<[String; 6]> = reports.iter().map(row).collect();
    let headings = ["ID", "Scope", "Score", "Used", "Changed", "Title"].map(str::to_owned);
    let widths: Vec<usize> = (0..headings.len())
        .map(|column| rows.iter().chain([&headings]).map(|row| width::of(&row[column])).max().unwrap_or(0))
        .collect();
    let line = |row: &[String; 6]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &columns)| width::pad(cell, columns)).collect();
        cells.join("  ").trim_end().to_owned()
    };
    writeln!(out, "{}", terminal.out.paint(Role::Heading, &line(&headings)))?;
    rows.iter().try_for_each(|row| writeln!(out, "{}", line(row)))
}

fn row(report: &EntryReport) -> [String; 6] {
    let EntryReport { entry, facts } = report;
    let score = entry.score().map_or_else(|| "-".to_owned(), |score| format!("{score:.2}"));
    let scope = match &facts.session {
        Some(session) => format!("{} {session}", facts.scope),
        None => facts.scope.to_string(),
    };
    [
        sanitize::line(entry.id()),
        sanitize::line(&scope),
        score,
        units::count(facts.access_count),
        time::date(facts.edited_at),
        width::elide_end(&sanitize::line(&entry.title()), TITLE),
    ]
}

fn filter(args: &ListArgs) -> ListFilter {
    ListFilter {
        kinds: args.kind.iter().map(|kind| kind_of(*kind)).collect(),
        scope: args.scope,
        session: args.session.clone(),
        tags: args.tag.clone(),
        domain: args.domain.clone(),
        least_score: args.min_score,
        patterns: args.pattern,
        escalated: args.escalated,
        state: args.state.map(|state| {
            let name = match state {
                StateArg::Active => "active",
                StateArg::Decayed => "decayed",
                StateArg::Archived => "archived",
            };
            name.to_owned()
        }),
    }
}

pub(super) fn kind_of(kind: AnyKindArg) -> Kind {
    match kind {
        AnyKindArg::Reasoning => Kind::Reasoning,
        AnyKindArg::Knowledge => Kind::Knowledge,
        AnyKindArg::Note => Kind::Note,
        AnyKindArg::Turn => Kind::Turn,
        AnyKindArg::Code => Kind::Code,
    }
}

fn order(order: OrderArg) -> ListOrder {
    match order {
        OrderArg::Edited => ListOrder::Edited,
        OrderArg::Created => ListOrder::Created,
        OrderArg::Accessed => ListOrder::Accessed,
        OrderArg::Accesses => ListOrder::Accesses,
        OrderArg::Score => ListOrder::Score,
        OrderArg::Activation => ListOrder::Activation,
        OrderArg::Id => ListOrder::Id,
    }
}
