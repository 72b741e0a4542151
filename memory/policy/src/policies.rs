//! The merged policies of all layers, in the order of evaluation.

use aurora_diagnostics::{Diagnostic, Diagnostics, Location, code};
use aurora_suggest::did_you_mean;
use serde::Serialize;

use crate::condition::Condition;
use crate::layer::{ConfigFile, DefaultName, Layer, PolicyDraft, PolicyLayer};
use crate::lifespan::{Decay, Lifespan};
use crate::reader::{self, Reading};

const BUILT_IN_NAME: &str = "built_in.toml";
const BUILT_IN: &str = include_str!("built_in.toml");

/// A retention policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The name of the policy.
    pub name: String,
    /// The last layer that contains the policy.
    pub layer: Layer,
    /// The location of the policy in that layer.
    pub location: Location,
    /// The condition under which the policy applies. Only the default policy can omit the condition.
    pub condition: Option<Condition>,
    /// The lifespan of the entries to which the policy applies.
    pub lifespan: Lifespan,
    /// The decay of the activation of these entries.
    pub decay: Decay,
    /// The escalation flag that entries get if the condition holds.
    pub escalation: Option<String>,
    /// The purpose of the policy.
    pub description: Option<String>,
}

/// The merged policies of all layers. There is always a default policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Policies {
    enabled: bool,
    /// The last layer that sets `enabled`.
    enabled_in: Layer,
    /// All policies except the default policy, in the order of evaluation.
    ordered: Vec<Policy>,
    default: Policy,
}

impl Policies {
    /// Returns the built-in policies: `patterns`, `security_critical`, `high_usage`, `inactive` and `default`.
    pub fn built_in() -> Self {
        Self::load(&[]).expect("the built-in policies are valid, which a test checks")
    }

    /// Loads the built-in policies, and merges the policies of all files into them.
    ///
    /// - Files are merged in the order of their layers. Files of the same layer are merged in the given order.
    /// - If a policy with the same name already exists, the file overrides only the keys that it sets. The position of
    ///   the policy in the order does not change. `escalation = ""` removes the escalation flag of the policy.
    /// - New policies of a file are evaluated before all existing policies, in the order of the file.
    /// - The key `default` contains the name of the default policy. The default policy is evaluated last, and applies
    ///   even if its condition does not hold.
    /// - Only a built-in policy that no file overrides, or a policy that some file sets as `default`, can omit the
    ///   condition. A policy without a condition is ignored if it is not the default policy after the merge.
    /// - The key `decay` is optional. It defaults to `exponential` for `lifespan = "decay"`, and to `logarithmic` for
    ///   all other lifespans.
    /// - `enabled = false` switches the evaluation off. Then all entries are kept forever, with logarithmic decay.
    ///
    /// To disable a policy of an earlier layer, set its condition to `false`.
    ///
    /// # Errors
    /// Returns all errors of all files at once. In addition to the errors of [`PolicyLayer::from_toml`] and
    /// [`PolicyLayer::from_seed_json`], these are errors: a policy without a lifespan, a missing condition of a policy
    /// that cannot omit it, and a `default` that is not the name of a policy.
    pub fn load(files: &[ConfigFile<'_>]) -> Result<Self, Diagnostics> {
        let built_in = ConfigFile { layer: Layer::BuiltIn, name: BUILT_IN_NAME, text: BUILT_IN };
        let mut later: Vec<&ConfigFile<'_>> = files.iter().collect();
        later.sort_by_key(|file| file.layer);
        let files: Vec<&ConfigFile<'_>> = std::iter::once(&built_in).chain(later).collect();
        let mut draft = Draft::default();
        for file in &files {
            let Reading { layer, errors } = match file.is_json() {
                true => reader::read_seed_json(file.name, file.text),
                false => reader::read_toml(file.name, file.text),
            };
            draft.errors.extend(errors.iter().cloned());
            draft.apply(file.layer, layer);
        }
        draft.finish().map_err(|mut errors| {
            errors.sort(|name| files.iter().position(|file| file.name == name).unwrap_or(files.len()));
            errors
        })
    }

    /// Returns `true` if policies are evaluated.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns the last layer that switches the evaluation on or off.
    pub(crate) fn enabled_in(&self) -> Layer {
        self.enabled_in
    }

    /// Iterates over all policies in the order of evaluation. The default policy is the last.
    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.ordered.iter().chain([&self.default])
    }

