//! Runs the measurements and prints the tables.

use std::path::Path;
use std::time::Instant;

use aurora_evaluation::metrics::Measured;
use aurora_query::{Mode, SearchConfig};

use crate::ask::ask_all;
use crate::category::Category;
use crate::conversation::{Conversation, ConversationQuestion};
use crate::fts5::{Tokenizer, ask_fts5};
use crate::growth::ask_while_growing;
use crate::memories::{Memories, UNTIL_ASKED};
use crate::sessions;
use crate::setting::{LAMBDAS, Setting};
use crate::table::{print_differences, print_head, print_means};
use crate::trials;

/// Seconds in an hour.
const HOUR: i64 = 3_600;
/// Age classes of the newest evidence, each with its upper limit in hours and its name.
const AGES: [(i64, &str); 5] =
    [(24, "a day"), (7 * 24, "a week"), (30 * 24, "30 days"), (90 * 24, "90 days"), (i64::MAX, "older")];

/// A question about a conversation, with the age of its evidence. A list of such questions has the same order as the
/// results of a measurement.
struct AgedQuestion<'c> {
    question: &'c ConversationQuestion,
    /// Age of the newest turn of the evidence at the time of the question, in hours.
    hours: i64,
}

/// The results of one setting.
struct Measurement {
    setting: Setting,
    measured: Vec<Measured>,
}

/// The results of one configuration of FTS5.
struct Fts5Measurement {
    tokenizer: Tokenizer,
    is_scoped: bool,
    measured: Vec<Measured>,
}

impl Fts5Measurement {
    /// Returns the cells of this measurement in tables of settings.
    fn columns(&self) -> String {
        let scopes = if self.is_scoped { "own" } else { "shared" };
        format!("| {scopes} | 0 | FTS5 {} | — ", self.tokenizer.as_str())
    }
}

/// Prints all tables.
pub(crate) fn print(conversations: &[Conversation], directory: &Path) -> Result<(), String> {
    let aged_questions = aged_questions(conversations);
    print_corpus(conversations);
    let (own, shared) = (Memories::separate(conversations, directory)?, Memories::shared(conversations, directory)?);
    let measure = |setting: Setting| {
        let begun = Instant::now();
        let measured = ask_all(if setting.is_scoped { &own } else { &shared }, &setting)?;
        eprintln!("{}: {:.1?}", setting.columns(), begun.elapsed());
        Ok(Measurement { setting, measured })
    };
    let all: Vec<Measurement> =
        Setting::all(&SearchConfig::default()).into_iter().map(measure).collect::<Result<_, String>>()?;
    let mut baselines: Vec<Fts5Measurement> = Vec::new();
    for (memories, is_scoped) in [(&own, true), (&shared, false)] {
        for tokenizer in Tokenizer::ALL {
            let measured = ask_fts5(conversations, memories, tokenizer)?;
            baselines.push(Fts5Measurement { tokenizer, is_scoped, measured });
        }
    }
    let is_answered = |index: usize| aged_questions[index].question.category != Category::Adversarial;

    println!("\n## All settings\n\nAll categories but the adversarial one.");
    print_head(&["scopes", "λ per hour", "mode", "spreading"]);
    for Measurement { setting, measured } in &all {
        print_means(&setting.columns(), measured, is_answered);
    }
    for baseline in &baselines {
        print_means(&baseline.columns(), &baseline.measured, is_answered);
    }
    print_categories(&aged_questions, &all, &baselines);
    print_changes(&all, is_answered);
    print_comparisons(&aged_questions, &all, &baselines);
    print_ages(&aged_questions, &all);
    sessions::print(conversations, &own, &Setting::base(SearchConfig::default()))?;
    print_growth(conversations, directory, is_answered)
}

