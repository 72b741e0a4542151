//! Syntax errors of configuration texts.

use std::ops::Range;

use aurora_diagnostics::{Diagnostic, Diagnostics, Location, code};

/// Returns the diagnostics for a text that cannot be parsed.
pub(super) fn syntax_error(name: &str, text: &str, span: Range<usize>, message: &str) -> Diagnostics {
    let mut errors = Diagnostics::default();
    errors.push(Diagnostic::error(code::SYNTAX, Some(Location::of_span(name, text, span)), message));
    errors
}
