//! Reads the policies of a configuration file.

use aurora_diagnostics::{Diagnostic, Diagnostics, code};
use aurora_suggest::did_you_mean;

use crate::condition::Condition;
use crate::document::{Document, Entry, Value};
use crate::layer::{DefaultName, PolicyDraft, PolicyLayer};
use crate::lifespan::{Decay, Lifespan};

/// Maximum length of a policy name in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Aliases of keys, with the canonical key that the writer uses.
const ALIASES: [(&str, &str); 3] =
    [("default_policy", "default"), ("decay_mechanism", "decay"), ("escalation_action", "escalation")];
const SETTINGS: [&str; 2] = ["enabled", "default"];
const FIELDS: [&str; 5] = ["condition", "lifespan", "decay", "escalation", "description"];

impl PolicyLayer {
    /// Reads `[memory.policies]` and `[memory.policy.NAME]` of a configuration file in TOML and ignores the rest of the file.
    ///
    /// # Errors
    /// Returns all errors at once: invalid TOML, unknown keys, invalid values, and conditions that do not parse.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, Diagnostics> {
        read_toml(name, text).into_result()
    }

    /// Reads a configuration in JSON: `memory.lifespan_policies` (seed 004, Appendix C.2) or `retention_policies` (§6.7.1).
    /// The rest of the file is ignored.
    ///
    /// # Errors
    /// Returns all errors at once, as for TOML. A file with neither key, or with both, is also an error.
    pub fn from_seed_json(name: &str, text: &str) -> Result<Self, Diagnostics> {
        read_seed_json(name, text).into_result()
    }
}

/// The policies of a file, and its errors. A placeholder replaces each invalid value, so that no further error is reported for
/// it.
pub(crate) struct Reading {
    pub(crate) layer: PolicyLayer,
    pub(crate) errors: Diagnostics,
}

impl Reading {
    fn into_result(mut self) -> Result<PolicyLayer, Diagnostics> {
        self.errors.sort(|_| 0);
        if self.errors.is_empty() { Ok(self.layer) } else { Err(self.errors) }
    }
}

pub(crate) fn read_toml(name: &str, text: &str) -> Reading {
    let document = match Document::from_toml(name, text) {
        Ok(document) => document,
        Err(errors) => return Reading { layer: PolicyLayer::default(), errors },
    };
    let mut reader = LayerReader::new(&document);
    if let Some(memory) = reader.entry(&document.root, "memory")
        && let Some(memory) = reader.table(memory, "memory")
    {
        if let Some(settings) = reader.entry(memory, "policies") {
            reader.settings(settings, "memory.policies", None);
        }
        if let Some(policies) = reader.entry(memory, "policy") {
            reader.policies(policies, "memory.policy");
        }
    }
    reader.finish()
}

pub(crate) fn read_seed_json(name: &str, text: &str) -> Reading {
    let document = match Document::from_json(name, text) {
        Ok(document) => document,
        Err(errors) => return Reading { layer: PolicyLayer::default(), errors },
    };
    let mut reader = LayerReader::new(&document);
    let retention = reader.entry(&document.root, "retention_policies");
    let memory = reader.entry(&document.root, "memory").and_then(|memory| reader.table(memory, "memory"));
    let lifespan = memory.and_then(|memory| reader.entry(memory, "lifespan_policies"));
    match (retention, lifespan) {
        (None, None) => {
            let message = "the file has neither `memory.lifespan_policies` nor `retention_policies`";
            reader.errors.push(Diagnostic::error(code::MISSING_KEY, Some(document.start()), message));
        }
        (Some(policies), None) => reader.policies(policies, "retention_policies"),
        (None, Some(settings)) => {
            let inner = reader.settings(settings, "memory.lifespan_policies", Some("policies"));
            if let Some(policies) = inner {
                reader.policies(policies, "memory.lifespan_policies.policies");
            }
        }
        (Some(second), Some(_)) => {
            let message = "`retention_policies` cannot be used in a file that has `memory.lifespan_policies`";
            reader.invalid(second, message.to_owned(), Some("move its policies there".to_owned()));
        }
    }
    reader.finish()
}

struct LayerReader<'d, 't> {
    document: &'d Document<'t>,
    layer: PolicyLayer,
    errors: Diagnostics,
}

impl<'d, 't> LayerReader<'d, 't> {
    fn new(document: &'d Document<'t>) -> Self {
        Self { document, layer: PolicyLayer::default(), errors: Diagnostics::default() }
    }

    fn finish(self) -> Reading {
        Reading { layer: self.layer, errors: self.errors }
    }

    /// Reads `enabled` and `default`. Returns the entry whose key is `policies`, if the format keeps policies there.
    fn settings(&mut self, entry: &'d Entry, prefix: &str, policies: Option<&str>) -> Option<&'d Entry> {
        let mut found = None;
        let settings = self.table(entry, prefix)?;
        for (name, setting) in self.canonical_entries(settings, prefix) {
            let key = format!("{prefix}.{}", setting.key);
            match name {
                "enabled" => match setting.value {
                    Value::Boolean(enabled) => self.layer.enabled = Some(enabled),
                    _ => self.wrong(setting, &key, "must be true or false", None),
                },
                "default" => {
                    if let Some(name) = self.text(setting, &key, "must be the name of a policy in quotes") {
                        let location = self.document.key(setting);
                        self.layer.default = Some(DefaultName { name: name.to_owned(), key, location });
                    }
                }
                name if Some(name) == policies => found = Some(setting),
                name => {
                    let is_policy = matches!(setting.value, Value::Table(_)) && policies.is_none();
                    let help = match is_policy {
                        true => Some(format!("a policy is a table `[memory.policy.{name}]`")),
                        false => did_you_mean(name, SETTINGS.into_iter().chain(policies)),
                    };
                    self.unknown(setting, &key, help);
                }
            }
        }
        found
    }

    fn policies(&mut self, entry: &'d Entry, prefix: &str) {
        let Some(policies) = self.table(entry, prefix) else { return };
        for (name, policy) in self.canonical_entries(policies, prefix) {
            let key = format!("{prefix}.{name}");
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_letter) {
                let message = format!(
                    "`{key}`: the name of a policy must have 1 to {MAX_NAME_BYTES} ASCII letters, digits, `_` and `-`"
                );
                self.invalid(policy, message, None);
            }
            let draft = self.policy(policy, name, key);
            self.layer.policies.push(draft);
        }
    }

