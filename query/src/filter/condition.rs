//! Conditions over metadata: `owner=payments`, `churn>5`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::filter::error::FilterError;

/// A condition over one column of metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Name of the column.
    pub key: String,
    /// How its values are compared.
    pub operator: Operator,
    /// What they are compared with.
    pub value: String,
}

/// How values are compared. Of a list, one text that is equal suffices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `=`
    Equal,
    /// `!=`: there is a value, and none is equal.
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Operator {
    /// Every operator; one that begins another one stands after it.
    const ALL: [Self; 6] = [Self::NotEqual, Self::AtMost, Self::AtLeast, Self::Equal, Self::Less, Self::Greater];

    /// The operator as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    /// Whether it compares by order, which only numbers have.
    pub(super) fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }

    /// Whether a value with this order to the given one passes; `None` is the order of what is not a number.
    pub(super) fn accepts(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::AtMost => order.is_some_and(Ordering::is_le),
            Self::Greater => order == Some(Ordering::Greater),
            Self::AtLeast => order.is_some_and(Ordering::is_ge),
        }
    }
}

impl FromStr for Condition {
    type Err = FilterError;

    /// Reads `key=value`; the first operator counts, so that a value may hold others.
    fn from_str(text: &str) -> Result<Self, FilterError> {
        let operator_at =
            |at: usize| Operator::ALL.into_iter().find(|operator| text[at..].starts_with(operator.as_str()));
        let found = text.char_indices().find_map(|(at, _)| Some((at, operator_at(at)?)));
        let (at, operator) = found.ok_or_else(|| FilterError::Condition(text.to_owned()))?;
        let (key, value) = (text[..at].trim(), text[at + operator.as_str().len()..].trim());
        if key.is_empty() {
            return Err(FilterError::Condition(text.to_owned()));
        }
        Ok(Self { key: key.to_owned(), operator, value: value.to_owned() })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.key, self.operator.as_str(), self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_up_to_the_first_operator() {
        for (text, key, operator, value) in [
            ("owner=payments", "owner", Operator::Equal, "payments"),
            (" owner = payments=eu ", "owner", Operator::Equal, "payments=eu"),
            ("owner!=a<b", "owner", Operator::NotEqual, "a<b"),
            ("churn>5", "churn", Operator::Greater, "5"),
            ("churn >= 5", "churn", Operator::AtLeast, "5"),
            ("churn<-5.5", "churn", Operator::Less, "-5.5"),
            ("churn<=5", "churn", Operator::AtMost, "5"),
            ("wow!=", "wow", Operator::NotEqual, ""),
            ("ü!b=c", "ü!b", Operator::Equal, "c"),
        ] {
            let expected = Condition { key: key.to_owned(), operator, value: value.to_owned() };
            assert_eq!(text.parse::<Condition>().expect("a condition"), expected, "{text}");
        }
        for text in ["", "owner", "=x", " >5", "!"] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
        assert_eq!("churn >= 5".parse::<Condition>().expect("a condition").to_string(), "churn>=5");
    }
}
