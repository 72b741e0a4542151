//! How long does a search in a log directory take, and how much memory does it use? Compare the result with `rg` and
//! `zgrep` on the same directory:
//!
//! `cargo run --release -p aurora-logs --example search DIRECTORY WORD...`
#![allow(clippy::print_stdout, reason = "this prints a measurement")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use aurora_logs::{DateRange, LogDirectory, Pattern};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (directory, words) = arguments.split_first().ok_or("give a directory and words")?;
    let begin = Instant::now();
    let logs = LogDirectory::open(Path::new(directory))?.ok_or("there is no such directory")?;
    let pattern = Pattern::words(&words.join(" "))?;
    let (mut files, mut hits, mut unread) = (0, 0, 0);
    for log in logs.files(DateRange::default())? {
        files += 1;
        let mut count = |_| {
            hits += 1;
            true
        };
        let searched = log.map_err(|problem| problem.cause).map(|log| logs.search(&log, &pattern, &mut count));
        unread += i32::from(!matches!(searched, Ok(Ok(()))));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    println!("{hits} sections of {files} logs, {unread} unread, {:.2?}, {peak}", begin.elapsed());
    Ok(())
}
