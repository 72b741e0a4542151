//! How entries are made of chunks.

use std::path::Path;

/// Says what is wrong with the `if` and the `then` of a retention rule.
pub type RuleCheck = fn(&str, &str) -> Result<(), String>;

/// How entries are made of chunks.
#[derive(Clone, Copy)]
pub struct ActrOptions<'o> {
    /// The absolute path of the project: paths of files below it become relative to it.
    pub root: Option<&'o Path>,
    /// Checks the retention rules of an entry.
    pub check_rule: RuleCheck,
}
