//! Near-duplicate folding: pieces of one definition and copies of one text share one entry in the list.

use rustc_hash::FxHashMap;

use crate::query::{Group, QueryError};
use crate::rank::likeness::Likeness;

/// Returns the key of the first piece of a split definition: `code:a.py:run` for `code:a.py:run~3`. Other keys do not
/// change.
///
/// ```
/// use aurora_query::first_piece;
/// assert_eq!(first_piece("code:a.py:run~3"), "code:a.py:run");
/// assert_eq!(first_piece("code:a.cpp:~Pool"), "code:a.cpp:~Pool");
/// ```
pub fn first_piece(key: &str) -> &str {
    match key.rsplit_once('~') {
        Some((first, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => first,
        _ => key,
    }
}

/// The input of folding for a chunk.
pub(crate) struct Foldable<'c> {
    /// Position of the chunk's index among the indexes of the search.
    pub(crate) root: usize,
    pub(crate) key: &'c str,
    pub(crate) path: &'c str,
    pub(crate) lines: (u32, u32),
    pub(crate) content_hash: [u8; 16],
    /// Whether the chunk is folded only into equal text, not into similar text.
    pub(crate) same_only: bool,
    pub(crate) likeness: Likeness,
}

/// A result and its folded copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoldedGroup {
    /// The shown chunk, as an index into the ranked list.
    pub(crate) best: usize,
    /// Copies elsewhere, best first, as indexes into the ranked list.
    pub(crate) copies: Vec<usize>,
    /// Other chunks of the file, best first, as indexes into the ranked list. Empty unless results are grouped by file.
    pub(crate) rows: Vec<usize>,
}

/// Maximum number of other chunks of a file in one group.
const MAX_ROWS: usize = 4;

