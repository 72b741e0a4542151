//! Does an index run become faster with each additional core?
//!
//! Corpus: hard links to the files of a directory, once or several times, without the history of git. Baseline: a bare
//! loop that reads the indexed files and parses them with the same grammars, on as many threads, pinned to the same
//! cores. Index runs, bare loops and batches of searches alternate, and medians are reported. A core is a logical
//! processor of the scheduler, so each hardware thread counts as a core.
//!
//! `cargo xtask bench scale --root DIR`, or without cargo `xtask bench scale --root DIR --program AUR --bare BARE_PARSE`

mod corpus;
mod process;
mod processors;
mod programs;
mod report;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use corpus::Corpus;
use processors::Processors;
use programs::Programs;
use report::Report;

#[derive(Args)]
pub(crate) struct Options {
    /// Directory to index; nothing in it is changed
    #[arg(long, value_name = "DIR")]
    root: PathBuf,
    /// Path of `aur` [default: a release build]
    #[arg(long, value_name = "AUR")]
    program: Option<PathBuf>,
    /// Path of the bare parse loop [default: a release build, or no comparison if only --program is given]
    #[arg(long, value_name = "BARE_PARSE")]
    bare: Option<PathBuf>,
    /// Numbers of cores to measure [default: powers of two, and all cores]
    #[arg(long, value_delimiter = ',')]
    cores: Vec<usize>,
    /// Number of runs for each number of cores
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Number of copies of the directory that are indexed together
    #[arg(long, default_value_t = 1)]
    copies: usize,
    /// Number of languages that are also measured separately on all cores. The languages with the most bytes are chosen
    #[arg(long, default_value_t = 4)]
    languages: usize,
    /// Directory for links or copies of the files and for the indexes [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Runs the measurements and prints the medians. Returns an error if the indexes differ.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    if options.rounds == 0 || options.copies == 0 {
        return Err("--rounds and --copies must be at least 1".into());
    }
    let processors = Processors::available()?;
    // The load of the last minute is read before this process adds to it.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = core_counts(&options.cores, processors.all().len())?;
    let parent = options.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let scratch = tempfile::Builder::new().prefix("aurora-scale-").tempdir_in(&parent);
    let scratch = scratch.map_err(|error| format!("{}: {error}", parent.display()))?;
    let programs = Programs::new(options.program.as_deref(), options.bare.as_deref(), scratch.path().join("home"))?;

    let mut corpus = Corpus::link(&options.root, &scratch.path().join("all"), options.copies)?;
    // This run also reads the corpus into the page cache.
    programs.index(&corpus, processors.all())?;
    corpus.remove(&programs.not_indexed(&corpus, processors.all())?);
    if corpus.paths.is_empty() {
        return Err(format!("{}: no file is indexed", options.root.display()));
    }
    corpus.list = programs.list(&corpus, processors.all())?;
    let queries = corpus.queries()?;
    let languages = corpus.languages(options.languages, &scratch.path().join("languages"))?;

    let mut by_cores = vec![Vec::new(); cores.len()];
    let mut by_language = vec![Vec::new(); languages.len()];
    let mut digests = BTreeSet::new();
    for round in 1..=options.rounds {
        for (&count, samples) in cores.iter().zip(&mut by_cores) {
            let mut sample = programs.compare(&corpus, processors.first(count))?;
            sample.insert("search_seconds", programs.search(&corpus, &queries, processors.first(count))?);
            eprintln!("round {round} of {}, cores {count}: {:.2} s", options.rounds, sample["wall_seconds"]);
            samples.push(sample);
            if round == 1 {
                digests.insert(programs.digest(&corpus, processors.all())?);
            }
        }
        for (language, samples) in languages.iter().zip(&mut by_language) {
            samples.push(programs.compare(language, processors.first(cores[cores.len() - 1]))?);
        }
    }
    let is_equal = digests.len() == 1;
    let head = json!({
        "files": corpus.paths.len(), "bytes": corpus.bytes()?, "copies": options.copies, "rounds": options.rounds,
        "queries": queries.len(), "processors": processors.all().len(), "physical_cores": processors.physical_cores,
        "load_average": load.split(' ').next().and_then(|load| load.parse::<f64>().ok()), "equal_digests": is_equal,
    });
    let languages: Vec<_> = languages.iter().map(|language| language.name.as_str()).collect();
    let report = Report::new(head, (&cores, &by_cores), (&languages, &by_language));
    match options.format {
        Format::Table => print!("{}", report.to_text()),
        Format::Json => println!("{:#}", report.to_json()),
    }
    if is_equal { Ok(()) } else { Err("the index depends on the number of cores".into()) }
}

/// Returns the numbers of cores to measure, in ascending order.
fn core_counts(given: &[usize], available: usize) -> Result<Vec<usize>, String> {
    let powers = std::iter::successors(Some(1), |count| Some(count * 2)).take_while(|count| *count < available);
    let counts: BTreeSet<usize> =
        if given.is_empty() { powers.chain([available]).collect() } else { given.iter().copied().collect() };
    match counts.iter().find(|count| **count == 0 || **count > available) {
        Some(count) => Err(format!("--cores {count}: this process may use 1 to {available} cores")),
        None => Ok(counts.into_iter().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::core_counts;

    #[test]
    fn default_core_counts_are_powers_of_two_and_all_cores() {
        assert_eq!(core_counts(&[], 1), Ok(vec![1]));
        assert_eq!(core_counts(&[], 8), Ok(vec![1, 2, 4, 8]));
        assert_eq!(core_counts(&[], 12), Ok(vec![1, 2, 4, 8, 12]));
        assert_eq!(core_counts(&[4, 1], 8), Ok(vec![1, 4]));
        assert!(core_counts(&[1, 9], 8).is_err());
    }
}
