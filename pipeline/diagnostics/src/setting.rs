//! Tables of simple settings in a configuration file, which environment variables override.

use aurora_suggest::did_you_mean;

use crate::document::{Document, Reader, Value};
use crate::{Diagnostic, Diagnostics, Place, code};

/// A key of a table of settings, with its documentation for the configuration reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The name of the key in its table.
    pub key: &'static str,
    /// A description of the valid values.
    pub values: &'static str,
    /// The default value in TOML syntax.
    pub default: &'static str,
    /// The meaning of the key.
    pub meaning: &'static str,
    /// The environment variable that sets the key.
    pub variable: &'static str,
}

/// Passes the values of a table to `set`: first the values in the configuration file, then the values of environment
/// variables. The file is given by its name and text. The names of the variables begin with `prefix`. `set` gets the key
/// and the value, and returns the rule that an invalid value breaks, such as `a whole number from 1 to 4`.
///
/// Returns all mistakes: invalid TOML, unknown keys and variables, and invalid values.
pub fn read_settings(
    table: &str,
    prefix: &str,
    settings: &[Setting],
    file: Option<(&str, &str)>,
    environment: &[(String, String)],
    set: &mut dyn FnMut(&str, &str) -> Result<(), String>,
) -> Diagnostics {
    let (mut mistakes, mut found) = (Diagnostics::default(), Vec::new());
    let keys: Vec<&str> = settings.iter().map(|setting| setting.key).collect();
    let mut apply = |key: &str, value: &str, name: &str, known: &[&str], place: Place| {
        let mistake = if keys.contains(&key) {
            let Err(rule) = set(key, value) else { return None };
            Diagnostic::error(code::INVALID_VALUE, None, format!("`{name}` must be {rule}, not {value}"))
        } else {
            let help = did_you_mean(name.rsplit('.').next().unwrap_or(name), known.iter().copied());
            Diagnostic::error(code::UNKNOWN_KEY, None, format!("unknown key `{name}`")).with_help(help)
        };
        Some(mistake.at(place))
    };
    match file.map(|(name, text)| Document::from_toml(name, text)).transpose() {
        Err(errors) => mistakes.extend(errors),
        Ok(None) => {}
        Ok(Some(document)) => {
            let mut values = Reader::new(&document);
            let entries = values.entry(document.root.entries(), table).and_then(|entry| values.table(entry, table));
            mistakes.extend(values.mistakes);
            for entry in entries.unwrap_or_default() {
                let value = match &entry.node.value {
                    Value::Number(value) | Value::Text(value) => value.to_string(),
                    _ => document.display_value(&entry.node),
                };
                let place = Place::File(document.location(entry.key_span.clone()));
                let name = format!("{table}.{}", entry.key);
                found.extend(apply(&entry.key, &value, &name, &keys, place));
            }
        }
    }
    let known: Vec<&str> = settings.iter().map(|setting| setting.variable).collect();
    let mut variables: Vec<_> = environment.iter().filter(|(name, _)| name.starts_with(prefix)).collect();
    variables.sort();
    for (name, value) in variables {
        let key = name[prefix.len()..].to_ascii_lowercase();
        let place = Place::Environment(name.clone());
        found.extend(apply(&key, value, name, &known, place));
    }
    for mistake in found {
        mistakes.push(mistake);
    }
    mistakes
}
