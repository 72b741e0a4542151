//! The codes of all diagnostics.

/// The file is not valid TOML or JSON, or it has too many bytes or stages.
pub const SYNTAX: &str = "A0100";
/// The stage type, given by `use` or by the name of the stage, is unknown.
pub const UNKNOWN_STAGE: &str = "A0101";
/// An unknown key.
pub const UNKNOWN_KEY: &str = "A0102";
/// A value of the wrong type, or out of range.
pub const INVALID_VALUE: &str = "A0103";
/// A stage reads a column that no earlier stage writes.
pub const MISSING_COLUMN: &str = "A0104";
/// Two stages write the same column, and their order is undefined.
pub const UNORDERED_WRITERS: &str = "A0105";
/// Stages depend on each other in a cycle.
pub const CYCLE: &str = "A0106";
/// `after` names a stage that the pipeline does not have.
pub const UNKNOWN_AFTER: &str = "A0107";
/// `extends` names an unknown pipeline, or pipelines extend each other.
pub const EXTENDS: &str = "A0108";
/// No stage emits batches.
pub const NO_SOURCE: &str = "A0109";
/// More than one stage emits batches.
pub const TWO_SOURCES: &str = "A0110";
/// A required key of the stage is missing.
pub const MISSING_KEY: &str = "A0111";
/// A stage reads or writes a column with the wrong type, or writes a read-only built-in column.
pub const COLUMN_TYPE: &str = "A0112";
/// A column name starts with neither `file.` nor `chunk.`.
pub const COLUMN_NAME: &str = "A0113";
/// An error or a warning from the stage type's own check of the configuration.
pub const CHECK: &str = "A0114";
/// A value, or the file as a whole, exceeds a limit.
pub const LIMIT: &str = "A0115";
/// A configuration file cannot be read.
pub const UNREADABLE: &str = "A0116";
/// Weights do not sum to 1.
pub const WEIGHTS: &str = "A0117";
/// A program or a file that a stage needs does not exist.
pub const MISSING_PROGRAM: &str = "A0118";
/// Warning: a stage writes a column that no stage reads.
pub const UNREAD_COLUMN: &str = "A0201";
/// Warning: the pipeline has no sink.
pub const NO_SINK: &str = "A0202";
/// There are more mistakes than are shown.
pub const MORE_MISTAKES: &str = "A0310";
