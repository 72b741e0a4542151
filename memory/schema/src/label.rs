//! Validation of labels. Labels are tags, keywords, domains, semantic roles and relations.

use crate::limit::LABEL_BYTES;
use aurora_diagnostics::document::{is_blank, quoted};

/// Description of valid labels, for messages.
pub(crate) const EXPECTED: &str = "a string of 1 to 128 bytes without control characters";

/// Returns `true` if a text is a valid label.
pub(crate) fn is_label(text: &str) -> bool {
    text.len() <= LABEL_BYTES && !is_blank(text) && !text.contains(char::is_control)
}

/// Returns the problem of an invalid label; `None` if the label is valid.
pub fn label_problem(text: &str) -> Option<String> {
    (!is_label(text)).then(|| format!("{} must be {EXPECTED}", quoted(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_states_the_actual_limit() {
        assert!(EXPECTED.contains(&format!("1 to {LABEL_BYTES} bytes")));
        assert!(is_label(&"x".repeat(LABEL_BYTES)) && !is_label(&"x".repeat(LABEL_BYTES + 1)));
        assert!(!is_label(" ") && !is_label("a\tb"));
    }
}
