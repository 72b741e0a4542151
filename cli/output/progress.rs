//! Progress of index runs and transfers: one line that redraws itself on a terminal. Elsewhere, index runs print plain
//! lines, and transfers print nothing.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use aurora_pipeline::{Observer, Progress};
use aurora_stages::git_signal::WalkProgress;
use aurora_stages::index::IndexObserver;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{sanitize, units};

/// Interval between plain lines. A run that is shorter than the interval prints no line.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// Template of the progress line if the number of files is known.
const COUNTED: &str = "Indexing {bar:24} {human_pos}/{human_len} files  {msg}";
/// Template of the progress line while the number of files is unknown.
const UNCOUNTED: &str = "Indexing {spinner} {human_pos} files  {msg}";

/// Observes an index run and prints its progress.
pub(crate) struct IndexProgress {
    display: Display,
}

enum Display {
    Nothing,
    Lines {
        /// Whether the history walk has reported progress before. Its first report prints nothing.
        has_reported: AtomicBool,
    },
    Bar(ProgressBar),
}

impl IndexProgress {
    /// Creates an observer that prints nothing.
    pub(crate) fn hidden() -> Self {
        Self { display: Display::Nothing }
    }

    /// Creates an observer that prints to standard error; `live` means that this is a terminal that can redraw a line.
    pub(crate) fn visible(live: bool) -> Self {
        if !live {
            return Self { display: Display::Lines { has_reported: AtomicBool::new(false) } };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        bar.set_style(style(UNCOUNTED));
        Self { display: Display::Bar(bar) }
    }

    /// Removes the progress line, also after a failed run.
    pub(crate) fn clear(&self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

impl Drop for IndexProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

impl IndexObserver for IndexProgress {
    fn on_history(&self, walk: WalkProgress) {
        match &self.display {
            Display::Nothing => {}
            Display::Lines { has_reported } if has_reported.swap(true, Ordering::Relaxed) => {
                print_line(&format!("All files are searchable. {}", commits(walk)));
            }
            Display::Lines { .. } => {}
            Display::Bar(bar) => {
                // All files are processed, so the bar stays full.
                bar.set_message(format!("all files are searchable. {}", commits(walk)));
                bar.tick();
            }
        }
    }

    fn run_observer(&self) -> &dyn Observer {
        self
    }
}

impl Observer for IndexProgress {
    fn on_log(&self, stage: &str, line: &str) {
        let text = format!("{}: {}", sanitize::line(stage), sanitize::line(line));
        match &self.display {
            Display::Nothing => {}
            Display::Lines { .. } => print_line(&text),
            Display::Bar(bar) => bar.suspend(|| print_line(&text)),
        }
    }

    fn on_progress(&self, progress: &Progress) {
        match &self.display {
            Display::Nothing => {}
            Display::Lines { .. } if progress.elapsed < LINE_INTERVAL => {}
            Display::Lines { .. } => print_line(&plain(progress)),
            Display::Bar(bar) => {
                if let Some(total) = progress.files_total {
                    if bar.length().is_none() {
                        bar.set_style(style(COUNTED));
                    }
                    bar.set_length(total);
                }
                bar.set_message(message(progress));
                bar.set_position(progress.files_done);
                bar.tick();
            }
        }
    }

    fn interval(&self) -> Option<Duration> {
        match self.display {
            Display::Nothing => None,
            Display::Lines { .. } => Some(LINE_INTERVAL),
            Display::Bar(_) => Some(Duration::from_millis(100)),
        }
    }
}

/// Template of the line of a transfer if the number of bytes is known.
const TRANSFER: &str = "{prefix} {bar:24} {msg}";
/// Template of the line of a transfer while the number of bytes is unknown.
const UNCOUNTED_TRANSFER: &str = "{prefix} {spinner} {msg}";

/// Prints the progress of a push or a pull to a terminal.
pub(crate) struct TransferProgress {
    bar: ProgressBar,
    begun: Instant,
}

impl TransferProgress {
    /// Creates the line with an action such as `Pushing`. Prints nothing unless `is_shown` is set.
    pub(crate) fn new(action: &'static str, is_shown: bool) -> Self {
        let target = if is_shown { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target).with_style(style(UNCOUNTED_TRANSFER)).with_prefix(action);
        if is_shown {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, begun: Instant::now() }
    }

    /// Shows the current step without a number of bytes.
    pub(crate) fn show_step(&self, step: impl Into<String>) {
        self.bar.set_style(style(UNCOUNTED_TRANSFER));
        self.bar.set_message(step.into());
    }

    /// Shows that `done` of `total` bytes are processed, and `transferred` bytes were transferred.
    pub(crate) fn show_bytes(&self, done: u64, total: u64, transferred: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_style(style(TRANSFER));
            self.bar.set_length(total);
        }
        self.bar.set_position(done.min(total));
        self.bar.set_message(transfer_message(done, total, transferred, self.begun.elapsed()));
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for TransferProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Formats the message of a transfer, such as `12.0 MiB of 40.0 MiB, 3.00 MiB transferred, 512 KiB/s`.
fn transfer_message(done: u64, total: u64, transferred: u64, elapsed: Duration) -> String {
    let mut message = format!("{} of {}", units::bytes(done), units::bytes(total));
    if transferred != done {
        message.push_str(&format!(", {} transferred", units::bytes(transferred)));
    }
    if elapsed >= Duration::from_secs(1) {
        let rate = transferred as f64 / elapsed.as_secs_f64();
        message.push_str(&format!(", {}/s", units::bytes(rate as u64)));
    }
    message
}

fn print_line(line: &str) {
    // Write errors are ignored, because nobody could read a message about a closed standard error.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─")
}

/// Formats a plain line, such as `Indexing: 1,200/5,000 files (24%), 8,100 chunks, 240/s, 16 s left`.
fn plain(progress: &Progress) -> String {
    let files = match progress.files_total {
        Some(total) => {
            let percent = (progress.files_done * 100).checked_div(total).unwrap_or(100);
            format!("{}/{} files ({percent}%)", units::count(progress.files_done), units::count(total))
        }
        None => units::counted(progress.files_done, "file"),
    };
    format!("Indexing: {files}, {}", message(progress))
}

/// Formats the progress of the history walk, such as `Reading git history: 12,000/82,000 commits`.
fn commits(walk: WalkProgress) -> String {
    format!("Reading git history: {}/{} commits", units::count(walk.done), units::count(walk.total))
}

/// Formats the message after the file count, such as `8,100 chunks, 240/s, 16 s left`.
fn message(progress: &Progress) -> String {
    let left = remaining_time(progress).map(|left| match left.as_secs() {
        seconds @ 0..60 => format!(", {seconds} s left"),
        _ => format!(", {} left", units::duration(left)),
    });
    let rate = units::rate(progress.files_done, "", progress.elapsed);
    format!("{}, {rate}{}", units::counted(progress.chunks, "chunk"), left.unwrap_or_default())
}

/// Returns the remaining time at the current pace in whole seconds; `None` if the pace is unknown or nothing is left.
fn remaining_time(progress: &Progress) -> Option<Duration> {
    let total = progress.files_total?;
    if progress.files_done == 0 || progress.files_done >= total || progress.elapsed < Duration::from_secs(1) {
        return None;
    }
    let rest = total.saturating_sub(progress.files_done) as f64;
    let seconds = progress.elapsed.as_secs_f64() * rest / progress.files_done as f64;
    Duration::try_from_secs_f64(seconds.ceil()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(files_total: Option<u64>, files_done: u64, seconds: u64) -> Progress {
        Progress {
            files_total,
            files_done,
            chunks: files_done * 7,
            bytes: 0,
            stages: Vec::new(),
            elapsed: Duration::from_secs(seconds),
        }
    }

    #[test]
    fn plain_lines_have_counts_a_rate_and_the_remaining_time() {
        for (state, expected) in [
            (progress(Some(5_000), 1_200, 5), "Indexing: 1,200/5,000 files (24%), 8,400 chunks, 240/s, 16 s left"),
            (progress(None, 1, 10), "Indexing: 1 file, 7 chunks, 0.10/s"),
            (progress(Some(0), 0, 5), "Indexing: 0/0 files (100%), 0 chunks, 0.00/s"),
            (progress(Some(9_000), 100, 10), "Indexing: 100/9,000 files (1%), 700 chunks, 10.0/s, 14 min 50 s left"),
            (progress(Some(100), 100, 5), "Indexing: 100/100 files (100%), 700 chunks, 20.0/s"),
            (progress(Some(100), 0, 60), "Indexing: 0/100 files (0%), 0 chunks, 0.00/s"),
        ] {
            assert_eq!(plain(&state), expected);
        }
    }

    #[test]
    fn transfers_have_bytes_and_a_rate() {
        let message = |done, transferred, ms| transfer_message(done, 4 << 20, transferred, Duration::from_millis(ms));
        assert_eq!(message(1 << 20, 1 << 20, 500), "1.00 MiB of 4.00 MiB");
        assert_eq!(message(4 << 20, 1 << 20, 2000), "4.00 MiB of 4.00 MiB, 1.00 MiB transferred, 512 KiB/s");
        assert_eq!(message(0, 0, 0), "0 B of 4.00 MiB");
    }

    #[test]
    fn the_templates_are_valid() {
        for template in [COUNTED, UNCOUNTED, TRANSFER, UNCOUNTED_TRANSFER] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }
}
