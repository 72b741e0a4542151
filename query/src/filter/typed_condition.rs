//! Conditions whose operands are converted to the type of a column.

use std::ops::{Bound, RangeBounds};

use aurora_storage::ColumnKind;

use crate::filter::condition::Condition;
use crate::filter::error::FilterError;
use crate::filter::number::Number;
use crate::filter::operand::{NumberRange, Operand};

/// The operands of a condition except `none`, converted to the type of the column.
pub(super) enum TypedCondition<'c> {
    /// Texts, including `true` and `false`, which are compared with labels verbatim.
    Texts(Vec<&'c str>),
    /// Ranges of numbers, at least one of which must contain the value.
    Numbers(Vec<NumberRange>),
}

impl<'c> TypedCondition<'c> {
    /// Converts the operands of a condition on a column of this type.
    ///
    /// # Errors
    /// Fails if the operator or an operand does not fit the type.
    pub(super) fn new(condition: &'c Condition, kind: ColumnKind) -> Result<Self, FilterError> {
        let Condition { key, operator, operands } = condition;
        let wrong = |operand: &Operand| FilterError::Value { key: key.clone(), given: operand.text.clone(), kind };
        if operator.is_order() {
            if !kind.is_number() {
                return Err(FilterError::Operator { key: key.clone(), operator: operator.as_str(), kind });
            }
            let [operand] = operands.as_slice() else { return Err(FilterError::Condition(condition.to_string())) };
            let bound = operand.number().ok_or_else(|| wrong(operand))?;
            return Ok(Self::Numbers(operator.range(bound).into_iter().collect()));
        }
        let operands = operands.iter().filter(|operand| !operand.is_none());
        if kind.is_number() {
            let numbers = |operand: &Operand| match operand.numbers() {
                Some((Bound::Included(low), Bound::Included(high))) if low > high => {
                    Err(FilterError::Range { key: key.clone(), given: operand.text.clone() })
                }
                range => range.ok_or_else(|| wrong(operand)),
            };
            return Ok(Self::Numbers(operands.map(numbers).collect::<Result<_, _>>()?));
        }
        let text = |operand: &'c Operand| match operand.text.as_str() {
            "true" | "false" => Ok(operand.text.as_str()),
            _ if kind == ColumnKind::Bool => Err(wrong(operand)),
            text => Ok(text),
        };
        Ok(Self::Texts(operands.map(text).collect::<Result<_, _>>()?))
    }

    /// Returns whether a stored value is a number that meets the condition.
    pub(super) fn accepts_number(&self, stored: &str) -> bool {
        let Self::Numbers(ranges) = self else { return false };
        Number::parse(stored).is_some_and(|stored| ranges.iter().any(|range| range.contains(&stored)))
    }
}
