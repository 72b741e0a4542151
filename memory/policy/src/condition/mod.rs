//! Conditions on an entry: syntax, evaluation and canonical form.

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

/// Maximum length of a condition in bytes, both as written and in canonical form.
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
/// Number fields are `score` (also `success_score`, `confidence`), `access_count`, `age_days` and `last_accessed_days` (also
/// `inactive_days`). Text fields are `domain`, `type`, `id`, `scope` and `semantic_role`. Keywords, `true` and `false` are
/// case-insensitive. A number is a finite decimal. A text is enclosed in single or double quotes; `\\`, `\'`, `\"`, `\n`, `\r`,
/// `\t` and `\u{…}` are escape sequences.
///
/// Texts and tags are compared ignoring ASCII case, ids exactly. A comparison with an absent value does not hold, not even with
/// `!=`; its negation therefore holds. `inactive_for_N_days` means `last_accessed_days >= N`.
///
/// A condition has at most 4096 bytes. Parentheses and NOT nest at most 64 levels deep.
///
/// [`Display`](fmt::Display) writes the canonical form, which parses to an equal condition. The source of the predicates is
/// seed 004, §6.3.6 and §6.7.1.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition(Expression);

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// Returns the first error: a syntax error, an unknown field, an invalid comparison (`domain > 3`), or an exceeded limit.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let too_long = |what: &str, bytes: usize| {
            ConditionError::new(0..text.len(), format!("{what} of {bytes} bytes"), format!("at most {MAX_BYTES} bytes"))
        };
        if text.len() > MAX_BYTES {
            return Err(too_long("a condition", text.len()));
        }
        let condition = Self(parser::parse(text)?);
        // Otherwise the canonical form could not be parsed again.
        match condition.to_string().len() {
            bytes if bytes > MAX_BYTES => Err(too_long("a condition with a canonical form", bytes)),
            _ => Ok(condition),
        }
    }

    /// Whether the condition holds for an entry.
    pub fn holds(&self, facts: &Facts<'_>) -> bool {
        self.0.holds(facts)
    }

    /// Describes the values of the facts that the condition tests, such as `` `score` is 0.5 ``. The text is empty if the
    /// condition tests no fact.
    pub(crate) fn values(&self, facts: &Facts<'_>) -> String {
        values::describe(&self.0, facts)
    }

    /// Returns the condition that never holds.
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
