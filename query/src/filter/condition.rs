//! Conditions on metadata: `owner=payments`, `churn>5`, `owner in a,b`.

use std::fmt;
use std::ops::Bound;
use std::str::FromStr;

use crate::filter::error::FilterError;
use crate::filter::number::Number;
use crate::filter::operand::{NumberRange, Operand};

/// Prefixes of full column names, one per table. Column names are unique without the prefix.
const TABLES: [&str; 2] = ["file.", "chunk."];

/// A condition on one column of metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Name of the column, without its table.
    pub key: String,
    /// Comparison of the values.
    pub operator: Operator,
    /// Operands of the comparison; exactly one unless the operator takes a list.
    pub(super) operands: Vec<Operand>,
}

/// The comparison in a condition. A value that is a list of texts equals an operand if any of the texts does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `=`
    Equal,
    /// `!=`: the chunk has a value, and no value is equal.
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `in`: equal to an item of the list.
    In,
    /// `not in`: the chunk has a value, and no item of the list equals a value.
    NotIn,
}

impl Operator {
    /// Operators that are symbols. An operator precedes the operators that are prefixes of it.
    const SYMBOLS: [Self; 6] = [Self::NotEqual, Self::AtMost, Self::AtLeast, Self::Equal, Self::Less, Self::Greater];

    /// The operator in the syntax of conditions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }

    /// Returns whether the operator compares by order, which requires numbers.
    pub(super) fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::AtMost | Self::Greater | Self::AtLeast)
    }

    /// Returns whether the operator accepts the values that equal no operand.
    pub(super) fn is_negated(self) -> bool {
        matches!(self, Self::NotEqual | Self::NotIn)
    }

    /// Returns whether the operator takes a list.
    fn is_list(self) -> bool {
        matches!(self, Self::In | Self::NotIn)
    }

    /// Returns the numbers that the operator accepts; `None` if it does not compare by order.
    pub(super) fn range(self, operand: Number) -> Option<NumberRange> {
        match self {
            Self::Less => Some((Bound::Unbounded, Bound::Excluded(operand))),
            Self::AtMost => Some((Bound::Unbounded, Bound::Included(operand))),
            Self::Greater => Some((Bound::Excluded(operand), Bound::Unbounded)),
            Self::AtLeast => Some((Bound::Included(operand), Bound::Unbounded)),
            Self::Equal | Self::NotEqual | Self::In | Self::NotIn => None,
        }
    }
}

impl Condition {
    /// Returns whether a chunk without a value meets the condition.
    pub(super) fn accepts_missing(&self) -> bool {
        matches!(self.operator, Operator::Equal | Operator::In) && self.operands.iter().any(Operand::is_none)
    }

    /// Returns whether the condition compares numbers.
    pub(super) fn has_numbers(&self) -> bool {
        let mut values = self.operands.iter().filter(|operand| !operand.is_none()).peekable();
        self.operator.is_order() || values.peek().is_some() && values.all(|operand| operand.numbers().is_some())
    }

    /// Returns whether the user probably meant to write a list.
    pub(super) fn resembles_list(&self) -> bool {
        matches!(self.operator, Operator::Equal | Operator::NotEqual)
            && self.operands.iter().any(|operand| operand.text.contains(','))
    }
}

impl FromStr for Condition {
    type Err = FilterError;

    /// Parses `key=value` or `key in a,b`. The key ends at the first operator, so a value can contain operators. `==`
    /// means `=`; a value that begins with `=` needs quotation marks or a space before it.
    fn from_str(text: &str) -> Result<Self, FilterError> {
        let invalid = || FilterError::Condition(text.to_owned());
        let (key, operator, value) = split(text).ok_or_else(invalid)?;
        let key = TABLES.iter().find_map(|table| key.strip_prefix(table)).unwrap_or(key);
        if key.is_empty() {
            return Err(invalid());
        }
        let operands = match operator.is_list() {
            true => {
                Operand::parse_list(value).map_err(|problem| FilterError::List { given: text.to_owned(), problem })?
            }
            false => vec![Operand::parse(value)],
        };
        Ok(Self { key: key.to_owned(), operator, operands })
    }
}

/// Splits a condition at its first operator into the column, the operator and the value.
fn split(text: &str) -> Option<(&str, Operator, &str)> {
    split_at_word(text).or_else(|| {
        let operator_at =
            |at: usize| Operator::SYMBOLS.into_iter().find(|operator| text[at..].starts_with(operator.as_str()));
        let (at, operator) = text.char_indices().find_map(|(at, _)| Some((at, operator_at(at)?)))?;
        let rest = &text[at + operator.as_str().len()..];
        let rest = rest.strip_prefix('=').filter(|_| operator == Operator::Equal).unwrap_or(rest);
        Some((text[..at].trim(), operator, rest.trim()))
    })
}