/// Returns the best `limit` groups of `ranked`, which must be ordered best first.
///
/// A chunk is folded into the best earlier chunk that is a piece of the same definition, has the same text or, unless
/// `same_only` is set, has a text that differs in only a few tokens. Later chunks are not compared with a chunk that is
/// itself a copy, so that a chain of small differences does not join very different texts. Folding stops at the first
/// chunk that would start a group beyond `limit`, so copies and other chunks of a file come only from the part of
/// `ranked` before that chunk.
///
/// # Errors
/// Returns the first error of `ranked`.
pub(crate) fn fold<'c>(
    ranked: impl Iterator<Item = Result<Foldable<'c>, QueryError>>,
    limit: usize,
    group: Group,
) -> Result<Vec<FoldedGroup>, QueryError> {
    let mut entries: Vec<FoldedGroup> = Vec::new();
    // Listed chunks and their pieces, with the index of their group.
    let mut shown: Vec<(usize, Foldable<'c>)> = Vec::new();
    let mut definitions: FxHashMap<(usize, &str), usize> = FxHashMap::default();
    let mut texts: FxHashMap<[u8; 16], usize> = FxHashMap::default();
    let mut files: FxHashMap<(usize, &str), usize> = FxHashMap::default();
    for (at, chunk) in ranked.enumerate() {
        let chunk = chunk?;
        let (definition, file) = ((chunk.root, first_piece(chunk.key)), (chunk.root, chunk.path));
        let piece_of = definitions.get(&definition).copied();
        let alike = |(_, above): &&(usize, Foldable<'c>)| !chunk.same_only && above.likeness.is_alike(&chunk.likeness);
        let near = shown.iter().find(alike).map(|(entry, _)| *entry);
        let copy_of = [texts.get(&chunk.content_hash).copied(), near].into_iter().flatten().min();
        let is_folded = piece_of.is_some() || copy_of.is_some();
        let of_file = files.get(&file).copied().filter(|_| group == Group::File && !is_folded);
        let entry = match [piece_of, copy_of, of_file].into_iter().flatten().min() {
            Some(entry) => entry,
            None if entries.len() == limit => break,
            None => {
                entries.push(FoldedGroup { best: at, copies: Vec::new(), rows: Vec::new() });
                entries.len() - 1
            }
        };
        if of_file.is_some() && entries[entry].rows.len() < MAX_ROWS {
            entries[entry].rows.push(at);
        }
        files.entry(file).or_insert(entry);
        definitions.entry(definition).or_insert(entry);
        texts.entry(chunk.content_hash).or_insert(entry);
        if copy_of != Some(entry) {
            shown.push((entry, chunk));
        } else if piece_of != Some(entry) && !shown.iter().any(|(of, above)| *of == entry && above.overlaps(&chunk)) {
            entries[entry].copies.push(at);
        }
    }
    Ok(entries)
}

impl Foldable<'_> {
    /// Returns whether two chunks have lines in common, such as a class with a single method and the method.
    fn overlaps(&self, other: &Self) -> bool {
        (self.root, self.path) == (other.root, other.path)
            && self.lines.0 <= other.lines.1
            && other.lines.0 <= self.lines.1
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hash, Hasher};

    use proptest::prelude::*;

    use super::*;

    /// A chunk in a test.
    #[derive(Debug, Clone)]
    struct TestChunk {
        key: String,
        line: u32,
        text: String,
        exact: bool,
    }

    impl TestChunk {
        fn foldable(&self) -> Foldable<'_> {
            let mut hasher = DefaultHasher::new();
            self.text.hash(&mut hasher);
            Foldable {
                root: 0,
                key: &self.key,
                path: self.key.split(':').nth(1).unwrap_or_default(),
                lines: (self.line, self.line + 9),
                content_hash: u128::from(hasher.finish()).to_le_bytes(),
                same_only: self.exact,
                likeness: Likeness::new(self.text.clone(), String::new(), std::iter::empty()),
            }
        }
    }

    fn test_chunk(key: &str, line: u32, text: &str) -> TestChunk {
        TestChunk { key: key.to_owned(), line, text: text.to_owned(), exact: false }
    }

    fn folded(list: &[TestChunk], limit: usize) -> Vec<(usize, Vec<usize>)> {
        let groups =
            fold(list.iter().map(|given| Ok(given.foldable())), limit, Group::Chunk).expect("every item is Ok");
        groups.into_iter().map(|group| (group.best, group.copies)).collect()
    }

    /// Returns a text of sixty words, some of which are changed.
    fn long(seed: usize, changed: &[usize]) -> String {
        let words = (0..60).map(|at| if changed.contains(&at) { format!("x{at}") } else { format!("w{}", at * seed) });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pieces_and_copies_are_listed_once() {
        let list = [
            test_chunk("code:a:f~2", 20, "two"),
            test_chunk("code:a:f", 1, "one"),
            test_chunk("code:a:f#2", 40, "three"),
            test_chunk("code:b:f", 1, "one"),
            test_chunk("code:b:g", 30, "four"),
        ];
        assert_eq!(folded(&list, 10), [(0, vec![3]), (2, vec![]), (4, vec![])]);
    }

    #[test]
    fn near_copies_are_folded_and_overlapping_chunks_are_not_copies() {
        let list = [
            test_chunk("code:a:f", 1, &long(1, &[])),
            test_chunk("code:b:f", 1, &long(1, &[0])),
            test_chunk("code:c:f", 1, &long(1, &[0, 20, 40])),
            test_chunk("code:a:F", 1, &long(1, &[59])),
            test_chunk("code:d:f", 1, &long(7, &[])),
        ];
        assert_eq!(folded(&list, 10), [(0, vec![1]), (2, vec![]), (4, vec![])]);
        assert_eq!(folded(&list, 1), [(0, vec![1])]);
    }

    #[test]
    fn an_exact_match_is_folded_only_into_equal_text() {
        let exact = |given: TestChunk| TestChunk { exact: true, ..given };
        let list = [
            exact(test_chunk("code:a:f", 1, &long(1, &[]))),
            exact(test_chunk("code:b:f", 1, &long(1, &[0]))),
            exact(test_chunk("code:c:f", 1, &long(1, &[0]))),
            test_chunk("code:d:g", 1, &long(1, &[59])),
        ];
        assert_eq!(folded(&list, 10), [(0, vec![3]), (1, vec![2])]);
    }

    #[test]
    fn other_chunks_of_a_file_are_rows_of_its_best_chunk() {
        let list = [
            test_chunk("code:a:f", 1, "one"),
            test_chunk("code:b:f", 1, "two"),
            test_chunk("code:a:f~2", 20, "three"),
            test_chunk("code:a:g", 40, "four"),
            test_chunk("code:c:f", 1, "four"),
            test_chunk("code:a:h", 60, "five"),
            test_chunk("code:d:f", 1, "six"),
        ];
        let groups = fold(list.iter().map(|given| Ok(given.foldable())), 2, Group::File).expect("every item is Ok");
        let groups: Vec<_> = groups.into_iter().map(|group| (group.best, group.rows)).collect();
        assert_eq!(groups, [(0, vec![3, 5]), (1, vec![])]);
    }

    fn list() -> impl Strategy<Value = Vec<TestChunk>> {
        let row = (
            0usize..4,
            0usize..3,
            0u32..3,
            0usize..4,
            prop::collection::vec(0usize..60, 0..3),
            prop::bool::weighted(0.2),
        );
        prop::collection::vec(row, 0..24).prop_map(|rows| {
            let mut known = std::collections::BTreeSet::new();
            let rows = rows.into_iter().map(|(file, name, piece, seed, changed, exact)| {
                let piece = if piece == 0 { String::new() } else { format!("~{piece}") };
                let key = format!("code:{}:{}{piece}", ["a", "b", "c", "d"][file], ["f", "g", "h"][name]);
                TestChunk { key, line: name as u32 * 5, text: long(seed + 1, &changed), exact }
            });
            rows.filter(|given| known.insert(given.key.clone())).collect()
        })
    }

    proptest! {
        #[test]
        fn every_chunk_is_listed_or_folded_into_a_better_one(list in list()) {
            let entries = folded(&list, list.len());
            let mut listed: Vec<usize> = entries.iter().map(|(at, _)| *at).collect();
            prop_assert!(listed.is_sorted());
            for (at, copies) in &entries {
                prop_assert!(copies.iter().all(|copy| at < copy) && copies.is_sorted());
                listed.extend(copies);
            }
            let all = listed.len();
            listed.sort_unstable();
            listed.dedup();
            prop_assert_eq!(listed.len(), all);
            for (at, given) in list.iter().enumerate().filter(|(at, _)| !listed.contains(at)) {
                let above = &list[..at];
                let (chunk, same) = (given.foldable(), first_piece(&given.key));
                prop_assert!(above.iter().any(|above| first_piece(&above.key) == same || above.foldable().overlaps(&chunk)));
            }
            for (at, given) in list.iter().enumerate().filter(|(_, given)| given.exact) {
                let is_listed = entries.iter().any(|(best, _)| *best == at);
                let same = |above: &TestChunk| above.text == given.text || first_piece(&above.key) == first_piece(&given.key);
                prop_assert!(is_listed || list[..at].iter().any(same));
            }
        }

        #[test]
        fn a_smaller_limit_gives_a_prefix(list in list(), limit in 0usize..24) {
            let (all, some) = (folded(&list, list.len()), folded(&list, limit));
            prop_assert_eq!(some.len(), limit.min(all.len()));
            for ((at, copies), (of_all, all_copies)) in some.iter().zip(&all) {
                prop_assert_eq!(at, of_all);
                prop_assert!(all_copies.starts_with(copies));
            }
        }
    }
}
