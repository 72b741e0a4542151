//! Standard output and standard error: their colours and widths, and messages for the user.

use std::io::{self, BufRead, BufWriter, IsTerminal, Read, StdoutLock, Write};

use aurora_pipeline::Diagnostics;
use clap::ColorChoice;
use serde::Serialize;

use crate::context::{Failure, Outcome, ReportFormat};
use crate::output::{Painter, Role, json, report, sanitize};

/// Buffered standard output.
pub(crate) type Stdout = BufWriter<StdoutLock<'static>>;

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
    /// Detects the properties of both streams. The environment variable `COLUMNS` overrides the width.
    pub(crate) fn detect(when: ColorChoice) -> Self {
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
    pub(crate) fn stdout(&self) -> Stdout {
        BufWriter::new(io::stdout().lock())
    }

    /// Writes to standard output.
    pub(crate) fn write(&self, write: impl FnOnce(&mut Stdout) -> io::Result<()>) -> Outcome {
        let mut out = self.stdout();
        write(&mut out)?;
        Ok(out.flush()?)
    }

    /// Prints a line to standard output.
    pub(crate) fn line(&self, line: &str) -> Outcome {
        self.write(|out| writeln!(out, "{line}"))
    }

    /// Prints a report as indented JSON or as text.
    pub(crate) fn print(
        &self,
        format: ReportFormat,
        report: &impl Serialize,
        text: impl FnOnce(&mut Stdout) -> io::Result<()>,
    ) -> Outcome {
        self.write(|out| match format {
            ReportFormat::Json => json::write_indented(out, report),
            ReportFormat::Text => text(out),
        })
    }

    /// Asks a question on the terminal. Returns whether the user agrees; an empty answer means no.
    pub(crate) fn confirms(&self, question: &str) -> io::Result<bool> {
        Ok(matches!(self.ask(&format!("{question} [y/N]"))?.as_deref(), Some("y" | "yes")))
    }

    /// Asks a question on the terminal. Returns whether the user agrees; an empty answer means yes.
    pub(crate) fn confirms_unless_refused(&self, question: &str) -> io::Result<bool> {
        Ok(matches!(self.ask(&format!("{question} [Y/n]"))?.as_deref(), Some("" | "y" | "yes")))
    }

    /// Returns the answer to a question in lower case; `None` at the end of the input.
    fn ask(&self, question: &str) -> io::Result<Option<String>> {
        let mut err = io::stderr().lock();
        write!(err, "{question} ")?;
        err.flush()?;
        let mut answer = String::new();
        let read = io::stdin().lock().take(64).read_line(&mut answer)?;
        Ok((read > 0).then(|| answer.trim().to_ascii_lowercase()))
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
            Failure::Reported | Failure::ReaderGone => {}
            Failure::Short(message) => self.warn(message),
            Failure::Interrupted(message) => self.say(Role::Warning, "Interrupted", message),
            Failure::Findings { message, found } => {
                self.show(found);
                self.say(Role::Error, "Error", message);
            }
            Failure::Fatal { message, help } => {
                self.say(Role::Error, "Error", message);
                if let Some(help) = help {
                    self.say(Role::Faint, "  Help", help);
                }
            }
        }
    }

    /// Prints findings about a configuration.
    pub(crate) fn show(&self, found: &Diagnostics) {
        let columns = self.live.then(|| self.columns.unwrap_or(100));
        let text = report::render(found, columns, self.err);
        // Write errors are ignored, because nobody could read a message about a closed standard error.
        let _ = write!(io::stderr().lock(), "{text}");
    }

    fn say(&self, role: Role, label: &str, message: &str) {
        let label = self.err.paint(role, &format!("{label}:"));
        let message = sanitize::block(message);
        // Write errors are ignored, because nobody could read a message about a closed standard error.
        let _ = writeln!(io::stderr().lock(), "{label} {message}");
    }
}
