//! Formats column values for people.

use aurora_query::Facet;
use aurora_storage::{ColumnDeclaration, MetaValue};

use crate::output::{Painter, Role, sanitize, units, width};

/// Maximum width of a facet value in terminal columns.
const MAX_VALUE_COLUMNS: usize = 40;

/// Formats a value on one line.
pub(crate) fn value(value: &MetaValue) -> String {
    let text = match value {
        MetaValue::Bool(flag) => flag.to_string(),
        MetaValue::Integer(number) => number.to_string(),
        MetaValue::Float(number) => number.to_string(),
        MetaValue::String(text) => text.clone(),
        MetaValue::Strings(texts) => texts.join(", "),
    };
    sanitize::line(&text)
}

/// Formats the columns of a result, one line each.
pub(crate) fn result_lines(metadata: &[(String, MetaValue)], columns: Option<usize>, paint: Painter) -> Vec<String> {
    let line = |(name, found): &(String, MetaValue)| {
        let text = format!("        {}: {}", sanitize::line(name), value(found));
        paint.paint(Role::Faint, &width::elide_end(&text, columns.unwrap_or(usize::MAX)))
    };
    metadata.iter().map(line).collect()
}

/// Formats a facet: a line about the column, and a line with its most frequent values.
pub(crate) fn facet_lines(facet: &Facet, widest: usize) -> [String; 2] {
    let Facet { column, chunks, distinct, min, max, values } = facet;
    let name = width::pad(&column.name, widest);
    let range = match (min, max) {
        (Some(min), Some(max)) => format!(", {} to {}", value(min), value(max)),
        _ => String::new(),
    };
    let (chunks, distinct) = (units::counted(*chunks, "chunk"), units::counted(*distinct, "value"));
    let head = format!("{name}  {}, {}: {chunks}, {distinct}{range}", column.kind, uses(column));
    let named = values.iter().map(|named| {
        let text = width::elide_end(&value(&named.value), MAX_VALUE_COLUMNS);
        format!("{text} ({})", units::count(named.chunks))
    });
    [head, named.collect::<Vec<_>>().join(", ")]
}

/// Describes the uses of a column, such as `filter, terms × 3, boost 0.2`.
fn uses(column: &ColumnDeclaration) -> String {
    let mut uses = Vec::new();
    uses.extend(column.filter.then(|| "filter".to_owned()));
    uses.extend(column.terms.map(|weight| format!("terms × {weight}")));
    uses.extend(column.embed.then(|| "embed".to_owned()));
    uses.extend(column.boost.map(|weight| format!("boost {weight}")));
    uses.join(", ")
}
