//! Predicates. A predicate is the part of a condition that tests one fact.

use std::fmt::{self, Write as _};

use crate::condition::operator::Operator;
use crate::facts::Facts;

/// A field whose value is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberField {
    Score,
    AccessCount,
    AgeDays,
    LastAccessedDays,
}

/// A field whose value is a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextField {
    Domain,
    Type,
    Id,
    Scope,
    SemanticRole,
}

/// A field, classified by the type of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Number(NumberField),
    Text(TextField),
    IsPattern,
}

/// Names of all fields. If a field has several names, the first is the canonical name.
pub(super) const FIELDS: [(&str, Field); 13] = [
    ("score", Field::Number(NumberField::Score)),
    ("success_score", Field::Number(NumberField::Score)),
    ("confidence", Field::Number(NumberField::Score)),
    ("access_count", Field::Number(NumberField::AccessCount)),
    ("age_days", Field::Number(NumberField::AgeDays)),
    ("last_accessed_days", Field::Number(NumberField::LastAccessedDays)),
    ("inactive_days", Field::Number(NumberField::LastAccessedDays)),
    ("is_pattern", Field::IsPattern),
    ("domain", Field::Text(TextField::Domain)),
    ("type", Field::Text(TextField::Type)),
    ("id", Field::Text(TextField::Id)),
    ("scope", Field::Text(TextField::Scope)),
    ("semantic_role", Field::Text(TextField::SemanticRole)),
];

/// A condition on one fact.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Predicate {
    Constant(bool),
    Number {
        field: NumberField,
        operator: Operator,
        value: f64,
    },
    /// The operator is `==` if `equal` is `true`, and `!=` otherwise.
    Text {
        field: TextField,
        equal: bool,
        value: String,
    },
    /// The fact `is_pattern` always has a value, so `!=` is stored as `==` with the opposite value.
    IsPattern(bool),
    ContainsTag(String),
    InactiveFor(u32),
}

impl Predicate {
    pub(super) fn holds(&self, facts: &Facts<'_>) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Number { field, operator, value } => {
                let ordering = field.value(facts).and_then(|found| found.partial_cmp(value));
                ordering.is_some_and(|ordering| operator.accepts(ordering))
            }
            Self::Text { field, equal, value } => {
                field.value(facts).is_some_and(|found| field.matches(found, value) == *equal)
            }
            Self::IsPattern(value) => facts.is_pattern == *value,
            Self::ContainsTag(tag) => facts.tags.iter().any(|found| found.eq_ignore_ascii_case(tag)),
            Self::InactiveFor(days) => facts.inactive_days >= f64::from(*days),
        }
    }
}

impl NumberField {
    /// Returns the value of the field; `None` if the entry has no value.
    #[allow(clippy::cast_precision_loss, reason = "access counts are far below 2^53")]
    pub(super) fn value(self, facts: &Facts<'_>) -> Option<f64> {
        match self {
            Self::Score => facts.score,
            Self::AccessCount => Some(facts.access_count as f64),
            Self::AgeDays => Some(facts.age_days),
            Self::LastAccessedDays => Some(facts.inactive_days),
        }
    }
}

impl TextField {
    /// Returns the value of the field; `None` if the entry has no value.
    pub(super) fn value<'a>(self, facts: &Facts<'a>) -> Option<&'a str> {
        match self {
            Self::Domain => facts.domain,
            Self::Type => Some(facts.kind),
            Self::Id => Some(facts.id),
            Self::Scope => Some(facts.scope),
            Self::SemanticRole => facts.semantic_role,
        }
    }

    /// Compares two texts ignoring ASCII case. Comparisons of ids are case-sensitive, because ids can contain
    /// case-sensitive file paths.
    fn matches(self, found: &str, value: &str) -> bool {
        if self == Self::Id { found == value } else { found.eq_ignore_ascii_case(value) }
    }
}

impl Field {
    /// Returns the canonical name of the field.
    pub(super) fn name(self) -> &'static str {
        FIELDS.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Number { field, operator, value } => write!(f, "{} {operator} {value}", Field::Number(*field).name()),
            Self::Text { field, equal, value } => {
                let operator = if *equal { Operator::Equal } else { Operator::NotEqual };
                write!(f, "{} {operator} ", Field::Text(*field).name())?;
                quote(f, value)
            }
            Self::IsPattern(value) => write!(f, "{} == {value}", Field::IsPattern.name()),
            Self::ContainsTag(tag) => {
                f.write_str("contains_tag(")?;
                quote(f, tag)?;
                f.write_char(')')
            }
            Self::InactiveFor(days) => write!(f, "inactive_for_{days}_days"),
        }
    }
}

fn quote(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('\'')?;
    for character in text.chars() {
        match character {
            '\\' | '\'' => write!(f, "\\{character}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            control if control.is_control() => write!(f, "\\u{{{:x}}}", u32::from(control))?,
            other => f.write_char(other)?,
        }
    }
    f.write_char('\'')
}
