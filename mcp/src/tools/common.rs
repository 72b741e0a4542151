//! What the tools have in common: arguments, errors, and texts within a budget of tokens.

use aurora_project::{ProjectError, chain};
use aurora_query::{FilterSpec, MAX_TOKEN_BYTES, QueryError, estimate_tokens};
use aurora_storage::StorageError;
use serde::Deserialize;

/// Default number of tokens in an answer, and the smallest and largest number that a call may ask for.
pub(crate) const DEFAULT_BUDGET: usize = 2_000;
const MIN_BUDGET: usize = 20;
pub(crate) const MAX_BUDGET: usize = 50_000;
/// Maximum length of a name that a protocol error repeats, in bytes.
const MAX_REPEATED_BYTES: usize = 100;
/// Last line of a text that was cut.
const CUT: &str = "(cut: the rest exceeds the budget)";

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// There is no tool of this name, which is cut if it is long.
    #[error("there is no tool `{0}`")]
    Unknown(String),
    /// The arguments cannot be understood.
    #[error("{0}")]
    Arguments(String),
    /// The index has no answer.
    #[error("{}", told(.0))]
    Project(#[from] ProjectError),
}

/// An error with what to do about it.
fn told(error: &ProjectError) -> String {
    let help = error.help().map(|help| format!("; {help}"));
    format!("{}{}", chain(error), help.unwrap_or_default())
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

/// The arguments that all tools have; a root is named where several are served.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct CommonArguments {
    #[serde(default)]
    pub(super) root: Option<String>,
    budget: Option<usize>,
}

impl CommonArguments {
    /// Maximum number of tokens in the answer.
    ///
    /// # Errors
    /// When the call asks for fewer than an error message or the remark on a cut text takes.
    pub(super) fn budget(&self) -> Result<usize, ToolError> {
        let budget = self.budget.unwrap_or(DEFAULT_BUDGET).min(MAX_BUDGET);
        if budget < MIN_BUDGET {
            let reason = format!("`budget` is too small: {budget} tokens; give {MIN_BUDGET} to {MAX_BUDGET}");
            return Err(ToolError::Arguments(reason));
        }
        Ok(budget)
    }
}

/// The notes of an answer, as the command line shows them.
pub(super) fn noted(notes: &[String]) -> impl Iterator<Item = String> + '_ {
    notes.iter().map(|note| format!("Note: {note}"))
}

/// Tokens that `budget` leaves after some texts on lines of their own.
pub(super) fn after<'t>(budget: usize, texts: impl IntoIterator<Item = &'t str>) -> usize {
    texts.into_iter().fold(budget, |budget, text| budget.saturating_sub(estimate_tokens(text)))
}

/// Returns the first lines that fit into a budget, and the number of further lines. A first line that does not fit is cut, if
/// there is room for more than a remark.
pub(super) fn within_budget(lines: impl IntoIterator<Item = String>, budget: usize) -> (String, usize) {
    // The text ends with a line end, and so with an empty line.
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
            let shown = beginning(&line, after(room, [&*remark]));
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

/// The text if it fits into a budget, otherwise its beginning with a remark.
pub(crate) fn fitted(text: String, budget: usize) -> String {
    if estimate_tokens(&text) <= budget {
        return text;
    }
    format!("{}\n{CUT}", beginning(&text, after(budget, [CUT])))
}

/// A name of the client for a protocol error, which no budget bounds: its beginning if it is long.
pub(crate) fn repeated(name: &str) -> String {
    match name.floor_char_boundary(MAX_REPEATED_BYTES) {
        end if end < name.len() => format!("{}…", &name[..end]),
        _ => name.to_owned(),
    }
}

/// The longest beginning of a text that has at most so many tokens.
fn beginning(text: &str, tokens: usize) -> &str {
    // No byte beyond this number is part of it, so the search takes no longer for a larger text.
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

/// Values in one text, separated by commas, or in a list.
pub(super) fn listed(value: &Option<OneOrMore>) -> Vec<String> {
    match value {
        None => Vec::new(),
        Some(OneOrMore::One(text)) => vec![text.clone()],
        Some(OneOrMore::More(texts)) => texts.clone(),
    }
}

/// A filter with conditions over metadata, checked.
pub(super) fn with_conditions(mut filter: FilterSpec, conditions: &Option<OneOrMore>) -> Result<FilterSpec, ToolError> {
    for condition in listed(conditions) {
        filter.add_condition(&condition).map_err(QueryError::Filter)?;
    }
    filter.check().map_err(QueryError::Filter)?;
    Ok(filter)
}

/// A text, or a list of texts.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a text, or a list of texts")]
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
        assert_eq!(repeated("shell"), "shell");
        assert_eq!(repeated(&"日".repeat(100)), format!("{}…", "日".repeat(33)));
    }

    #[test]
    fn what_does_not_fit_is_counted() {
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
            let cut = fitted(text.clone(), budget);
            prop_assert!(estimate_tokens(&cut) <= budget, "{}", cut);
            prop_assert_eq!(cut == text, estimate_tokens(&text) <= budget);
            let (shown, left) = within_budget(lines.clone(), budget);
            prop_assert!(estimate_tokens(&shown) <= budget, "{}", shown);
            prop_assert_eq!(shown.lines().count() + left, lines.len());
        }

        #[test]
        fn a_beginning_is_the_longest_that_fits(text in "[a-zA-Z0-9 _().é日\n]{0,60}", tokens in 1_usize..40) {
            let cut = beginning(&text, tokens);
            prop_assert!(estimate_tokens(cut) <= tokens);
            let more = text[cut.len()..].chars().next().map_or(0, char::len_utf8);
            prop_assert!(more == 0 || estimate_tokens(&text[..cut.len() + more]) > tokens);
        }
    }
}
