//! The metadata of chunks, including the values of dynamic columns, and the terms that custom columns add.

use std::borrow::Cow;

use aurora_analysis::Analyzer;
use aurora_pipeline::{BatchView, Entity, StageError, Value};
use aurora_redact::masked;
use aurora_storage::{ColumnDeclaration, Field, MetaValue, TermVector};

use crate::columns::RECORD;

/// The metadata of a chunk. Borrowed from the chunk if no custom column adds a value.
pub(crate) type ChunkMetadata<'b> = Cow<'b, [(String, MetaValue)]>;

/// Returns the metadata of every chunk in a batch: the chunk's own metadata, and the custom columns of the chunk and of
/// its file.
pub(crate) fn metadata<'b>(batch: &'b BatchView<'_>) -> Result<Vec<ChunkMetadata<'b>>, StageError> {
    let records = batch.read(RECORD)?;
    let columns = |entity| batch.dynamic_columns(entity).collect::<Vec<_>>();
    let (of_files, of_chunks) = (columns(Entity::File), columns(Entity::Chunk));
    let of_row = |(row, file): (usize, &u32)| {
        let mut metadata = Cow::Borrowed(&records[row].0.metadata[..]);
        let of_file = of_files.iter().map(|(name, values)| (*name, &values[*file as usize]));
        let of_chunk = of_chunks.iter().map(|(name, values)| (*name, &values[row]));
        for (name, value) in of_file.chain(of_chunk) {
            if let Some(value) = value.as_ref().and_then(meta_value) {
                metadata.to_mut().push((name.to_owned(), value));
            }
        }
        metadata
    };
    Ok(batch.chunk_files().iter().enumerate().map(of_row).collect())
}

/// Returns the masked text of a custom column for a chunk: the value of the chunk, or else the value of its file.
/// Returns `None` if there is no value or the value is not text.
pub(crate) fn text_of(batch: &BatchView<'_>, column: &str, row: usize) -> Option<String> {
    let file = batch.chunk_files()[row] as usize;
    let find = |entity, row: usize| {
        batch.dynamic_columns(entity).find(|(name, _)| *name == column).and_then(|(_, values)| values[row].as_ref())
    };
    match find(Entity::Chunk, row).or_else(|| find(Entity::File, file))? {
        Value::String(text) => Some(masked(text.clone())),
        Value::Strings(texts) => Some(masked(texts.join(", "))),
        _ => None,
    }
}

/// Converts a value to its stored form and masks its secrets. Returns `None` for types that custom columns cannot have.
fn meta_value(value: &Value) -> Option<MetaValue> {
    Some(match value {
        Value::String(text) => MetaValue::String(masked(text.clone())),
        Value::Integer(number) => MetaValue::Integer(*number),
        Value::Float(number) => MetaValue::Float(*number),
        Value::Bool(flag) => MetaValue::Bool(*flag),
        Value::Strings(list) => MetaValue::Strings(list.iter().cloned().map(masked).collect()),
        Value::Vector(_) | Value::Json(_) => return None,
    })
}

/// Returns the terms of the columns that declare the use `terms`, in [`Field::Custom`]. Each occurrence is counted as
/// often as the weight of its column, as in Robertson, Zaragoza and Taylor (2004).
pub(crate) fn custom_terms(
    analyzer: &Analyzer,
    columns: &[ColumnDeclaration],
    metadata: &[(String, MetaValue)],
) -> TermVector {
    let mut terms = TermVector::builder();
    for (name, value) in metadata {
        let Some(weight) = columns.iter().find(|column| column.name == *name).and_then(|column| column.terms) else {
            continue;
        };
        for text in texts(value) {
            analyzer.terms(text, &mut |term: &str| {
                (0..weight).for_each(|_| _ = terms.add(Field::Custom, term));
            });
        }
    }
    terms.finish()
}

fn texts(value: &MetaValue) -> &[String] {
    match value {
        MetaValue::String(text) => std::slice::from_ref(text),
        MetaValue::Strings(texts) => texts,
        MetaValue::Bool(_) | MetaValue::Integer(_) | MetaValue::Float(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use aurora_storage::ColumnKind;

    use super::*;

    #[test]
    fn term_frequencies_are_multiplied_by_the_weight_of_the_column() {
        let column = |name: &str, terms| ColumnDeclaration {
            name: name.to_owned(),
            stage: String::new(),
            kind: ColumnKind::Strings,
            filter: true,
            terms,
            embed: false,
            boost: None,
        };
        let columns = [column("owner", Some(3)), column("teams", Some(1)), column("note", None)];
        let strings = |texts: &[&str]| MetaValue::Strings(texts.iter().map(|text| (*text).to_owned()).collect());
        let metadata = [
            ("owner".to_owned(), MetaValue::String("payments".to_owned())),
            ("teams".to_owned(), strings(&["payments", "core"])),
            ("note".to_owned(), strings(&["hidden"])),
            ("undeclared".to_owned(), strings(&["hidden"])),
        ];
        let terms = custom_terms(&Analyzer, &columns, &metadata);
        let custom = |term: &str| {
            let found = terms.iter().find(|(known, _)| *known == term);
            found.map(|(_, frequencies)| frequencies[Field::Custom.index()])
        };
        assert_eq!((custom("payments"), custom("core"), custom("hidden")), (Some(4), Some(1), None));
        assert_eq!(terms.lengths()[Field::Custom.index()], 5);
    }
}
