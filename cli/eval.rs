//! `aur mem eval`: how well the search answers questions with known answers.

use std::io::Write;
use std::path::Path;

use aurora_evaluation::engine::Engine;
use aurora_evaluation::metrics::Metric;
use aurora_evaluation::report::{self, MissedFloor, Run};
use aurora_query::SearchConfig;

use crate::args_eval::{AskArgs, EvalArgs, EvalCommand};
use crate::failure::{Failure, Outcome};
use crate::golden::{self, QuestionBatch};
use crate::output::evaluation::{self, Against, Evaluation};
use crate::output::json;
use crate::program::Program;
use crate::values::ReportFormat;
use crate::{mine, place, rerankers, search};

/// Mines golden sets, or asks the questions of some and prints the figures.
pub(crate) fn run(args: &EvalArgs, program: &Program) -> Outcome {
    match &args.command {
        Some(EvalCommand::Mine(args)) => mine::run(args, program),
        None => measure(&args.ask, program),
    }
}

fn measure(args: &AskArgs, program: &Program) -> Outcome {
    let root = place::for_search(args.root.as_deref())?;
    let mode = search::mode(args.mode);
    let mut batches = golden::gather(&args.golden, &root)?;
    golden::keep_sets(&mut batches, &args.sets)?;
    let config = golden::config(args.config.as_deref(), &root, program)?;
    let other = args.against.as_deref().map(|other| golden::config(Some(other), &root, program)).transpose()?;
    let rerankers = rerankers::of_configs([&config].into_iter().chain(&other), mode, &program.terminal);
    let open = |root: &Path, mined: bool| golden::engine(root, mined, mode, &rerankers, program);
    let engines = engines(&batches, &open)?;
    let run = ask(&engines, &batches, &config)?;

    let against = match (&args.against, other, &args.against_index) {
        (Some(name), Some(other), _) => Some((name.as_path(), ask(&engines, &batches, &other)?)),
        (_, _, Some(directory)) => Some((directory.as_path(), ask_another(directory, &batches, &config, &open)?)),
        _ => None,
    };
    let sets = report::by_set(&run);
    let missed = report::missed(&args.floor, &sets, &run).map_err(Failure::new)?;
    let mut misses = report::misses(&run);
    let missing = misses.len();
    misses.truncate(args.misses);
    let evaluation = Evaluation {
        sets,
        against: against.map(|(name, other)| Against {
            what: name.display().to_string(),
            sets: report::by_set(&other),
            differences: report::differences(&run, &other, &Metric::ALL),
        }),
        missing,
        misses,
        missed_floors: missed.clone(),
    };
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &evaluation)?,
        ReportFormat::Text => evaluation::write(&mut out, &evaluation, program.terminal.out)?,
    }
    out.flush()?;
    if missed.is_empty() { Ok(()) } else { Err(Failure::Short(below(&missed))) }
}

/// Opens the index of a root, which mining may have made.
type Open<'a> = dyn Fn(&Path, bool) -> Outcome<Engine> + 'a;

/// The engine of every batch.
fn engines(batches: &[QuestionBatch], open: &Open<'_>) -> Outcome<Vec<Engine>> {
    let mut engines: Vec<Engine> = Vec::new();
    for (at, batch) in batches.iter().enumerate() {
        let engine = match batches[..at].iter().position(|earlier| earlier.root == batch.root) {
            Some(earlier) => engines[earlier].clone(),
            None => open(&batch.root, batch.mined)?,
        };
        engines.push(engine);
    }
    Ok(engines)
}

fn ask(engines: &[Engine], batches: &[QuestionBatch], config: &SearchConfig) -> Outcome<Run> {
    let mut run = Run::new();
    for (engine, batch) in engines.iter().zip(batches) {
        let asked = engine.ask(config, &batch.questions).map_err(|error| Failure::from_error(&error))?;
        run.extend(batch.questions.iter().cloned().zip(asked));
    }
    Ok(run)
}

/// The same questions, asked of another index.
fn ask_another(directory: &Path, batches: &[QuestionBatch], config: &SearchConfig, open: &Open<'_>) -> Outcome<Run> {
    if batches.iter().any(|batch| batch.mined) {
        return Err(Failure::new("--against-index needs golden files: mined sets are asked of their own copies"));
    }
    let root = place::for_search(Some(directory))?;
    let engine = open(&root, false)?;
    ask(&vec![engine; batches.len()], batches, config)
}

fn below(missed: &[MissedFloor]) -> String {
    let said = missed.iter().map(|missed| match missed.value {
        Some(value) => format!("{} was asked for, it is {value:.3} ({:.3} short)", missed.floor, missed.short_by),
        None => format!("{} was asked for, but no question measures it", missed.floor),
    });
    format!("below the floor:\n  {}", said.collect::<Vec<_>>().join("\n  "))
}
