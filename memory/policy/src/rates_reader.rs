//! Reads `[memory.decay]` of a configuration file.

use aurora_diagnostics::{Diagnostic, Diagnostics, code};
use aurora_suggest::did_you_mean;

use crate::document::{Document, Entry, Value};
use crate::memory_kind::{MemoryKind, MemoryScope};
use crate::temporal::DecayRates;

const KEY: &str = "memory.decay";
/// Highest decay rate, per hour.
const MOST: f64 = 10.0;

pub(crate) struct RatesReader<'r, 'd, 't> {
    pub(crate) document: &'d Document<'t>,
    pub(crate) rates: &'r mut DecayRates,
    pub(crate) errors: &'r mut Diagnostics,
}

impl<'d> RatesReader<'_, 'd, '_> {
    pub(crate) fn read(&mut self) {
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
            Value::Number(lambda) if (0.0..=MOST).contains(&lambda) => Some(lambda),
            _ => {
                self.wrong(entry, key, &format!("must be a number per hour from 0 to {MOST}"));
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
        let message = format!("`{key}` {rule}, not {}", self.document.shown(entry));
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
