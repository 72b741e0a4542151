//! The result of each stage in a dry run.

use std::collections::BTreeMap;
use std::time::Duration;

use aurora_pipeline::Entity;
use serde::ser::{Serialize, SerializeMap as _, SerializeStruct as _, Serializer};

use crate::columns::display::{DisplayColumn, DisplayValue};

/// The result of one stage.
#[derive(Debug, Clone, Default)]
pub struct StageTrace {
    /// Name of the stage.
    pub stage: String,
    /// Type of the stage.
    pub type_name: String,
    /// Time that the stage spent working.
    pub time: Duration,
    /// Whether the stage received the file and passed it on.
    pub has_file: bool,
    /// The chunks of the file after the stage.
    pub chunks: Vec<ChunkRow>,
    /// The columns that the stage wrote.
    pub columns: Vec<DisplayColumn>,
    /// The rows that the stage omitted.
    pub dropped: Vec<DroppedRow>,
    /// The rows that the stage could not process, by reason.
    pub failed: Vec<FailedRows>,
    /// Warnings of the stage.
    pub warnings: Vec<String>,
    /// Counters of the stage.
    pub counters: BTreeMap<String, u64>,
    /// The lines that the stage logged. For a program, the lines of its standard error.
    pub log: Vec<String>,
}

/// A chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ChunkRow {
    /// Key of the chunk.
    pub key: String,
    /// Type of the chunk: `function`, `method`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Qualified name of the chunk.
    pub name: String,
    /// The first line, from 1.
    pub line_start: u32,
    /// The last line, inclusive.
    pub line_end: u32,
}

/// The file, or one of its chunks, that a stage omitted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DroppedRow {
    /// Path of the file, or of the directory that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The chunk.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<ChunkRow>,
    /// Reason for the omission, or `None` if the stage gives no reason.
    pub reason: Option<String>,
}

/// Rows that a stage could not process.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FailedRows {
    /// Reason for the failure.
    pub reason: String,
    /// Number of rows.
    pub rows: u64,
}

impl Serialize for StageTrace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("StageTrace", 11)?;
        object.serialize_field("stage", &self.stage)?;
        object.serialize_field("type", &self.type_name)?;
        object.serialize_field("milliseconds", &(self.time.as_micros() as f64 / 1e3))?;
        object.serialize_field("files", &usize::from(self.has_file))?;
        object.serialize_field("chunks", &self.chunks.len())?;
        object.serialize_field("wrote", &Columns { columns: &self.columns, chunks: &self.chunks })?;
        object.serialize_field("dropped", &self.dropped)?;
        object.serialize_field("failed", &self.failed)?;
        object.serialize_field("warnings", &self.warnings)?;
        object.serialize_field("counters", &self.counters)?;
        object.serialize_field("log", &self.log)?;
        object.end()
    }
}

/// Serializes columns by name. A file column has one value, and a chunk column has one value per chunk key.
struct Columns<'a> {
    columns: &'a [DisplayColumn],
    chunks: &'a [ChunkRow],
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.columns.len()))?;
        for column in self.columns {
            if column.entity == Entity::File {
                object.serialize_entry(&column.name, &column.values.first().map(|shown| &shown.value))?;
            } else {
                object.serialize_entry(&column.name, &Values { values: &column.values, chunks: self.chunks })?;
            }
        }
        object.end()
    }
}

struct Values<'a> {
    values: &'a [DisplayValue],
    chunks: &'a [ChunkRow],
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.chunks.iter().zip(self.values).map(|(chunk, shown)| (&chunk.key, &shown.value)))
    }
}
