//! Labels: tags, keywords, domains, semantic roles and relations.

use crate::blank::is_blank;
use crate::limit::LABEL_BYTES;
use crate::show;

/// What a label must be.
pub(crate) const EXPECTED: &str = "a string of 1 to 128 bytes without control characters";

/// Whether a text can be a label.
pub(crate) fn is_label(text: &str) -> bool {
    text.len() <= LABEL_BYTES && !is_blank(text) && !text.contains(char::is_control)
}

/// What is wrong with a tag; `None` if nothing is.
pub fn label_problem(text: &str) -> Option<String> {
    (!is_label(text)).then(|| format!("{} must be {EXPECTED}", show::quoted(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_in_words_is_the_bound() {
        assert!(EXPECTED.contains(&format!("1 to {LABEL_BYTES} bytes")));
        assert!(is_label(&"x".repeat(LABEL_BYTES)) && !is_label(&"x".repeat(LABEL_BYTES + 1)));
        assert!(!is_label(" ") && !is_label("a\tb"));
    }
}
