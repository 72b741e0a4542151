//! Rust types for the WIT world `aurora:stage` (`wit/stage.wit`). Instantiation checks that the module has the same
//! types.

use wasmtime::component::{ComponentType, Lift, Lower};

/// Parameters of `configure`.
pub(crate) type ConfigureParameters = (Settings,);
/// Results of `configure`.
pub(crate) type ConfigureResults = (Result<(), String>,);
/// Parameters of `process`.
pub(crate) type ProcessParameters = (Batch,);
/// Results of `process`.
pub(crate) type ProcessResults = (Result<Output, String>,);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ComponentType, Lift)]
#[component(enum)]
#[repr(u8)]
#[allow(dead_code, reason = "only constructed by `Lift`")]
pub(crate) enum Entity {
    #[component(name = "file")]
    File,
    #[component(name = "chunk")]
    Chunk,
}

/// The values of a column, with at most one value per row.
#[derive(Clone, Debug, PartialEq, ComponentType, Lift, Lower)]
#[component(variant)]
pub(crate) enum Values {
    #[component(name = "texts")]
    Texts(Vec<Option<String>>),
    #[component(name = "integers")]
    Integers(Vec<Option<i64>>),
    #[component(name = "floats")]
    Floats(Vec<Option<f64>>),
    #[component(name = "booleans")]
    Booleans(Vec<Option<bool>>),
    #[component(name = "text-lists")]
    TextLists(Vec<Option<Vec<String>>>),
    #[component(name = "vectors")]
    Vectors(Vec<Option<Vec<f32>>>),
    #[component(name = "documents")]
    Documents(Vec<Option<String>>),
}

#[derive(Clone, Debug, PartialEq, ComponentType, Lift, Lower)]
#[component(record)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) values: Values,
}

#[derive(Clone, Debug, ComponentType, Lower)]
#[component(record)]
pub(crate) struct Batch {
    pub(crate) files: u32,
    #[component(name = "chunk-files")]
    pub(crate) chunk_files: Vec<u32>,
    pub(crate) columns: Vec<Column>,
}

/// A note of the module about a row.
#[derive(Clone, Debug, PartialEq, ComponentType, Lift)]
#[component(record)]
pub(crate) struct Remark {
    pub(crate) entity: Entity,
    pub(crate) row: u32,
    pub(crate) text: String,
}

#[derive(Clone, Debug, PartialEq, ComponentType, Lift)]
#[component(record)]
pub(crate) struct Output {
    pub(crate) columns: Vec<Column>,
    pub(crate) failed: Vec<Remark>,
    pub(crate) dropped: Vec<Remark>,
}

#[derive(Clone, Debug, ComponentType, Lower)]
#[component(record)]
pub(crate) struct ColumnDeclaration {
    pub(crate) name: String,
    #[component(name = "value-type")]
    pub(crate) value_type: String,
}

#[derive(Clone, Debug, ComponentType, Lower)]
#[component(record)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) config: String,
    pub(crate) reads: Vec<String>,
    pub(crate) writes: Vec<ColumnDeclaration>,
}
