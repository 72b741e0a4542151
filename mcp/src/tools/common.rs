//! Parts that all tools share: arguments, errors, and limiting texts to a budget of tokens.

use aurora_memory::MemoryError;
use aurora_project::{ProjectError, chain};
use aurora_query::{FilterSpec, MAX_TOKEN_BYTES, QueryError, estimate_tokens};
use aurora_storage::{Complexity, StorageError};
use serde::Deserialize;

/// Number of tokens in an answer if the call has no `budget`.
pub(crate) const DEFAULT_BUDGET: usize = 2_000;
/// Minimum value of `budget`.
const MIN_BUDGET: usize = 20;
/// Maximum value of `budget`.
pub(crate) const MAX_BUDGET: usize = 50_000;
/// Maximum length, in bytes, of a client-supplied name in a protocol error.
const MAX_NAME_BYTES: usize = 100;
/// Last line of a text that was cut off.
const CUT: &str = "(cut: the rest exceeds the budget)";

/// Minimum score of a complexity that answers mention. It corresponds to ten branches and loops, from which on McCabe
/// (1976) recommends to divide a function.
const MIN_NOTABLE_COMPLEXITY: f32 = 0.5;

/// Describes the complexity of a definition, such as `complexity 0.58 (12 branches, 2 loops)`; `None` if it is not
/// notable.
pub(crate) fn notable_complexity(complexity: &Complexity) -> Option<String> {
    let Complexity { branches, loops, score } = *complexity;
    let counted = |count: u32, unit: &str, plural: &str| format!("{count} {}", if count == 1 { unit } else { plural });
    let (branches, loops) = (counted(branches, "branch", "branches"), counted(loops, "loop", "loops"));
    (score >= MIN_NOTABLE_COMPLEXITY).then(|| format!("complexity {score:.2} ({branches}, {loops})"))
}

/// An error that a call of a tool returns.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// There is no tool with this name. The name may be shortened.
    #[error("there is no tool `{0}`")]
    Unknown(String),
    /// The arguments are invalid.
    #[error("{0}")]
    Arguments(String),
    /// The project cannot answer.
    #[error("{}", message_with_help(.0))]
    Project(#[from] ProjectError),
    /// The memory cannot answer.
    #[error("{}", chain(.0))]
    Memory(MemoryError),
}

/// Returns the message of an error, followed by its help.
fn message_with_help(error: &ProjectError) -> String {
    let help = error.help().map(|help| format!("; {help}"));
    format!("{}{}", chain(error), help.unwrap_or_default())
}

impl From<MemoryError> for ToolError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Project(error) => Self::Project(*error),
            MemoryError::Query(error) => Self::from(*error),
            error => Self::Memory(error),
        }
    }
}

impl From<QueryError> for ToolError {
    fn from(error: QueryError) -> Self {
        Self::Project(error.into())
    }
}

impl From<StorageError> for ToolError {
    fn from(error: StorageError) -> Self {
        Self::Project(error.into())
    }
}

/// The arguments that all tools accept. `root` selects one of several served roots.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommonArguments {
    #[serde(default)]
    pub(super) root: Option<String>,
    budget: Option<usize>,
}

impl CommonArguments {
    /// Returns the maximum number of tokens in the answer.
    ///
    /// # Errors
    /// Fails if the budget is too small for an error message or for the remark about a text that was cut off.
    pub(super) fn budget(&self) -> Result<usize, ToolError> {
        let budget = self.budget.unwrap_or(DEFAULT_BUDGET).min(MAX_BUDGET);
        if budget < MIN_BUDGET {
            let reason = format!("`budget` is too small: {budget} tokens; give {MIN_BUDGET} to {MAX_BUDGET}");
            return Err(ToolError::Arguments(reason));
        }
        Ok(budget)
    }
}

/// Formats notes in the same way as the command line.
pub(super) fn format_notes(notes: &[String]) -> impl Iterator<Item = String> + '_ {
    notes.iter().map(|note| format!("Note: {note}"))
}

/// Returns the part of `budget` that remains after the texts. The line feed after each text is included.
pub(super) fn budget_after<'t>(budget: usize, texts: impl IntoIterator<Item = &'t str>) -> usize {
    texts.into_iter().fold(budget, |budget, text| budget.saturating_sub(estimate_tokens(text)))
}

