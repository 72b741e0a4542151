//! A pipeline's file, taken apart: TOML with the place of every key, nothing resolved yet.

use std::thread::available_parallelism;

use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::ceilings::{LONGEST_FILE, MOST_BATCH_FILES, MOST_QUEUE_BATCHES, MOST_STAGES, MOST_WORKERS};
use crate::diagnostics::{Diagnostic, Diagnostics, code, suggest};
use crate::reference::{Described, Key, TableReference};
use crate::source_map::{SourceMap, Span};

/// Keys at the top of a file.
const ROOT_KEYS: [&str; 3] = ["extends", "run", "stage"];

/// One file of a pipeline.
#[derive(Default)]
pub(crate) struct Layer<'a> {
    pub(crate) extends: Option<(String, Span)>,
    pub(crate) run: Vec<Entry<'a>>,
    /// In the order of the file.
    pub(crate) stages: Vec<StageTable<'a>>,
}

/// `[stage.<name>]` as it stands in one file.
pub(crate) struct StageTable<'a> {
    pub(crate) name: String,
    pub(crate) header: Span,
    pub(crate) entries: Vec<Entry<'a>>,
}

/// A key and its value.
#[derive(Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Spanned<DeValue<'a>>,
}

impl<'a> Layer<'a> {
    /// Takes a file apart and reports what does not belong.
    pub(crate) fn parse(sources: &mut SourceMap, name: &str, text: &'a str, found: &mut Diagnostics) -> Self {
        let (base, root) = parse_toml(sources, name, text, found);
        let mut layer = Self::default();
        if found.iter().any(|item| item.code == code::SYNTAX) {
            // What could be salvaged says nothing about what was meant.
            return layer;
        }
        for entry in entries(root, base) {
            match entry.key.as_str() {
                "extends" => match string(sources, &entry, found) {
                    Some(name) => layer.extends = Some((name, entry.value.span())),
                    None => continue,
                },
                "run" => layer.run = table(sources, entry, found).unwrap_or_default(),
                "stage" => {
                    let stages = table(sources, entry, found).unwrap_or_default();
                    if stages.len() > MOST_STAGES {
                        let location = sources.locate(&stages[MOST_STAGES].key_span);
                        let message = format!("more than {MOST_STAGES} stages");
                        found.push(Diagnostic::error(code::SYNTAX, location, message));
                    }
                    layer.stages =
                        stages.into_iter().take(MOST_STAGES).filter_map(|entry| stage(sources, entry, found)).collect();
                }
                other => {
                    let location = sources.locate(&entry.key_span);
                    let message = format!("unknown key `{other}`");
                    let help = suggest(other, ROOT_KEYS, "a pipeline has");
                    found.push(Diagnostic::error(code::UNKNOWN_KEY, location, message).with_help(help));
                }
            }
        }
        layer
    }
}

impl<'a> StageTable<'a> {
    /// Takes the text of a single stage's table apart.
    pub(crate) fn parse(name: &str, sources: &mut SourceMap, text: &'a str, found: &mut Diagnostics) -> Self {
        let (base, table) = parse_toml(sources, name, text, found);
        Self { name: name.to_owned(), header: base..base, entries: entries(table, base) }
    }
}

/// Parses as much of a file as is TOML; says where its bytes begin.
fn parse_toml<'a>(sources: &mut SourceMap, name: &str, text: &'a str, found: &mut Diagnostics) -> (usize, DeTable<'a>) {
    if text.len() > LONGEST_FILE {
        let message = format!("the file has {} bytes, more than {LONGEST_FILE}", text.len());
        let base = sources.add(name, "");
        found.push(Diagnostic::error(code::SYNTAX, sources.locate(&(base..base)), message));
        return (base, DeTable::default());
    }
    let base = sources.add(name, text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let location = error.span().and_then(|span| sources.locate(&shifted(&span, base)));
        found.push(Diagnostic::error(code::SYNTAX, location, error.message()));
    }
    (base, root.into_inner())
}

