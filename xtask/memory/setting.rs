//! What is varied from one measurement to the next.

use std::sync::Arc;

use aurora_memory::MemoryRules;
use aurora_memory_policy::{ConfigFile, DecayRates, Layer, Policies};
use aurora_query::{Mode, SearchConfig};

/// Decay rates of turns that are measured, per hour; 0.00001 is the default.
pub(crate) const LAMBDAS: [f64; 6] = [0.0, 0.00001, 0.0001, 0.001, 0.01, 0.1];

/// How the turns are stored and searched.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// Whether each conversation has a memory of its own.
    pub(crate) is_scoped: bool,
    /// Decay rate of turns, per hour.
    pub(crate) lambda: f64,
    /// Which scores are used.
    pub(crate) mode: Mode,
    /// Everything else.
    pub(crate) config: SearchConfig,
}

impl Setting {
    /// That to which the others are compared: memories of their own, no decay, all scores.
    pub(crate) fn base(config: SearchConfig) -> Self {
        Self { is_scoped: true, lambda: 0.0, mode: Mode::Hybrid, config }
    }

    /// The same without spreading activation.
    pub(crate) fn without_spreading(mut self) -> Self {
        self.config.activation.spread = 0.0;
        self
    }

    /// That of [`Self::base`] first, then those in which the decay rate, the mode, the scopes or spreading are others.
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

    /// The rules of memories with this decay rate.
    pub(crate) fn rules(&self) -> Result<Arc<MemoryRules>, String> {
        let text = format!("[memory.decay]\nturn = {}\n", self.lambda);
        let file = ConfigFile { layer: Layer::Flag, name: "memory-quality", text: &text };
        let rates = DecayRates::load(&[file]).map_err(|errors| format!("{errors:?}"))?;
        Ok(Arc::new(MemoryRules { policies: Policies::built_in(), rates }))
    }

    /// Its columns in tables.
    pub(crate) fn columns(&self) -> String {
        let scopes = if self.is_scoped { "own" } else { "shared" };
        let spreading = if self.config.activation.spread > 0.0 { "on" } else { "off" };
        format!("| {scopes} | {} | {} | {spreading} ", self.lambda, self.mode.as_str())
    }
}
