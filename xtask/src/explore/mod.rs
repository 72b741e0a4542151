//! `cargo xtask explore`: runs randomised tests with fresh seeds until the time is over.

mod grammars;
mod job;
mod properties;
mod targets;

use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand, ValueEnum};

use job::{Job, Verdict};
use targets::Target;

/// Number of random changes that one job tries, for tests of damage and mutation.
const ATTEMPTS: u64 = 25;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    other: Option<Other>,

    /// Duration in minutes; running tests are completed [default: 10]
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    minutes: Option<u64>,

    /// Duration in seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,

    /// Explore only these areas, separated by commas [default: all]
    #[arg(long, value_name = "AREAS", value_enum, value_delimiter = ',')]
    only: Vec<Area>,

    /// Seed of the first round, which determines the seeds of later rounds [default: the current time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// Explorations that do not run tests of the workspace.
#[derive(Subcommand)]
enum Other {
    /// Passes mutated real files through every component that reads text, for each language.
    ///
    /// The files in the directories are the seeds: lines, tokens and bytes are deleted, duplicated, swapped, repeated
    /// and mixed with other files. Each text goes through redaction, highlighting, the parse with embedded languages,
    /// and the chunker, in a separate process. No text may cause a panic, a crash, a hang or excessive memory use.
    /// Spans must be within the text and nested, and a second parse must give the same result. A finding is reduced to
    /// a small text in `target/explore/grammars`, printed with the command that repeats it, and makes the exit code 1.
    /// Ctrl-C ends the run and prints the findings.
    Grammars(grammars::Options),
}

/// Areas to explore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Area {
    /// Property tests of all crates, and kills of processes at random moments
    Properties,
    /// Random damage to the files of an index and to the files next to it
    Corruption,
    /// Mutated pages of an index whose structure is preserved
    Pages,
    /// Mutated artefacts with valid checksums
    Artefacts,
    /// Pipelines and configurations with real keys and random values
    Config,
}

/// Progress of exploring one area.
struct Progress {
    area: Area,
    jobs: Vec<Job>,
    /// Index of the next job. After the last job, a new round begins with the first job.
    next: usize,
    round: u64,
    runs: u64,
    tests: u64,
    spent: Duration,
}

/// A failed test.
struct Finding {
    area: Area,
    tests: Vec<String>,
    seed: u64,
    repeat: String,
    log: String,
}

/// Runs jobs until the time is over, and fails if there are findings.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    if let Some(Other::Grammars(options)) = &options.other {
        return grammars::run(options);
    }
    let minutes = options.minutes.unwrap_or(10);
    let time = options.seconds.map_or(Duration::from_secs(minutes * 60), Duration::from_secs);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let seed = options.seed.unwrap_or(now);
    let areas = if options.only.is_empty() { Area::value_variants() } else { &options.only };
    let targets = targets::build()?;
    let mut explored = Vec::new();
    for &area in areas {
        let jobs = jobs_of(area, &targets)?;
        if jobs.is_empty() {
            return Err(format!("there is no test for {area:?}"));
        }
        explored.push(Progress { area, jobs, next: 0, round: 0, runs: 0, tests: 0, spent: Duration::ZERO });
    }
    println!("Exploring for {time:?} from seed {seed}");
    let begun = Instant::now();
    let (mut findings, mut known) = (Vec::new(), BTreeSet::new());
    while begun.elapsed() < time {
        let least = explored.iter_mut().min_by_key(|progress| progress.spent);
        let progress = least.expect("at least one area is explored");
        if let Some(finding) = step(progress, seed)?
            && finding.tests.iter().any(|test| known.insert(test.clone()))
        {
            findings.push(finding);
        }
    }
    conclude(&explored, &findings, begun.elapsed())
}

/// Runs the next job of an area.
fn step(progress: &mut Progress, first_seed: u64) -> Result<Option<Finding>, String> {
    let seed = first_seed.wrapping_add(progress.round * ATTEMPTS);
    let job = &progress.jobs[progress.next];
    progress.next = (progress.next + 1) % progress.jobs.len();
    progress.round += u64::from(progress.next == 0);
    let begun = Instant::now();
    let done = job.run(seed)?;
    let lasted = begun.elapsed();
    progress.spent += lasted;
    progress.runs += 1;
    progress.tests += done.tests;
    let area = progress.area;
    let outcome = match &done.verdict {
        Verdict::Passed => "ok".to_owned(),
        Verdict::Failed(tests) => format!("FAILED: {}", tests.join(", ")),
        Verdict::Hung => "did not end".to_owned(),
    };
    println!("{area:?}: {}, seed {seed}: {} tests in {lasted:.1?}, {outcome}", job.name(), done.tests);
    let tests = match done.verdict {
        Verdict::Passed => return Ok(None),
        Verdict::Failed(tests) => tests,
        Verdict::Hung => vec![format!("{} that did not end", job.name())],
    };
    Ok(Some(Finding { area, tests, seed, repeat: job.repeat(seed), log: done.log }))
}

/// Returns jobs for the tests of the test programs `names` whose name contains one of the filters.
fn attempts(targets: &[Target], names: &[&str], filters: &[&str]) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for target in targets.iter().filter(|target| names.contains(&target.name.as_str())) {
        for test in target.tests()?.into_iter().filter(|test| filters.iter().any(|filter| test.contains(filter))) {
            let job = Job::new(target, vec![test], &["AURORA_SEED"]);
            jobs.push(job.with("AURORA_CORRUPTIONS", ATTEMPTS));
        }
    }
    Ok(jobs)
}

fn jobs_of(area: Area, targets: &[Target]) -> Result<Vec<Job>, String> {
    match area {
        Area::Properties => properties::jobs(targets),
        Area::Corruption => attempts(targets, &["hostile"], &["random_damage", "forged_checksums"]),
        Area::Pages => attempts(targets, &["damage", "storage"], &["changed_structure"]),
        Area::Artefacts => attempts(targets, &["hostile"], &["mutated_artefacts"]),
        Area::Config => attempts(targets, &["hostile"], &["mutated_configurations"]),
    }
}

fn conclude(explored: &[Progress], findings: &[Finding], lasted: Duration) -> Result<(), String> {
    println!("\nExplored for {lasted:.0?}:");
    for Progress { area, runs, tests, spent, round, .. } in explored {
        let found = findings.iter().filter(|finding| finding.area == *area).count();
        let area = format!("{area:?}");
        println!(
            "  {area:<11} {runs:>5} runs, {tests:>7} tests, {round:>4} whole rounds, {spent:>8.0?}, {found} findings"
        );
    }
    for (number, finding) in findings.iter().enumerate() {
        let tests = finding.tests.join(", ");
        println!("\nFinding {}: {tests} ({:?}, seed {})", number + 1, finding.area, finding.seed);
        println!("  to repeat it:  {}", finding.repeat);
        println!("  its output:    {}", finding.log);
        if finding.area == Area::Properties {
            println!(
                "  to keep it:    commit the line that was added to a `proptest-regressions` file, together with the fix"
            );
        } else {
            println!("  to keep it:    add a separate test for the error, together with the fix");
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(format!("{} findings", findings.len())) }
}
