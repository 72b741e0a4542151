//! How fast do rows pass through a stage that is a program, and how much faster through two processes?
//!
//! Corpus: generated and identical in every run. It has texts similar to source code of about 600 bytes, and names of
//! about 20 bytes. If the command line names a directory, its files replace the texts. Baseline: `cat`, which receives
//! the same bytes and returns them, so that it measures only the pipes. The program is `echo-stage`, which parses each
//! message and answers with the values of the rows. The pipeline consists of a source, the stage, and a sink that reads
//! the answers.
//!
//! A megabyte means 1,000,000 bytes of JSON Lines that are sent to the program; about the same amount is returned. The
//! sides of the comparison (`cat`, and the stage with each encoding) run in turn. For each side, only the fastest run
//! is reported, because other load can only make a run slower. CPU time includes this process and its child processes.
//!
//! `cargo xtask bench process [DIR]`

mod corpus;
mod measure;
mod peer;
mod pipeline;

use corpus::Corpus;
use measure::{Measured, Side, best_of};

const ROUNDS: usize = 3;
/// Numbers of concurrent processes.
const PROCESSES: [usize; 2] = [1, 2];

fn main() {
    let root = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let long = root.map_or_else(Corpus::generated, |root| Corpus::from_directory(root.as_ref()));
    for corpus in [long, Corpus::short()] {
        compare(&corpus);
    }
}

fn compare(corpus: &Corpus) {
    let lines = &corpus.json_lines();
    let bytes: usize = lines.iter().map(Vec::len).sum();
    println!(
        "{}: {} rows of {} bytes, {:.0} MB of JSON Lines",
        corpus.name,
        corpus.rows(),
        corpus.text_bytes() / corpus.rows().max(1),
        bytes as f64 / 1e6
    );
    let cat = PROCESSES.map(|count| Side::new("cat", count, move || peer::run(lines, count)));
    let echo = ["jsonl", "msgpack"].map(|encoding| {
        let run = move |count| move || pipeline::run(corpus, encoding, count);
        PROCESSES.map(|count| Side::new(encoding, count, run(count)))
    });
    let sides: Vec<Side<'_>> = cat.into_iter().chain(echo.into_iter().flatten()).collect();
    let best = best_of(ROUNDS, &sides);
    let speed = |at: usize| bytes as f64 / 1e6 / best[at].wall.as_secs_f64();
    for (at, Side { name, count, .. }) in sides.iter().enumerate() {
        let noun = if *count == 1 { "process" } else { "processes" };
        print!("  {name}, {count} {noun}: {:.0} MB/s", speed(at));
        if at >= PROCESSES.len() {
            print!(", {:.2} x cat", speed(at) / speed(at % PROCESSES.len()));
        }
        if *count > 1 {
            print!(", {:.2} x one process", speed(at) / speed(at - 1));
        }
        println!("{}", processor_time(&best[at], bytes));
    }
}

fn processor_time(measured: &Measured, bytes: usize) -> String {
    let Some(cpu) = measured.cpu else { return String::new() };
    let per_megabyte = |seconds: f64| seconds * 1e9 / bytes as f64;
    let total = cpu.own + cpu.children;
    format!(
        "; processor time {:.1} ms a MB (host {:.1}, program {:.1}), {:.2} cores",
        per_megabyte(total),
        per_megabyte(cpu.own),
        per_megabyte(cpu.children),
        total / measured.wall.as_secs_f64()
    )
}
