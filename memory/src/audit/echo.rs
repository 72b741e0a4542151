//! Entries that repeat a prompt or an instruction to an agent instead of knowledge.

use std::collections::HashSet;

use aurora_memory_policy::Scope;
use aurora_memory_schema::{Entry, Kind, normalized};

use super::similar::{SimilarTexts, hash, shingles};

/// Minimum number of words of a prompt. Shorter texts are equal by chance.
const MIN_WORDS: usize = 3;
/// Minimum share of the shingles of an entry that a file of instructions contains.
const MIN_CONTAINED: f64 = 0.9;
/// Number of words at the beginning of a text in which an instruction names the agent.
const OPENING_WORDS: usize = 12;
/// Names of agents in instructions such as "You are a helpful assistant".
const AGENTS: &[&str] = &[
    "agent",
    "ai",
    "assistant",
    "chatbot",
    "chatgpt",
    "claude",
    "codex",
    "copilot",
    "engineer",
    "expert",
    "gemini",
    "model",
    "reviewer",
];
/// Beginnings of texts that are instructions to an agent.
const OPENINGS: &[&str] = &[
    "ignore all previous instructions",
    "ignore previous instructions",
    "disregard all previous instructions",
    "<system",
    "system prompt:",
    "as an ai language model",
];
/// Speakers whose turns are prompts.
const SPEAKERS: &[&str] = &["user", "human"];

/// Group of all texts; prompts belong to no kind or scope.
const GROUP: (Kind, Scope, Option<&str>) = (Kind::Turn, Scope::Global, None);

/// The prompts and instructions, and the entries to compare with them.
#[derive(Default)]
pub(super) struct Echoes {
    prompts: HashSet<u64>,
    similar_prompts: SimilarTexts,
    /// The names of the files of instructions, and their shingles.
    instructions: Vec<(String, HashSet<u64>)>,
    /// The entries, with the hashes of their texts.
    entries: Vec<(u32, u64)>,
    similar_entries: SimilarTexts,
    found: Vec<(u32, String)>,
}

impl Echoes {
    pub(super) fn add_prompt(&mut self, text: &str) {
        let text = normalized(text);
        if has_enough_words(&text) {
            self.prompts.insert(hash(text.as_str()));
            self.similar_prompts.add(0, GROUP, &text);
        }
    }

    pub(super) fn add_turn(&mut self, turn: &Entry) {
        let speaker = turn.text("content", "speaker").unwrap_or_default().to_lowercase();
        if let Some(text) = turn.text("content", "text").filter(|_| SPEAKERS.contains(&speaker.as_str())) {
            self.add_prompt(text);
        }
    }

    pub(super) fn add_instructions(&mut self, name: &str, text: &str) {
        self.instructions.push((name.to_owned(), shingles(&normalized(text)).into_iter().collect()));
    }

    /// Adds an entry with the index `index`. The query of reasoning is not an echo, because it describes the task.
    pub(super) fn add_entry(&mut self, index: u32, entry: &Entry) {
        let text = match entry.kind() {
            Kind::Note => entry.text("content", "text"),
            Kind::Knowledge => entry.text("content", "summary").or_else(|| only_fact(entry)),
            Kind::Reasoning | Kind::Turn | Kind::Code => None,
        };
        let Some(text) = text.map(normalized).filter(|text| has_enough_words(text)) else { return };
        if is_instruction(&text) {
            self.found.push((index, "is an instruction to an agent".to_owned()));
        } else if let Some((name, _)) = self.instructions.iter().find(|(_, known)| is_contained(&text, known)) {
            self.found.push((index, format!("repeats {name}")));
        } else {
            self.entries.push((index, hash(text.as_str())));
            self.similar_entries.add(index, GROUP, &text);
        }
    }

    /// Returns the entries that are echoes, with a description of each.
    pub(super) fn into_findings(self) -> Vec<(u32, String)> {
        let mut found = self.found;
        let equal = self.entries.iter().filter(|(_, text)| self.prompts.contains(text)).map(|(index, _)| *index);
        let equal: HashSet<u32> = equal.collect();
        let similar = self.similar_prompts.similar_in(&self.similar_entries);
        found.extend(
            similar
                .into_iter()
                .filter(|index| !equal.contains(index))
                .map(|index| (index, "is almost the same as a prompt of a session".to_owned())),
        );
        found.extend(equal.into_iter().map(|index| (index, "is a prompt of a session".to_owned())));
        found
    }
}

fn has_enough_words(text: &str) -> bool {
    text.split(' ').nth(MIN_WORDS - 1).is_some()
}

fn is_instruction(text: &str) -> bool {
    let names_agent = || {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.take(OPENING_WORDS).any(|word| AGENTS.contains(&word))
    };
    OPENINGS.iter().any(|opening| text.starts_with(opening)) || text.starts_with("you are ") && names_agent()
}

fn is_contained(text: &str, known: &HashSet<u64>) -> bool {
    let own = shingles(text);
    let common = own.iter().filter(|shingle| known.contains(shingle)).count() as f64;
    own.len() >= MIN_WORDS && common >= MIN_CONTAINED * own.len() as f64
}

fn only_fact(entry: &Entry) -> Option<&str> {
    match entry.content("facts")?.as_array()?.as_slice() {
        [fact] => fact.get("statement")?.as_str(),
        _ => None,
    }
}
