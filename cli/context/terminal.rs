//! The two output streams: whether they are terminals, their widths, and the notes and warnings.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use crate::context::failure::Failure;
use crate::output::sanitize;
use crate::output::style::{ColorWhen, Painter, Role};

/// Width of a terminal that does not report its width, in columns.
const DEFAULT_COLUMNS: usize = 80;

/// Properties of the output streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Colours for results.
    pub(crate) out: Painter,
    /// Colours for messages.
    pub(crate) err: Painter,
    /// Width of the terminal that shows the results; `None` without a terminal.
    pub(crate) columns: Option<usize>,
    /// Whether messages go to a terminal that can redraw a line.
    pub(crate) live: bool,
}

impl Terminal {
    /// Detects the properties of both streams. An exported `COLUMNS` overrides the width.
    pub(crate) fn detect(when: ColorWhen) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let exported =
            std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        let measured = || {
            let (width, _) = terminal_size::terminal_size_of(&out)?;
            Some(usize::from(width.0)).filter(|columns| *columns > 0)
        };
        Self {
            out: Painter::new(when, &out),
            err: Painter::new(when, &err),
            columns: exported.or_else(measured).or_else(|| out.is_terminal().then_some(DEFAULT_COLUMNS)),
            live: err.is_terminal()
                && !anstyle_query::is_ci()
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        }
    }

    /// Returns buffered standard output, which the caller must flush.
    pub(crate) fn stdout(&self) -> BufWriter<StdoutLock<'static>> {
        BufWriter::new(io::stdout().lock())
    }

    /// Prints information that does not affect the result.
    pub(crate) fn note(&self, message: &str) {
        self.say(Role::Faint, "Note", message);
    }

    /// Prints a suggestion for a probable typing error.
    pub(crate) fn tip(&self, message: &str) {
        self.say(Role::Good, "Tip", message);
    }

    /// Prints a warning.
    pub(crate) fn warn(&self, message: &str) {
        self.say(Role::Warning, "Warning", message);
    }

    /// Prints the failure of a command.
    pub(crate) fn report(&self, failure: &Failure) {
        match failure {
            Failure::ReaderGone => {}
            Failure::Short(message) => self.warn(message),
            Failure::Interrupted(message) => self.say(Role::Warning, "Interrupted", message),
            Failure::Fatal { message, help } => {
                self.say(Role::Error, "Error", message);
                if let Some(help) = help {
                    self.say(Role::Faint, "  Help", help);
                }
            }
        }
    }

    fn say(&self, role: Role, label: &str, message: &str) {
        let label = self.err.paint(role, &format!("{label}:"));
        let message = sanitize::block(message);
        // Write errors are ignored, because nobody could read a message about a closed standard error.
        let _ = writeln!(io::stderr().lock(), "{label} {message}");
    }
}
