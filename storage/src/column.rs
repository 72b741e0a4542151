//! Declarations of custom columns, which are metadata that custom stages write.

use serde::{Deserialize, Serialize};

/// Keys of the metadata of document formats, in alphabetical order. Custom columns cannot have these names.
pub const BUILT_IN_METADATA: [&str; 20] = [
    "complexity",
    "conversation",
    "conversation_date",
    "conversation_log",
    "conversation_section",
    "created_at",
    "domain",
    "execution_time_ms",
    "generated",
    "is_pattern",
    "keywords",
    "pattern_type",
    "phase_name",
    "phase_number",
    "query",
    "semantic_role",
    "success_score",
    "total_cost_usd",
    "usage_count",
    "verification_option",
];

/// Maximum number of custom columns of an index.
const MAX_COLUMNS: usize = 64;
/// Maximum length of a column name in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Maximum length of a stage name in bytes.
const MAX_STAGE_BYTES: usize = 256;
/// Maximum value of [`ColumnDeclaration::terms`].
const MAX_TERM_WEIGHT: u8 = 10;

/// A custom column: a key of the chunks' metadata, and the uses of its values.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnDeclaration {
    /// The key in the metadata: a lower-case letter, then lower-case letters, digits, `_` and `-`.
    pub name: String,
    /// Name of the stage that writes the column.
    pub stage: String,
    /// Type of the values.
    pub kind: ColumnKind,
    /// Whether chunks can be filtered by the column.
    pub filter: bool,
    /// Number of occurrences that a term in the column's text counts as, 1 to 10; `None` if the text is not indexed.
    pub terms: Option<u8>,
    /// Whether the column's text is part of the embedded text.
    pub embed: bool,
    /// Score that a value of 1 adds, in units of the best fused score, −1 to 1; `None` if values add nothing.
    pub boost: Option<f32>,
}

/// The type of a column's values, see [`MetaValue`](crate::MetaValue).
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ColumnKind {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// A list of texts.
    Strings,
}

impl ColumnKind {
    /// Returns the name in configurations and manifests.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether values are compared as numbers.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Float)
    }

    /// Whether values are texts.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::String | Self::Strings)
    }
}

/// Whether chunks have the same terms under the declarations `stored` as under the declarations `current`.
pub(crate) fn have_same_terms(stored: &[ColumnDeclaration], current: &[ColumnDeclaration]) -> bool {
    let weight = |columns: &[ColumnDeclaration], name: &str| {
        columns.iter().find(|column| column.name == name).and_then(|column| column.terms)
    };
    stored.iter().chain(current).all(|column| weight(stored, &column.name) == weight(current, &column.name))
}

/// Checks for invalid declarations: too many columns, bad names, duplicates, names that are not in order, weights out
/// of range, and uses that the type of a column does not support.
pub(crate) fn check_columns(columns: &[ColumnDeclaration]) -> Result<(), String> {
    if columns.len() > MAX_COLUMNS {
        return Err(format!("there are {} custom columns, more than {MAX_COLUMNS}", columns.len()));
    }
    for column in columns {
        check_column(column)?;
    }
    match columns.windows(2).find(|pair| pair[0].name >= pair[1].name) {
        Some(pair) => Err(format!("the custom columns `{}` and `{}` are out of order", pair[0].name, pair[1].name)),
        None => Ok(()),
    }
}

fn check_column(column: &ColumnDeclaration) -> Result<(), String> {
    let ColumnDeclaration { name, stage, kind, filter: _, terms, embed, boost } = column;
    if !is_name(name) {
        let shown = name.get(..name.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or_default();
        return Err(format!("{shown:?} is not the name of a custom column"));
    }
    if stage.len() > MAX_STAGE_BYTES {
        return Err(format!("the name of the stage of the column `{name}` is too long"));
    }
    if terms.is_some_and(|weight| weight == 0 || weight > MAX_TERM_WEIGHT) {
        return Err(format!("the weight of the terms of the column `{name}` is not between 1 and {MAX_TERM_WEIGHT}"));
    }
    if !boost.is_none_or(|weight| (-1.0..=1.0).contains(&weight)) {
        return Err(format!("the boost of the column `{name}` is not between -1 and 1"));
    }
    if (terms.is_some() || *embed) && !kind.is_text() || boost.is_some() && !kind.is_number() {
        return Err(format!("the column `{name}` of type {kind} has a use that this type does not support"));
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    name.len() <= MAX_NAME_BYTES && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str) -> ColumnDeclaration {
        ColumnDeclaration {
            name: name.to_owned(),
            stage: "owner".to_owned(),
            kind: ColumnKind::String,
            filter: true,
            terms: None,
            embed: false,
            boost: None,
        }
    }

    #[test]
    fn declarations_are_checked() {
        let number = ColumnDeclaration { kind: ColumnKind::Float, ..column("churn") };
        for columns in [
            vec![],
            vec![column("a"), column("b-1_c")],
            vec![ColumnDeclaration { terms: Some(10), embed: true, ..column("a") }],
            vec![ColumnDeclaration { boost: Some(-1.0), ..number.clone() }],
            (0..64).map(|at| column(&format!("c{at:02}"))).collect(),
        ] {
            assert_eq!(check_columns(&columns), Ok(()));
        }
        for columns in [
            vec![column("")],
            vec![column("1a")],
            vec![column("Owner")],
            vec![column("a=b")],
            vec![column(&"a".repeat(65))],
            vec![column(&"é".repeat(65))],
            vec![column("b"), column("a")],
            vec![column("a"), column("a")],
            vec![ColumnDeclaration { terms: Some(0), ..column("a") }],
            vec![ColumnDeclaration { terms: Some(11), ..column("a") }],
            vec![ColumnDeclaration { boost: Some(0.5), ..column("a") }],
            vec![ColumnDeclaration { stage: "s".repeat(300), ..column("a") }],
            vec![ColumnDeclaration { boost: Some(1.5), ..number.clone() }],
            vec![ColumnDeclaration { boost: Some(f32::NAN), ..number.clone() }],
            vec![ColumnDeclaration { terms: Some(1), ..number.clone() }],
            vec![ColumnDeclaration { embed: true, ..number }],
            (0..65).map(|at| column(&format!("c{at:02}"))).collect(),
        ] {
            assert!(check_columns(&columns).is_err(), "{columns:?}");
        }
    }

    #[test]
    fn terms_depend_only_on_the_weights_of_the_declarations() {
        let silent = ColumnDeclaration { filter: false, ..column("a") };
        let with_terms = ColumnDeclaration { terms: Some(2), ..column("a") };
        assert!(have_same_terms(&[], &[column("a")]));
        assert!(have_same_terms(&[column("a")], &[silent]));
        assert!(!have_same_terms(&[column("a")], &[with_terms]));
    }
}
