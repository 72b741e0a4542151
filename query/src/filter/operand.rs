//! The operands of conditions: texts, numbers, ranges of numbers, and `none`.

use std::fmt;
use std::ops::Bound;

use crate::filter::number::Number;

/// The word for a missing value.
const NONE: &str = "none";
/// Pairs of brackets that can enclose a list.
const BRACKETS: [(char, char); 2] = [('[', ']'), ('(', ')')];
/// Quotation marks that can enclose a literal text.
const QUOTES: [char; 2] = ['"', '\''];

/// A value in a condition, which has no type until the type of the column is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operand {
    /// The text without its quotation marks.
    pub(super) text: String,
    /// Whether the text had quotation marks. With quotation marks, `none` is a text like any other.
    is_quoted: bool,
}

/// A mistake in the list of a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListProblem {
    /// A bracket without its counterpart.
    #[error("`{0}` has no `{1}`")]
    Bracket(char, char),
    /// A quotation mark without its counterpart.
    #[error("a quotation mark is not closed")]
    Quote,
    /// Nothing between two commas.
    #[error("an item is empty; write \"\" for the empty text")]
    EmptyItem,
    /// A list without items.
    #[error("the list is empty; give items, such as `in payments,billing`")]
    NoItem,
}

/// A range of numbers.
pub(super) type NumberRange = (Bound<Number>, Bound<Number>);

impl Operand {
    /// Parses a single value and removes quotation marks that enclose the whole value.
    pub(super) fn parse(text: &str) -> Self {
        let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.contains(quote));
        match QUOTES.into_iter().find_map(inner) {
            Some(inner) => Self { text: inner.to_owned(), is_quoted: true },
            None => Self { text: text.to_owned(), is_quoted: false },
        }
    }

    /// Returns a copy with another text.
    pub(super) fn with_text(&self, text: String) -> Self {
        Self { text, is_quoted: self.is_quoted }
    }

    /// Parses a list of values separated by commas, with or without brackets.
    pub(super) fn parse_list(text: &str) -> Result<Vec<Self>, ListProblem> {
        let inner = without_brackets(text)?.trim();
        if inner.is_empty() {
            return Err(ListProblem::NoItem);
        }
        let items = split_items(inner)?.into_iter().map(str::trim);
        items.map(|item| if item.is_empty() { Err(ListProblem::EmptyItem) } else { Ok(Self::parse(item)) }).collect()
    }

    /// Returns whether the operand means a missing value.
    pub(super) fn is_none(&self) -> bool {
        !self.is_quoted && self.text == NONE
    }

    /// Parses the text as a number or a range with inclusive ends: `5`, `1..5`, `1..`, `..5`.
    pub(super) fn numbers(&self) -> Option<NumberRange> {
        let number = |text: &str| Number::parse(text.trim()).filter(|number| number.is_finite());
        if let Some(number) = number(&self.text) {
            return Some((Bound::Included(number), Bound::Included(number)));
        }
        let (low, high) = self.text.split_once("..").filter(|_| self.text.len() > 2)?;
        let end = |text: &str| match text.trim().is_empty() {
            true => Some(Bound::Unbounded),
            false => number(text).map(Bound::Included),
        };
        Some((end(low)?, end(high)?))
    }

    /// Parses the text as a finite number.
    pub(super) fn number(&self) -> Option<Number> {
        Number::parse(&self.text).filter(|number| number.is_finite())
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_quoted {
            true if self.text.contains('"') => write!(f, "'{}'", self.text),
            true => write!(f, "\"{}\"", self.text),
            false => f.write_str(&self.text),
        }
    }
}

/// Removes the brackets of a list.
fn without_brackets(text: &str) -> Result<&str, ListProblem> {
    for (open, close) in BRACKETS {
        if let Some(rest) = text.strip_prefix(open) {
            return rest.strip_suffix(close).ok_or(ListProblem::Bracket(open, close));
        }
        if text.ends_with(close) && !text.contains(open) {
            return Err(ListProblem::Bracket(close, open));
        }
    }
    Ok(text)
}

/// Splits a list at commas outside of quoted items.
fn split_items(text: &str) -> Result<Vec<&str>, ListProblem> {
    let (mut items, mut start, mut quote, mut is_start) = (Vec::new(), 0, None, true);
    for (at, char) in text.char_indices() {
        match quote {
            Some(open) => quote = Some(open).filter(|open| *open != char),
            None if char == ',' => {
                items.push(&text[start..at]);
                (start, is_start) = (at + 1, true);
            }
            None if is_start && QUOTES.contains(&char) => (quote, is_start) = (Some(char), false),
            None => is_start &= char.is_whitespace(),
        }
    }
    items.push(&text[start..]);
    if quote.is_some() { Err(ListProblem::Quote) } else { Ok(items) }
}
