//! Conditions on entries, with their syntax, evaluation and canonical form.

mod error;
mod expression;
mod lexer;
mod operator;
mod parser;
mod predicate;
mod values;

use std::fmt;

use serde::{Serialize, Serializer};

pub use self::error::ConditionError;
use self::expression::Expression;
use crate::facts::Facts;

/// Maximum length of a condition in bytes. The limit applies to the given text and to the canonical form.
const MAX_BYTES: usize = 4096;

/// A condition on the [`Facts`] about an entry.
///
/// ```text
/// or        := and (("OR" | "||") and)*
/// and       := not (("AND" | "&&") not)*
/// not       := ("NOT" | "!") not | "(" or ")" | predicate
/// predicate := number-field ("==" | "=" | "!=" | "<" | "<=" | ">" | ">=") number
///            | text-field ("==" | "=" | "!=") text
///            | "is_pattern" ("==" | "=" | "!=") ("true" | "false")
///            | "contains_tag" "(" text ")" | "inactive_for_" N "_days" | "true" | "false"
/// ```
///
/// Number fields are `score` (also `success_score`, `confidence`), `access_count`, `age_days` and `last_accessed_days`
/// (also `inactive_days`). Text fields are `domain`, `type`, `id`, `scope` and `semantic_role`. Keywords, `true` and
/// `false` are case-insensitive. A number is a finite decimal number. A text is enclosed in single or double quotes;
/// `\\`, `\'`, `\"`, `\n`, `\r`, `\t` and `\u{…}` are escape sequences.
///
/// Comparisons of ids are case-sensitive. Comparisons of other texts and of tags ignore ASCII case. A comparison does
/// not hold if the entry has no value for the field. This also applies to `!=`. `NOT` with such a comparison therefore
/// holds. `inactive_for_N_days` means `last_accessed_days >= N`.
///
/// A condition has at most 4096 bytes. Parentheses and NOT can be nested up to 64 levels deep.
///
/// [`Display`](fmt::Display) writes the canonical form. Parsing the canonical form returns an equal condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition(Expression);

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// Returns the first error: a syntax error, an unknown field, an invalid comparison (`domain > 3`), or an exceeded
    /// limit.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let too_long = |what: &str, bytes: usize| {
            ConditionError::new(0..text.len(), format!("{what} of {bytes} bytes"), format!("at most {MAX_BYTES} bytes"))
        };
        if text.len() > MAX_BYTES {
            return Err(too_long("a condition", text.len()));
        }
        let condition = Self(parser::parse(text)?);
        // A longer canonical form could not be parsed again.
        match condition.to_string().len() {
            bytes if bytes > MAX_BYTES => Err(too_long("a condition with a canonical form", bytes)),
            _ => Ok(condition),
        }
    }

    /// Returns `true` if the condition holds for an entry.
    pub fn holds(&self, facts: &Facts<'_>) -> bool {
        self.0.holds(facts)
    }

    /// Describes the values of the facts that the condition tests, such as `` `score` is 0.5 ``. Returns an empty text
    /// if the condition tests no facts.
    pub(crate) fn values(&self, facts: &Facts<'_>) -> String {
        values::describe(&self.0, facts)
    }

    /// Returns a condition that never holds.
    pub(crate) fn never() -> Self {
        Self(Expression::Predicate(predicate::Predicate::Constant(false)))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A condition is serialised in its canonical form.
impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
