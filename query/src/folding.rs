//! One answer once: pieces of one definition, and copies of one text, take a single place in the list.

use rustc_hash::FxHashSet;

/// The key of the first piece of a definition that was cut: `code:a.py:run` of `code:a.py:run~3`; any other key as it is.
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

/// What was kept so far of a list that is read best first.
#[derive(Default)]
pub(crate) struct Folding<'k> {
    definitions: FxHashSet<&'k str>,
    texts: FxHashSet<[u8; 16]>,
}

impl<'k> Folding<'k> {
    /// Whether a chunk shows something that stands nowhere above it; remembers it.
    pub(crate) fn keeps(&mut self, key: &'k str, content_hash: [u8; 16]) -> bool {
        let text = self.texts.insert(content_hash);
        self.definitions.insert(first_piece(key)) && text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_copies_are_kept_once() {
        let mut folding = Folding::default();
        let kept: Vec<bool> = [("code:a:f~2", 1), ("code:a:f", 2), ("code:a:f#2", 3), ("code:b:f", 1), ("code:b:g", 4)]
            .into_iter()
            .map(|(key, text)| folding.keeps(key, [text; 16]))
            .collect();
        assert_eq!(kept, [true, false, true, false, true]);
    }
}
