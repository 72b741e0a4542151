//! The policies of all layers in the order in which they are evaluated.

use aurora_diagnostics::{Diagnostic, Diagnostics, Location, code};
use aurora_suggest::did_you_mean;
use serde::Serialize;

use crate::condition::Condition;
use crate::layer::{ConfigFile, DefaultName, Layer, PolicyDraft, PolicyLayer};
use crate::lifespan::{Decay, Lifespan};
use crate::reader::{self, Reading};

const BUILT_IN_NAME: &str = "built_in.toml";
const BUILT_IN: &str = include_str!("built_in.toml");

/// A policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The name of the policy.
    pub name: String,
    /// The last layer that configures the policy.
    pub layer: Layer,
    /// The location of the policy in that layer.
    pub location: Location,
    /// The condition under which the policy applies. Only the default policy can lack a condition.
    pub condition: Option<Condition>,
    /// The lifespan of entries.
    pub lifespan: Lifespan,
    /// The decay of their activation.
    pub decay: Decay,
    /// The escalation flag of entries for which the condition holds.
    pub escalation: Option<String>,
    /// The purpose of the policy.
    pub description: Option<String>,
}

/// The policies of all layers. Every set has a default policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Policies {
    enabled: bool,
    /// The layer that sets `enabled`.
    enabled_in: Layer,
    /// All policies except the default one, in the order of evaluation.
    ordered: Vec<Policy>,
    default: Policy,
}

impl Policies {
    /// Returns the five built-in policies of seed 004, Appendix C.2: `patterns`, `security_critical`, `high_usage`, `inactive`
    /// and `default`.
    pub fn built_in() -> Self {
        Self::load(&[]).expect("the built-in policies are valid, which a test checks")
    }

    /// Loads the built-in policies and applies every file on top of them.
    ///
    /// - Files are applied in the order of their layers, and files of the same layer in the given order.
    /// - A file that names a policy of an earlier layer overrides the keys that it sets; the other keys keep their values. The
    ///   policy keeps its position in the order. `escalation = ""` removes the flag.
    /// - New policies of a file come before all policies of earlier layers, in the order of the file.
    /// - `default` names the default policy. It comes last, and applies whether or not its own condition holds.
    /// - A policy without a condition applies only as the default policy; otherwise it is left out.
    /// - Without `decay`, a policy has exponential decay if its lifespan is `decay`, and logarithmic decay otherwise.
    /// - `enabled = false` switches evaluation off: all entries are kept, with logarithmic decay.
    ///
    /// To switch off a policy of an earlier layer, give it the condition `false`.
    ///
    /// # Errors
    /// Returns all errors of all files at once: the errors of [`PolicyLayer::from_toml`] and [`PolicyLayer::from_seed_json`],
    /// policies without a lifespan, policies without a condition that no layer names as the default, and a default that names an
    /// unknown policy.
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

    /// Whether policies are evaluated.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns the layer that switches evaluation on or off.
    pub(crate) fn enabled_in(&self) -> Layer {
        self.enabled_in
    }

    /// Iterates over all policies in the order of evaluation; the default policy comes last.
    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.ordered.iter().chain([&self.default])
    }

    /// Returns the policy that applies if no condition holds.
    pub fn default_policy(&self) -> &Policy {
        &self.default
    }
}

/// Layers that are being merged.
#[derive(Default)]
struct Draft {
    enabled: Option<(bool, Layer)>,
    /// The default policy of every layer that names one.
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
            match self.policies.iter_mut().find(|(_, known)| known.name == policy.name) {
                Some((known_in, known)) => {
                    *known_in = layer;
                    known.override_with(policy);
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

    /// Returns the index of the policy that the last layer names as the default.
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
