//! The configuration of a search: files, environment and flags in, one valid [`SearchConfig`] out.
//!
//! [`parameters`] defines every number with its measured default, [`settings`] names them by key with their rules, [`layers`]
//! merges the sources and reports all mistakes at once, and [`tunable`] gives an optimiser access to the numbers by key.

mod layers;
mod parameters;
mod reference;
mod settings;
mod tunable;

pub use layers::{ConfigError, ConfigErrors, ConfigLayers, FlagValue, SettingOrigin};
pub use parameters::{
    ActivationConfig, ExpansionConfig, FoldingConfig, Fusion, HybridConfig, KindsConfig, LearningConfig, RulesConfig,
    SearchConfig, TypeDecay,
};
pub use reference::SearchKey;
pub use tunable::{SetError, Tunable};
