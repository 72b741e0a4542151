//! Fingerprints of stages.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Everything that the output of a stage depends on besides its input. When it changes, stored output is out of date.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The type of the stage. [`Pipeline::fingerprints`](crate::Pipeline::fingerprints) replaces it by the stage's name.
    pub name: String,
    /// Raised by the stage's author when the same input gives a different output.
    pub version: u32,
    /// The parts of the configuration that the output depends on, as `key=value;`.
    pub config: String,
}

impl Fingerprint {
    /// A fingerprint without configuration.
    pub fn new(name: impl Into<String>, version: u32) -> Self {
        Self { name: name.into(), version, config: String::new() }
    }

    /// Adds a value that the output depends on.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        let value = value.to_string().replace('\\', "\\\\").replace(';', "\\;");
        self.config.push_str(&format!("{key}={value};"));
        self
    }

    /// The fingerprint under another name. The type becomes part of the configuration.
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
