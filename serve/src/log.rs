//! The log on standard error.

use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How the log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStyle {
    /// A line of words for each event.
    Text {
        /// Whether it has colours.
        colours: bool,
    },
    /// An object for each event.
    Json,
}

/// Lets this process write what happens to standard error from now on. `RUST_LOG` says how much, by default everything from `level`
/// on; at [`Level::INFO`] each request is a line.
pub fn log(style: LogStyle, level: Level) {
    let filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    let registry = tracing_subscriber::registry().with(filter);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    // A process that has a log keeps it.
    let _ = match style {
        LogStyle::Text { colours } => registry.with(layer.with_ansi(colours)).try_init(),
        LogStyle::Json => registry.with(layer.json().flatten_event(true)).try_init(),
    };
}
