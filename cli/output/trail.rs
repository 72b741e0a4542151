//! The lines below the score boxes: the stages of a search with their counts, and the searched index.

use aurora_query::explain::relative_time;
use aurora_query::{IndexInfo, StageCounts};

use crate::output::{Painter, Role, units, width};

/// Number of hexadecimal digits shown of a commit id.
const COMMIT_DIGITS: usize = 12;

/// Renders the lines `Stages:` and `Index:`, each wrapped at `columns`.
pub(crate) fn render(
    stages: &StageCounts,
    index: Option<&IndexInfo>,
    now: i64,
    columns: usize,
    paint: Painter,
) -> String {
    let count = |number: usize| units::count(number as u64);
    let mut steps = vec![format!("{} indexed", units::count(stages.indexed))];
    if stages.eligible != stages.indexed {
        steps.push(format!("{} after filters", units::count(stages.eligible)));
    }
    if stages.ranked > 0 {
        let by = [(stages.from_keywords, "by keywords"), (stages.from_vectors, "by meaning")];
        let by = by.into_iter().filter(|(number, _)| *number > 0);
        let by: Vec<String> = by.map(|(number, how)| format!("{} {how}", count(number))).collect();
        if !by.is_empty() {
            steps.push(by.join(" + "));
        }
        steps.push(format!("{} ranked", count(stages.ranked)));
    }
    steps.push(format!("{} shown", count(stages.shown)));
    let mut lines = width::wrap(&format!("Stages: {}", steps.join(" → ")), columns);
    if let Some(index) = index {
        let mut facts = vec![
            format!("generation {}", index.generation),
            format!("published {}", relative_time(index.updated, now)),
        ];
        if let Some(commit) = &index.commit {
            facts.push(format!("commit {}", commit.get(..COMMIT_DIGITS).unwrap_or(commit)));
        }
        if !index.complete {
            facts.push(
                "built by a run that was stopped early, could not read every file, or lacks stage results".to_owned(),
            );
        }
        lines.extend(width::wrap(&format!("Index: {}", facts.join(", ")), columns));
    }
    lines.into_iter().map(|line| paint.paint(Role::Faint, &line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn stages_and_index_are_listed() {
        let stages = StageCounts {
            indexed: 48_593,
            eligible: 1_204,
            from_keywords: 100,
            from_vectors: 100,
            ranked: 163,
            shown: 10,
        };
        let index = IndexInfo {
            generation: 3,
            updated: 1_760_000_000,
            age_seconds: 7_300,
            commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            complete: true,
        };
        assert_snapshot!(render(&stages, Some(&index), 1_760_007_300, 80, Painter::PLAIN), @r"
        Stages: 48,593 indexed → 1,204 after filters → 100 by keywords + 100 by meaning
        → 163 ranked → 10 shown
        Index: generation 3, published 2 hours ago, commit 0123456789ab
        ");
        let listed = StageCounts { indexed: 9, eligible: 2, shown: 2, ..StageCounts::default() };
        assert_snapshot!(render(&listed, None, 0, 80, Painter::PLAIN), @"Stages: 9 indexed → 2 after filters → 2 shown");
    }
}
