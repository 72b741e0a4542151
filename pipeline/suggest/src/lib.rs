//! Suggestions of the form "did you mean …?": finds the known name that the user probably meant by a mistyped one.
//!
//! Names are compared by Damerau-Levenshtein distance, ignoring case. The maximum distance is a third of the length of
//! the known name in characters, but at least one.
//!
//! Deliberately absent: correcting the words of a query, which requires the dictionary of an index (`aurora-query`).
//!
//! ```
//! assert_eq!(aurora_suggest::nearest("modle", ["model", "workers"]), Some("model"));
//! assert_eq!(aurora_suggest::did_you_mean("Modle", ["model"]).as_deref(), Some("did you mean `model`?"));
//! assert_eq!(aurora_suggest::nearest("owner", ["model", "workers"]), None);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// Returns `` did you mean `model`? `` with the most similar of the `known` names, if one is similar enough.
pub fn did_you_mean<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    nearest(given, known).map(|name| format!("did you mean `{name}`?"))
}

/// Returns the most similar of the `known` names, if it is similar enough to suggest a typing error. If several are
/// equally similar, returns the first in alphabetical order. Never returns `given` itself.
pub fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    nearest_within(given, known, |name| (name.chars().count() / 3).max(1))
}

/// Like [`nearest`], but `tolerance` returns the maximum edit distance for a known name.
pub fn nearest_within<'k>(
    given: &str,
    known: impl IntoIterator<Item = &'k str>,
    tolerance: impl Fn(&str) -> usize,
) -> Option<&'k str> {
    let folded = given.to_lowercase();
    known
        .into_iter()
        .filter(|name| *name != given)
        .filter_map(|name| Some((distance_within(&folded, &name.to_lowercase(), tolerance(name))?, name)))
        .min()
        .map(|(_, name)| name)
}

/// Returns the Damerau-Levenshtein distance in characters. It counts insertions, deletions, substitutions, and
/// transpositions of adjacent characters.
pub fn distance(a: &str, b: &str) -> usize {
    strsim::damerau_levenshtein(a, b)
}

/// Like [`distance`], but returns `None` if the distance exceeds `max`. Texts whose lengths differ by more than `max`
/// characters are not compared.
pub fn distance_within(a: &str, b: &str, max: usize) -> Option<usize> {
    // One edit changes the length by at most one character, which has up to four bytes.
    let is_possible =
        a.len().abs_diff(b.len()) <= max.saturating_mul(4) && a.chars().count().abs_diff(b.chars().count()) <= max;
    is_possible.then(|| distance(a, b)).filter(|distance| *distance <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_typing_error_are_suggested_and_other_names_are_not() {
        assert_eq!(nearest("relevent", ["query", "relevant"]), Some("relevant"));
        assert_eq!(nearest("answers", ["query", "relevant"]), None);
        assert_eq!(nearest("query", ["query"]), None);
    }

    #[test]
    fn case_alone_is_a_typing_error() {
        assert_eq!(nearest("Query", ["query"]), Some("query"));
        assert_eq!(nearest("QUREY", ["query"]), Some("query"));
    }

    #[test]
    fn longer_names_tolerate_more_edits() {
        assert_eq!(nearest("kb", ["doc"]), None);
        assert_eq!(nearest("stage1topk", ["stage1_top_k"]), Some("stage1_top_k"));
        assert_eq!(nearest_within("stage1topk", ["stage1_top_k"], |_| 1), None);
    }

    #[test]
    fn texts_of_very_different_lengths_are_not_compared() {
        assert_eq!(distance_within("modle", "model", 1), Some(1));
        assert_eq!(distance_within("modle", "model", 0), None);
        assert_eq!(distance_within("né日", "ne", 2), Some(2));
        assert_eq!(distance_within("日", "", 1), Some(1));
        // This assertion would take too long if the texts were compared.
        let names: Vec<String> = (0..10_000).map(|n| format!("a_known_name_{n}")).collect();
        assert_eq!(nearest(&"ab".repeat(5_000), names.iter().map(String::as_str)), None);
    }

    #[test]
    fn the_first_of_equally_similar_names_is_returned() {
        assert_eq!(nearest("bat", ["cat", "bar"]), Some("bar"));
    }
}
