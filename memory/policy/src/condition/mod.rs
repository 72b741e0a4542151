//! Conditions on an entry: their text, their meaning and their canonical form.

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

/// Most bytes of a condition, as written and in canonical form.
const MOST_BYTES: usize = 4096;

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
/// `inactive_days`). Text fields are `domain`, `type`, `id`, `scope` and `semantic_role`. Keywords and `true` and `false` are
/// read in any case. A number is a finite decimal. A text stands in single or double quotes; `\\`, `\'`, `\"`, `\n`, `\r`,
/// `\t` and `\u{…}` are escapes.
///
/// Texts and tags are compared without regard to ASCII case, ids exactly. A comparison with an absent value does not hold,
/// not even with `!=`, so that its negation holds. `inactive_for_N_days` is `last_accessed_days >= N`.
///
/// A condition has at most 4096 bytes, and parentheses and NOT nest at most 64 deep.
///
/// [`Display`](fmt::Display) writes the canonical form, and parsing that gives an equal condition. The source of the predicates is
/// seed 004, §6.3.6 and §6.7.1.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition(Expression);

impl Condition {
    /// Parses a condition.
    ///
    /// # Errors
    /// The first error: of the grammar, of an unknown field, of a comparison that has no meaning (`domain > 3`), or of a limit.
    pub fn parse(text: &str) -> Result<Self, ConditionError> {
        let too_long = |what: &str, bytes: usize| {
            ConditionError::new(
                0..text.len(),
                format!("{what} of {bytes} bytes"),
                format!("at most {MOST_BYTES} bytes"),
            )
        };
        if text.len() > MOST_BYTES {
            return Err(too_long("a condition", text.len()));
        }
        let condition = Self(parser::parse(text)?);
        // Otherwise the canonical form would be no condition itself.
        match condition.to_string().len() {
            bytes if bytes > MOST_BYTES => Err(too_long("a condition with a canonical form", bytes)),
            _ => Ok(condition),
        }
    }

    /// Whether the condition holds for an entry.
    pub fn holds(&self, facts: &Facts<'_>) -> bool {
        self.0.holds(facts)
    }

    /// The values of the facts that the condition asks about, in words, such as `` `score` is 0.5 ``; empty if it asks about
    /// none.
    pub(crate) fn values(&self, facts: &Facts<'_>) -> String {
        values::in_words(&self.0, facts)
    }

    /// The condition that never holds.
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
