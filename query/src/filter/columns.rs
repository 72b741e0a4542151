//! Selects the chunks that meet a condition on metadata, using the labels in the dictionary.

use std::path::Path;

use aurora_storage::{
    Annotations, ArchivedMetaValue, BUILT_IN_METADATA, ChunkId, ColumnDeclaration, ColumnKind, Label, Snapshot,
    StorageError,
};
use aurora_suggest::did_you_mean;
use roaring::{MultiOps, RoaringBitmap};

use crate::filter::condition::Condition;
use crate::filter::error::{FilterError, SelectError};
use crate::filter::filtered_index::FilteredIndex;
use crate::filter::properties::Property;
use crate::filter::typed_condition::TypedCondition;
use crate::memory::column;
use crate::work::WorkBudget;

/// Returns the chunks that meet a condition. If reading a property of every chunk is expensive, only chunks in `within`
/// are selected (`None` for all).
pub(super) fn select(
    condition: &Condition,
    index: &FilteredIndex<'_>,
    from: Option<&Path>,
    within: Option<&RoaringBitmap>,
    work: &WorkBudget,
) -> Result<RoaringBitmap, SelectError> {
    work.check()?;
    if let Some(property) = property(condition, index.snapshot)? {
        let any = property.chunks(index.snapshot)?;
        let equal = property.select_equal(condition, index, from, within, work)?;
        return Ok(apply_operator(condition, index.snapshot, any, equal));
    }
    match index.annotations.filter(|_| condition.key == column::TAGS) {
        Some(annotations) => select_by_tags(condition, annotations, index.snapshot, work),
        None => select_by_metadata(condition, index.snapshot, work),
    }
}

/// Returns whether Aurora itself writes a column. An index lacks such a column if no chunk has a value.
pub(super) fn is_built_in(key: &str) -> bool {
    BUILT_IN_METADATA.contains(&key) || column::ALL.contains(&key)
}

/// Checks that a condition fits the column that it names.
pub(super) fn check(condition: &Condition, snapshot: &Snapshot) -> Result<(), SelectError> {
    match property(condition, snapshot)? {
        Some(property) => property.check(condition)?,
        None => drop(TypedCondition::new(condition, kind(&condition.key, snapshot)?)?),
    }
    Ok(())
}

/// Returns the built-in property that a condition names, unless the index has a column of this name. Reasoning patterns
/// have a text with the name `complexity`, so only numbers refer to the complexity of code.
fn property(condition: &Condition, snapshot: &Snapshot) -> Result<Option<Property>, StorageError> {
    match Property::from_key(&condition.key) {
        Some(Property::Complexity) => Ok(condition.has_numbers().then_some(Property::Complexity)),
        Some(property) if !is_column(&condition.key, snapshot)? => Ok(Some(property)),
        _ => Ok(None),
    }
}

/// Returns whether an index declares a column of this name or stores a value for it.
pub(super) fn is_column(key: &str, snapshot: &Snapshot) -> Result<bool, StorageError> {
    let is_declared = snapshot.manifest().columns.iter().any(|column| column.name == key);
    Ok(is_declared || snapshot.meta_values(key).next().transpose()?.is_some())
}

/// Returns the chunks whose tags meet a condition. Users add tags to chunks as annotations.
fn select_by_tags(
    condition: &Condition,
    annotations: &Annotations,
    snapshot: &Snapshot,
    work: &WorkBudget,
) -> Result<RoaringBitmap, SelectError> {
    TypedCondition::new(condition, ColumnKind::Strings)?;
    let (mut any, mut equal) = (RoaringBitmap::new(), RoaringBitmap::new());
    for (chunk, governance) in annotations.all()? {
        work.check()?;
        let Some((id, _)) = snapshot.chunk_by_key(&chunk)?.filter(|_| !governance.tags.is_empty()) else { continue };
        any.insert(id.0);
        let is_operand =
            |tag: &String| condition.operands.iter().any(|operand| !operand.is_none() && operand.text == *tag);
        if governance.tags.iter().any(is_operand) {
            equal.insert(id.0);
        }
    }
    Ok(apply_operator(condition, snapshot, any, equal))
}

/// Returns the note for an answer that ignores tags because they cannot be read.
pub(crate) fn unreadable_tags_note(error: &StorageError) -> String {
    format!("Searched without tags: {error}")
}

/// Returns the chunks whose stored metadata meets a condition.
fn select_by_metadata(
    condition: &Condition,
    snapshot: &Snapshot,
    work: &WorkBudget,
) -> Result<RoaringBitmap, SelectError> {
    let key = &condition.key;
    let typed = TypedCondition::new(condition, kind(key, snapshot)?)?;
    let (mut any, mut equal) = (RoaringBitmap::new(), RoaringBitmap::new());
    if let TypedCondition::Texts(texts) = &typed {
        equal = texts.iter().map(|value| snapshot.label(Label::Meta { key, value })).union()?;
        if !condition.operator.is_negated() && !condition.accepts_missing() {
            return Ok(equal);
        }
    }
    for entry in snapshot.meta_values(key) {
        work.check()?;
        let (stored, chunks) = entry?;
        if typed.accepts_number(&stored) {
            equal |= &chunks;
        }
        any |= chunks;
    }
    Ok(apply_operator(condition, snapshot, any, equal))
}

/// Applies the operator of a condition. `any` contains the chunks with a value, and `equal` contains the chunks with a
/// value that an operand accepts.
fn apply_operator(
    condition: &Condition,
    snapshot: &Snapshot,
    any: RoaringBitmap,
    equal: RoaringBitmap,
) -> RoaringBitmap {
    if condition.operator.is_negated() {
        any - equal
    } else if condition.accepts_missing() {
        (snapshot.live() - any) | equal
    } else {
        equal
    }
}

/// Returns the type of a column: the declared type, or the type of its stored values.
fn kind(key: &str, snapshot: &Snapshot) -> Result<ColumnKind, SelectError> {
    let columns = &snapshot.manifest().columns;
    match columns.iter().find(|column| column.name == key) {
        Some(column) if column.filter => Ok(column.kind),
        Some(ColumnDeclaration { name, stage, .. }) => {
            let (given, stage, known) = (name.clone(), stage.clone(), filterable_columns(snapshot)?);
            Err(FilterError::NotFilterable { given, stage, known }.into())
        }
        None => match stored_kind(key, snapshot)? {
            Some(kind) => Ok(kind),
            None => {
                let known = filterable_columns(snapshot)?;
                let help = did_you_mean(key, known.iter().map(String::as_str));
                Err(FilterError::Column { given: key.to_owned(), help, known }.into())
            }
        },
    }
}

/// Returns the type of a column that no stage declares: the type of the first value, or a wider type if other values do
/// not fit the first type.
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

/// Returns the columns that conditions can name.
fn filterable_columns(snapshot: &Snapshot) -> Result<Vec<String>, StorageError> {
    let columns = &snapshot.manifest().columns;
    let mut known = snapshot.meta_keys()?;
    known.extend(columns.iter().filter(|column| column.filter).map(|column| column.name.clone()));
    known.sort_unstable();
    known.dedup();
    Ok(known)
}
