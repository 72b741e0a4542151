//! Writes the log to standard error.

use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStyle {
    /// A line of text for each event.
    Text {
        /// Whether to use colours.
        colours: bool,
    },
    /// A JSON object for each event.
    Json,
}

/// Starts writing the events of this process to standard error. `RUST_LOG` selects the events; by default, these are
/// the events of `level` and more severe ones. At [`Level::INFO`], there is one event per request.
pub fn log(style: LogStyle, level: Level) {
    let filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    let registry = tracing_subscriber::registry().with(filter);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    // Fails if the process already writes a log. The process then keeps that log, so the error can be ignored.
    let _ = match style {
        LogStyle::Text { colours } => registry.with(layer.with_ansi(colours)).try_init(),
        LogStyle::Json => registry.with(layer.json().flatten_event(true)).try_init(),
    };
}