/// Returns the first lines that fit into a budget, and the number of omitted lines. If not even the first line fits,
/// the beginning of the line is returned with a remark, unless the budget is too small.
pub(super) fn within_budget(lines: impl IntoIterator<Item = String>, budget: usize) -> (String, usize) {
    // One token is reserved for the final line feed, after which an empty line is counted.
    let (mut out, mut room, mut left) = (String::new(), budget.saturating_sub(1), 0);
    for line in lines {
        let tokens = estimate_tokens(&line);
        if left == 0 && tokens <= room {
            room -= tokens;
            out.push_str(&line);
            out.push('\n');
            continue;
        }
        if out.is_empty() && left == 0 {
            let remark = format!(" … (cut: the line has {} bytes)", line.len());
            let shown = token_prefix(&line, budget_after(room, [&*remark]));
            if !shown.is_empty() {
                out = format!("{shown}{remark}\n");
                room = 0;
                continue;
            }
        }
        left += 1;
    }
    (out, left)
}

/// Returns the text if it fits into a budget, otherwise the beginning of the text with a remark.
pub(crate) fn fit(text: String, budget: usize) -> String {
    if estimate_tokens(&text) <= budget {
        return text;
    }
    format!("{}\n{CUT}", token_prefix(&text, budget_after(budget, [CUT])))
}

/// Shortens a long name from the client. Protocol errors repeat such names and are not limited by a budget.
pub(crate) fn cut_name(name: &str) -> String {
    match name.floor_char_boundary(MAX_NAME_BYTES) {
        end if end < name.len() => format!("{}…", &name[..end]),
        _ => name.to_owned(),
    }
}

/// Returns the longest prefix of a text that has at most `tokens` tokens.
fn token_prefix(text: &str, tokens: usize) -> &str {
    // A longer prefix cannot fit. The bound makes the time of the search independent of the size of the text.
    let longest = text.floor_char_boundary(MAX_TOKEN_BYTES.saturating_mul(tokens));
    let (mut fits, mut exceeds) = (0, longest + 1);
    while exceeds - fits > 1 {
        let middle = fits.midpoint(exceeds);
        if estimate_tokens(&text[..text.floor_char_boundary(middle)]) <= tokens {
            fits = middle;
        } else {
            exceeds = middle;
        }
    }
    &text[..text.floor_char_boundary(fits)]
}

/// Returns the string or strings of a [`OneOrMore`]; an empty list for `None`.
pub(super) fn values(value: &Option<OneOrMore>) -> Vec<String> {
    match value {
        None => Vec::new(),
        Some(OneOrMore::One(text)) => vec![text.clone()],
        Some(OneOrMore::More(texts)) => texts.clone(),
    }
}

/// Adds conditions on metadata to a filter, and validates the filter.
pub(super) fn with_conditions(mut filter: FilterSpec, conditions: &Option<OneOrMore>) -> Result<FilterSpec, ToolError> {
    for condition in values(conditions) {
        filter.add_condition(&condition).map_err(QueryError::Filter)?;
    }
    filter.check().map_err(QueryError::Filter)?;
    Ok(filter)
}

/// A string, or a list of strings.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a string, or a list of strings")]
pub(super) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_names_are_cut() {
        assert_eq!(cut_name("shell"), "shell");
        assert_eq!(cut_name(&"日".repeat(100)), format!("{}…", "日".repeat(33)));
    }

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let lines = |count: usize| (0..count).map(|n| format!("line number {n}"));
        assert_eq!(within_budget(lines(2), 1_000), ("line number 0\nline number 1\n".to_owned(), 0));
        let (text, left) = within_budget(lines(100), 20);
        assert!(left > 90 && estimate_tokens(&text) <= 20, "{left} left of {text}");
        let (text, left) = within_budget(["x".repeat(4_000_000)], 20);
        assert!(text.starts_with("xxx") && text.contains("4000000 bytes") && left == 0, "{text}");
    }

    proptest! {
        #[test]
        fn no_text_exceeds_its_budget(lines in prop::collection::vec("[a-zA-Z0-9 \t_().é日]{0,90}", 0..20), budget in 20_usize..120) {
            let text = lines.join("\n");
            let cut = fit(text.clone(), budget);
            prop_assert!(estimate_tokens(&cut) <= budget, "{}", cut);
            prop_assert_eq!(cut == text, estimate_tokens(&text) <= budget);
            let (shown, left) = within_budget(lines.clone(), budget);
            prop_assert!(estimate_tokens(&shown) <= budget, "{}", shown);
            prop_assert_eq!(shown.lines().count() + left, lines.len());
        }

        #[test]
        fn a_prefix_is_the_longest_that_fits(text in "[a-zA-Z0-9 _().é日\n]{0,60}", tokens in 1_usize..40) {
            let cut = token_prefix(&text, tokens);
            prop_assert!(estimate_tokens(cut) <= tokens);
            let more = text[cut.len()..].chars().next().map_or(0, char::len_utf8);
            prop_assert!(more == 0 || estimate_tokens(&text[..cut.len() + more]) > tokens);
        }
    }
}
