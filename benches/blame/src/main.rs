//! What does it cost to find the commit of every line of a repository, and does git name the same commits?
//!
//! Corpus: any repository with its history, bare or not; nothing is written to the repository. Baselines, in the same
//! run:
//! - `git blame --line-porcelain HEAD -- FILE`, one process per file, two at a time, as `xargs -P2` would run them:
//!   once without a commit-graph, and once with a commit-graph that has changed-path filters;
//! - the blame of gix with the same commit-graph, file by file on one thread.
//!
//! Our blame attributes all files. The baselines blame a sample of the files, and their cost is extrapolated to all
//! files. Processor times are compared. For the files of the sample, the bench also reports how many lines agree.
//!
//! With `--increment`: what does an incremental update to a new HEAD cost, and is its result the same as after a full
//! walk of the history?

mod agreement;
mod files;
mod git;
mod gitoxide;
mod increments;
mod measure;
mod ours;

use std::path::PathBuf;
use std::process::ExitCode;

use agreement::Agreement;
use clap::Parser;
use git::{Answers, WithGraph};
use measure::{anonymous_peak, load};
use ours::Walked;

#[derive(Parser)]
#[command(about = "Attribution of whole repositories, compared with git blame and gix's blame", max_term_width = 100)]
struct Options {
    /// A repository, a directory within one, or a bare repository.
    root: PathBuf,
    /// Number of files that git and gix blame.
    #[arg(long, default_value_t = 150)]
    files: usize,
    /// Seed that chooses the files.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run git (with a commit-graph) on every file and compare all lines.
    #[arg(long)]
    all: bool,
    /// Number of threads for our blame, and of concurrent git processes.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Measure only an update to HEAD, with the caches of its COMMITS-th first-parent ancestor. Can be repeated.
    #[arg(long, value_name = "COMMITS")]
    increment: Vec<usize>,
    /// Run without git and gix.
    #[arg(long)]
    alone: bool,
    /// Maximum number of differing files, and of files without attribution, to list.
    #[arg(long, default_value_t = 50)]
    list: usize,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("blame: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    rayon::ThreadPoolBuilder::new().num_threads(options.threads).build_global().map_err(|error| error.to_string())?;
    if !options.increment.is_empty() {
        return options.increment.iter().try_for_each(|&back| increment(&options.root, back));
    }
    let paths = files::regular_files(&options.root)?;
    let (whole, peak) = anonymous_peak(|| {
        let walked = Walked::new(&options.root)?;
        let whole = walked.blame_all(&paths);
        Ok::<_, String>((walked, whole))
    });
    let (walked, whole) = whole?;
    let ours = walked.cost.cpu + whole.cost.cpu;
    println!(
        "{}: {} commits, {} files, {} lines; load {}",
        options.root.display(),
        walked.commits(),
        paths.len(),
        whole.lines,
        load()
    );
    println!(
        "ours: walk {:.2} s, blame {:.2} s, together {:.2} s CPU; {:.2} s wall on {} threads ({:.2} + {:.2}); {} MB anonymous memory",
        walked.cost.cpu.as_secs_f64(),
        whole.cost.cpu.as_secs_f64(),
        ours.as_secs_f64(),
        (walked.cost.wall + whole.cost.wall).as_secs_f64(),
        options.threads,
        walked.cost.wall.as_secs_f64(),
        whole.cost.wall.as_secs_f64(),
        peak / 1_000_000
    );
    println!("ours: {} files failed, {} are incomplete", whole.failed.len(), whole.incomplete);
    for (path, failure) in whole.failed.iter().take(options.list) {
        println!("  {path}: {failure}");
    }
    if options.alone {
        return Ok(());
    }
    let sample = files::sample(&paths, options.files, options.seed);
    let graph = WithGraph::write(&options.root)?;
    println!("git wrote a commit-graph with changed paths in {:.2} s CPU", graph.cost.cpu.as_secs_f64());
    let factor = paths.len() as f64 / sample.len().max(1) as f64;
    let extrapolated = |what: &str, answers: &Answers, factor: f64| {
        let cpu = answers.cost.scaled_cpu_seconds(factor);
        println!(
            "{what}: {} of {} files, {:.2} s CPU, {} failed; all files {cpu:.1} s CPU ± {:.0} %, ours is {:.1} times as fast",
            answers.lines.len(),
            paths.len(),
            answers.cost.cpu.as_secs_f64(),
            answers.lines.iter().filter(|lines| lines.is_none()).count(),
            answers.spread * 100.0,
            cpu / ours.as_secs_f64()
        );
    };
    let without = git::blame(|| git::without_graph(&options.root), &sample, options.threads);
    extrapolated("git", &without, factor);
    let compared = if options.all { &paths } else { &sample };
    let with = git::blame(|| graph.git(&options.root), compared, options.threads);
    extrapolated("git with commit-graph", &with, paths.len() as f64 / compared.len().max(1) as f64);
    let (theirs, cost) = gitoxide::blame(&options.root, &graph.info(), &sample)?;
    let cpu = cost.scaled_cpu_seconds(factor);
    let failed = theirs.iter().filter(|lines| lines.is_none()).count();
    println!(
        "gix with commit-graph: {} files, {:.2} s CPU, {failed} failed; all files {cpu:.1} s CPU, ours is {:.1} times as fast",
        sample.len(),
        cost.cpu.as_secs_f64(),
        cpu / ours.as_secs_f64()
    );
    let mut agreement = Agreement::default();
    for (path, expected) in compared.iter().zip(&with.lines) {
        agreement.add(path, &walked.lines(path), expected);
    }
    report("ours", &agreement, options.list);
    let mut agreement = Agreement::default();
    for ((path, found), expected) in sample.iter().zip(&theirs).zip(&without.lines) {
        agreement.add(path, found, expected);
    }
    report("gix", &agreement, 0);
    Ok(())
}

fn increment(root: &std::path::Path, back: usize) -> Result<(), String> {
    let step = increments::increment(root, back)?;
    println!(
        "{} new commits: {} files attributed again, {:.3} s CPU, {:.3} s wall; {} files differ from a full walk",
        step.commits,
        step.files,
        step.cost.cpu.as_secs_f64(),
        step.cost.wall.as_secs_f64(),
        step.differing.len()
    );
    println!(
        "full walk: {:.2} s CPU with caches, peak of {} MB anonymous memory, {:.1} MB of cached diffs; {:.2} s CPU without caches",
        step.first.cpu.as_secs_f64(),
        step.first_peak / 1_000_000,
        step.cache_bytes as f64 / 1e6,
        step.fresh.cpu.as_secs_f64()
    );
    step.differing.iter().take(10).for_each(|path| println!("  {path}"));
    Ok(())
}

fn report(who: &str, agreement: &Agreement, list: usize) {
    println!(
        "{who} and git agree on {} of {} lines ({:.4} %); {} files differ, {} failed",
        agreement.equal,
        agreement.lines,
        agreement.per_cent(),
        agreement.differing.len(),
        agreement.failed
    );
    for difference in agreement.differing.iter().take(list) {
        println!(
            "  {}: {} lines differ; line {} is {}, expected {}",
            difference.path, difference.lines, difference.first, difference.found, difference.expected
        );
    }
}
