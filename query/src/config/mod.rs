//! The configuration of a search. Merges files, environment and flags into one valid [`SearchConfig`].
//!
//! [`parameters`] defines every number with its measured default, [`settings`] maps keys to parameters and their rules,
//! [`layers`] merges the sources and reports all mistakes at once, and [`tunable`] gives an optimiser access to the
//! numbers by key.

mod layers;
mod parameters;
mod reference;
mod settings;
mod tunable;

pub use layers::{ConfigLayers, FlagValue};
pub use parameters::{
    ActivationConfig, ExpansionConfig, FoldingConfig, Fusion, HybridConfig, KindsConfig, LearningConfig, RulesConfig,
    SearchConfig, TypeDecay,
};
pub use reference::SearchKey;
pub use tunable::{SetError, Tunable};
