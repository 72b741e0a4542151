//! Boolean expressions of predicates, AND, OR and NOT.

use std::fmt;

use crate::condition::predicate::Predicate;
use crate::facts::Facts;

/// A boolean expression. `And` and `Or` have at least two parts. A part of `And` is never an `And`, and a part of `Or`
/// is never an `Or`, so that `a AND b AND c` has only one representation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Or(Vec<Expression>),
    And(Vec<Expression>),
    Not(Box<Expression>),
    Predicate(Predicate),
}

impl Expression {
    /// Returns the disjunction of `parts`, which must not be empty.
    pub(super) fn or(parts: Vec<Self>) -> Self {
        join(parts, Self::Or, |part| match part {
            Self::Or(parts) => Ok(parts),
            other => Err(other),
        })
    }

    /// Returns the conjunction of `parts`, which must not be empty.
    pub(super) fn and(parts: Vec<Self>) -> Self {
        join(parts, Self::And, |part| match part {
            Self::And(parts) => Ok(parts),
            other => Err(other),
        })
    }

    pub(super) fn holds(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::Or(parts) => parts.iter().any(|part| part.holds(facts)),
            Self::And(parts) => parts.iter().all(|part| part.holds(facts)),
            Self::Not(part) => !part.holds(facts),
            Self::Predicate(predicate) => predicate.holds(facts),
        }
    }

    /// Calls `visit` for every predicate, in the order of the text.
    pub(super) fn visit_predicates<'e>(&'e self, visit: &mut impl FnMut(&'e Predicate)) {
        match self {
            Self::Or(parts) | Self::And(parts) => parts.iter().for_each(|part| part.visit_predicates(visit)),
            Self::Not(part) => part.visit_predicates(visit),
            Self::Predicate(predicate) => visit(predicate),
        }
    }
}

/// Joins `parts` into one expression, and flattens nested expressions of the same kind. Returns a single part
/// unchanged.
fn join(
    mut parts: Vec<Expression>,
    kind: impl Fn(Vec<Expression>) -> Expression,
    same: impl Fn(Expression) -> Result<Vec<Expression>, Expression>,
) -> Expression {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let mut flat = Vec::with_capacity(parts.len());
    for part in parts {
        match same(part) {
            Ok(inner) => flat.extend(inner),
            Err(other) => flat.push(other),
        }
    }
    kind(flat)
}

/// Writes the canonical form. Keywords are in capitals, words are separated by one space, and parentheses occur only
/// where precedence requires them.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Or(parts) => write_list(f, parts, " OR ", |part| matches!(part, Self::Or(_))),
            Self::And(parts) => write_list(f, parts, " AND ", |part| matches!(part, Self::Or(_) | Self::And(_))),
            Self::Not(part) => {
                f.write_str("NOT ")?;
                write_nested(f, part, matches!(**part, Self::Or(_) | Self::And(_)))
            }
            Self::Predicate(predicate) => predicate.fmt(f),
        }
    }
}

fn write_list(
    f: &mut fmt::Formatter<'_>,
    parts: &[Expression],
    keyword: &str,
    in_parentheses: impl Fn(&Expression) -> bool,
) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(keyword)?;
        }
        write_nested(f, part, in_parentheses(part))?;
    }
    Ok(())
}

fn write_nested(f: &mut fmt::Formatter<'_>, part: &Expression, in_parentheses: bool) -> fmt::Result {
    if in_parentheses { write!(f, "({part})") } else { write!(f, "{part}") }
}
