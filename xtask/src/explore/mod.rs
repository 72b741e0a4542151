//! `cargo xtask explore`: runs randomised tests with fresh seeds until the time is over.

mod area;
mod properties;

use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};

use area::{Area, Run, Verdict};

#[derive(Args)]
pub(crate) struct Options {
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

/// State of the exploration of an area.
struct Progress {
    area: Area,
    runs: u64,
    findings: u64,
    spent: Duration,
}

/// Runs rounds of tests until the time is over. Fails if there are findings.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let minutes = options.minutes.unwrap_or(10);
    let time = options.seconds.map_or(Duration::from_secs(minutes * 60), Duration::from_secs);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let first_seed = options.seed.unwrap_or(now);
    let areas = if options.only.is_empty() { Area::value_variants() } else { &options.only };
    let new = |&area| Progress { area, runs: 0, findings: 0, spent: Duration::ZERO };
    let mut explored: Vec<Progress> = areas.iter().map(new).collect();
    area::build()?;
    println!("Exploring for {time:?} from seed {first_seed}");
    let begun = Instant::now();
    let (mut findings, mut known) = (Vec::new(), BTreeSet::new());
    while begun.elapsed() < time {
        let progress =
            explored.iter_mut().min_by_key(|progress| progress.spent).expect("at least one area is explored");
        let run = Run::new(progress.area, first_seed.wrapping_add(progress.runs * area::ATTEMPTS));
        let started = Instant::now();
        let verdict = run.finish()?;
        let lasted = started.elapsed();
        progress.runs += 1;
        progress.spent += lasted;
        println!("{:?}: seed {}: {verdict} in {lasted:.1?}", run.area, run.seed);
        let Verdict::Failed(tests) = verdict else { continue };
        if tests.iter().any(|test| known.insert(test.clone())) {
            progress.findings += 1;
            findings.push((run, tests));
        }
    }
    println!("\nExplored for {:.0?}:", begun.elapsed());
    for Progress { area, runs, findings, spent } in explored {
        println!("  {:<11} {runs:>5} rounds, {spent:>8.0?}, {findings} findings", format!("{area:?}"));
    }
    for (number, (run, tests)) in findings.iter().enumerate() {
        println!("\nFinding {}: {} ({:?}, seed {})", number + 1, tests.join(", "), run.area, run.seed);
        println!("  to repeat it:  {}", run.repeat(tests));
        println!("  its output:    {}", run.log.display());
        println!("  to keep it:    {}", run.area.advice());
    }
    if findings.is_empty() { Ok(()) } else { Err(format!("{} findings", findings.len())) }
}
