//! Conversion of the values of columns to text for people and to JSON for programs.

use aurora_history::HistorySummary;
use aurora_pipeline::{Cell, Column, Entity, Registry, StageOutput, Value, ValueRef};
use aurora_storage::{Field, TermVector};
use serde_json::{Map, Value as Json, json};

use super::{
    Attribution, BLAME, DEFINITIONS, MTIME, ParsedFile, RECORD, SIZE, SYMBOLS, TERMS, TEXT, TOKENS, Terms, Tokens,
};
use crate::definitions::Definition;

/// Columns that are not displayed. A run uses them only to compare files with the last run, to restore values from the
/// last run, and to divide conversation logs into parts.
const INTERNAL_COLUMNS: [&str; 5] = ["file.inode", "file.log_part", "file.stored", "chunk.stored", "chunk.previous"];
/// Maximum number of terms in the short form of a chunk's terms.
const MAX_NAMED_TERMS: usize = 8;

/// A column of a batch, with one value per row.
#[derive(Debug, Clone, PartialEq)]
pub struct DisplayColumn {
    /// The name under which stages read the column.
    pub name: String,
    /// Whether each row describes a file or a chunk.
    pub entity: Entity,
    /// One value per row.
    pub values: Vec<DisplayValue>,
    /// Whether the short forms contain information that no other column has.
    pub is_informative: bool,
}

/// A value of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct DisplayValue {
    /// The complete value, or null.
    pub value: Json,
    /// The value in a short form, as lines. Empty if there is no value.
    pub lines: Vec<String>,
}

/// Returns the output of a stage in `column`. If custom stages read parts of the column under separate names, returns
/// one display column per part.
pub(crate) fn display_columns(output: &StageOutput<'_>, column: &str, registry: &Registry) -> Vec<DisplayColumn> {
    if INTERNAL_COLUMNS.contains(&column) {
        return Vec::new();
    }
    if let Some(values) = typed_values(output, column) {
        let is_informative = values.iter().any(|value| !value.lines.is_empty());
        return Vec::from_iter(DisplayColumn::new(column, values, is_informative));
    }
    let mut columns: Vec<DisplayColumn> = Vec::new();
    for built_in in registry.held_by(column) {
        let Some(values) = output.built_in(built_in) else { continue };
        let name = built_in.reference().name;
        let values: Vec<DisplayValue> = values.iter().map(|value| display_value(name, value)).collect();
        // The record adds nothing, because its kind, name and lines already identify the chunk in the output.
        let is_informative = column != RECORD.name() && values.iter().any(|value| !value.lines.is_empty());
        columns.extend(DisplayColumn::new(name, values, is_informative));
    }
    if columns.is_empty() {
        let values =
            output.values(column).map(|values| values.iter().map(|value| display_value(column, value)).collect());
        columns.extend(values.and_then(|values| DisplayColumn::new(column, values, true)));
    }
    columns
}

impl DisplayColumn {
    fn new(name: &str, values: Vec<DisplayValue>, is_informative: bool) -> Option<Self> {
        Some(Self { name: name.to_owned(), entity: Entity::from_column(name)?, values, is_informative })
    }
}

impl DisplayValue {
    fn new(value: Json, lines: impl IntoIterator<Item = String>) -> Self {
        Self { value, lines: lines.into_iter().collect() }
    }

    fn none() -> Self {
        Self::new(Json::Null, [])
    }
}

/// Returns the values of a column whose type is available only to stages written in Rust.
fn typed_values(output: &StageOutput<'_>, column: &str) -> Option<Vec<DisplayValue>> {
    fn all<T: Cell>(
        output: &StageOutput<'_>,
        column: Column<T>,
        shown: fn(&T) -> DisplayValue,
    ) -> Option<Vec<DisplayValue>> {
        Some(output.cells(column)?.iter().map(shown).collect())
    }
    match column {
        name if name == SYMBOLS.name() => all(output, SYMBOLS, |symbols| {
            let Some(ParsedFile(parsed)) = symbols.as_deref() else { return DisplayValue::none() };
            definitions(&parsed.symbols.iter().map(Definition::from_symbol).collect::<Vec<_>>())
        }),
        name if name == DEFINITIONS.name() => {
            all(output, DEFINITIONS, |given| given.0.as_deref().map_or_else(DisplayValue::none, definitions))
        }
        name if name == TERMS.name() => all(output, TERMS, |Terms(found)| terms(found)),
        name if name == TOKENS.name() => all(output, TOKENS, tokens),
        name if name == BLAME.name() => all(output, BLAME, attribution),
        _ => None,
    }
}

