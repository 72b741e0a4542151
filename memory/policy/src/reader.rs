//! Reads policies from a configuration file.

use aurora_diagnostics::document::{Document, Entry, Reader, Value};
use aurora_diagnostics::{Diagnostic, Diagnostics, Location, code};

use crate::condition::Condition;
use crate::layer::{DefaultName, PolicyDraft, PolicyLayer};
use crate::lifespan::{Decay, Lifespan};

/// Maximum length of a policy name in bytes.
const MAX_NAME_BYTES: usize = 64;
/// Aliases of keys, each with its canonical key. The writer uses only canonical keys.
const ALIASES: [(&str, &str); 3] =
    [("default_policy", "default"), ("decay_mechanism", "decay"), ("escalation_action", "escalation")];
const SETTINGS: [&str; 2] = ["enabled", "default"];
const FIELDS: [&str; 5] = ["condition", "lifespan", "decay", "escalation", "description"];

impl PolicyLayer {
    /// Reads the tables `[memory.policies]` and `[memory.policy.NAME]` of a configuration file in TOML. Ignores the
    /// rest of the file.
    ///
    /// # Errors
    /// Returns all errors at once: invalid TOML, unknown keys, invalid values, and conditions that do not parse.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, Diagnostics> {
        read_toml(name, text).into_result()
    }

    /// Reads policies from a JSON file. The value of `retention_policies` is a table of policies. Alternatively, the
    /// value of `memory.lifespan_policies` contains the table of policies as `policies`, and the settings `enabled` and
    /// `default`. Ignores the rest of the file.
    ///
    /// # Errors
    /// Returns all errors at once, as for TOML. Also fails if the file has neither `retention_policies` nor
    /// `memory.lifespan_policies`, or both.
    pub fn from_seed_json(name: &str, text: &str) -> Result<Self, Diagnostics> {
        read_seed_json(name, text).into_result()
    }
}

/// The policies and the errors of a file. A placeholder replaces each invalid condition and lifespan, so that the value
/// is not also reported as missing.
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
    let memory = reader.memory();
    if let Some(settings) = reader.values.entry(memory, "policies") {
        reader.settings(settings, "memory.policies", None);
    }
    if let Some(policies) = reader.values.entry(memory, "policy") {
        reader.policies(policies, "memory.policy");
    }
    reader.finish()
}

pub(crate) fn read_seed_json(name: &str, text: &str) -> Reading {
    let document = match Document::from_json_with_comments(name, text) {
        Ok(document) => document,
        Err(errors) => return Reading { layer: PolicyLayer::default(), errors },
    };
    let mut reader = LayerReader::new(&document);
    let retention = reader.values.entry(document.root.entries(), "retention_policies");
    let memory = reader.memory();
    let lifespan = reader.values.entry(memory, "lifespan_policies");
    match (retention, lifespan) {
        (None, None) => {
            let message = "the file has neither `memory.lifespan_policies` nor `retention_policies`";
            let start = Some(document.location(0..0));
            reader.values.mistakes.push(Diagnostic::error(code::MISSING_KEY, start, message));
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
            reader.values.refuse(second, message.to_owned(), Some("move its policies there".to_owned()));
        }
    }
    reader.finish()
}

struct LayerReader<'d, 't> {
    values: Reader<'d, 't>,
    layer: PolicyLayer,
}

impl<'d, 't> LayerReader<'d, 't> {
    fn new(document: &'d Document<'t>) -> Self {
        Self { values: Reader::new(document), layer: PolicyLayer::default() }
    }

    fn finish(self) -> Reading {
        Reading { layer: self.layer, errors: self.values.mistakes }
    }