/// Prints how other configurations change the results.
pub(crate) fn print_trials(
    conversations: &[Conversation],
    memories: &Memories,
    base: &Setting,
    trials: &[String],
) -> Result<(), String> {
    let aged_questions = aged_questions(conversations);
    let is_answered = |index: usize| aged_questions[index].question.category != Category::Adversarial;
    let default = ask_all(memories, base)?;
    print_head(&["configuration", "category"]);
    print_means("| default | all ", &default, is_answered);
    for category in Category::ANSWERED {
        let counts = |index: usize| aged_questions[index].question.category == category;
        print_means(&format!("| default | {} ", category.name()), &default, counts);
    }
    for trial in trials {
        let setting = Setting { config: trials::config(trial)?, ..base.clone() };
        let measured = ask_all(memories, &setting)?;
        print_differences(&format!("| `{trial}` | all "), &measured, &default, is_answered);
        for category in Category::ANSWERED {
            let counts = |index: usize| aged_questions[index].question.category == category;
            print_differences(&format!("| | {} ", category.name()), &measured, &default, counts);
        }
    }
    Ok(())
}

fn aged_questions(conversations: &[Conversation]) -> Vec<AgedQuestion<'_>> {
    let mut all = Vec::new();
    for conversation in conversations {
        let now = conversation.end() + UNTIL_ASKED;
        for question in &conversation.questions {
            let wanted = conversation.turns().filter(|turn| question.evidence.contains(&turn.id));
            let hours = wanted.map(|turn| (now - turn.time) / HOUR).min().unwrap_or_default();
            all.push(AgedQuestion { question, hours });
        }
    }
    all
}

fn print_corpus(conversations: &[Conversation]) {
    println!("## Conversations\n\n| conversation | sessions | turns | days | questions | without evidence |");
    println!("|---|---|---|---|---|---|");
    for conversation in conversations {
        let begun = conversation.turns().map(|turn| turn.time).min().unwrap_or_default();
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            conversation.name,
            conversation.sessions.len(),
            conversation.turns().count(),
            (conversation.end() - begun) / (24 * HOUR),
            conversation.questions.len(),
            conversation.without_evidence,
        );
    }
}

/// Returns the measurement with these settings and the default configuration.
fn at(all: &[Measurement], is_scoped: bool, lambda: f64, mode: Mode, is_spreading: bool) -> Option<&Measurement> {
    all.iter().find(|Measurement { setting, .. }| {
        (setting.is_scoped, setting.lambda, setting.mode) == (is_scoped, lambda, mode)
            && (setting.config.activation.spread > 0.0) == is_spreading
    })
}

