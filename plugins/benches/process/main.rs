//! How fast do rows go through a stage that is a program, and how much faster through two processes?
//!
//! Corpus: made here, the same in every run: texts like source code of about 600 bytes, and names of about 20. A directory on
//! the command line replaces the former by its files. Peer: `cat`, which gets the same bytes and gives them back, so that
//! nothing but pipes is measured. The program is `echo-stage`, which reads each message and answers with the values of the
//! rows. The pipeline is a real one: a source, the stage, and a sink that reads the answers.
//!
//! A megabyte is 1,000,000 bytes of JSON Lines on their way to the program; as many come back. All sides run in turns, and the best
//! of each counts, since a busy machine can only make a run slower. Processor time is that of both processes.
//!
//! `cargo xtask bench process [DIR]`

mod corpus;
mod measure;
mod peer;
mod pipeline;

use corpus::Corpus;
use measure::{Measured, best_of};

const ROUNDS: usize = 3;

fn main() {
    let root = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let long = root.map_or_else(Corpus::made, |root| Corpus::of_directory(root.as_ref()));
    for corpus in [long, Corpus::short()] {
        compare(&corpus);
    }
}

fn compare(corpus: &Corpus) {
    let lines = corpus.json_lines();
    let bytes: usize = lines.iter().map(Vec::len).sum();
    println!(
        "{}: {} rows of {} bytes, {:.0} MB of JSON Lines",
        corpus.name,
        corpus.rows(),
        corpus.text_bytes() / corpus.rows().max(1),
        bytes as f64 / 1e6
    );
    let mut sides: Vec<(String, usize, Box<dyn Fn() -> Measured + '_>)> = Vec::new();
    for count in [1, 2] {
        sides.push((
            "cat".to_owned(),
            count,
            Box::new({
                let lines = &lines;
                move || peer::run(lines, count)
            }),
        ));
    }
    for encoding in ["jsonl", "msgpack"] {
        for count in [1, 2] {
            sides.push((
                format!("echo-stage, {encoding}"),
                count,
                Box::new(move || pipeline::run(corpus, encoding, count)),
            ));
        }
    }
    let best = best_of(ROUNDS, &sides);
    let speed = |measured: &Measured| bytes as f64 / 1e6 / measured.wall.as_secs_f64();
    for ((name, count, _), (at, measured)) in sides.iter().zip(best.iter().enumerate()) {
        let processes = if *count == 1 { "1 process" } else { "2 processes" };
        print!("  {name}, {processes}: {:.0} MB/s", speed(measured));
        if at >= 2 {
            print!(", {:.2} x cat", speed(measured) / speed(&best[count - 1]));
        }
        if *count == 2 {
            print!(", {:.2} x one process", speed(measured) / speed(&best[at - 1]));
        }
        if let Some(cpu) = measured.cpu {
            let per_megabyte = |seconds: f64| seconds * 1e9 / bytes as f64;
            let total = cpu.own + cpu.children;
            print!(
                "; {:.1} ms of processor time a MB (host {:.1}, program {:.1}), {:.2} cores",
                per_megabyte(total),
                per_megabyte(cpu.own),
                per_megabyte(cpu.children),
                total / measured.wall.as_secs_f64()
            );
        }
        println!();
    }
}
