//! Error codes of diagnostics about entries.

/// The text is not a JSON object.
pub const SYNTAX: &str = "A0301";
/// A field is unknown.
pub const UNKNOWN_FIELD: &str = "A0302";
/// A value has the wrong type or is out of range.
pub const INVALID_VALUE: &str = "A0303";
/// A required field is missing.
pub const MISSING_FIELD: &str = "A0304";
/// A key is set twice.
pub const DUPLICATE_KEY: &str = "A0305";
/// A text, a list or the nesting depth exceeds a limit.
pub const LIMIT: &str = "A0306";
/// An id lacks the prefix of its kind or contains invalid characters.
pub const INVALID_ID: &str = "A0307";
/// A retention rule is invalid.
pub const RETENTION_RULE: &str = "A0308";
/// A line of a note's front matter is not `key: value`.
pub const FRONT_MATTER: &str = "A0309";