/// Splits a condition whose first word is followed by the operator `in` or `not in`, in upper or lower case.
fn split_at_word(text: &str) -> Option<(&str, Operator, &str)> {
    let (key, rest) = text.trim().split_once(char::is_whitespace)?;
    let (operator, rest) = match strip_word(rest, "not") {
        Some(rest) if rest.starts_with(char::is_whitespace) => (Operator::NotIn, rest),
        _ => (Operator::In, rest),
    };
    let list = strip_word(rest, "in")?;
    let is_word = list.is_empty() || list.starts_with(|char: char| char.is_whitespace() || "[(".contains(char));
    let is_first = !key.contains(['=', '<', '>']);
    (is_word && is_first).then(|| (key, operator, list.trim()))
}

/// Removes white space and `word`, in upper or lower case, from the start of a text. Returns `None` if the text starts
/// with another word.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.trim_start().split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operands: Vec<String> = self.operands.iter().map(Operand::to_string).collect();
        let (operands, operator) = (operands.join(","), self.operator.as_str());
        if self.operator.is_list() {
            write!(f, "{} {operator} {operands}", self.key)
        } else {
            let space = if operands.starts_with('=') { " " } else { "" };
            write!(f, "{}{operator}{space}{operands}", self.key)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Operator, Vec<String>) {
        let Condition { key, operator, operands } = text.parse().expect(text);
        (key, operator, operands.into_iter().map(|operand| operand.text).collect())
    }

    #[test]
    fn conditions_are_split_at_the_first_operator() {
        for (text, key, operator, values) in [
            ("owner=payments", "owner", Operator::Equal, &["payments"][..]),
            (" owner = payments=eu ", "owner", Operator::Equal, &["payments=eu"]),
            ("owner!=a<b", "owner", Operator::NotEqual, &["a<b"]),
            ("owner==payments", "owner", Operator::Equal, &["payments"]),
            ("owner == payments", "owner", Operator::Equal, &["payments"]),
            ("owner= =payments", "owner", Operator::Equal, &["=payments"]),
            ("owner='=payments'", "owner", Operator::Equal, &["=payments"]),
            ("owner IN a,b", "owner", Operator::In, &["a", "b"]),
            ("owner Not In a", "owner", Operator::NotIn, &["a"]),
            ("churn>5", "churn", Operator::Greater, &["5"]),
            ("churn >= 5", "churn", Operator::AtLeast, &["5"]),
            ("churn<-5.5", "churn", Operator::Less, &["-5.5"]),
            ("churn<=5", "churn", Operator::AtMost, &["5"]),
            ("wow!=", "wow", Operator::NotEqual, &[""]),
            ("ü!b=c", "ü!b", Operator::Equal, &["c"]),
            ("owner=check in,desk", "owner", Operator::Equal, &["check in,desk"]),
            ("owner = x in y", "owner", Operator::Equal, &["x in y"]),
            ("owner=\"none\"", "owner", Operator::Equal, &["none"]),
            ("file.owner=a", "owner", Operator::Equal, &["a"]),
            ("chunk.owner in a", "owner", Operator::In, &["a"]),
            ("owner in a,b", "owner", Operator::In, &["a", "b"]),
            (" owner  in  [ a , \"b,c\" ] ", "owner", Operator::In, &["a", "b,c"]),
            ("owner in(a, b)", "owner", Operator::In, &["a", "b"]),
            ("owner not in a=b,c", "owner", Operator::NotIn, &["a=b", "c"]),
            ("in in in", "in", Operator::In, &["in"]),
            ("churn in 1..5", "churn", Operator::In, &["1..5"]),
            ("name in f(x),g", "name", Operator::In, &["f(x)", "g"]),
        ] {
            let expected: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            assert_eq!(read(text), (key.to_owned(), operator, expected), "{text}");
            let shown = text.parse::<Condition>().expect(text).to_string();
            assert_eq!(read(&shown), read(text), "{shown}");
        }
        for text in ["", "owner", "=x", " >5", "!", "owner inside", "file.=x", "owner not"] {
            assert!(matches!(text.parse::<Condition>(), Err(FilterError::Condition(_))), "{text}");
        }
        assert_eq!("churn >= 5".parse::<Condition>().expect("a condition").to_string(), "churn>=5");
    }

    #[test]
    fn mistakes_in_lists_are_reported() {
        let message = |text: &str| text.parse::<Condition>().expect_err(text).to_string();
        insta::assert_snapshot!(message("owner in [a,b"), @"Invalid list in 'owner in [a,b': `[` has no `]`");
        insta::assert_snapshot!(message("owner in a,b)"), @"Invalid list in 'owner in a,b)': `)` has no `(`");
        insta::assert_snapshot!(message("owner in \"a,b"), @"Invalid list in 'owner in \"a,b': a quotation mark is not closed");
        insta::assert_snapshot!(message("owner in a,,b"), @"Invalid list in 'owner in a,,b': an item is empty; write \"\" for the empty text");
        insta::assert_snapshot!(message("owner not in []"), @"Invalid list in 'owner not in []': the list is empty; give items, such as `in payments,billing`");
        insta::assert_snapshot!(message("owner in"), @"Invalid list in 'owner in': the list is empty; give items, such as `in payments,billing`");
    }
}
