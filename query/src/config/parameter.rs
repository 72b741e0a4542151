//! Access to parameters by key: for the loader of settings, for the generator of the reference documentation, and for
//! an optimiser that varies numbers without knowing their meaning.

use std::sync::LazyLock;

use crate::config::parameters::{Parameter, Row, SearchConfig, Table};
use crate::config::value::{Fusion, Kind};

/// Tables whose numbers must sum to 1.
pub(super) const SHARES: [&str; 2] = ["search.hybrid.weights", "search.hybrid.rrf_weights"];

static ALL: LazyLock<Vec<&'static Parameter>> = LazyLock::new(|| {
    let mut all = Vec::new();
    collect(SearchConfig::ROWS, &mut all);
    all
});

fn collect(rows: &'static [Row], all: &mut Vec<&'static Parameter>) {
    for row in rows {
        match row {
            Row::Parameter(parameter) => all.push(parameter),
            Row::Table(rows) => collect(rows, all),
        }
    }
}

impl Parameter {
    /// Returns every parameter, in the order of the reference.
    pub fn all() -> impl Iterator<Item = &'static Self> + Clone {
        ALL.iter().copied()
    }

    /// Returns every number that affects ranking, in the order of the reference.
    pub fn numbers() -> impl Iterator<Item = &'static Self> {
        Self::all().filter(|parameter| matches!(parameter.kind, Kind::Number | Kind::Count))
    }

    /// Returns the parameter with this key.
    pub fn find(key: &str) -> Option<&'static Self> {
        Self::all().find(|parameter| parameter.key == key)
    }

    /// Returns the environment variable that sets the parameter: `search.bm25.k1` is `AURORA_SEARCH_BM25_K1`.
    pub fn variable(&self) -> String {
        format!("AURORA_{}", self.key.replace('.', "_").to_uppercase())
    }

    /// Returns whether the value is a whole number.
    pub fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Count | Kind::Limit)
    }

    /// Returns whether the parameter is directly or indirectly in `table`.
    pub(super) fn is_in(&self, table: &str) -> bool {
        self.key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
    }

    /// Returns the table that contains the parameter, if the numbers of this table must sum to 1.
    pub fn share_of(&self) -> Option<&'static str> {
        SHARES.into_iter().find(|table| self.is_in(table))
    }

    /// Describes the values that the parameter accepts.
    pub fn values(&self) -> String {
        let (least, most) = (self.range.start(), self.range.end());
        match self.kind {
            Kind::Number if most.is_infinite() => format!("number ≥ {least}"),
            Kind::Number => format!("number from {least} to {most}"),
            Kind::Count | Kind::Limit => format!("whole number from {least} to {most}"),
            Kind::Switch => "`true` or `false`".to_owned(),
            Kind::Fusion => Fusion::NAMES.map(|name| format!("`{name}`")).join(" or "),
            Kind::Model => "`off` or the name of a model".to_owned(),
        }
    }

    /// Returns the rule that values must follow, for error messages: `must be a number ≥ 0.0`.
    fn rule(&self) -> String {
        let (least, most) = (self.range.start(), self.range.end());
        match self.kind {
            Kind::Number if most.is_infinite() => format!("must be a number ≥ {least:.1}"),
            Kind::Number => format!("must be a number between {least:.1} and {most:.1}"),
            Kind::Count | Kind::Limit => format!("must be a whole number between {least} and {most}"),
            Kind::Switch | Kind::Fusion | Kind::Model => format!("must be {}", self.values()),
        }
    }

    /// Parses `text` as a configuration file does, and sets the value. Does not check whether the numbers of a table
    /// sum to 1.
    ///
    /// # Errors
    /// Returns the rule that `text` violates, and leaves the configuration unchanged.
    pub fn set(&self, config: &mut SearchConfig, text: &str) -> Result<(), String> {
        (self.set)(config, text, &self.range).then_some(()).ok_or_else(|| self.rule())
    }

    /// Returns the value in the syntax of flags and environment variables.
    pub fn show(&self, config: &SearchConfig) -> String {
        (self.show)(config)
    }

    /// Returns the value in the syntax of TOML: strings are quoted.
    pub fn literal(&self, config: &SearchConfig) -> String {
        let shown = self.show(config);
        if matches!(self.kind, Kind::Fusion | Kind::Model) { format!("\"{shown}\"") } else { shown }
    }

    /// Returns the value of a numeric parameter; NaN for any other parameter.
    pub fn number(&self, config: &SearchConfig) -> f64 {
        self.show(config).parse().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_lie_within_their_ranges_and_shares_sum_to_one() {
        let config = SearchConfig::default();
        for number in Parameter::numbers() {
            let value = number.number(&config);
            assert!(number.range.contains(&value), "{} = {value}", number.key);
        }
        for table in SHARES {
            let shares = Parameter::numbers().filter(|number| number.share_of() == Some(table));
            let sum: f64 = shares.map(|number| number.number(&config)).sum();
            assert!((sum - 1.0).abs() < 1e-4, "{table}: {sum}");
        }
    }

    #[test]
    fn valid_values_are_set_and_invalid_values_are_rejected() {
        let mut config = SearchConfig::default();
        for number in Parameter::numbers() {
            let value = number.range.start() + 1.0_f64.min(number.range.end() - number.range.start());
            number.set(&mut config, &value.to_string()).expect("the value is within the range");
            assert_eq!(number.number(&config), value, "{}", number.key);
            let below = number.range.start() - 1.0;
            assert!(number.set(&mut config, &below.to_string()).is_err(), "{}", number.key);
            assert_eq!(number.number(&config), value, "{}", number.key);
        }
        assert!(Parameter::find("search.bm25.k9").is_none());
        let near_copies = Parameter::find("search.folding.near_copies").expect("a parameter");
        assert_eq!(near_copies.set(&mut config, "false"), Ok(()));
        assert!(!config.folding.near_copies && near_copies.set(&mut config, "0.5").is_err());
    }
}