    /// Returns the policy that applies if no condition holds.
    pub fn default_policy(&self) -> &Policy {
        &self.default
    }
}

/// The state of merging layers.
#[derive(Default)]
struct Draft {
    enabled: Option<(bool, Layer)>,
    /// The `default` settings of all layers, in the order of the layers.
    defaults: Vec<DefaultName>,
    policies: Vec<(Layer, PolicyDraft)>,
    errors: Diagnostics,
}

impl Draft {
    fn apply(&mut self, layer: Layer, changes: PolicyLayer) {
        self.enabled = changes.enabled.map(|enabled| (enabled, layer)).or(self.enabled);
        self.defaults.extend(changes.default);
        let mut new = Vec::new();
        for policy in changes.policies {
            match self.policies.iter_mut().find(|(_, existing)| existing.name == policy.name) {
                Some((last_layer, existing)) => {
                    *last_layer = layer;
                    existing.override_with(policy);
                }
                None => new.push((layer, policy)),
            }
        }
        self.policies.splice(0..0, new);
    }

    fn finish(mut self) -> Result<Policies, Diagnostics> {
        let (enabled, enabled_in) = self.enabled.unwrap_or((true, Layer::BuiltIn));
        let default = self.default_position();
        let mut ordered = Vec::new();
        let mut default_policy = None;
        for (index, (layer, draft)) in std::mem::take(&mut self.policies).into_iter().enumerate() {
            let is_default = default == Some(index);
            let has_condition = draft.condition.is_some();
            let Some(policy) = self.policy(layer, draft) else { continue };
            if is_default {
                default_policy = Some(policy);
            } else if has_condition {
                ordered.push(policy);
            }
        }
        match default_policy {
            Some(default) if self.errors.is_empty() => Ok(Policies { enabled, enabled_in, ordered, default }),
            _ => Err(self.errors),
        }
    }

    /// Returns the index of the default policy, which the last `default` setting determines.
    fn default_position(&mut self) -> Option<usize> {
        let DefaultName { name, key, location } = self.defaults.last()?;
        let position = self.policies.iter().position(|(_, policy)| policy.name == *name);
        if position.is_none() {
            let names: Vec<&str> = self.policies.iter().map(|(_, policy)| policy.name.as_str()).collect();
            let help = did_you_mean(name, names.iter().copied())
                .unwrap_or_else(|| format!("the policies are {}", names.join(", ")));
            let message = format!("`{key}` must name a policy, not \"{name}\"");
            let error = Diagnostic::error(code::INVALID_VALUE, Some(location.clone()), message);
            self.errors.push(error.with_help(Some(help)));
        }
        position
    }

    fn policy(&mut self, layer: Layer, draft: PolicyDraft) -> Option<Policy> {
        let PolicyDraft { name, key, location, condition, lifespan, decay, escalation, description } = draft;
        let can_be_default = layer == Layer::BuiltIn || self.defaults.iter().any(|default| default.name == name);
        if condition.is_none() && !can_be_default {
            let message = format!("`{key}.condition` is missing; only a default policy can omit it");
            self.errors.push(Diagnostic::error(code::MISSING_KEY, Some(location.clone()), message));
        }
        let Some(lifespan) = lifespan else {
            let message = format!("`{key}.lifespan` is missing; it {}", Lifespan::RULE);
            self.errors.push(Diagnostic::error(code::MISSING_KEY, Some(location), message));
            return None;
        };
        let decay = decay.unwrap_or(lifespan.default_decay());
        let escalation = escalation.filter(|flag| !flag.is_empty());
        Some(Policy { name, layer, location, condition, lifespan, decay, escalation, description })
    }
}
