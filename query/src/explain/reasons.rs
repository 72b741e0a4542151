//! Descriptions of component scores in words.

use aurora_storage::{AccessRecord, ChunkHistory, ChunkType, HistoryTier, Judgements, Verdict};

use crate::understand::ParsedQuery;

/// The evidence for a keyword score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeywordMatch {
    pub(crate) matched_terms: Vec<String>,
    pub(crate) exact_term: Option<String>,
    pub(crate) reason: String,
}

/// Describes which terms matched. `matched` contains positions in the query's terms, and `name` is the chunk's name.
///
/// A match is exact if the chunk contains a compound identifier of the query or the query's only word, or if a word of
/// the query equals the chunk's name. Otherwise the match is strong if at least half of [`ParsedQuery::parts`] match. A
/// part also matches if only a term that was added for it matches, for example an abbreviation.
pub(crate) fn keyword_match(query: &ParsedQuery, matched: &[usize], name: &str) -> KeywordMatch {
    let is_matched = |term: &str| matched.iter().any(|&at| query.terms.get(at).is_some_and(|other| other.text == term));
    let has_matched_extra =
        |at: usize| matched.iter().any(|&position| query.extra(position).is_some_and(|extra| extra.of == at));
    let is_only_word = query.words.len() == 1;
    let exact_term = query
        .words
        .iter()
        .find(|word| {
            (is_matched(&word.folded) && (is_only_word || word.compound))
                || (!name.is_empty() && word.folded == name.to_lowercase())
        })
        .map(|word| word.text.clone());
    let parts = query.parts().count();
    let found = query.parts().filter(|&(at, _)| matched.contains(&at) || has_matched_extra(at)).count();
    let reason = match &exact_term {
        Some(term) => format!("exact keyword match on \"{term}\""),
        None if matched.is_empty() => "no keyword match".to_owned(),
        None if found * 2 >= parts => "strong term overlap".to_owned(),
        None => "partial match".to_owned(),
    };
    KeywordMatch {
        matched_terms: matched.iter().map(|&position| query.describe_term(position)).collect(),
        exact_term,
        reason,
    }
}

/// Describes the similarity of a chunk and the query: the mean of the cosine and of the late interaction, or the cosine
/// alone. Both are absolute, so the best result of a query without an answer has a low relevance.
///
/// ```
/// use aurora_query::explain::semantic_reason;
/// assert_eq!(semantic_reason(Some(0.55), Some(0.75)), "high conceptual relevance");
/// ```
pub fn semantic_reason(cosine: Option<f32>, words: Option<f32>) -> &'static str {
    let similarity = match (cosine, words) {
        (Some(cosine), Some(words)) => Some(f32::midpoint(cosine, words)),
        (cosine, words) => cosine.or(words),
    };
    match similarity {
        None => "No semantic score available (embedding missing)",
        Some(similarity) if similarity >= 0.8 => "very high conceptual relevance",
        Some(similarity) if similarity >= 0.65 => "high conceptual relevance",
        Some(similarity) if similarity >= 0.5 => "moderate conceptual relevance",
        Some(_) => "low conceptual relevance",
    }
}

/// Describes the access history and git history of a chunk: `accessed 3x, 23 commits, last used 2 days ago`. Git does
/// not track entries of memory, so their descriptions do not mention git.
pub fn activation_reason(chunk: ChunkType, git: &ChunkHistory, access: Option<&AccessRecord>, now: i64) -> String {
    let mut reasons = Vec::new();
    if let Some(access) = access.filter(|access| access.count > 0) {
        reasons.push(format!("accessed {}x", access.count));
    }
    if let Some(judgements) = access.map(|access| access.judgements).filter(|judgements| !judgements.is_empty()) {
        reasons.push(feedback_reason(&judgements));
    }
    match git {
        _ if chunk.is_memory() => {}
        ChunkHistory::Tracked(history) => {
            let of_file = if history.tier == HistoryTier::File { " of the file" } else { "" };
            reasons.push(count(i64::from(history.commits), "commit") + of_file);
        }
        ChunkHistory::Pending => reasons.push("git history not read yet".to_owned()),
        ChunkHistory::Untracked => reasons.push("not tracked by git".to_owned()),
        ChunkHistory::Unavailable { .. } => reasons.push("git history unavailable".to_owned()),
        ChunkHistory::None => reasons.push("no git history".to_owned()),
    }
    match (access.filter(|access| access.count > 0), git) {
        (Some(access), _) => reasons.push(format!("last used {}", relative_time(access.last, now))),
        (None, ChunkHistory::Tracked(history)) => {
            reasons.push(format!("last changed {}", relative_time(history.newest_time, now)))
        }
        (None, _) if chunk.is_memory() => reasons.push("not used yet".to_owned()),
        (None, _) => reasons.push("treated as average".to_owned()),
    }
    reasons.join(", ")
}

