//! Assigns questions to folds.

use rustc_hash::FxHashMap;

use crate::golden::Question;
use crate::random::hash;

/// Returns the index of the fold of every question. The indexes are below `folds`. Questions of one set whose first
/// answers are in the same file share a fold. Therefore, no question is measured with numbers that were learned from
/// questions about the same file. The folds of a set have about equal sizes.
pub(crate) fn assign(questions: &[&Question], folds: usize) -> Vec<usize> {
    let mut groups: FxHashMap<(&str, &str), Vec<usize>> = FxHashMap::default();
    for (at, question) in questions.iter().enumerate() {
        let path = question.relevant.first().map_or("", |answer| answer.path.as_str());
        groups.entry((&question.set, path)).or_default().push(at);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // Largest groups first, so that small groups can even out the sizes of the folds.
    groups.sort_by_key(|((set, path), members)| (usize::MAX - members.len(), hash(0, &[set, path]), *set, *path));
    let mut sizes: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut assigned = vec![0; questions.len()];
    for ((set, _), members) in groups {
        let sizes = sizes.entry(set).or_insert_with(|| vec![0; folds]);
        let smallest = (0..folds).min_by_key(|fold| sizes[*fold]).unwrap_or(0);
        sizes[smallest] += members.len();
        for member in members {
            assigned[member] = smallest;
        }
    }
    assigned
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::Answer;

    proptest! {
        #[test]
        fn folds_are_even_and_keep_files_together(files in prop::collection::vec((0..3_u8, 0..30_u8), 1..120), folds in 2..6_usize) {
            let questions: Vec<Question> = files
                .iter()
                .map(|(set, file)| Question {
                    id: String::new(),
                    query: String::new(),
                    set: set.to_string(),
                    relevant: vec![Answer { path: file.to_string(), lines: None, name: None, grade: None, any_directory: false }],
                    ..Question::default()
                })
                .collect();
            let references: Vec<&Question> = questions.iter().collect();
            let assigned = assign(&references, folds);
            for (a, fold_a) in questions.iter().zip(&assigned) {
                for (b, fold_b) in questions.iter().zip(&assigned) {
                    if a.set == b.set && a.relevant == b.relevant {
                        prop_assert_eq!(fold_a, fold_b);
                    }
                }
            }
            for set in ["0", "1", "2"] {
                let of = |fold| questions.iter().zip(&assigned).filter(|(q, f)| q.set == set && **f == fold).count();
                let sizes: Vec<usize> = (0..folds).map(of).collect();
                let largest_file = (0..30_u8).map(|file| files.iter().filter(|(s, f)| s.to_string() == set && *f == file).count()).max();
                let spread = sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0);
                prop_assert!(spread <= largest_file.unwrap_or(0).max(1), "{:?}", sizes);
            }
        }
    }
}
