//! `aur mem stats`: what the index holds.

use std::io::Write;
use std::path::Path;

use aurora_query::{Facet, facets};
use aurora_storage::{ChunkType, LabelKind, Snapshot, StorageError, TableSize};
use serde::Serialize;

use crate::args::StatsArgs;
use crate::failure::Outcome;
use crate::output::style::Role;
use crate::output::{fields, json, sanitize, time, units, width};
use crate::terminal::Terminal;
use crate::values::ReportFormat;
use crate::{opened, place};

#[derive(Serialize)]
struct Stats {
    root: String,
    generation: u64,
    complete: bool,
    created: String,
    updated: String,
    head_commit: Option<String>,
    files: u64,
    chunks: u64,
    types: Vec<Share>,
    languages: Vec<Share>,
    columns: Vec<Facet>,
    model: Option<Model>,
    index_bytes: u64,
    tables: Vec<TableSize>,
    segments: usize,
    terms: u64,
    postings: u64,
}

#[derive(Serialize)]
struct Share {
    name: String,
    chunks: u32,
}

#[derive(Serialize)]
struct Model {
    id: String,
    dimensions: usize,
}

/// Prints the figures of the published generation.
pub(crate) fn run(args: &StatsArgs, terminal: &Terminal) -> Outcome {
    let opened = opened::open(args.root.as_deref())?;
    let stats = collect(&opened.root, &opened.snapshot).map_err(opened::failure)?;
    let mut out = terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &stats)?,
        ReportFormat::Text => write_text(&mut out, &stats, terminal)?,
    }
    Ok(out.flush()?)
}

fn collect(root: &Path, snapshot: &Snapshot) -> Result<Stats, StorageError> {
    let manifest = snapshot.manifest();
    let shares = |kind| {
        let rows = snapshot.labels(kind);
        rows.map(|row| row.map(|(name, chunks)| Share { name, chunks })).collect::<Result<Vec<_>, _>>()
    };
    let mut types = shares(LabelKind::Type)?;
    let rank = |share: &Share| ChunkType::ALL.iter().position(|kind| kind.as_str() == share.name);
    types.sort_by_key(|share| rank(share));
    let mut languages = shares(LabelKind::Language)?;
    languages.sort_by(|a, b| b.chunks.cmp(&a.chunks).then_with(|| a.name.cmp(&b.name)));
    Ok(Stats {
        root: root.display().to_string(),
        generation: manifest.generation,
        complete: manifest.complete,
        created: time::stamp(manifest.created),
        updated: time::stamp(manifest.updated),
        head_commit: manifest.head_commit.clone(),
        files: manifest.file_count,
        chunks: manifest.chunk_count,
        types,
        languages,
        columns: facets(snapshot)?,
        model: manifest.model.as_ref().map(|model| Model { id: model.id.clone(), dimensions: model.dimensions }),
        index_bytes: place::index_bytes(root),
        tables: snapshot.table_sizes()?,
        segments: manifest.segments.len(),
        terms: manifest.segments.iter().map(|segment| segment.terms).sum(),
        postings: manifest.segments.iter().map(|segment| segment.postings).sum(),
    })
}

/// Free space is shown above one part in so many of the tables, and above so many bytes: the last transactions always leave some.
const FREE_SHARE: u64 = 8;
const FREE_LEAST: u64 = 1 << 20;

fn write_text(out: &mut impl Write, stats: &Stats, terminal: &Terminal) -> std::io::Result<()> {
    let heading = |text: &str| terminal.out.paint(Role::Heading, text);
    writeln!(out, "{}", heading(&format!("Index of {}", sanitize::line(&stats.root))))?;
    writeln!(out, "  Files:       {}", units::count(stats.files))?;
    writeln!(out, "  Chunks:      {}", units::count(stats.chunks))?;
    writeln!(out, "  Postings:    {}", units::count(stats.postings))?;
    match &stats.model {
        Some(model) => writeln!(out, "  Embeddings:  {}, {} dimensions", model.id, model.dimensions)?,
        None => writeln!(out, "  Embeddings:  none")?,
    }
    writeln!(out, "  Size:        {}", units::bytes(stats.index_bytes))?;
    writeln!(out, "  Updated:     {} (generation {})", stats.updated, stats.generation)?;
    if let Some(commit) = &stats.head_commit {
        writeln!(out, "  Commit:      {}", sanitize::line(commit))?;
    }
    if !stats.complete {
        let text = "the last run did not get to its end, or could not read everything; `aur mem index` goes on";
        writeln!(out, "  {} {text}", terminal.out.paint(Role::Warning, "Incomplete:"))?;
    }
    writeln!(out, "\n{}", heading("Tables"))?;
    let widest = stats.tables.iter().map(|table| table.name.len()).max().unwrap_or(0);
    for table in &stats.tables {
        let name = width::pad(table.name, widest);
        writeln!(out, "  {name}  {:>9}  {:>11} rows", units::bytes(table.bytes), units::count(table.rows))?;
    }
    let tables: u64 = stats.tables.iter().map(|table| table.bytes).sum();
    let free = stats.index_bytes.saturating_sub(tables);
    if free > (tables / FREE_SHARE).max(FREE_LEAST) {
        let name = width::pad("(free)", widest);
        writeln!(out, "  {name}  {:>9}  used by later runs; `aur mem compact` gives it back", units::bytes(free))?;
    }
    for (title, shares) in [("Types", &stats.types), ("Languages", &stats.languages)] {
        if shares.is_empty() {
            continue;
        }
        writeln!(out, "\n{}", heading(title))?;
        let widest = shares.iter().map(|share| width::of(&share.name)).max().unwrap_or(0);
        for share in shares {
            let name = width::pad(&sanitize::line(&share.name), widest);
            writeln!(out, "  {name}  {:>9}", units::count(u64::from(share.chunks)))?;
        }
    }
    if !stats.columns.is_empty() {
        writeln!(out, "\n{}", heading("Columns"))?;
    }
    let widest = stats.columns.iter().map(|facet| facet.column.name.len()).max().unwrap_or(0);
    for facet in &stats.columns {
        let [head, values] = fields::of_facet(facet, widest);
        writeln!(out, "  {head}")?;
        if !values.is_empty() {
            writeln!(out, "  {:widest$}  {values}", "")?;
        }
    }
    Ok(())
}
