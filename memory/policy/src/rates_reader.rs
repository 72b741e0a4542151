//! Reads `[memory.decay]` of a configuration file.

use aurora_diagnostics::{Diagnostic, Diagnostics, code};
use aurora_suggest::did_you_mean;

use crate::document::{Document, Entry, Value};
use crate::layer::ConfigFile;
use crate::memory_kind::{MemoryKind, MemoryScope};
use crate::temporal::DecayRates;

const KEY: &str = "memory.decay";
/// Maximum decay rate per hour.
const MAX_LAMBDA: f64 = 10.0;

impl DecayRates {
    /// Loads the default rates and applies `[memory.decay]` of every file on top of them, in the order of the layers. The rest
    /// of each file is ignored. JSON files have no rates and are skipped.
    ///
    /// # Errors
    /// Returns all errors of all files at once: invalid TOML, unknown kinds and scopes, and values that are not a number from 0
    /// to 10.
    pub fn load(files: &[ConfigFile<'_>]) -> Result<Self, Diagnostics> {
        let mut files: Vec<&ConfigFile<'_>> = files.iter().filter(|file| !file.is_json()).collect();
        files.sort_by_key(|file| file.layer);
        let mut rates = Self::default();
        let mut errors = Diagnostics::default();
        for file in &files {
            match Document::from_toml(file.name, file.text) {
                Ok(document) => RatesReader { document: &document, rates: &mut rates, errors: &mut errors }.read(),
                Err(found) => errors.extend(found.iter().cloned()),
            }
        }
        if errors.is_empty() { Ok(rates) } else { Err(errors) }
    }
}

struct RatesReader<'r, 'd, 't> {
    document: &'d Document<'t>,
    rates: &'r mut DecayRates,
    errors: &'r mut Diagnostics,
}

impl<'d> RatesReader<'_, 'd, '_> {
    fn read(&mut self) {
        let Some(memory) = self.document.root.iter().find(|entry| entry.key == "memory") else { return };
        let Some(entries) = self.table(memory, "memory") else { return };
        let Some(decay) = entries.iter().find(|entry| entry.key == "decay") else { return };
        for entry in self.table(decay, KEY).into_iter().flatten() {
            match MemoryKind::from_name(&entry.key) {
                Some(kind) => self.kind(kind, entry),
                None => self.unknown(entry, KEY, &MemoryKind::ALL.map(MemoryKind::name)),
            }
        }
    }

    fn kind(&mut self, kind: MemoryKind, entry: &'d Entry) {
        let key = format!("{KEY}.{}", kind.name());
        let Value::Table(scopes) = &entry.value else {
            if let Some(lambda) = self.lambda(entry, &key) {
                self.rates.set(kind, &MemoryScope::ALL, lambda);
            }
            return;
        };
        for entry in scopes {
            match MemoryScope::from_name(&entry.key) {
                Some(scope) => {
                    if let Some(lambda) = self.lambda(entry, &format!("{key}.{}", scope.name())) {
                        self.rates.set(kind, &[scope], lambda);
                    }
                }
                None => self.unknown(entry, &key, &MemoryScope::ALL.map(MemoryScope::name)),
            }
        }
    }

    fn lambda(&mut self, entry: &Entry, key: &str) -> Option<f64> {
        match entry.value {
            Value::Number(lambda) if (0.0..=MAX_LAMBDA).contains(&lambda) => Some(lambda),
            _ => {
                self.wrong(entry, key, &format!("must be a number per hour from 0 to {MAX_LAMBDA}"));
                None
            }
        }
    }

    fn table(&mut self, entry: &'d Entry, key: &str) -> Option<&'d [Entry]> {
        if let Value::Table(entries) = &entry.value {
            return Some(entries);
        }
        self.wrong(entry, key, "must be a table");
        None
    }

    fn wrong(&mut self, entry: &Entry, key: &str, rule: &str) {
        let message = format!("`{key}` {rule}, not {}", self.document.display_value(entry));
        let location = Some(self.document.key(entry));
        self.errors.push(Diagnostic::error(code::INVALID_VALUE, location, message));
    }

    fn unknown(&mut self, entry: &Entry, prefix: &str, known: &[&str]) {
        let help = did_you_mean(&entry.key, known.iter().copied())
            .unwrap_or_else(|| format!("the keys here are {}", known.join(", ")));
        let location = Some(self.document.key(entry));
        let message = format!("unknown key `{prefix}.{}`", entry.key);
        self.errors.push(Diagnostic::error(code::UNKNOWN_KEY, location, message).with_help(Some(help)));
    }
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
        assert_eq!(lambda(MemoryKind::Turn, MemoryScope::Session), 0.1);
        assert_eq!(lambda(MemoryKind::Turn, MemoryScope::User), 0.001);
        assert_eq!(lambda(MemoryKind::Note, MemoryScope::User), 0.5);
        assert_eq!(lambda(MemoryKind::Note, MemoryScope::Global), 0.0);
        assert_eq!(lambda(MemoryKind::Log, MemoryScope::Project), 10.0);
        assert!((rates.weight(MemoryKind::Turn, MemoryScope::Session, 6.931_471_8) - 0.5).abs() < 1e-8);
    }
}
