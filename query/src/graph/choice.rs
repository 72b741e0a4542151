//! The value of an expression that chooses between two operands.

use super::index::Result;
use super::infer::{Reader, Value};

/// Maximum number of tokens in a condition, and in the value after it.
const MAX_CONDITION_TOKENS: usize = 64;

impl Reader<'_, '_> {
    /// Returns the value of `a ? b : c`, `a ?? b` or `a || b`, which is the value of the first alternative whose value
    /// is known. `first` is the value of the operand `a`, which ends before the token `next`.
    pub(super) fn choice(&self, first: &Value, next: usize, end: usize) -> Result<Option<Value>> {
        let tokens = &self.tokens;
        if matches!(tokens.at(next), "??" | "||" | "or" | "?:") && next < end {
            return match first {
                Value::Unknown => self.inner(next + 1, end).map(Some),
                known => Ok(Some(known.clone())),
            };
        }
        let Some(question) = self.question_mark(next, end) else { return Ok(None) };
        match self.inner(question + 1, end)? {
            Value::Unknown | Value::External => {}
            value => return Ok(Some(value)),
        }
        let is_else = |at: &usize| tokens.at(*at) == ":" && tokens.opener(*at) == tokens.opener(question);
        match (question..end.min(question + MAX_CONDITION_TOKENS)).find(is_else) {
            Some(at) => self.inner(at + 1, end).map(Some),
            None => Ok(Some(Value::Unknown)),
        }
    }

    /// Returns the question mark that ends the condition; `next` is a token after the start of the condition.
    fn question_mark(&self, next: usize, end: usize) -> Option<usize> {
        let tokens = &self.tokens;
        let mut at = next;
        while at < end.min(next + MAX_CONDITION_TOKENS) {
            match tokens.at(at) {
                "?" => return Some(at),
                ";" | "," | "=" | ":" | ")" | "]" | "}" | "{" | "=>" | "" => return None,
                "(" | "[" => at = tokens.closer(at)?,
                _ => {}
            }
            at += 1;
        }
        None
    }
}