    fn policy(&mut self, entry: &'d Entry, name: &str, key: String) -> PolicyDraft {
        let mut draft = PolicyDraft {
            name: name.to_owned(),
            location: self.document.key(entry),
            condition: None,
            lifespan: None,
            decay: None,
            escalation: None,
            description: None,
            key,
        };
        let Some(fields) = self.table(entry, &draft.key) else {
            draft.condition = Some(Condition::never());
            draft.lifespan = Some(Lifespan::Indefinite);
            return draft;
        };
        for (name, field) in self.canonical_entries(fields, &draft.key) {
            let key = format!("{}.{}", draft.key, field.key);
            match name {
                "condition" => draft.condition = Some(self.condition(field, &key)),
                "lifespan" => {
                    let lifespan = self.parsed(field, &key, Lifespan::RULE, Lifespan::parse, Lifespan::suggestion);
                    draft.lifespan = Some(lifespan.unwrap_or(Lifespan::Indefinite));
                }
                "decay" => draft.decay = self.parsed(field, &key, Decay::RULE, Decay::parse, Decay::suggestion),
                "escalation" => draft.escalation = self.text(field, &key, "must be a string").map(str::to_owned),
                "description" => draft.description = self.text(field, &key, "must be a string").map(str::to_owned),
                name => self.unknown(field, &key, did_you_mean(name, FIELDS)),
            }
        }
        draft
    }

    fn condition(&mut self, entry: &'d Entry, key: &str) -> Condition {
        let Some(text) = self.text(entry, key, "must be a condition in quotes") else { return Condition::never() };
        Condition::parse(text).unwrap_or_else(|error| {
            let location = self.document.part_of_text(entry, text, error.span);
            let message = format!("`{key}`: {}; expected {}", error.cause, error.expected);
            self.errors
                .push(Diagnostic::error(code::INVALID_VALUE, Some(location), message).with_help(error.suggestion));
            Condition::never()
        })
    }

    /// Reads a string that `parse` accepts.
    fn parsed<T>(
        &mut self,
        entry: &'d Entry,
        key: &str,
        rule: &str,
        parse: impl Fn(&str) -> Option<T>,
        suggestion: impl Fn(&str) -> Option<String>,
    ) -> Option<T> {
        let text = self.text(entry, key, rule)?;
        let value = parse(text);
        if value.is_none() {
            self.wrong(entry, key, rule, suggestion(text));
        }
        value
    }

    fn text(&mut self, entry: &'d Entry, key: &str, rule: &str) -> Option<&'d str> {
        if let Value::Text(text) = &entry.value {
            return Some(text);
        }
        self.wrong(entry, key, rule, None);
        None
    }

    fn table(&mut self, entry: &'d Entry, key: &str) -> Option<&'d [Entry]> {
        if let Value::Table(entries) = &entry.value {
            return Some(entries);
        }
        self.wrong(entry, key, "must be a table", None);
        None
    }

    /// Returns the first entry with this key and reports any others, which JSON does not forbid.
    fn entry(&mut self, entries: &'d [Entry], key: &str) -> Option<&'d Entry> {
        let mut found = entries.iter().filter(|entry| entry.key == key);
        let first = found.next();
        for second in found {
            self.invalid(second, format!("`{key}` is set more than once"), Some("keep one".to_owned()));
        }
        first
    }

    /// Returns the entries with their canonical keys. Reports an entry that repeats the key of an earlier one.
    fn canonical_entries(&mut self, entries: &'d [Entry], prefix: &str) -> Vec<(&'d str, &'d Entry)> {
        let mut known: Vec<(&str, &Entry)> = Vec::new();
        for entry in entries {
            let alias = ALIASES.into_iter().find(|(alias, _)| *alias == entry.key);
            let name = alias.map_or(entry.key.as_str(), |(_, name)| name);
            match known.iter().find(|(earlier, _)| *earlier == name) {
                Some((_, earlier)) => {
                    let message = format!("`{prefix}.{}` repeats the key `{}`", entry.key, earlier.key);
                    self.invalid(entry, message, Some("keep one".to_owned()));
                }
                None => known.push((name, entry)),
            }
        }
        known
    }

    fn wrong(&mut self, entry: &Entry, key: &str, rule: &str, help: Option<String>) {
        let message = format!("`{key}` {rule}, not {}", self.document.display_value(entry));
        self.invalid(entry, message, help);
    }

    fn invalid(&mut self, entry: &Entry, message: String, help: Option<String>) {
        let location = Some(self.document.key(entry));
        self.errors.push(Diagnostic::error(code::INVALID_VALUE, location, message).with_help(help));
    }

    fn unknown(&mut self, entry: &Entry, key: &str, help: Option<String>) {
        let location = Some(self.document.key(entry));
        let message = format!("unknown key `{key}`");
        self.errors.push(Diagnostic::error(code::UNKNOWN_KEY, location, message).with_help(help));
    }
}
