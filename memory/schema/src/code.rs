//! The codes of the diagnostics about entries.

/// The text is not JSON, or no JSON object.
pub const SYNTAX: &str = "A0301";
/// A field that an entry does not have.
pub const UNKNOWN_FIELD: &str = "A0302";
/// A value of the wrong type, or out of range.
pub const INVALID_VALUE: &str = "A0303";
/// A required field is missing.
pub const MISSING_FIELD: &str = "A0304";
/// A key is set twice.
pub const DUPLICATE_KEY: &str = "A0305";
/// A text, a list or the nesting exceeds a bound.
pub const LIMIT: &str = "A0306";
/// An id without the prefix of its kind, or with characters that no id has.
pub const INVALID_ID: &str = "A0307";
/// A retention rule that the check of rules rejects.
pub const RETENTION_RULE: &str = "A0308";
/// A line of a note's front matter that is not `key: value`.
pub const FRONT_MATTER: &str = "A0309";
/// More mistakes than are shown.
pub const MORE_MISTAKES: &str = "A0310";