fn definitions(all: &[Definition]) -> DisplayValue {
    DisplayValue::new(json!(all), all.iter().map(Definition::in_words))
}

fn terms(found: &TermVector) -> DisplayValue {
    let mut fields = Map::new();
    let mut totals: Vec<(u32, &str)> = Vec::new();
    for (term, counts) in found.iter() {
        for field in Field::ALL {
            let count = counts[field.index()];
            if count > 0 {
                let of_field = fields.entry(field.as_str()).or_insert_with(|| Json::Object(Map::new()));
                of_field[term] = json!(count);
            }
        }
        totals.push((counts.iter().map(|count| u32::from(*count)).sum(), term));
    }
    totals.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let named = totals.iter().take(MAX_NAMED_TERMS).map(|(count, term)| match count {
        1 => (*term).to_owned(),
        count => format!("{term} ×{count}"),
    });
    let more = if totals.len() > MAX_NAMED_TERMS { ", …" } else { "" };
    let words = format!("{}: {}{more}", counted(totals.len(), "term"), named.collect::<Vec<_>>().join(", "));
    DisplayValue::new(Json::Object(fields), [words])
}

fn tokens(Tokens(stored): &Tokens) -> DisplayValue {
    let (code, doc) = (stored.code.len(), stored.doc.len());
    DisplayValue::new(json!({ "code": code, "doc": doc }), [counted(code + doc, "token")])
}

fn attribution(blame: &Attribution) -> DisplayValue {
    let of = |state: &str, words: String| DisplayValue::new(json!({ "state": state }), [words]);
    match blame {
        Attribution::NoRepository => of("no repository", "there is no git repository".to_owned()),
        Attribution::Untracked => of("untracked", "not in the commit at HEAD".to_owned()),
        Attribution::Unavailable(reason) => of("unavailable", format!("unavailable: {reason}")),
        Attribution::Pending => {
            of("pending", "pending: the walk over the history takes longer than a dry run waits".to_owned())
        }
        Attribution::File { history, .. } => display_history("file", history),
        Attribution::Lines { blame, .. } => {
            let blame = blame.worktree();
            display_history("lines", &blame.summary(0..blame.line_count()))
        }
    }
}

fn display_history(state: &str, history: &HistorySummary) -> DisplayValue {
    let HistorySummary { commits, uncommitted_lines, .. } = history;
    let mut words = counted(*commits as usize, "commit");
    if *uncommitted_lines > 0 {
        words.push_str(&format!(", {} not committed", counted(*uncommitted_lines as usize, "line")));
    }
    DisplayValue::new(json!({ "state": state, "commits": commits, "uncommitted_lines": uncommitted_lines }), [words])
}

/// Converts a value of the type that stages in languages other than Rust use.
fn display_value(column: &str, value: Option<ValueRef<'_>>) -> DisplayValue {
    let Some(value) = value else { return DisplayValue::none() };
    let words = match &value {
        ValueRef::Bool(flag) => flag.to_string(),
        ValueRef::Integer(bytes) if column == SIZE.name() => counted(usize::try_from(*bytes).unwrap_or(0), "byte"),
        ValueRef::Integer(time) if column == MTIME.name() => time_in_words(*time),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Float(number) => number.to_string(),
        ValueRef::String(text) if column == TEXT.name() => {
            format!("{}, {}", counted(text.lines().count(), "line"), counted(text.len(), "byte"))
        }
        ValueRef::String(text) => text.to_string(),
        ValueRef::Strings(texts) => texts.join(", "),
        ValueRef::Vector(numbers) => counted(numbers.len(), "dimension"),
        ValueRef::Json(value) => value.to_string(),
    };
    DisplayValue::new(json_of(value), [words])
}

fn json_of(value: ValueRef<'_>) -> Json {
    match value.into_owned() {
        Value::Bool(flag) => json!(flag),
        Value::Integer(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::String(text) => Json::String(text),
        Value::Strings(texts) => json!(texts),
        Value::Vector(numbers) => numbers.iter().map(|number| short_number(*number)).collect(),
        Value::Json(value) => value,
    }
}

/// Converts a number without adding digits beyond single precision.
fn short_number(number: f32) -> Json {
    json!(number.to_string().parse().unwrap_or(f64::from(number)))
}

/// Formats a time in nanoseconds since the epoch, to the second.
fn time_in_words(nanoseconds: i64) -> String {
    let time = jiff::Timestamp::from_second(nanoseconds.div_euclid(1_000_000_000));
    time.map_or_else(|_| nanoseconds.to_string(), |time| time.to_string())
}

fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
