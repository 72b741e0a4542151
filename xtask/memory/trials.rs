//! Parses the configurations that are compared with the default.

use aurora_query::{ConfigLayers, FlagValue, SearchConfig};

/// Parses text such as `search.hybrid.word_share=0.5 search.rules.short=0` and applies it to the default configuration.
///
/// # Errors
/// Returns all errors of the configuration.
pub(crate) fn config(text: &str) -> Result<SearchConfig, String> {
    let flag = |assigned: &str| {
        let (key, value) =
            assigned.split_once('=').ok_or_else(|| format!("`{assigned}` is not of the form KEY=VALUE"))?;
        Ok(FlagValue { flag: "--try".to_owned(), key: key.to_owned(), value: value.to_owned() })
    };
    let flags = text.split_whitespace().map(flag).collect::<Result<Vec<_>, String>>()?;
    let config = SearchConfig::load(&ConfigLayers { flags, ..ConfigLayers::default() });
    config.map_err(|errors| errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_set_and_errors_reported() {
        let word_share =
            config("search.hybrid.word_share=0.5 search.rules.short=0").map(|config| config.hybrid.word_share);
        assert_eq!(word_share, Ok(0.5));
        assert!(config("search.hybrid.weights.bm25=0.5").is_err_and(|error| error.contains("sum to 1.0")));
        assert!(config("short").is_err());
    }
}
