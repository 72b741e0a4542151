//! Which chunks meet a condition over metadata, from the labels of the dictionary.

use aurora_storage::{
    Annotations, ArchivedMetaValue, ChunkId, ColumnDeclaration, ColumnKind, Label, Snapshot, StorageError,
};
use aurora_suggest::did_you_mean;
use roaring::RoaringBitmap;

use crate::filter::condition::{Condition, Operator};
use crate::filter::error::{FilterError, SelectError};
use crate::filter::filtered_index::FilteredIndex;
use crate::filter::number::Number;

/// The column of tags: those of memories are stored with their chunks, those of code are annotations.
const TAGS: &str = "tags";

/// The chunks that meet a condition.
pub(super) fn select(condition: &Condition, index: &FilteredIndex<'_>) -> Result<RoaringBitmap, SelectError> {
    match index.annotations.filter(|_| condition.key == TAGS) {
        Some(annotations) => annotated(condition, annotations, index.snapshot),
        None => stored(condition, index.snapshot),
    }
}

/// The chunks whose annotations meet a condition on their tags.
fn annotated(
    condition: &Condition,
    annotations: &Annotations,
    snapshot: &Snapshot,
) -> Result<RoaringBitmap, SelectError> {
    let Condition { key, operator, value } = condition;
    if operator.is_order() {
        let kind = ColumnKind::Strings;
        return Err(FilterError::Operator { key: key.clone(), operator: operator.as_str(), kind }.into());
    }
    let mut found = RoaringBitmap::new();
    for (chunk, governance) in annotations.all()? {
        let holds = governance.tags.iter().any(|tag| tag == value);
        let is_asked = if *operator == Operator::Equal { holds } else { !holds && !governance.tags.is_empty() };
        if is_asked && let Some((id, _)) = snapshot.chunk_by_key(&chunk)? {
            found.insert(id.0);
        }
    }
    Ok(found)
}

/// The note of an answer for which tags could not be read.
pub(crate) fn without_tags(error: &StorageError) -> String {
    format!("Searched without tags: {error}")
}

fn stored(condition: &Condition, snapshot: &Snapshot) -> Result<RoaringBitmap, SelectError> {
    let Condition { key, operator, value } = condition;
    let column = TypedCondition::new(condition, snapshot)?;
    let labelled = |value: &str| snapshot.label(Label::Meta { key, value });
    let mut found = RoaringBitmap::new();
    match (column, operator) {
        (TypedCondition::Text, Operator::Equal) => found = labelled(value)?,
        (TypedCondition::Text, _) => {
            for entry in snapshot.meta_values(key) {
                found |= entry?.1;
            }
            found -= labelled(value)?;
        }
        (TypedCondition::Number(asked), operator) => {
            for entry in snapshot.meta_values(key) {
                let (stored, chunks) = entry?;
                let order = Number::parse(&stored).and_then(|stored| stored.compare(asked));
                if operator.accepts(order) {
                    found |= chunks;
                }
            }
        }
    }
    Ok(found)
}

/// Makes sure that a condition can be met by some index with the columns of this one.
pub(super) fn check(condition: &Condition, snapshot: &Snapshot) -> Result<(), SelectError> {
    TypedCondition::new(condition, snapshot).map(drop)
}

/// The value of a condition in the type of its column.
enum TypedCondition {
    /// Labels are compared as they are: text, `true` and `false`.
    Text,
    Number(Number),
}

impl TypedCondition {
    fn new(condition: &Condition, snapshot: &Snapshot) -> Result<Self, SelectError> {
        let Condition { key, operator, value } = condition;
        let kind = kind(key, snapshot)?;
        if operator.is_order() && !kind.is_number() {
            return Err(FilterError::Operator { key: key.clone(), operator: operator.as_str(), kind }.into());
        }
        let wrong = || FilterError::Value { key: key.clone(), given: value.clone(), kind };
        if kind.is_number() {
            let number = Number::parse(value).filter(|number| number.is_finite()).ok_or_else(wrong)?;
            return Ok(Self::Number(number));
        }
        if kind == ColumnKind::Bool && !matches!(value.as_str(), "true" | "false") {
            return Err(wrong().into());
        }
        Ok(Self::Text)
    }
}

/// The type of a column: as it is declared, or as its values are stored.
fn kind(key: &str, snapshot: &Snapshot) -> Result<ColumnKind, SelectError> {
    let columns = &snapshot.manifest().columns;
    match columns.iter().find(|column| column.name == key) {
        Some(column) if column.filter => Ok(column.kind),
        Some(column) => Err(not_filterable(column, known(snapshot)?).into()),
        None => match stored_kind(key, snapshot)? {
            Some(kind) => Ok(kind),
            None => Err(unknown(key, known(snapshot)?).into()),
        },
    }
}

/// The type of metadata that is not declared: that of the first value, or of all if others have another one.
fn stored_kind(key: &str, snapshot: &Snapshot) -> Result<Option<ColumnKind>, StorageError> {
    let mut values = snapshot.meta_values(key);
    let Some((first, chunks)) = values.next().transpose()? else { return Ok(None) };
    let chunk = chunks.min().map(|id| snapshot.chunk(ChunkId(id))).transpose()?.flatten();
    let stored = chunk.and_then(|chunk| chunk.metadata().find(|(name, _)| *name == key));
    let mut kind = match stored {
        Some((_, ArchivedMetaValue::Integer(_))) => ColumnKind::Integer,
        Some((_, ArchivedMetaValue::Float(_))) => ColumnKind::Float,
        Some((_, ArchivedMetaValue::Bool(_))) => ColumnKind::Bool,
        Some((_, ArchivedMetaValue::Strings(_))) => return Ok(Some(ColumnKind::Strings)),
        _ => return Ok(Some(ColumnKind::String)),
    };
    for value in std::iter::once(Ok(first)).chain(values.map(|entry| entry.map(|(value, _)| value))) {
        let value = value?;
        kind = match kind {
            ColumnKind::Integer if value.parse::<i64>().is_ok() => kind,
            ColumnKind::Integer | ColumnKind::Float if value.parse::<f64>().is_ok() => ColumnKind::Float,
            ColumnKind::Bool if matches!(value.as_str(), "true" | "false") => kind,
            _ => return Ok(Some(ColumnKind::String)),
        };
    }
    Ok(Some(kind))
}

/// The columns that chunks can be filtered by.
fn known(snapshot: &Snapshot) -> Result<Vec<String>, StorageError> {
    let columns = &snapshot.manifest().columns;
    let mut known = snapshot.meta_keys()?;
    known.extend(columns.iter().filter(|column| column.filter).map(|column| column.name.clone()));
    known.sort_unstable();
    known.dedup();
    Ok(known)
}

fn unknown(key: &str, known: Vec<String>) -> FilterError {
    let help = did_you_mean(key, known.iter().map(String::as_str));
    FilterError::Column { given: key.to_owned(), help, known }
}

fn not_filterable(column: &ColumnDeclaration, known: Vec<String>) -> FilterError {
    FilterError::NotFilterable { given: column.name.clone(), stage: column.stage.clone(), known }
}
