//! Prints the questions whose evidence is not among the first ten turns, for people to read. Each question is printed
//! with the expected turn, its rank and score, and the best results.

use std::fmt::Write as _;

use aurora_evaluation::golden::Question;
use aurora_query::{Hit, SearchResults};

use crate::ask::{search, searchers};
use crate::conversation::{Conversation, ConversationQuestion};
use crate::memories::{Memories, Round};
use crate::setting::Setting;

/// Maximum number of results in which the evidence is searched.
const DEPTH: usize = 300;
/// Maximum rank at which evidence counts as found.
const CUT: usize = 10;
/// Number of results to print for each question.
const SHOWN: usize = 5;

/// Prints up to `max` missed questions of each category, at even intervals.
pub(crate) fn print_misses(
    conversations: &[Conversation],
    memories: &Memories,
    setting: &Setting,
    max: usize,
) -> Result<(), String> {
    let mut missed: Vec<(String, String)> = Vec::new();
    for (conversation, round) in conversations.iter().zip(&memories.rounds) {
        let searchers = searchers(&memories.stored[round.memory].memory, setting)?;
        for (asked, question) in conversation.questions.iter().zip(&round.questions) {
            let Some(found) = search(&searchers, setting, round.now, &question.query, DEPTH)? else { continue };
            let is_found = found.hits.iter().take(CUT).any(|hit| is_evidence(question, &hit.key));
            if !is_found {
                missed.push((question.set.clone(), description(conversation, round, (asked, question), &found)));
            }
        }
    }
    let mut names: Vec<&str> = missed.iter().map(|(category, _)| category.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of_category: Vec<&String> = missed.iter().filter(|(of, _)| of == name).map(|(_, text)| text).collect();
        println!("# {name}: {} missed", of_category.len());
        let shown = max.min(of_category.len());
        (0..shown).for_each(|at| println!("\n{}", of_category[at * of_category.len() / shown]));
    }
    Ok(())
}

fn is_evidence(question: &Question, id: &str) -> bool {
    question.relevant.iter().any(|answer| answer.path == id)
}

fn description(
    conversation: &Conversation,
    round: &Round,
    (asked, question): (&ConversationQuestion, &Question),
    found: &SearchResults,
) -> String {
    let mut text = format!("## {} {}\nanswer: {}\n", question.id, asked.text, asked.answer);
    for id in &asked.evidence {
        let turn = conversation.turns().find(|turn| turn.id == *id);
        let Some(turn) = turn else { continue };
        let days = (round.now - turn.time) / 86_400;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  wanted {id}, {days} days old: {}: {}", turn.speaker, turn.text);
    }
    for (position, hit) in found.hits.iter().enumerate().filter(|(_, hit)| is_evidence(question, &hit.key)) {
        let _ = writeln!(text, "  at {}: {}", position + 1, scores(hit));
    }
    for hit in found.hits.iter().take(SHOWN) {
        let _ = writeln!(text, "  {}. {}: {}\n     {}", hit.rank, hit.name, hit.key, scores(hit));
    }
    text
}

fn scores(hit: &Hit) -> String {
    serde_json::to_string(&hit.scores).unwrap_or_default()
}