fn print_categories(aged_questions: &[AgedQuestion<'_>], all: &[Measurement], baselines: &[Fts5Measurement]) {
    println!("\n## By category\n\nSeparate memories, with spreading.");
    print_head(&["category", "scopes", "λ per hour", "mode", "spreading"]);
    let modes = [Mode::Hybrid, Mode::Dense, Mode::Sparse];
    let of_modes = modes.into_iter().filter_map(|mode| at(all, true, 0.0, mode, true));
    let of_rates = LAMBDAS[1..].iter().filter_map(|&lambda| at(all, true, lambda, Mode::Hybrid, true));
    let of_us = of_modes.chain(of_rates).map(|found| (found.setting.columns(), &found.measured));
    let of_baselines =
        baselines.iter().filter(|baseline| baseline.is_scoped).map(|baseline| (baseline.columns(), &baseline.measured));
    let rows: Vec<(String, &Vec<Measured>)> = of_us.chain(of_baselines).collect();
    for category in Category::ANSWERED.into_iter().chain([Category::Adversarial]) {
        for (name, measured) in &rows {
            let counts = |index: usize| aged_questions[index].question.category == category;
            print_means(&format!("| {} {name}", category.name()), measured, counts);
        }
    }
}

fn print_changes(all: &[Measurement], counts: impl Fn(usize) -> bool + Copy) {
    println!(
        "\n## Changes of one setting\n\nAgainst separate memories, λ 0, hybrid, with spreading; paired by question."
    );
    print_head(&["scopes", "λ per hour", "mode", "spreading"]);
    let Some(base) = at(all, true, 0.0, Mode::Hybrid, true) else { return };
    let changed = LAMBDAS[1..].iter().map(|&lambda| (true, lambda, Mode::Hybrid, true));
    let others = [
        (true, 0.0, Mode::Dense, true),
        (true, 0.0, Mode::Sparse, true),
        (true, 0.0, Mode::Hybrid, false),
        (false, 0.0, Mode::Hybrid, true),
    ];
    for (is_scoped, lambda, mode, is_spreading) in changed.chain(others) {
        let Some(found) = at(all, is_scoped, lambda, mode, is_spreading) else { continue };
        print_differences(&found.setting.columns(), &found.measured, &base.measured, counts);
    }
    println!("\nShared memory against separate memories, at each decay rate; hybrid, with spreading.");
    print_head(&["scopes", "λ per hour", "mode", "spreading"]);
    for lambda in LAMBDAS {
        let pair = at(all, false, lambda, Mode::Hybrid, true).zip(at(all, true, lambda, Mode::Hybrid, true));
        let Some((shared, own)) = pair else { continue };
        print_differences(&shared.setting.columns(), &shared.measured, &own.measured, counts);
    }
}

fn print_comparisons(aged_questions: &[AgedQuestion<'_>], all: &[Measurement], baselines: &[Fts5Measurement]) {
    println!("\n## Against FTS5\n\nThe memory minus FTS5, paired by question.");
    print_head(&["category", "memory: scopes", "λ per hour", "mode", "spreading", "FTS5"]);
    let is_answered = |index: usize| aged_questions[index].question.category != Category::Adversarial;
    for Fts5Measurement { tokenizer, is_scoped, measured: baseline } in baselines {
        for (lambda, mode) in [(0.0, Mode::Hybrid), (0.0, Mode::Dense), (0.0, Mode::Sparse), (0.01, Mode::Hybrid)] {
            let Some(found) = at(all, *is_scoped, lambda, mode, true) else { continue };
            let columns = format!("{}| FTS5 {} ", found.setting.columns(), tokenizer.as_str());
            print_differences(&format!("| all {columns}"), &found.measured, baseline, is_answered);
            if *is_scoped && (lambda, mode) == (0.0, Mode::Hybrid) {
                for category in Category::ANSWERED {
                    let counts = |index: usize| aged_questions[index].question.category == category;
                    print_differences(&format!("| {} {columns}", category.name()), &found.measured, baseline, counts);
                }
            }
        }
    }
}

fn print_ages(aged_questions: &[AgedQuestion<'_>], all: &[Measurement]) {
    println!(
        "\n## By age of the newest evidence\n\nSeparate memories, hybrid, with spreading, asked an hour after the end."
    );
    print_head(&["not older than", "scopes", "λ per hour", "mode", "spreading"]);
    let mut least = i64::MIN;
    for (most, name) in AGES {
        let counts = |index: usize| {
            let AgedQuestion { question, hours } = &aged_questions[index];
            question.category != Category::Adversarial && (least..most).contains(hours)
        };
        for lambda in LAMBDAS {
            let Some(found) = at(all, true, lambda, Mode::Hybrid, true) else { continue };
            print_means(&format!("| {name} {}", found.setting.columns()), &found.measured, counts);
        }
        least = most;
    }
}

fn print_growth(
    conversations: &[Conversation],
    directory: &Path,
    counts: impl Fn(usize) -> bool + Copy,
) -> Result<(), String> {
    println!(
        "\n## Asked at once\n\nAn hour after the session with the newest evidence; separate memories, hybrid, with spreading."
    );
    let settings = LAMBDAS.map(|lambda| Setting { lambda, ..Setting::base(SearchConfig::default()) });
    let found = ask_while_growing(conversations, directory, &settings)?;
    print_head(&["scopes", "λ per hour", "mode", "spreading"]);
    for (setting, measured) in settings.iter().zip(&found) {
        print_means(&setting.columns(), measured, counts);
    }
    println!("\nAgainst λ 0, paired by question.");
    print_head(&["scopes", "λ per hour", "mode", "spreading"]);
    for (setting, measured) in settings.iter().zip(&found).skip(1) {
        print_differences(&setting.columns(), measured, &found[0], counts);
    }
    Ok(())
}
