//! Settings that are measured and compared.

use std::sync::Arc;

use aurora_memory::MemoryRules;
use aurora_memory_policy::{ConfigFile, DecayRates, Layer, Policies};
use aurora_query::{Mode, SearchConfig};

/// The decay rates of turns to measure, per hour. The default is 0.00001.
pub(crate) const LAMBDAS: [f64; 6] = [0.0, 0.00001, 0.0001, 0.001, 0.01, 0.1];

/// Settings for storing and searching turns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// Whether each conversation has a separate memory.
    pub(crate) is_scoped: bool,
    /// Decay rate of turns, per hour.
    pub(crate) lambda: f64,
    /// The scores that the search combines: keywords, vectors or both.
    pub(crate) mode: Mode,
    /// All other search parameters.
    pub(crate) config: SearchConfig,
}

impl Setting {
    /// Returns the baseline: separate memories, no decay, all scores.
    pub(crate) fn base(config: SearchConfig) -> Self {
        Self { is_scoped: true, lambda: 0.0, mode: Mode::Hybrid, config }
    }

    /// Returns the same setting without spreading activation.
    pub(crate) fn without_spreading(mut self) -> Self {
        self.config.activation.spread = 0.0;
        self
    }

    /// Returns [`Self::base`], followed by the settings that change the decay rate, the mode, the scopes or the
    /// spreading.
    pub(crate) fn all(config: &SearchConfig) -> Vec<Self> {
        let base = Self::base(config.clone());
        let mut all = Vec::new();
        for is_scoped in [true, false] {
            let decays = LAMBDAS.map(|lambda| Self { is_scoped, lambda, ..base.clone() });
            let modes = [Mode::Dense, Mode::Sparse].map(|mode| Self { is_scoped, mode, ..base.clone() });
            all.extend(decays.into_iter().chain(modes));
        }
        all.push(base.without_spreading());
        all
    }

    /// Returns the memory rules with this decay rate.
    pub(crate) fn rules(&self) -> Result<Arc<MemoryRules>, String> {
        let text = format!("[memory.decay]\nturn = {}\n", self.lambda);
        let file = ConfigFile { layer: Layer::Flag, name: "memory-quality", text: &text };
        let rates = DecayRates::load(&[file]).map_err(|errors| format!("{errors:?}"))?;
        Ok(Arc::new(MemoryRules { policies: Policies::built_in(), rates }))
    }

    /// Returns the cells of this setting in tables.
    pub(crate) fn columns(&self) -> String {
        let scopes = if self.is_scoped { "own" } else { "shared" };
        let spreading = if self.config.activation.spread > 0.0 { "on" } else { "off" };
        format!("| {scopes} | {} | {} | {spreading} ", self.lambda, self.mode.as_str())
    }
}
