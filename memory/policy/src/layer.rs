//! Layers of configuration, and the policies of one layer.

use aurora_diagnostics::Location;
use serde::Serialize;

use crate::condition::Condition;
use crate::lifespan::{Decay, Lifespan};

/// The layer that last changed a policy, or that a rule comes from. Later layers override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Layer {
    /// This crate.
    BuiltIn,
    /// The user's configuration, `~/.aurora/config.toml`.
    Global,
    /// The project's configuration, `.aurora/config.toml`.
    Project,
    /// The file that an environment variable names.
    Environment,
    /// The file that a flag names.
    Flag,
    /// The entry's own `governance`.
    Entry,
}

/// A configuration file that the caller has read.
#[derive(Debug, Clone, Copy)]
pub struct ConfigFile<'a> {
    /// The layer of its settings, [`Layer::Global`] to [`Layer::Flag`].
    pub layer: Layer,
    /// Its name, for messages. The text is JSON if the name ends in `.json`, and TOML otherwise.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// The policy settings of one configuration file; see [`Policies::load`](crate::Policies::load) for their meaning.
#[derive(Debug, Clone, Default)]
pub struct PolicyLayer {
    pub(crate) enabled: Option<bool>,
    pub(crate) default: Option<DefaultName>,
    pub(crate) policies: Vec<PolicyDraft>,
}

/// The name of the default policy, and the key and location that set it.
#[derive(Debug, Clone)]
pub(crate) struct DefaultName {
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) location: Location,
}

/// The settings of one policy in one layer.
#[derive(Debug, Clone)]
pub(crate) struct PolicyDraft {
    pub(crate) name: String,
    /// The key of its table.
    pub(crate) key: String,
    pub(crate) location: Location,
    pub(crate) condition: Option<Condition>,
    pub(crate) lifespan: Option<Lifespan>,
    pub(crate) decay: Option<Decay>,
    /// An empty string removes the flag.
    pub(crate) escalation: Option<String>,
    pub(crate) description: Option<String>,
}

impl ConfigFile<'_> {
    pub(crate) fn is_json(&self) -> bool {
        self.name.to_ascii_lowercase().ends_with(".json")
    }
}

impl PolicyLayer {
    /// Whether the layer has no policy settings.
    pub fn is_empty(&self) -> bool {
        self.enabled.is_none() && self.default.is_none() && self.policies.is_empty()
    }
}

impl PolicyDraft {
    /// Replaces the settings that `later` has.
    pub(crate) fn override_with(&mut self, later: Self) {
        self.key = later.key;
        self.location = later.location;
        self.condition = later.condition.or(self.condition.take());
        self.lifespan = later.lifespan.or(self.lifespan);
        self.decay = later.decay.or(self.decay);
        self.escalation = later.escalation.or(self.escalation.take());
        self.description = later.description.or(self.description.take());
    }
}
