//! Reads decay rates from the table `[memory.decay]` of configuration files.

use aurora_diagnostics::Diagnostics;
use aurora_diagnostics::document::{Document, Reader, Value};

use crate::layer::ConfigFile;
use crate::scope::Scope;
use crate::temporal::{DecayRates, KINDS};

const KEY: &str = "memory.decay";
/// Maximum decay rate per hour.
const MAX_LAMBDA: f64 = 10.0;
const RULE: &str = "must be a number per hour from 0 to 10";

impl DecayRates {
    /// Loads the default rates, and overrides them with the table `[memory.decay]` of every file, in the order of the
    /// layers. Ignores the rest of each file. Skips JSON files, because they contain no rates.
    ///
    /// # Errors
    /// Returns all errors of all files at once: invalid TOML, unknown kinds and scopes, and values that are not numbers
    /// from 0 to 10.
    pub fn load(files: &[ConfigFile<'_>]) -> Result<Self, Diagnostics> {
        let mut files: Vec<&ConfigFile<'_>> = files.iter().filter(|file| !file.is_json()).collect();
        files.sort_by_key(|file| file.layer);
        let mut rates = Self::default();
        let mut errors = Diagnostics::default();
        for file in &files {
            match Document::from_toml(file.name, file.text) {
                Ok(document) => {
                    let mut values = Reader::new(&document);
                    read(&mut values, &mut rates);
                    errors.extend(values.mistakes);
                }
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() { Ok(rates) } else { Err(errors) }
    }
}

/// Reads `[memory.decay]` of one file. Returns `None` if the table does not exist.
fn read<'d>(values: &mut Reader<'d, '_>, rates: &mut DecayRates) -> Option<()> {
    let memory = values.entry(values.document.root.entries(), "memory")?;
    let memory = values.table(memory, "memory")?;
    let decay = values.entry(memory, "decay")?;
    for entry in values.table(decay, KEY)? {
        let key = format!("{KEY}.{}", entry.key);
        let kind = entry.key.as_ref();
        if !KINDS.contains(&kind) {
            values.unknown(entry, &key, &KINDS, None);
            continue;
        }
        let Value::Table(scopes) = &entry.node.value else {
            if let Some(lambda) = values.number(entry, &key, 0.0..=MAX_LAMBDA, RULE) {
                rates.set(kind, Scope::ALL, lambda);
            }
            continue;
        };
        for entry in scopes {
            let key = format!("{key}.{}", entry.key);
            match entry.key.parse() {
                Ok(scope) => {
                    if let Some(lambda) = values.number(entry, &key, 0.0..=MAX_LAMBDA, RULE) {
                        rates.set(kind, &[scope], lambda);
                    }
                }
                Err(_) => values.unknown(
                    entry,
                    &key,
                    &Scope::ALL.iter().map(|scope| scope.as_str()).collect::<Vec<_>>(),
                    None,
                ),
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::Layer;

    #[test]
    fn later_layers_override_only_the_rates_that_they_set() {
        let file = |layer, text| ConfigFile { layer, name: "config.toml", text };
        let project =
            file(Layer::Project, "[memory.decay]\nturn.session = 0.1\nlog = 10\n[memory.policies]\nenabled = 3");
        let global = file(Layer::Global, "[memory.decay]\nturn = 0.001\nnote = { user = 0.5 }");
        let json = ConfigFile { layer: Layer::Flag, name: "policies.json", text: "{" };
        let rates = DecayRates::load(&[project, json, global]).unwrap();
        let lambda = |kind, scope| rates.lambda(kind, scope);
        assert_eq!(lambda("turn", Scope::Session), 0.1);
        assert_eq!(lambda("turn", Scope::User), 0.001);
        assert_eq!(lambda("note", Scope::User), 0.5);
        assert_eq!(lambda("note", Scope::Global), 0.0);
        assert_eq!(lambda("log", Scope::Project), 10.0);
    }
}
