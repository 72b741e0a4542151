//! Forgetting: how fast the activation of an unused chunk decays.
//!
//! Every chunk type has a rate, which multiplies the exponent of the base level and the decay. Entries of
//! memory and conversation logs also follow these lifespan policies: patterns and frequently used entries decay slowly,
//! entries about security do not decay for a year, and unused entries decay exponentially.

use aurora_storage::{ArchivedMetaValue, ChunkRecord, ChunkType};

use crate::config::{ActivationConfig, TypeDecay};
pub use crate::memory::Forgetting;
use crate::rank::uses::{UseHistory, days_between};

/// Number of uses above which an entry always decays slowly (logarithmically).
const FREQUENT_USES: u64 = 10;
/// Maximum number of uses of an inactive entry that decays exponentially.
const MAX_RARE_USES: u64 = 2;
/// Number of days for which entries about security do not decay.
const SECURITY_DAYS: f64 = 365.0;
/// Number of half-lives after which the exponential decay ends.
const MAX_HALF_LIVES: f64 = 4.0;

impl TypeDecay {
    /// Returns the rate of a type.
    pub fn of(&self, chunk_type: ChunkType) -> f32 {
        match chunk_type {
            ChunkType::Function | ChunkType::Method | ChunkType::Code => self.code,
            ChunkType::Class | ChunkType::Interface | ChunkType::Type | ChunkType::Struct | ChunkType::Enum => {
                self.types
            }
            ChunkType::Kb => self.kb,
            ChunkType::Doc => self.doc,
            ChunkType::Reasoning => self.reasoning,
            ChunkType::Knowledge => self.knowledge,
            ChunkType::Note => self.note,
            ChunkType::Turn => self.turn,
        }
    }
}

/// Returns the way in which the activation of `chunk` decays.
pub(crate) fn forgetting_of(
    config: &ActivationConfig,
    chunk: ChunkRecord<'_>,
    uses: &UseHistory,
    now: i64,
) -> Forgetting {
    if !chunk.chunk_type().is_memory() {
        return Forgetting::Logarithmic;
    }
    let Some(last) = uses.last() else { return Forgetting::Logarithmic };
    let days = days_between(last, now);
    let inactive = days > f64::from(config.inactive_after) && uses.shown <= MAX_RARE_USES;
    let lasting = is_pattern(chunk) || uses.shown > FREQUENT_USES;
    if lasting {
        Forgetting::Logarithmic
    } else if days <= SECURITY_DAYS && concerns_security(chunk) {
        Forgetting::None
    } else if inactive && config.inactive_half_life > 0.0 {
        Forgetting::Exponential
    } else {
        Forgetting::Logarithmic
    }
}

/// Returns the amount by which disuse since `last` lowers an activation: `factor · log10(days)`, 0 within the first
/// day. [`Forgetting::Exponential`] adds `ln 2` for every half-life since the entry became inactive. Because a base
/// level is a logarithm, subtracting `ln 2` halves the strength of the entry.
pub(crate) fn decay(config: &ActivationConfig, way: Forgetting, rate: f32, last: i64, now: i64) -> f64 {
    let days = days_between(last, now);
    let slow = f64::from(rate * config.inactivity) * days.max(1.0).log10();
    match way {
        Forgetting::None => 0.0,
        Forgetting::Logarithmic => slow,
        Forgetting::Exponential => {
            let half_lives = (days - f64::from(config.inactive_after)) / f64::from(config.inactive_half_life);
            slow + std::f64::consts::LN_2 * half_lives.clamp(0.0, MAX_HALF_LIVES)
        }
    }
}

/// Decay of conversations over time: `exp(−λ · hours)`.
pub fn conversation_decay(lambda: f64, time: i64, now: i64) -> f64 {
    (-lambda * days_between(time, now) * 24.0).exp()
}

fn is_pattern(chunk: ChunkRecord<'_>) -> bool {
    chunk.metadata().any(|(name, value)| name == "is_pattern" && matches!(value, ArchivedMetaValue::Bool(true)))
}

fn concerns_security(chunk: ChunkRecord<'_>) -> bool {
    let tagged = chunk
        .governance()
        .is_some_and(|governance| governance.tags.iter().any(|tag| tag.as_str().eq_ignore_ascii_case("security")));
    let domain = |value: &ArchivedMetaValue| match value {
        ArchivedMetaValue::String(domain) => domain.as_str().eq_ignore_ascii_case("security"),
        _ => false,
    };
    tagged || chunk.metadata().any(|(name, value)| name == "domain" && domain(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;

    const DAYS: i64 = 86_400;

    #[test]
    fn decay_by_hand() {
        let config = SearchConfig::default().activation;
        let at = |way, rate, days| decay(&config, way, rate, 0, days * DAYS);
        assert!((at(Forgetting::Logarithmic, 1.0, 100) - 1.0).abs() < 1e-6);
        assert!((at(Forgetting::Logarithmic, 0.5, 100) - 0.5).abs() < 1e-6);
        assert_eq!(decay(&config, Forgetting::Logarithmic, 1.0, 0, DAYS / 2), 0.0);
        assert_eq!(at(Forgetting::None, 1.0, 300), 0.0);
        // 90 days, and one half-life of 180
        let expected = 0.5 * 270f64.log10() + 2f64.ln();
        assert!((at(Forgetting::Exponential, 1.0, 270) - expected).abs() < 1e-6);
        assert!((conversation_decay(0.01, 0, 7 * DAYS) - (-1.68f64).exp()).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn decay_never_decreases_with_time(days in 0i64..5_000, more in 0i64..5_000, rate in 0.0f32..2.0) {
            let config = SearchConfig::default().activation;
            for way in [Forgetting::Logarithmic, Forgetting::Exponential, Forgetting::None] {
                let at = |days| decay(&config, way, rate, 0, days * DAYS);
                prop_assert!(at(days) >= 0.0 && at(days + more) >= at(days));
            }
        }
    }
}
