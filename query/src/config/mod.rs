//! The configuration of a search. Merges files, environment and flags into one valid [`SearchConfig`].
//!
//! [`parameters`] declares every parameter, [`parameter`] provides access to parameters by key, [`value`] parses and
//! checks values, and [`layers`] merges the sources and reports all mistakes at once.

mod layers;
mod parameter;
mod parameters;
mod value;

pub use layers::{ConfigLayers, FlagValue};
pub use parameters::{
    ActivationConfig, ColumnWeights, ExpansionConfig, FoldingConfig, HybridConfig, KindsConfig, LearningConfig,
    Parameter, RrfWeights, RulesConfig, SearchConfig, TypeDecay, Weights,
};
pub use value::{Fusion, ModelName};