fn stage<'a>(sources: &SourceMap, entry: Entry<'a>, found: &mut Diagnostics) -> Option<StageTable<'a>> {
    // The value of a table with a header is said to stand where the header stands.
    let whole = entry.value.span();
    let header = if whole.start < entry.key_span.start { whole } else { entry.key_span.clone() };
    let name = entry.key.clone();
    let entries = table(sources, entry, found)?;
    Some(StageTable { name, header, entries })
}

/// The entries of a table in the order of the file, with spans in the numbering of the source map.
fn entries(table: DeTable<'_>, base: usize) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = table
        .into_iter()
        .map(|(key, value)| Entry {
            key_span: shifted(&key.span(), base),
            key: key.into_inner().into_owned(),
            value: moved(value, base),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn moved(value: Spanned<DeValue<'_>>, base: usize) -> Spanned<DeValue<'_>> {
    let span = shifted(&value.span(), base);
    let value = match value.into_inner() {
        DeValue::Table(table) => {
            let entries = table.into_iter();
            let entries = entries
                .map(|(key, value)| (Spanned::new(shifted(&key.span(), base), key.into_inner()), moved(value, base)));
            DeValue::Table(entries.collect())
        }
        DeValue::Array(array) => DeValue::Array(array.into_iter().map(|value| moved(value, base)).collect()),
        scalar => scalar,
    };
    Spanned::new(span, value)
}

fn shifted(span: &Span, base: usize) -> Span {
    span.start + base..span.end + base
}

pub(crate) fn string(sources: &SourceMap, entry: &Entry<'_>, found: &mut Diagnostics) -> Option<String> {
    match entry.value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => refuse(sources, entry, "a string", found),
    }
}

pub(crate) fn boolean(sources: &SourceMap, entry: &Entry<'_>, found: &mut Diagnostics) -> Option<bool> {
    match entry.value.get_ref() {
        DeValue::Boolean(value) => Some(*value),
        _ => refuse(sources, entry, "true or false", found),
    }
}

/// A whole number from 1 to `most`.
pub(crate) fn count(sources: &SourceMap, entry: &Entry<'_>, most: usize, found: &mut Diagnostics) -> Option<usize> {
    match integer(entry.value.get_ref()).and_then(|value| usize::try_from(value).ok()) {
        Some(value) if (1..=most).contains(&value) => Some(value),
        _ => refuse(sources, entry, &format!("a whole number from 1 to {most}"), found),
    }
}

/// A list of strings, each with its place.
pub(crate) fn strings(sources: &SourceMap, entry: &Entry<'_>, found: &mut Diagnostics) -> Option<Vec<(String, Span)>> {
    let texts = match entry.value.get_ref() {
        DeValue::Array(items) => items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(text) => Some((text.to_string(), item.span())),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    texts.or_else(|| refuse(sources, entry, "a list of strings", found))
}

fn table<'a>(sources: &SourceMap, entry: Entry<'a>, found: &mut Diagnostics) -> Option<Vec<Entry<'a>>> {
    if !matches!(entry.value.get_ref(), DeValue::Table(_)) {
        return refuse(sources, &entry, "a table", found);
    }
    match entry.value.into_inner() {
        DeValue::Table(table) => Some(entries(table, 0)),
        _ => None,
    }
}

pub(crate) fn integer(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix()).ok(),
        _ => None,
    }
}

fn refuse<T>(sources: &SourceMap, entry: &Entry<'_>, expected: &str, found: &mut Diagnostics) -> Option<T> {
    let location = sources.locate(&entry.value.span());
    let message = format!("`{}` must be {expected}, not {}", entry.key, described(entry.value.get_ref()));
    found.push(Diagnostic::error(code::INVALID_VALUE, location, message));
    None
}

fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string \"{text}\""),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// `[run]`, resolved: the figures by which a run is bounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunConfig {
    /// Bytes which batches in flight may hold, all together. `memory = "1GiB"`; a plain number is bytes.
    pub memory: u64,
    /// Threads of a run, and workers of every transform which does not say otherwise; `None` is one per core.
    pub jobs: Option<usize>,
    /// Files which a source should put in a batch.
    pub batch_files: usize,
    /// Batches which wait before a stage at most.
    pub queue_batches: usize,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self { memory: 1 << 30, jobs: None, batch_files: 64, queue_batches: 4 }
    }
}

impl Described for RunConfig {
    const SUMMARY: &'static str = "Bounds of a run as a whole.";
    const KEYS: &'static [Key] = &[
        Key::count_up_to("batch_files", MOST_BATCH_FILES, "files", "Files that a source should put in a batch."),
        Key::count_up_to(
            "jobs",
            MOST_WORKERS,
            "threads",
            "Threads of a run, and workers of every transform that does not set its own.",
        )
        .computed("one per core"),
        Key::size(
            "memory",
            "Memory of a run: a quarter for batches in flight, half for postings before they are written, the rest for \
             what every run needs.",
        ),
        Key::count_up_to("queue_batches", MOST_QUEUE_BATCHES, "batches", "Batches that may wait before a stage."),
    ];
}

impl RunConfig {
    /// What the reference says about `[run]`.
    pub fn reference() -> TableReference {
        TableReference::of::<Self>("run")
    }

    pub(crate) fn parse(sources: &SourceMap, entries: &[&Entry<'_>], found: &mut Diagnostics) -> Self {
        let mut run = Self::default();
        for entry in entries {
            match entry.key.as_str() {
                "memory" => run.memory = bytes(sources, entry, found).unwrap_or(run.memory),
                "jobs" => run.jobs = count(sources, entry, MOST_WORKERS, found),
                "batch_files" => {
                    run.batch_files = count(sources, entry, MOST_BATCH_FILES, found).unwrap_or(run.batch_files);
                }
                "queue_batches" => {
                    run.queue_batches = count(sources, entry, MOST_QUEUE_BATCHES, found).unwrap_or(run.queue_batches);
                }
                other => {
                    let location = sources.locate(&entry.key_span);
                    let message = format!("unknown key `{other}` in [run]");
                    let help = suggest(other, Self::KEYS.iter().map(|key| key.name), "[run] has");
                    found.push(Diagnostic::error(code::UNKNOWN_KEY, location, message).with_help(help));
                }
            }
        }
        run
    }

    /// The number of threads, decided.
    pub fn threads(&self) -> usize {
        self.jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)).min(MOST_WORKERS)
    }
}

fn bytes(sources: &SourceMap, entry: &Entry<'_>, found: &mut Diagnostics) -> Option<u64> {
    let value = match entry.value.get_ref() {
        DeValue::String(text) => parse_bytes(text),
        other => integer(other),
    };
    match value {
        Some(value) if value > 0 => Some(value),
        _ => refuse(sources, entry, "a size such as \"512MiB\"", found),
    }
}

/// A number of bytes, written with a unit (`KiB`, `MiB`, `GiB`, `TiB`, or the decimal `KB`, `MB`, `GB`, `TB`) or
/// without. `None` if it is no such thing, or too large.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1000 * 1000,
        "gb" => 1000 * 1000 * 1000,
        "tb" => 1000 * 1000 * 1000 * 1000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let bytes = number.parse::<f64>().ok()? * factor as f64;
    (bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// The largest binary unit that says a number of bytes exactly.
pub fn format_bytes(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sizes_are_read_as_they_are_written(bytes in any::<u64>(), shift in 0u32..50) {
            let bytes = (bytes >> shift << shift).max(1);
            prop_assert_eq!(parse_bytes(&format_bytes(bytes)), Some(bytes));
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_bytes("1.5 GiB"), Some(3 << 29));
        assert_eq!(parse_bytes("10MB"), Some(10_000_000));
        assert_eq!(parse_bytes("64k"), Some(65_536));
        for wrong in ["", "GiB", "1 GiBB", "-1", "1e3", "99999999TiB"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }
}
