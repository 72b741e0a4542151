//! Configuration layers, and the policy settings of one layer.

use aurora_diagnostics::Location;
use serde::Serialize;

use crate::condition::Condition;
use crate::lifespan::{Decay, Lifespan};

/// A layer of the configuration. Later layers override earlier layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Layer {
    /// The defaults of this crate.
    BuiltIn,
    /// The user's configuration, `~/.aurora/config.toml`.
    Global,
    /// The project's configuration, `.aurora/config.toml`.
    Project,
    /// The file whose path is in an environment variable.
    Environment,
    /// The file whose path is the value of a command-line flag.
    Flag,
    /// The section `governance` of the entry.
    Entry,
}

/// A configuration file that the caller has read.
#[derive(Debug, Clone, Copy)]
pub struct ConfigFile<'a> {
    /// The layer of the file, from [`Layer::Global`] to [`Layer::Flag`].
    pub layer: Layer,
    /// The name of the file, for messages. The content is JSON if the name ends in `.json`, and TOML otherwise.
    pub name: &'a str,
    /// The content of the file.
    pub text: &'a str,
}

/// The policy settings of one configuration file. [`Policies::load`](crate::Policies::load) describes their meaning.
#[derive(Debug, Clone, Default)]
pub struct PolicyLayer {
    pub(crate) enabled: Option<bool>,
    pub(crate) default: Option<DefaultName>,
    pub(crate) policies: Vec<PolicyDraft>,
}

/// The name of the default policy, with the key and the location of the setting.
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
    /// The key of the policy's table.
    pub(crate) key: String,
    pub(crate) location: Location,
    pub(crate) condition: Option<Condition>,
    pub(crate) lifespan: Option<Lifespan>,
    pub(crate) decay: Option<Decay>,
    /// The escalation flag: a label, such as `candidate_for_fine_tuning`, for the entries that match the policy. An
    /// empty string removes the label that an earlier layer has set.
    pub(crate) escalation: Option<String>,
    pub(crate) description: Option<String>,
}

impl ConfigFile<'_> {
    pub(crate) fn is_json(&self) -> bool {
        self.name.to_ascii_lowercase().ends_with(".json")
    }
}

impl PolicyLayer {
    /// Returns `true` if the layer has no policy settings.
    pub fn is_empty(&self) -> bool {
        self.enabled.is_none() && self.default.is_none() && self.policies.is_empty()
    }
}

impl PolicyDraft {
    /// Overrides the settings of the policy with the settings in `later`.
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
