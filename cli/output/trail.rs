//! The lines below the score boxes: the stages of a search with their counts, the times of its phases, and the searched
//! index.

use std::time::Duration;

use aurora_query::SearchResults;
use aurora_query::explain::relative_time;

use crate::output::{Painter, Role, units, width};

/// Number of hexadecimal digits shown of a commit id.
const COMMIT_DIGITS: usize = 12;

/// Renders the lines `Stages:`, `Time:` and `Index:`, each wrapped at `columns`.
pub(crate) fn render(found: &SearchResults, now: i64, columns: usize, paint: Painter) -> String {
    let SearchResults { stages, index, took, phases, .. } = found;
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
    let milliseconds = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
    let times: Vec<String> = phases
        .iter()
        .filter(|(_, time)| !time.is_zero())
        .map(|(phase, time)| format!("{phase} {}", milliseconds(time)))
        .collect();
    let times = if times.is_empty() { String::new() } else { format!(" ({})", times.join(", ")) };
    lines.extend(width::wrap(&format!("Time: {} ms{times}", milliseconds(*took)), columns));
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
    use aurora_query::{IndexInfo, Phases, StageCounts};
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
        let time = Duration::from_micros;
        let phases = Phases { understand: time(40), keywords: time(1_250), rank: time(700), ..Phases::default() };
        let found = SearchResults { stages, index: Some(index), took: time(2_100), phases, ..SearchResults::default() };
        assert_snapshot!(render(&found, 1_760_007_300, 80, Painter::PLAIN), @r"
        Stages: 48,593 indexed → 1,204 after filters → 100 by keywords + 100 by meaning
        → 163 ranked → 10 shown
        Time: 2.1 ms (understand 0.0, keywords 1.2, rank 0.7)
        Index: generation 3, published 2 hours ago, commit 0123456789ab
        ");
        let listed = StageCounts { indexed: 9, eligible: 2, shown: 2, ..StageCounts::default() };
        let listed = SearchResults { stages: listed, ..SearchResults::default() };
        assert_snapshot!(render(&listed, 0, 80, Painter::PLAIN), @r"
        Stages: 9 indexed → 2 after filters → 2 shown
        Time: 0.0 ms
        ");
    }
}
