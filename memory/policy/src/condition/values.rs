//! Descriptions of the facts that a condition tests.

use crate::condition::expression::Expression;
use crate::condition::predicate::{Field, NumberField, Predicate};
use crate::facts::Facts;

/// Describes the value of every fact that `expression` tests, in the order of the expression and without duplicates.
pub(super) fn describe(expression: &Expression, facts: &Facts<'_>) -> String {
    let mut values: Vec<String> = Vec::new();
    expression.visit_predicates(&mut |predicate| {
        let value = describe_fact(predicate, facts);
        values.extend(value.filter(|value| !values.contains(value)));
    });
    values.join(", ")
}

fn describe_fact(predicate: &Predicate, facts: &Facts<'_>) -> Option<String> {
    let (field, value) = match predicate {
        Predicate::Constant(_) => return None,
        Predicate::ContainsTag(_) if facts.tags.is_empty() => return Some("there are no tags".to_owned()),
        Predicate::ContainsTag(_) => return Some(format!("the tags are {}", facts.tags.join(", "))),
        Predicate::IsPattern(_) => (Field::IsPattern, Some(facts.is_pattern.to_string())),
        Predicate::Number { field, .. } => {
            (Field::Number(*field), field.value(facts).map(|value| number(*field, value)))
        }
        Predicate::Text { field, .. } => (Field::Text(*field), field.value(facts).map(|text| format!("'{text}'"))),
        Predicate::InactiveFor(_) => {
            let field = NumberField::LastAccessedDays;
            (Field::Number(field), Some(number(field, facts.inactive_days)))
        }
    };
    Some(format!("`{}` is {}", field.name(), value.as_deref().unwrap_or("absent")))
}

/// Formats the value of a field. Ages are rounded to 5 decimals, which is about a second.
fn number(field: NumberField, value: f64) -> String {
    match field {
        NumberField::Score | NumberField::AccessCount => value.to_string(),
        NumberField::AgeDays | NumberField::LastAccessedDays => ((value * 1e5).round() / 1e5).to_string(),
    }
}
