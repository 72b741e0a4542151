//! What was probably meant by a word that is not known.

/// The nearest of `known`, if it is near enough to be a slip of the fingers.
pub fn nearest<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let given = given.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&given, &name.to_lowercase()), name))
        .min()
        .filter(|&(distance, name)| distance > 0 && distance <= (name.chars().count() / 3).max(1))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        assert_eq!(nearest("relevent", ["query", "relevant"]), Some("relevant"));
        assert_eq!(nearest("answers", ["query", "relevant"]), None);
        assert_eq!(nearest("query", ["query"]), None);
    }
}
