//! Turns the subject of a commit into a question.

use crate::mine::sentence::informative;

/// First words of subjects that do not describe code.
const EMPTY_OPENINGS: &[&str] = &[
    "merge",
    "revert",
    "bump",
    "release",
    "releasing",
    "version",
    "prepare",
    "wip",
    "typo",
    "typos",
    "format",
    "reformat",
    "lint",
    "changelog",
    "update",
    "updates",
    "updated",
    "upgrade",
    "upgraded",
    "fixup",
    "squash",
    "backport",
    "cherry",
    "initial",
    "cleanup",
    "clean",
    "rename",
    "renamed",
    "whitespace",
    "minor",
    "misc",
    "docs",
    "doc",
];

/// Types of conventional commits that do not change the behaviour of code.
const EMPTY_KINDS: &[&str] =
    &["docs", "doc", "chore", "style", "test", "tests", "ci", "build", "release", "deps", "revert"];

/// Words that mark housekeeping at any position of the subject.
const HOUSEKEEPING: &[&str] = &[
    "typo",
    "typos",
    "changelog",
    "whitespace",
    "formatting",
    "prettier",
    "eslint",
    "flake8",
    "black",
    "isort",
    "gofmt",
    "dependabot",
    "dependency",
    "dependencies",
    "lockfile",
    "copyright",
    "readme",
    "docstring",
    "docstrings",
    "spelling",
];

/// Minimum number of informative words in a question.
const MIN_INFORMATIVE_WORDS: usize = 3;
/// Maximum number of words in a question.
const MAX_WORDS: usize = 25;

/// Returns the subject of a commit message in plain words, without issue numbers, prefixes and trailers. Returns `None`
/// for merges, releases, housekeeping and subjects with too little information.
pub(crate) fn question(message: &str) -> Option<String> {
    let subject = message.lines().map(str::trim).find(|line| !line.is_empty())?;
    let (kind, rest) = split_prefix(subject);
    if kind.is_some_and(|kind| EMPTY_KINDS.contains(&kind.to_lowercase().as_str())) {
        return None;
    }
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    if let [lead, reference, ..] = words.as_slice()
        && is_lead(lead)
        && is_reference(reference)
    {
        words.drain(..2);
    }
    words.retain(|word| !is_reference(word) && word.contains(char::is_alphanumeric));
    while words.pop_if(|last| is_lead(last)).is_some() {}
    let folded = |word: &&str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let opening = words.first().map(folded)?;
    let text = words.join(" ");
    let text = text.trim_end_matches(['.', ':', ',', ';', ' ']).to_owned();
    if EMPTY_OPENINGS.contains(&opening.as_str())
        || words.iter().map(folded).any(|word| HOUSEKEEPING.contains(&word.as_str()))
        || words.len() > MAX_WORDS
        || text.contains("://")
        || informative(&text) < MIN_INFORMATIVE_WORDS
    {
        return None;
    }
    Some(text)
}

/// Splits `fix(scope)!: rest`, `[scope] rest` or `path/to: rest` into the kind and `rest`.
fn split_prefix(subject: &str) -> (Option<&str>, &str) {
    let mut rest = subject;
    while let Some((_, after)) = rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        rest = after.trim_start();
    }
    let Some((prefix, after)) = rest.split_once(": ") else { return (None, rest) };
    let kind = prefix.split(['(', '!']).next().unwrap_or(prefix);
    let is_one_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    let scoped = prefix.len() == kind.len() || prefix[kind.len()..].starts_with(['(', '!']);
    if is_one_word(kind) && scoped && prefix.len() <= 40 { (Some(kind), after.trim()) } else { (None, rest) }
}

/// Returns `true` if a word is only a reference to an issue, a pull request or a commit: `#12`, `(#12)`, `GH-12`,
/// `ABC-123`.
fn is_reference(word: &str) -> bool {
    let word = word.trim_matches(|c: char| "()[].,:;".contains(c));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbered = word.rsplit_once('#').is_some_and(|(_, number)| digits(number));
    let ticket = word.rsplit_once('-').is_some_and(|(project, number)| {
        digits(number) && project.len() >= 2 && project.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    });
    numbered || ticket
}

/// Returns `true` if a word only introduces a reference: `Fixes #12`, `… (closes #12)`.
fn is_lead(word: &str) -> bool {
    const LEADS: &[&str] = &[
        "fixes", "fixed", "fix", "closes", "closed", "close", "refs", "ref", "see", "resolves", "resolved", "re",
        "issue", "pr",
    ];
    LEADS.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_become_questions() {
        for (message, expected) in [
            (
                "fix(parser)!: keep trailing commas in nested lists (#1234)\n\nSigned-off-by: A",
                Some("keep trailing commas in nested lists"),
            ),
            ("Fixed #34567 -- Rotated the session key after a login.", Some("Rotated the session key after a login")),
            ("tsdb/wal: truncate segments after corruption", Some("truncate segments after corruption")),
            ("[core] [ABC-12] Refuse negative timeouts of workers", Some("Refuse negative timeouts of workers")),
            (
                "Retry on broken pipes when the broker restarts, closes #99",
                Some("Retry on broken pipes when the broker restarts"),
            ),
            ("Merge pull request #12 from a/b", None),
            ("Revert \"Retry on broken pipes when the broker restarts\"", None),
            ("Bump serde from 1.0 to 1.1", None),
            ("chore: retry the upload of coverage reports", None),
            ("Fix typo in the session documentation page", None),
            ("Fix bug", None),
            ("", None),
        ] {
            assert_eq!(question(message).as_deref(), expected, "{message}");
        }
    }
}