/// Describes judgements: `marked good 2x and bad 1x`.
fn feedback_reason(judgements: &Judgements) -> String {
    const NAMES: [(Verdict, &str); 4] = [
        (Verdict::Good, "good"),
        (Verdict::Helpful, "helpful"),
        (Verdict::Unhelpful, "unhelpful"),
        (Verdict::Bad, "bad"),
    ];
    let given = NAMES.iter().map(|&(verdict, name)| (judgements.count(verdict), name)).filter(|(count, _)| *count > 0);
    let parts: Vec<String> = given.map(|(count, name)| format!("{name} {count}x")).collect();
    format!("marked {}", parts.join(" and "))
}

/// Describes a past time in words: `just now`, `5 minutes ago`, `2 days ago`, `3 weeks ago`. Both times are in Unix
/// seconds.
pub fn relative_time(time: i64, now: i64) -> String {
    const UNITS: [(i64, &str); 6] = [
        (31_557_600, "year"),
        (2_629_800, "month"),
        (604_800, "week"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
    ];
    let seconds = now.saturating_sub(time);
    match UNITS.into_iter().find(|(unit, _)| seconds >= *unit) {
        Some((unit, name)) => format!("{} ago", count(seconds / unit, name)),
        None => "just now".to_owned(),
    }
}

fn count(n: i64, unit: &str) -> String {
    format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use aurora_storage::GitHistory;

    use super::*;

    fn reason(text: &str, matched_terms: &[&str], name: &str) -> String {
        let query = ParsedQuery::parse(text).expect("words");
        let matched: Vec<_> = query
            .terms
            .iter()
            .enumerate()
            .filter(|(_, term)| matched_terms.contains(&term.text.as_str()))
            .map(|(at, _)| at)
            .collect();
        keyword_match(&query, &matched, name).reason
    }

    #[test]
    fn keyword_reasons() {
        assert_eq!(reason("authenticate", &["authenticate"], "login"), "exact keyword match on \"authenticate\"");
        assert_eq!(
            reason("how does getUserData fail", &["getuserdata", "get"], "x"),
            "exact keyword match on \"getUserData\""
        );
        assert_eq!(reason("where do we login users", &["login"], "Login"), "exact keyword match on \"login\"");
        assert_eq!(reason("getUserData", &["get", "user"], "x"), "strong term overlap");
        assert_eq!(reason("parse the config file", &["parse", "config"], "x"), "strong term overlap");
        assert_eq!(reason("parse the config file", &["the"], "x"), "partial match");
        assert_eq!(reason("parse", &[], "x"), "no keyword match");
    }

    #[test]
    fn semantic_thresholds() {
        let at = |cosine: f32| semantic_reason(Some(cosine), None);
        let mut distinct: Vec<_> = (0..=10).map(|tenth| at(tenth as f32 / 10.0)).collect();
        distinct.dedup();
        assert_eq!((distinct.len(), distinct[0], distinct[3]), (4, at(-1.0), at(1.0)));
        assert_eq!(semantic_reason(Some(0.2), Some(1.0)), at(0.6));
        assert_eq!(semantic_reason(None, Some(0.6)), at(0.6));
        assert!(!distinct.contains(&semantic_reason(None, None)));
    }

    #[test]
    fn activation_reasons() {
        let now = 100 * 86_400;
        let tracked =
            ChunkHistory::Tracked(GitHistory { commits: 23, newest_time: now - 9 * 86_400, ..GitHistory::default() });
        let access = AccessRecord { count: 3, last: now - 2 * 86_400, ..AccessRecord::default() };
        let activation_reason =
            |git: &ChunkHistory, access, now| super::activation_reason(ChunkType::Function, git, access, now);
        assert_eq!(activation_reason(&tracked, Some(&access), now), "accessed 3x, 23 commits, last used 2 days ago");
        assert_eq!(activation_reason(&tracked, None, now), "23 commits, last changed 1 week ago");
        assert_eq!(activation_reason(&ChunkHistory::Untracked, None, now), "not tracked by git, treated as average");
        assert_eq!(
            activation_reason(&ChunkHistory::None, Some(&access), now),
            "accessed 3x, no git history, last used 2 days ago"
        );
        let of_turn = |access| super::activation_reason(ChunkType::Turn, &ChunkHistory::None, access, now);
        assert_eq!([of_turn(Some(&access)), of_turn(None)], ["accessed 3x, last used 2 days ago", "not used yet"]);
    }

    #[test]
    fn times_are_shown_in_the_largest_unit() {
        let ago = |seconds: i64| relative_time(1_000_000_000 - seconds, 1_000_000_000);
        assert_eq!(
            [0, 59, 60, 7_199, 7_200, 172_800, 1_814_400, 15_778_800, 70_000_000, -50].map(ago),
            [
                "just now",
                "just now",
                "1 minute ago",
                "1 hour ago",
                "2 hours ago",
                "2 days ago",
                "3 weeks ago",
                "6 months ago",
                "2 years ago",
                "just now"
            ]
        );
    }
}
