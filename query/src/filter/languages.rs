//! Maps language names as users write them to the names in an index.

use std::collections::BTreeSet;

use aurora_storage::{LabelKind, Snapshot};
use aurora_suggest::did_you_mean;

use crate::filter::columns::is_column;
use crate::filter::error::{FilterError, SelectError};
use crate::filter::properties::Property;
use crate::filter::spec::{FilterSpec, names_in};

/// The languages that the program supports. An index may contain other languages.
#[derive(Clone, Copy)]
pub struct LanguageNames<'n> {
    /// Returns the indexed name of a language from a name, a file extension or an alias.
    pub called: &'n dyn Fn(&str) -> Option<&'static str>,
    /// The indexed names of all supported languages.
    pub all: &'n [&'static str],
}

impl FilterSpec {
    /// Returns a copy in which every language, including the languages in conditions, is replaced by its names in the
    /// indexes.
    ///
    /// # Errors
    /// Returns [`FilterError::Language`] for the first unknown language, and a storage error if an index cannot be
    /// read.
    pub(crate) fn with_languages<'s>(
        &self,
        snapshots: impl Iterator<Item = &'s Snapshot> + Clone,
        names: LanguageNames<'_>,
    ) -> Result<Self, SelectError> {
        let is_language = |key: &str| Property::from_key(key) == Some(Property::Language);
        let mut filter = self.clone();
        if self.languages.is_empty() && !self.where_.iter().any(|condition| is_language(&condition.key)) {
            return Ok(filter);
        }
        let mut indexed = BTreeSet::new();
        for snapshot in snapshots.clone() {
            for label in snapshot.labels(LabelKind::Language) {
                indexed.insert(label?.0);
            }
        }
        let mut languages = Vec::new();
        for given in names_in(&self.languages) {
            languages.extend(as_indexed(given, &indexed, names)?);
        }
        filter.languages = languages;
        for condition in filter.where_.iter_mut().filter(|condition| is_language(&condition.key)) {
            let mut has_column = false;
            for snapshot in snapshots.clone() {
                has_column |= is_column(&condition.key, snapshot)?;
            }
            if has_column {
                continue;
            }
            let mut operands = Vec::new();
            for operand in std::mem::take(&mut condition.operands) {
                match operand.is_none() {
                    true => operands.push(operand),
                    false => {
                        let found = as_indexed(&operand.text, &indexed, names)?;
                        operands.extend(found.into_iter().map(|text| operand.with_text(text)));
                    }
                }
            }
            condition.operands = operands;
        }
        Ok(filter)
    }
}

/// Returns the names under which the indexes store a language.
fn as_indexed(given: &str, indexed: &BTreeSet<String>, names: LanguageNames<'_>) -> Result<Vec<String>, FilterError> {
    let mut found: Vec<String> = indexed.iter().filter(|name| name.eq_ignore_ascii_case(given)).cloned().collect();
    let called = (names.called)(given).filter(|name| !found.iter().any(|known| known == name));
    found.extend(called.map(str::to_owned));
    if found.is_empty() {
        let all = names.all.iter().copied().chain(indexed.iter().map(String::as_str));
        let (given, help) = (given.to_owned(), did_you_mean(given, all));
        return Err(FilterError::Language { given, help, known: indexed.iter().cloned().collect() });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_names_are_mapped_to_the_index() {
        let called = |name: &str| match name {
            "py" | "python" => Some("python"),
            "go" => Some("go"),
            _ => None,
        };
        let names = LanguageNames { called: &called, all: &["go", "python"] };
        let indexed: BTreeSet<String> = ["Custom", "py", "python"].map(str::to_owned).into();
        let found = |given: &str| as_indexed(given, &indexed, names).map_err(|error| error.to_string());
        assert_eq!(found("python"), Ok(vec!["python".to_owned()]));
        assert_eq!(found("go"), Ok(vec!["go".to_owned()]));
        assert_eq!(found("custom"), Ok(vec!["Custom".to_owned()]));
        // A pipeline may define a language with this name.
        assert_eq!(found("py"), Ok(vec!["py".to_owned(), "python".to_owned()]));
        assert_eq!(found("pyton"), Err("Unknown language 'pyton' (did you mean `python`?)".to_owned()));
        assert_eq!(
            found("klingon"),
            Err("Unknown language 'klingon'; indexed languages: Custom, py, python".to_owned())
        );
    }
}
