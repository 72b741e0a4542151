//! The log of the program: to standard error, and to a file in the user's directory.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use aurora_project::{LogFileUse, LogSettings, QUERY_LOG, RotatingFile, SettingsTable as _};
use clap::ValueEnum;
use tracing_subscriber::filter::{Directive, EnvFilter, LevelFilter};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

use crate::context::Terminal;

/// Maximum size of an event in the log file, in bytes. The rest of a longer event is cut off.
const MAX_EVENT_BYTES: usize = 32 << 10;

/// Format of the log on standard error. JSON has one object per line. The variants have no documentation, because the
/// help of every command would contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
    Off,
}

/// Defaults of a command for the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogDefaults {
    /// The least severe level.
    pub(crate) level: &'static str,
    /// Whether the command is a server, which by default also writes its log to a file.
    pub(crate) is_server: bool,
}

/// Options of the command line for the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogOptions {
    /// Number of `-v`.
    pub(crate) verbose: u8,
    pub(crate) format: LogFormat,
    /// Whether the texts of queries are logged, even if the configuration does not say so.
    pub(crate) queries: bool,
}

/// Starts the log of this process. `-v` overrides `RUST_LOG`, which overrides the configuration. Invalid settings cause
/// a warning, because a log must not stop a command.
pub(crate) fn start(options: LogOptions, defaults: LogDefaults, terminal: &Terminal) {
    let settings = LogSettings::load().unwrap_or_else(|found| {
        terminal.show(&found);
        LogSettings::built_in()
    });
    let filter = || {
        let configured = settings.level.as_deref().unwrap_or(defaults.level);
        filter(options.verbose, configured, options.queries || settings.queries)
    };
    let writes_file = match settings.file {
        LogFileUse::On => true,
        LogFileUse::Servers => defaults.is_server,
        LogFileUse::Off => false,
    };
    let file = settings.open_file().filter(|_| writes_file).map(|file| {
        let writer = LogFile { file, has_failed: AtomicBool::new(false) };
        tracing_subscriber::fmt::layer().with_ansi(false).with_target(false).with_writer(writer).with_filter(filter())
    });
    let errors = tracing_subscriber::fmt::layer().with_target(false).with_writer(StandardError);
    let errors: Option<Box<dyn Layer<Registry> + Send + Sync>> = match options.format {
        LogFormat::Off => None,
        LogFormat::Json => Some(errors.json().flatten_event(true).with_filter(filter()).boxed()),
        LogFormat::Text if defaults.is_server => {
            Some(errors.with_ansi(terminal.err.is_enabled()).with_filter(filter()).boxed())
        }
        // The messages of a command end with the command, so their times are of little use.
        LogFormat::Text => {
            Some(errors.without_time().with_ansi(terminal.err.is_enabled()).with_filter(filter()).boxed())
        }
    };
    // Fails if the process already has a log, as in a program that uses this crate as a library.
    let _ = tracing_subscriber::registry().with(errors).with(file).try_init();
}

/// Returns the filter of events. Only this program's own events are logged below the level `warn`, unless `RUST_LOG`
/// selects others.
fn filter(verbose: u8, level: &str, with_queries: bool) -> EnvFilter {
    let own = |level: &str| format!("warn,aurora={level}");
    let directives = match (verbose, std::env::var("RUST_LOG")) {
        (0, Ok(directives)) if !directives.trim().is_empty() => directives,
        (0, _) if level == "error" => level.to_owned(),
        (0, _) => own(level),
        (1, _) => own("info"),
        _ => own("debug"),
    };
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::WARN.into()).parse_lossy(directives);
    let queries = if with_queries { "info" } else { "off" };
    match format!("{QUERY_LOG}={queries}").parse::<Directive>() {
        Ok(queries) => filter.add_directive(queries),
        Err(_) => filter,
    }
}

/// Standard error with masked secrets.
struct StandardError;

impl<'w> MakeWriter<'w> for StandardError {
    type Writer = Masked<io::Stderr>;

    fn make_writer(&'w self) -> Self::Writer {
        Masked(io::stderr())
    }
}

/// Masks secrets in events. Each event is one call of `write`.
struct Masked<W>(W);

impl<W: Write> Write for Masked<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0.write_all(aurora_project::masked(String::from_utf8_lossy(event).into_owned()).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The log file. Its first error is printed; the log never stops the program.
struct LogFile {
    file: RotatingFile,
    has_failed: AtomicBool,
}

impl<'w> MakeWriter<'w> for LogFile {
    type Writer = Masked<&'w Self>;

    fn make_writer(&'w self) -> Self::Writer {
        Masked(self)
    }
}

impl Write for &LogFile {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let text = text.trim_end_matches('\n');
        let text = &text[..text.floor_char_boundary(MAX_EVENT_BYTES)];
        // Several processes write to the file.
        let line = format!("[{}] {text}\n", std::process::id());
        if let Err(error) = self.file.append(line.as_bytes())
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            let path = self.file.path();
            let _ = writeln!(io::stderr(), "Warning: cannot write the log {}: {error}", path.display());
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
