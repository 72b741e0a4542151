//! The filters that searches share.

use aurora_query::{FilterError, FilterSpec};
use clap::Args;

use crate::place;

#[derive(Args, Debug)]
pub(crate) struct FilterArgs {
    /// Only chunks whose text matches this regular expression; may be given more than once
    ///
    /// Case does not matter unless the pattern holds an upper-case letter. Every pattern has to match.
    #[arg(long, short = 'g', value_name = "PATTERN")]
    pub(crate) grep: Vec<String>,

    /// Only chunks that hold this text, taken as it is; may be given more than once
    #[arg(long, short = 'F', value_name = "TEXT")]
    pub(crate) fixed: Vec<String>,

    /// Only these chunk types, separated by commas
    #[arg(long = "type", short = 't', value_name = "TYPES")]
    pub(crate) types: Vec<String>,

    /// Only these languages, by name or file extension, separated by commas
    #[arg(long, short = 'l', value_name = "LANGUAGES")]
    pub(crate) lang: Vec<String>,

    /// Only files at this path, or that match this glob; may be given more than once
    #[arg(long, short = 'p', value_name = "GLOB")]
    pub(crate) path: Vec<String>,

    /// Only chunks whose metadata meets this condition; may be given more than once
    ///
    /// `owner=payments`, `owner!=payments`, `owner in payments,billing`, `owner=none` (chunks without a value); numbers also
    /// `churn>5`, `churn<=5`, `churn in 1..5`. Put quotes around conditions with spaces, < or >. `aur mem stats` shows the
    /// columns of the index.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) where_: Vec<String>,
}

impl FilterArgs {
    /// The filter that they ask for.
    pub(crate) fn spec(&self) -> Result<FilterSpec, FilterError> {
        let mut filter = FilterSpec {
            types: self.types.clone(),
            languages: self.lang.clone(),
            paths: self.path.clone(),
            from: place::here(),
            grep: self.grep.clone(),
            fixed: self.fixed.clone(),
            ..FilterSpec::default()
        };
        for condition in &self.where_ {
            filter.add_condition(condition)?;
        }
        filter.check()?;
        Ok(filter)
    }
}
