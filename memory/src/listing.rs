//! Filtering and sorting of entries.

use aurora_memory_policy::Scope;
use aurora_memory_schema::Kind;
use aurora_query::SearchConfig;

use crate::error::MemoryError;
use crate::memory::Memory;
use crate::report::EntryReport;
use crate::rules::MemoryRules;

/// A filter for entries. An entry passes if it meets all conditions that are set. The comments of the fields are also
/// the help texts of the command line.
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListFilter {
    /// Only entries of these kinds, separated by commas
    #[cfg_attr(feature = "clap", arg(long = "kind", short, value_name = "KINDS", value_enum, value_delimiter = ','))]
    pub kinds: Vec<Kind>,

    /// Only entries of this scope
    #[cfg_attr(feature = "clap", arg(long, value_name = "SCOPE", value_enum))]
    pub scope: Option<Scope>,

    /// Only entries of this session
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID"))]
    pub session: Option<String>,

    /// Only entries with this tag; may be given more than once
    #[cfg_attr(feature = "clap", arg(long = "tag", value_name = "TAG"))]
    pub tags: Vec<String>,

    /// Only entries of this domain
    #[cfg_attr(feature = "clap", arg(long, value_name = "DOMAIN"))]
    pub domain: Option<String>,

    /// Only entries with at least this score
    #[cfg_attr(feature = "clap", arg(long, value_name = "SCORE"))]
    pub min_score: Option<f64>,

    /// Only patterns
    #[cfg_attr(feature = "clap", arg(long = "pattern"))]
    pub patterns: bool,

    /// Only entries flagged by a policy
    #[cfg_attr(feature = "clap", arg(long))]
    pub escalated: bool,

    /// Only entries in this state [default: active and decayed]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "STATE", value_parser = ["active", "decayed", "archived"])
    )]
    pub state: Option<String>,
}

/// The sort key of a list: newest, highest, or alphabetically first entries come first.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// The time of the last change.
    #[default]
    Edited,
    /// The time at which the entry was added.
    Created,
    /// The time at which the entry was last shown.
    Accessed,
    /// Number of times the entry was shown.
    Accesses,
    /// The score.
    Score,
    /// The activation.
    Activation,
    /// The id.
    Id,
}

impl ListFilter {
    fn accepts(&self, report: &EntryReport) -> bool {
        let EntryReport { entry, facts } = report;
        let tags = entry.tags();
        (self.kinds.is_empty() || self.kinds.contains(&entry.kind()))
            && self.scope.is_none_or(|scope| scope == facts.scope)
            && self.session.as_ref().is_none_or(|session| facts.session.as_ref() == Some(session))
            && self.tags.iter().all(|tag| tags.contains(&tag.as_str()))
            && self.domain.as_deref().is_none_or(|domain| entry.domain() == Some(domain))
            && self.min_score.is_none_or(|min| entry.score().is_some_and(|score| score >= min))
            && (!self.patterns || facts.is_pattern)
            && (!self.escalated || !facts.escalation.is_empty())
            && self.state.as_deref().map_or(facts.state != "archived", |state| state == facts.state)
    }
}

impl ListOrder {
    /// Sorts reports by this key. Reports with equal keys are sorted by id.
    pub fn sort(self, reports: &mut [EntryReport]) {
        let descending = |a: i64, b: i64| b.cmp(&a);
        reports.sort_by(|a, b| {
            let order = match self {
                Self::Edited => descending(a.facts.edited_at, b.facts.edited_at),
                Self::Created => descending(a.facts.created_at, b.facts.created_at),
                Self::Accessed => descending(a.facts.last_accessed, b.facts.last_accessed),
                Self::Accesses => b.facts.access_count.cmp(&a.facts.access_count),
                Self::Score => {
                    let score = |report: &EntryReport| report.entry.score().unwrap_or(-1.0);
                    score(b).total_cmp(&score(a))
                }
                Self::Activation => b.facts.activation.total_cmp(&a.facts.activation),
                Self::Id => std::cmp::Ordering::Equal,
            };
            order.then_with(|| a.entry.id().cmp(b.entry.id()))
        });
    }
}

impl Memory {
    /// Calls `visit` for every entry that passes the filter at `now`, in the order of ids.
    ///
    /// # Errors
    /// Fails if the entries cannot be read. Returns the first error of `visit`.
    pub fn for_each(
        &self,
        filter: &ListFilter,
        (rules, config): (&MemoryRules, &SearchConfig),
        now: i64,
        mut visit: impl FnMut(EntryReport) -> Result<(), MemoryError>,
    ) -> Result<(), MemoryError> {
        self.visit_entries(&self.view()?, |id, version, access| {
            let report = self.report_of(id, version, access, (rules, config), now)?;
            if filter.accepts(&report) { visit(report) } else { Ok(()) }
        })
    }
}
