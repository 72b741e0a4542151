//! Boosts: what the numbers of custom columns add to a score.
//!
//! A value is clamped to −1..1, so that the weight of its column bounds what it adds.

use std::borrow::Cow;
use std::collections::BTreeMap;

use aurora_storage::{ChunkId, ColumnDeclaration, MetaValue, Snapshot, StorageError};

/// Names that a note gives at most.
const MOST_NAMES: usize = 5;

/// The columns that change scores.
#[derive(Debug, Default)]
pub(crate) struct Boosts {
    columns: Vec<BoostedColumn>,
    note: Option<String>,
}

/// A column that changes scores.
#[derive(Debug)]
struct BoostedColumn {
    name: String,
    /// What a value of 1 adds, in units of the best fused score.
    weight: f32,
}

/// What one column adds to the score of a chunk, in units of the best fused score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnBoost {
    /// Name of the rule: `boost.` and the name of the column.
    pub(crate) rule: Cow<'static, str>,
    /// Weight times value.
    pub(crate) strength: f32,
}

impl Boosts {
    /// The columns of an index with their declared weights, or those that are configured for them.
    pub(crate) fn new(columns: &[ColumnDeclaration], configured: &BTreeMap<String, f32>) -> Self {
        let numbers = || columns.iter().filter(|column| column.kind.is_number());
        let boosted = numbers().filter_map(|column| {
            let weight = configured.get(&column.name).copied().or(column.boost)?;
            (weight != 0.0).then(|| BoostedColumn { name: column.name.clone(), weight })
        });
        let ignored = configured.keys().filter(|name| numbers().all(|column| column.name != **name));
        Self { columns: boosted.collect(), note: note(&ignored.map(String::as_str).collect::<Vec<_>>()) }
    }

    /// What should be said about the configuration.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Whether a column changes scores.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|boosted| boosted.name == column)
    }

    /// What the columns add to the score of a chunk.
    ///
    /// # Errors
    /// When the index is damaged.
    pub(crate) fn for_chunk(&self, snapshot: &Snapshot, id: ChunkId) -> Result<Vec<ColumnBoost>, StorageError> {
        let mut boosts = Vec::new();
        for BoostedColumn { name, weight } in &self.columns {
            if let Some(number) = snapshot.custom_value(id, name)?.as_ref().and_then(clamped) {
                boosts.push(ColumnBoost { rule: format!("boost.{name}").into(), strength: weight * number });
            }
        }
        Ok(boosts)
    }
}

fn note(ignored: &[&str]) -> Option<String> {
    let named = ignored.get(..MOST_NAMES).unwrap_or(ignored).join(", ");
    let more = if ignored.len() > MOST_NAMES { ", …" } else { "" };
    (!ignored.is_empty())
        .then(|| format!("[search.boost] names columns that have no numbers in this index: {named}{more}"))
}

/// The number that a value is, within −1..1; `None` for what is not a number.
fn clamped(value: &MetaValue) -> Option<f32> {
    let number = match value {
        MetaValue::Integer(number) => *number as f64,
        MetaValue::Float(number) => *number,
        _ => return None,
    };
    (!number.is_nan()).then(|| number.clamp(-1.0, 1.0) as f32)
}
