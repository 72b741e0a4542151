//! How well does a memory find the turns of a conversation that answer a question?
//!
//! Corpus: the ten conversations of LoCoMo, in the directory given on the command line; they are not part of the
//! repository. Questions: the questions of LoCoMo; a turn is relevant if LoCoMo lists it as evidence for the answer.
//! Baseline, in the same run: SQLite's full-text search, ranked by `bm25()`. All results depend only on the corpus and
//! the program: resamples have a fixed seed, and the number of threads has no effect.
//!
//! `cargo xtask memory-quality DIR`

mod ask;
mod category;
mod conversation;
mod evidence;
mod fts5;
mod growth;
mod memories;
mod misses;
mod report;
mod sessions;
mod setting;
mod table;
mod trials;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use aurora_query::SearchConfig;
use clap::Parser;

use category::Category;
use conversation::{Conversation, ConversationQuestion};
use memories::Memories;
use setting::Setting;

/// How well does a memory find the turns of a conversation that answer a question?
#[derive(Parser)]
struct Options {
    /// The directory `locomo10_v2`, which contains a file for each conversation.
    directory: PathBuf,
    /// Ask only this number of questions, sampled at even intervals.
    #[arg(long)]
    questions: Option<usize>,
    /// Use only these conversations, such as `26,30,41`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Use all conversations except these.
    #[arg(long, value_delimiter = ',', conflicts_with = "only")]
    without: Vec<String>,
    /// The file `errors.json` of dial481/locomo-audit, whose evidence replaces wrong evidence of LoCoMo.
    #[arg(long, value_name = "FILE")]
    corrections: Option<PathBuf>,
    /// Compare only the configuration `KEY=VALUE …` with the default.
    #[arg(long = "try", value_name = "KEY=VALUE …")]
    trials: Vec<String>,
    /// Decay rate of turns per hour, used with --try and --misses.
    #[arg(long, default_value_t = 0.0)]
    decay: f64,
    /// Only list questions for which none of the ten best turns is evidence, up to this number for each category.
    #[arg(long, value_name = "NUMBER")]
    misses: Option<usize>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("memory-quality: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    // Memories are registered in `AURORA_HOME`, which must not be the user's real directory.
    if std::env::var_os("AURORA_HOME").is_none() {
        return Err("`AURORA_HOME` is not set; run `cargo xtask memory-quality`".to_owned());
    }
    let mut conversations = conversations(options)?;
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let base = Setting { lambda: options.decay, ..Setting::base(SearchConfig::default()) };
    if let Some(max) = options.misses {
        misses::print_misses(&conversations, &Memories::separate(&conversations, directory.path())?, &base, max)
    } else if options.trials.is_empty() {
        report::print(&conversations, directory.path())
    } else {
        // Questions without an answer are counted separately, and trials omit them.
        let is_answered = |question: &ConversationQuestion| question.category != Category::Adversarial;
        conversations.iter_mut().for_each(|conversation| conversation.questions.retain(is_answered));
        report::print_trials(
            &conversations,
            &Memories::separate(&conversations, directory.path())?,
            &base,
            &options.trials,
        )
    }
}

/// Reads the selected conversations, ordered by name.
fn conversations(options: &Options) -> Result<Vec<Conversation>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", options.directory.display());
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&options.directory).map_err(failed)? {
        files.push(entry.map_err(failed)?.path());
    }
    let is_wanted = |file: &PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_named = options.only.is_empty() || options.only.contains(&name);
        file.extension().is_some_and(|extension| extension == "json") && is_named && !options.without.contains(&name)
    };
    files.retain(is_wanted);
    files.sort();
    let corrections = options.corrections.as_deref().map_or_else(|| Ok(BTreeMap::new()), evidence::corrections)?;
    let read = |file: &PathBuf| Conversation::read(file, &corrections);
    let mut conversations = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    if conversations.is_empty() {
        return Err(format!("no conversation in {} matches --only and --without", options.directory.display()));
    }
    if let Some(max) = options.questions {
        sample(&mut conversations, max);
    }
    Ok(conversations)
}

/// Keeps at most `max` questions, at even intervals.
fn sample(conversations: &mut [Conversation], max: usize) {
    let all: usize = conversations.iter().map(|conversation| conversation.questions.len()).sum();
    let mut position = 0;
    for conversation in conversations {
        conversation.questions.retain(|_| {
            let before = position * max / all;
            position += 1;
            max >= all || position * max / all > before
        });
    }
}
