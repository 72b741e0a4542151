//! Layers of configuration, and what one layer says about policies.

use std::fmt;

use aurora_diagnostics::Location;
use serde::Serialize;

use crate::condition::Condition;
use crate::lifespan::{Decay, Lifespan};

/// Where a policy was last changed, or a rule comes from. A later layer wins over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// This crate.
    BuiltIn,
    /// The user's configuration, `~/.aurora/config.toml`.
    Global,
    /// The project's configuration, `.aurora/config.toml`.
    Project,
    /// The file that a variable of the environment names.
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
    /// Its name, for messages. A name that ends in `.json` says that the text is JSON.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// What one configuration file says about policies; see [`Policies::load`](crate::Policies::load) for its meaning.
#[derive(Debug, Clone, Default)]
pub struct PolicyLayer {
    pub(crate) enabled: Option<bool>,
    pub(crate) default: Option<DefaultName>,
    pub(crate) policies: Vec<PolicyDraft>,
}

/// The name of the default policy, and the key and place that set it.
#[derive(Debug, Clone)]
pub(crate) struct DefaultName {
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) location: Location,
}

/// What one layer says about one policy.
#[derive(Debug, Clone)]
pub(crate) struct PolicyDraft {
    pub(crate) name: String,
    /// The key of its table.
    pub(crate) key: String,
    pub(crate) location: Location,
    pub(crate) condition: Option<Condition>,
    pub(crate) lifespan: Option<Lifespan>,
    pub(crate) decay: Option<Decay>,
    /// Empty for none.
    pub(crate) escalation: Option<String>,
    pub(crate) description: Option<String>,
}

impl ConfigFile<'_> {
    pub(crate) fn is_json(&self) -> bool {
        self.name.to_ascii_lowercase().ends_with(".json")
    }
}

impl PolicyLayer {
    /// Whether the layer says nothing.
    pub fn is_empty(&self) -> bool {
        self.enabled.is_none() && self.default.is_none() && self.policies.is_empty()
    }
}

impl PolicyDraft {
    /// Replaces what `later` says.
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

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "built-in",
            Self::Global => "global",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Flag => "flag",
            Self::Entry => "entry",
        })
    }
}
