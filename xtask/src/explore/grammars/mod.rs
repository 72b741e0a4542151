//! `cargo xtask explore grammars`: mutates real files and passes them through every component that reads text, for each
//! language.

mod checker;
mod minimise;
mod mutation;
mod program;
mod random;
mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;

use checker::{Answer, Checker, Limits};
use mutation::Sources;
use random::Random;
use report::{Finding, Tally, kind_of};

/// Maximum number of files in other languages that mutations take parts from.
const MAX_OTHER_SOURCES: usize = 200;
/// Maximum time for reducing one finding.
const MAX_REDUCTION_TIME: Duration = Duration::from_secs(60);

#[derive(Args)]
pub(crate) struct Options {
    /// Directories with sources. Their files, up to several hundred per language, are mutated
    #[arg(required_unless_present = "input")]
    roots: Vec<PathBuf>,

    /// Minutes for each language
    #[arg(long, value_name = "N", default_value_t = 30, conflicts_with = "seconds")]
    minutes: u64,

    /// Seconds for each language
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,

    /// Explore only this language; may be given several times [default: all languages with sources]
    #[arg(long, value_name = "NAME")]
    language: Vec<String>,

    /// Seed that, together with the sources, determines all texts [default: the current time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Check only the text with this number
    #[arg(long, value_name = "N", requires = "seed", requires = "language")]
    case: Option<u64>,

    /// Check only the text in this file, unchanged
    #[arg(long, value_name = "FILE", requires = "language", conflicts_with_all = ["roots", "case", "seed"])]
    input: Option<PathBuf>,

    /// Maximum time of a parse. The default of an index run is longer, so that fewer texts could be checked
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 300)]
    parse_limit: u64,

    /// Maximum memory of the process that checks texts
    #[arg(long, value_name = "MIB", default_value_t = 768)]
    memory_limit: u64,
}

/// Data shared by all languages.
struct Run<'a> {
    options: &'a Options,
    program: &'a Path,
    /// Directory in which findings are stored.
    directory: &'a Path,
    seed: u64,
    is_interrupted: &'a dyn Fn() -> bool,
}

/// Checks mutated files, and fails if there are findings.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let signal = Arc::clone(&interrupted);
    ctrlc::set_handler(move || signal.store(true, Ordering::Relaxed)).map_err(|error| error.to_string())?;
    let program = program::build()?;
    let directory = program::findings_directory()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let is_interrupted = || interrupted.load(Ordering::Relaxed);
    let seed = options.seed.unwrap_or(now);
    let run = Run { options, program: &program, directory: &directory, seed, is_interrupted: &is_interrupted };
    let findings = match &options.input {
        Some(input) => run.input(input)?,
        None => run.languages()?,
    };
    report::conclude(&findings)
}

impl Run<'_> {
    /// Checks one file.
    fn input(&self, input: &Path) -> Result<Vec<Finding>, String> {
        let bytes = fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut findings = Vec::new();
        for language in &self.options.language {
            let answer = self.checker(language).check(&text)?;
            println!("{language}: {answer:?}");
            if let Answer::Wrong(what) = answer {
                findings.push(Finding { language: language.clone(), what, text: input.to_owned(), drawn: None });
            }
        }
        Ok(findings)
    }

    fn languages(&self) -> Result<Vec<Finding>, String> {
        let files = program::sources(self.program, &self.options.roots)?;
        let mut languages: Vec<&String> = self.options.language.iter().collect();
        if languages.is_empty() {
            languages = files.keys().collect();
        }
        println!("Exploring {} languages from seed {}", languages.len(), self.seed);
        let mut findings = Vec::new();
        for language in languages {
            let Some(own) = files.get(language) else { return Err(format!("there is no source in `{language}`")) };
            let sources = Sources { own: read(own)?, others: read(&others(&files, language))? };
            let found = self.language(language, &sources)?;
            findings.extend(found);
            if (self.is_interrupted)() {
                break;
            }
        }
        Ok(findings)
    }

    /// Checks texts of one language until the time for the language is over.
    fn language(&self, language: &str, sources: &Sources) -> Result<Vec<Finding>, String> {
        let minutes = Duration::from_secs(60 * self.options.minutes);
        let time = self.options.seconds.map_or(minutes, Duration::from_secs);
        let mut checker = self.checker(language);
        let mut tally = Tally::default();
        let mut findings: BTreeMap<String, Finding> = BTreeMap::new();
        let begun = Instant::now();
        for case in self.options.case.unwrap_or(0).. {
            let text = sources.text(&mut Random::for_case(self.seed, language, case));
            let started = Instant::now();
            let answer = checker.check(&text)?;
            tally.add(&answer, text.len(), started.elapsed(), case);
            if let Answer::Wrong(what) = answer
                && !findings.contains_key(&kind_of(&what))
            {
                println!("{language}: text {case}: {what}");
                let finding = self.keep(&mut checker, language, case, &text, what)?;
                findings.insert(kind_of(&finding.what), finding);
            }
            if self.options.case.is_some() || begun.elapsed() > time || (self.is_interrupted)() {
                break;
            }
        }
        tally.print(language, sources.own.len(), begun.elapsed(), findings.len());
        Ok(findings.into_values().collect())
    }

    /// Writes a text with a finding to a file, first unchanged, then reduced.
    fn keep(
        &self,
        checker: &mut Checker<'_>,
        language: &str,
        case: u64,
        text: &str,
        what: String,
    ) -> Result<Finding, String> {
        let path = self.directory.join(format!("{language}-{}-{case}.txt", self.seed));
        let write = |text: &str| fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
        write(text)?;
        checker.restart();
        let kind = kind_of(&what);
        let mut is_found =
            |text: &str| Ok(matches!(checker.check(text)?, Answer::Wrong(what) if kind_of(&what) == kind));
        let is_repeated = is_found(text)?;
        if is_repeated {
            let begun = Instant::now();
            let is_over = || begun.elapsed() > MAX_REDUCTION_TIME || (self.is_interrupted)();
            write(&minimise::minimise(text, &is_over, &mut is_found)?)?;
        }
        let what = if is_repeated { what } else { format!("{what} (not by this text alone)") };
        Ok(Finding { language: language.to_owned(), what, text: path, drawn: Some((self.seed, case)) })
    }

    fn checker<'a>(&'a self, language: &'a str) -> Checker<'a> {
        let parse = Duration::from_millis(self.options.parse_limit);
        let limits = Limits { parse, memory: self.options.memory_limit << 20 };
        Checker::new(self.program, language, limits, self.directory, self.is_interrupted)
    }
}

/// Returns files in other languages, some of each.
fn others(files: &BTreeMap<String, Vec<PathBuf>>, language: &str) -> Vec<PathBuf> {
    let others = || files.iter().filter(|(other, _)| *other != language);
    let each = MAX_OTHER_SOURCES.div_ceil(others().count().max(1));
    others().flat_map(|(_, files)| files.iter().step_by(files.len().div_ceil(each)).cloned()).collect()
}

fn read(files: &[PathBuf]) -> Result<Vec<String>, String> {
    let read = |path: &PathBuf| fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    files.iter().map(read).collect()
}
