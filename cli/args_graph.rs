//! The arguments of `aur mem graph`.

use std::path::PathBuf;

use aurora_query::{MAX_TREE_DEPTH, MIN_CONFIDENCE, Relation};
use clap::Args;

use crate::values::ReportFormat;

pub(crate) const GRAPH_EXAMPLES: &str = "\
Examples:
  aur mem graph UserManager.login --callers             who calls it, directly
  aur mem graph src/auth.py:31 --callees --depth 3      what it calls, and what that calls
  aur mem graph Storage --implementers --format json    types that extend or implement it

Every relation has a confidence: how often relations that were found in the same way are those
that a compiler finds. docs/relationships.md tells how they are found, and how often they are right.";

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("relation").required(true))]
pub(crate) struct GraphArgs {
    /// A definition: its name with or without qualifiers, its place PATH:LINE, or its id
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// The definitions that call it
    #[arg(long, group = "relation")]
    callers: bool,

    /// The definitions that it calls
    #[arg(long, group = "relation")]
    callees: bool,

    /// The types that extend or implement it, or the methods that override it
    #[arg(long, group = "relation")]
    implementers: bool,

    /// Follow so many relations one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_TREE_DEPTH)))]
    pub(crate) depth: u32,

    /// Leave out relations of less confidence, from 0 to 1
    #[arg(long, value_name = "X", default_value_t = MIN_CONFIDENCE, value_parser = parse_confidence)]
    pub(crate) min_confidence: f32,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

impl GraphArgs {
    pub(crate) fn relation(&self) -> Relation {
        if self.callers {
            Relation::Callers
        } else if self.callees {
            Relation::Callees
        } else {
            Relation::Implementers
        }
    }
}

fn parse_confidence(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}
