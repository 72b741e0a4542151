//! Fingerprints of stages.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Everything that the output of a stage depends on, except its input. When the fingerprint changes, stored output is
/// out of date.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Type of the stage. [`Pipeline::fingerprints`](crate::Pipeline::fingerprints) replaces it with the stage's name.
    pub name: String,
    /// Version of the implementation. Must be increased when the same input gives a different output.
    pub version: u32,
    /// The settings that the output depends on, each as `key=value;`.
    pub config: String,
}

impl Fingerprint {
    /// A fingerprint without configuration.
    pub fn new(name: impl Into<String>, version: u32) -> Self {
        Self { name: name.into(), version, config: String::new() }
    }

    /// Adds a setting that the output depends on.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        let value = value.to_string().replace('\\', "\\\\").replace(';', "\\;");
        self.config.push_str(&format!("{key}={value};"));
        self
    }

    /// Parses the `config` of a fingerprint into a map from keys to values.
    pub fn settings(config: &str) -> BTreeMap<String, String> {
        let mut settings = BTreeMap::new();
        let (mut entry, mut is_escaped) = (String::new(), false);
        for char in config.chars() {
            match char {
                '\\' if !is_escaped => is_escaped = true,
                ';' if !is_escaped => {
                    let entry = std::mem::take(&mut entry);
                    let (key, value) = entry.split_once('=').unwrap_or((&entry, ""));
                    settings.insert(key.to_owned(), value.to_owned());
                }
                char => {
                    entry.push(char);
                    is_escaped = false;
                }
            }
        }
        settings
    }

    /// Returns the fingerprint with another name. The previous name becomes part of the configuration, under the key
    /// `use`.
    pub(crate) fn renamed(self, name: &str) -> Self {
        if self.name == name {
            return self;
        }
        Self { name: name.to_owned(), version: self.version, config: format!("use={};{}", self.name, self.config) }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} v{} {}", self.name, self.version, self.config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_the_added_values() {
        let fingerprint = Fingerprint::new("a", 1).with("key", "x;y=\\z").with("other", 3);
        let settings = Fingerprint::settings(&fingerprint.config);
        assert_eq!((settings["key"].as_str(), settings["other"].as_str(), settings.len()), ("x;y=\\z", "3", 2));
    }
}
