//! Access to the numbers of the configuration by key, for an optimiser that does not know their meaning.

use std::ops::RangeInclusive;

use crate::config::parameters::SearchConfig;
use crate::config::settings::{self, SETTINGS, Setting, SettingValue};

/// Tables whose numbers sum to 1.
const SHARES: [&str; 2] = ["search.hybrid.weights", "search.hybrid.rrf_weights"];

/// A number of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Tunable {
    /// The full key.
    pub key: &'static str,
    /// The valid range; the upper end is infinite if there is no upper bound.
    pub range: RangeInclusive<f64>,
    /// Whether the number is a whole number.
    pub whole: bool,
    /// The table whose numbers sum to 1, if the number belongs to such a table.
    pub share_of: Option<&'static str>,
}

/// The reason why a value cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The key does not exist.
    #[error("unknown key `{0}`")]
    Unknown(String),
    /// The value breaks the rule of its key.
    #[error("{key}: {rule}")]
    Rule {
        /// The key.
        key: &'static str,
        /// The rule.
        rule: String,
    },
}

impl SearchConfig {
    /// Returns every number of the configuration, in the order of the reference.
    pub fn tunables() -> Vec<Tunable> {
        SETTINGS.iter().filter_map(tunable).collect()
    }

    /// Returns the value of a number; `None` if the key is unknown or its value is no number.
    pub fn number(&self, key: &str) -> Option<f64> {
        let setting = settings::find(key)?;
        tunable(setting)?;
        settings::show(setting, &mut self.clone()).parse().ok()
    }

    /// Sets a key from text, like a configuration file. Does not check that shares sum to 1.
    ///
    /// # Errors
    /// Fails if the key is unknown or the value breaks the rule of its key. The configuration is then unchanged.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SetError> {
        let setting = settings::find(key).ok_or_else(|| SetError::Unknown(key.to_owned()))?;
        settings::assign(setting, self, value).map_err(|rule| SetError::Rule { key: setting.key, rule })
    }
}

fn tunable(setting: &Setting) -> Option<Tunable> {
    let (range, whole) = match &setting.value {
        SettingValue::Number(range, _) => (f64::from(*range.start())..=f64::from(*range.end()), false),
        SettingValue::Count(range, _) => (*range.start() as f64..=*range.end() as f64, true),
        SettingValue::Milliseconds(..) | SettingValue::Switch(_) | SettingValue::Fusion(_) | SettingValue::Model(_) => {
            return None;
        }
    };
    let share_of = SHARES.into_iter().find(|table| setting.key.rsplit_once('.').is_some_and(|(of, _)| of == *table));
    Some(Tunable { key: setting.key, range, whole, share_of })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_lie_within_their_ranges_and_shares_sum_to_one() {
        let config = SearchConfig::default();
        for tunable in SearchConfig::tunables() {
            let value = config.number(tunable.key).expect("a number");
            assert!(tunable.range.contains(&value), "{} = {value}", tunable.key);
        }
        for table in SHARES {
            let shares = SearchConfig::tunables().into_iter().filter(|tunable| tunable.share_of == Some(table));
            let sum: f64 = shares.filter_map(|tunable| config.number(tunable.key)).sum();
            assert!((sum - 1.0).abs() < 1e-4, "{table}: {sum}");
        }
    }

    #[test]
    fn set_values_can_be_read() {
        let mut config = SearchConfig::default();
        for tunable in SearchConfig::tunables() {
            let value = tunable.range.start() + 1.0_f64.min(tunable.range.end() - tunable.range.start());
            config.set(tunable.key, &value.to_string()).expect("within the range");
            assert_eq!(config.number(tunable.key), Some(value), "{}", tunable.key);
            let below = tunable.range.start() - 1.0;
            assert!(config.set(tunable.key, &below.to_string()).is_err(), "{}", tunable.key);
            assert_eq!(config.number(tunable.key), Some(value), "{}", tunable.key);
        }
        assert_eq!(config.set("search.bm25.k9", "1"), Err(SetError::Unknown("search.bm25.k9".to_owned())));
        assert_eq!(config.number("search.hybrid.fusion"), None);
        assert_eq!(config.set("search.folding.near_copies", "false"), Ok(()));
        assert!(!config.folding.near_copies && config.set("search.folding.near_copies", "0.5").is_err());
    }
}
