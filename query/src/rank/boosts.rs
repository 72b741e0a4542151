//! Boosts: contributions of numbers in custom columns to a score.
//!
//! Values are clamped to −1..1, so that a column contributes at most its weight.

use std::borrow::Cow;
use std::collections::BTreeMap;

use aurora_storage::{ChunkId, ColumnDeclaration, MetaValue, Snapshot, StorageError};

/// Maximum number of names in a note.
const MAX_NAMES: usize = 5;

/// The columns that change scores.
#[derive(Debug, Default)]
pub(crate) struct Boosts {
    /// The columns, each with the contribution of a value of 1, in units of the best fused score.
    columns: Vec<(String, f32)>,
    note: Option<String>,
}

/// The contribution of one column to the score of a chunk.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnBoost {
    /// Name of the rule: `boost.` and the name of the column.
    pub(crate) rule: Cow<'static, str>,
    /// Weight times value, in units of the best fused score.
    pub(crate) strength: f32,
}

impl Boosts {
    /// Selects the boosted columns of an index. Configured weights override the declared weights.
    pub(crate) fn new(columns: &[ColumnDeclaration], configured: &BTreeMap<String, f32>) -> Self {
        let numbers = || columns.iter().filter(|column| column.kind.is_number());
        let boosted = numbers().filter_map(|column| {
            let weight = configured.get(&column.name).copied().or(column.boost)?;
            (weight != 0.0).then(|| (column.name.clone(), weight))
        });
        let ignored = configured.keys().filter(|name| numbers().all(|column| column.name != **name));
        Self { columns: boosted.collect(), note: note(&ignored.map(String::as_str).collect::<Vec<_>>()) }
    }

    /// Returns a note about configured columns that have no numbers.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns whether a column changes scores.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|(name, _)| name == column)
    }

    /// Returns the contributions of the columns to the score of a chunk.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub(crate) fn for_chunk(&self, snapshot: &Snapshot, id: ChunkId) -> Result<Vec<ColumnBoost>, StorageError> {
        let mut boosts = Vec::new();
        for (name, weight) in &self.columns {
            if let Some(number) = snapshot.custom_value(id, name)?.as_ref().and_then(clamped) {
                boosts.push(ColumnBoost { rule: format!("boost.{name}").into(), strength: weight * number });
            }
        }
        Ok(boosts)
    }
}

fn note(ignored: &[&str]) -> Option<String> {
    let named = ignored.get(..MAX_NAMES).unwrap_or(ignored).join(", ");
    let more = if ignored.len() > MAX_NAMES { ", …" } else { "" };
    (!ignored.is_empty())
        .then(|| format!("[search.boost] names columns that have no numbers in this index: {named}{more}"))
}

/// Converts a value to a number within −1..1; `None` if the value is not a number.
fn clamped(value: &MetaValue) -> Option<f32> {
    let number = match value {
        MetaValue::Integer(number) => *number as f64,
        MetaValue::Float(number) => *number,
        _ => return None,
    };
    (!number.is_nan()).then(|| number.clamp(-1.0, 1.0) as f32)
}
