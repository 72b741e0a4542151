//! Facets: the number of chunks for each value of a custom column.

use std::cmp::Ordering;

use aurora_storage::{ColumnDeclaration, ColumnKind, MetaValue, Snapshot, StorageError};
use roaring::RoaringBitmap;
use serde::Serialize;

use crate::filter::number::Number;

/// Maximum length of a value in a facet, in bytes.
const MAX_VALUE_BYTES: usize = 240;
/// Maximum number of values in a facet.
const MAX_FACET_VALUES: usize = 10;

/// The values of a custom column with the use `filter`.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facet {
    /// The column.
    #[serde(flatten)]
    pub column: ColumnDeclaration,
    /// Number of chunks that have a value.
    pub chunks: u64,
    /// Number of distinct values. Every text of a list counts as a value.
    pub distinct: u64,
    /// The lowest number; `None` if the column has no finite number.
    pub min: Option<MetaValue>,
    /// The highest number; `None` if the column has no finite number.
    pub max: Option<MetaValue>,
    /// The ten most frequent values, most frequent first; ties are in the order of the values.
    pub values: Vec<FacetValue>,
}

/// A value of a facet.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FacetValue {
    /// The value. Texts are truncated to 240 bytes.
    pub value: MetaValue,
    /// Number of chunks with the value.
    pub chunks: u64,
}

/// Returns the facets of an index in the order of the declared columns.
///
/// # Errors
/// Fails if the dictionary cannot be read.
pub fn facets(snapshot: &Snapshot) -> Result<Vec<Facet>, StorageError> {
    let columns = snapshot.manifest().columns.iter().filter(|column| column.filter);
    columns.map(|column| facet(snapshot, column)).collect()
}

fn facet(snapshot: &Snapshot, column: &ColumnDeclaration) -> Result<Facet, StorageError> {
    let (mut any, mut values) = (RoaringBitmap::new(), Vec::new());
    for entry in snapshot.meta_values(&column.name) {
        let (text, chunks) = entry?;
        values.push((text, chunks.len()));
        any |= chunks;
    }
    if column.kind.is_number() {
        values.sort_by(|(a, _), (b, _)| by_value(a, b));
    }
    let is_number = |text: &&String| column.kind.is_number() && finite(text).is_some();
    let mut numbers = values.iter().map(|(text, _)| text).filter(is_number);
    let (min, max) = (numbers.clone().next(), numbers.next_back());
    let (min, max) = (min.map(|text| typed(text, column.kind)), max.map(|text| typed(text, column.kind)));
    let distinct = values.len() as u64;
    // A stable sort keeps equally frequent values in order.
    values.sort_by_key(|(_, chunks)| std::cmp::Reverse(*chunks));
    values.truncate(MAX_FACET_VALUES);
    let shown = |text: &str| typed(&text[..text.floor_char_boundary(MAX_VALUE_BYTES)], column.kind);
    let named = values.iter().map(|(text, chunks)| FacetValue { value: shown(text), chunks: *chunks });
    Ok(Facet { column: column.clone(), chunks: any.len(), distinct, min, max, values: named.collect() })
}

/// Orders finite numbers by value, and puts other texts after them.
fn by_value(a: &str, b: &str) -> Ordering {
    match (finite(a), finite(b)) {
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

fn finite(text: &str) -> Option<Number> {
    Number::parse(text).filter(|number| number.is_finite())
}

/// Converts the text of a label to a value of type `kind`.
fn typed(text: &str, kind: ColumnKind) -> MetaValue {
    let value = match kind {
        ColumnKind::Integer => text.parse().ok().map(MetaValue::Integer),
        ColumnKind::Float => text.parse().ok().map(MetaValue::Float),
        ColumnKind::Bool => text.parse().ok().map(MetaValue::Bool),
        ColumnKind::String | ColumnKind::Strings => None,
    };
    value.unwrap_or_else(|| MetaValue::String(text.to_owned()))
}