    /// Returns the entries of the table `memory`; empty if there is no such table.
    fn memory(&mut self) -> &'d [Entry<'t>] {
        let memory = self.values.entry(self.values.document.root.entries(), "memory");
        memory.and_then(|memory| self.values.table(memory, "memory")).unwrap_or_default()
    }

    /// Reads `enabled` and `default` from the table `entry`. In the JSON format, the same table also contains the
    /// policies. `policies` is their key in this case, and the function returns the entry with this key.
    fn settings(&mut self, entry: &'d Entry<'t>, prefix: &str, policies: Option<&str>) -> Option<&'d Entry<'t>> {
        let mut found = None;
        let settings = self.values.table(entry, prefix)?;
        for (name, setting) in self.canonical_entries(settings, prefix) {
            let key = format!("{prefix}.{}", setting.key);
            match name {
                "enabled" => self.layer.enabled = self.values.flag(setting, &key).or(self.layer.enabled),
                "default" => {
                    if let Some(name) = self.values.text(setting, &key, "must be the name of a policy in quotes") {
                        let location = self.location(setting);
                        self.layer.default = Some(DefaultName { name: name.to_owned(), key, location });
                    }
                }
                name if Some(name) == policies => found = Some(setting),
                name => {
                    let is_policy = matches!(setting.node.value, Value::Table(_)) && policies.is_none();
                    let help = is_policy.then(|| format!("a policy is a table `[memory.policy.{name}]`"));
                    let valid: Vec<&str> = SETTINGS.into_iter().chain(policies).collect();
                    self.values.unknown(setting, &key, &valid, help);
                }
            }
        }
        found
    }

    fn policies(&mut self, entry: &'d Entry<'t>, prefix: &str) {
        let Some(policies) = self.values.table(entry, prefix) else { return };
        for (name, policy) in self.canonical_entries(policies, prefix) {
            let key = format!("{prefix}.{name}");
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_letter) {
                let message = format!(
                    "`{key}`: the name of a policy must have 1 to {MAX_NAME_BYTES} ASCII letters, digits, `_` and `-`"
                );
                self.values.refuse(policy, message, None);
            }
            let draft = self.policy(policy, name, key);
            self.layer.policies.push(draft);
        }
    }

    fn policy(&mut self, entry: &'d Entry<'t>, name: &str, key: String) -> PolicyDraft {
        let mut draft = PolicyDraft {
            name: name.to_owned(),
            location: self.location(entry),
            condition: None,
            lifespan: None,
            decay: None,
            escalation: None,
            description: None,
            key,
        };
        let Some(fields) = self.values.table(entry, &draft.key) else {
            draft.condition = Some(Condition::never());
            draft.lifespan = Some(Lifespan::Indefinite);
            return draft;
        };
        for (name, field) in self.canonical_entries(fields, &draft.key) {
            let key = format!("{}.{}", draft.key, field.key);
            let values = &mut self.values;
            match name {
                "condition" => draft.condition = Some(self.condition(field, &key)),
                "lifespan" => {
                    let lifespan = values.parsed(field, &key, Lifespan::RULE, Lifespan::parse, Lifespan::suggestion);
                    draft.lifespan = Some(lifespan.unwrap_or(Lifespan::Indefinite));
                }
                "decay" => {
                    draft.decay = values.parsed(field, &key, Decay::RULE, |text| text.parse().ok(), Decay::suggestion)
                }
                "escalation" => draft.escalation = values.text(field, &key, "must be a string").map(str::to_owned),
                "description" => draft.description = values.text(field, &key, "must be a string").map(str::to_owned),
                _ => values.unknown(field, &key, &FIELDS, None),
            }
        }
        draft
    }

    fn condition(&mut self, entry: &'d Entry<'t>, key: &str) -> Condition {
        let Some(text) = self.values.text(entry, key, "must be a condition in quotes") else {
            return Condition::never();
        };
        Condition::parse(text).unwrap_or_else(|error| {
            let location = Some(self.values.document.part_of_text(&entry.node, text, error.span));
            let message = format!("`{key}`: {}; expected {}", error.cause, error.expected);
            let error = Diagnostic::error(code::INVALID_VALUE, location, message).with_help(error.suggestion);
            self.values.mistakes.push(error);
            Condition::never()
        })
    }

    fn location(&self, entry: &Entry<'_>) -> Location {
        self.values.document.location(entry.key_span.clone())
    }

    /// Returns the entries with their canonical keys. Reports and omits an entry that repeats the key of an earlier
    /// entry.
    fn canonical_entries(&mut self, entries: &'d [Entry<'t>], prefix: &str) -> Vec<(&'d str, &'d Entry<'t>)> {
        let mut canonical: Vec<(&str, &Entry<'t>)> = Vec::new();
        for entry in entries {
            let alias = ALIASES.into_iter().find(|(alias, _)| *alias == entry.key);
            let name = alias.map_or(entry.key.as_ref(), |(_, name)| name);
            match canonical.iter().find(|(earlier, _)| *earlier == name) {
                Some((_, earlier)) => {
                    let message = format!("`{prefix}.{}` repeats the key `{}`", entry.key, earlier.key);
                    self.values.refuse(entry, message, Some("keep one".to_owned()));
                }
                None => canonical.push((name, entry)),
            }
        }
        canonical
    }
}
