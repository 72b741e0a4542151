//! Problems that a stage reports in its own configuration.

use aurora_diagnostics::{Diagnostic, Diagnostics, Location, code};
use aurora_suggest::did_you_mean;

/// Collects the diagnostics of [`StageConfig::check`](crate::StageConfig::check), each for one configuration key.
pub struct Problems<'a> {
    pub(crate) diagnostics: &'a mut Diagnostics,
    pub(crate) locate: &'a dyn Fn(&str) -> Option<Location>,
    /// Keys whose values could not be read. Other problems with these keys would only be consequences.
    pub(crate) unread: &'a [String],
    pub(crate) consequences: Diagnostics,
}

impl Problems<'_> {
    /// Reports that the value of a key is invalid.
    pub fn error(&mut self, key: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.push(key, Diagnostic::error(code::CHECK, (self.locate)(key), message))
    }

    /// Reports that the value of a key is unusual.
    pub fn warning(&mut self, key: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.push(key, Diagnostic::warning(code::CHECK, (self.locate)(key), message))
    }

    fn push(&mut self, key: &str, diagnostic: Diagnostic) -> &mut Diagnostic {
        if self.unread.iter().any(|unread| unread == key) {
            return self.consequences.push(diagnostic);
        }
        self.diagnostics.push(diagnostic)
    }
}

/// Suggests a known name that is similar to `name`. If no name is similar, lists all known names.
pub(crate) fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, what: &str) -> Option<String> {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    did_you_mean(name, known.iter().copied())
        .or_else(|| (!known.is_empty()).then(|| format!("{what}: {}", quoted(&known))))
}

/// Formats names in backquotes, separated by commas: `` `a`, `b` ``.
pub(crate) fn quoted<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
