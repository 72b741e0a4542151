//! Runs the baseline: SQLite's full-text search (FTS5), ranked by its function `bm25()`, on the same turns and
//! questions as the measured memories.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use aurora_evaluation::metrics::{DEPTH, Found, Measured, measure};
use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::memories::Memories;

/// Tokenizer of FTS5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tokenizer {
    /// The default tokenizer: words in lower case without diacritics.
    Unicode61,
    /// Reduces words to stems (Porter, "An algorithm for suffix stripping", 1980).
    Porter,
}

impl Tokenizer {
    /// All measured tokenizers.
    pub(crate) const ALL: [Self; 2] = [Self::Unicode61, Self::Porter];

    /// Returns the name of the tokenizer in FTS5.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Unicode61 => "unicode61",
            Self::Porter => "porter",
        }
    }
}

/// Measures the search results of FTS5, in the order of the questions. Each memory is a separate full-text index.
pub(crate) fn ask_fts5(
    conversations: &[Conversation],
    memories: &Memories,
    tokenizer: Tokenizer,
) -> Result<Vec<Measured>, String> {
    let index = |position: usize| {
        let held = conversations.iter().zip(&memories.rounds).filter(|(_, round)| round.memory == position);
        let turns = held.clone().flat_map(|(conversation, _)| {
            let turn = |turn: &crate::conversation::Turn| {
                let id = memories.stored[position].id(conversation, &turn.id);
                json!({ "id": id, "speaker": turn.speaker, "text": turn.text })
            };
            conversation.turns().map(turn).collect::<Vec<Value>>()
        });
        let turns: Vec<Value> = turns.collect();
        let questions = held.flat_map(|(_, round)| &round.questions).map(|question| question.query.as_str());
        json!({ "turns": turns, "questions": questions.collect::<Vec<_>>() })
    };
    let indexes: Vec<Value> = (0..memories.stored.len()).map(index).collect();
    let found = run(&json!({ "tokenize": tokenizer.as_str(), "depth": DEPTH, "indexes": indexes }))?;
    let questions = memories.rounds.iter().flat_map(|round| &round.questions);
    let lists: Vec<&Value> = found.as_array().into_iter().flatten().filter_map(Value::as_array).flatten().collect();
    let measured: Vec<Measured> = questions
        .zip(&lists)
        .map(|(question, list)| {
            let ids = list.as_array().into_iter().flatten().filter_map(Value::as_str);
            let found: Vec<Found> = ids.map(|id| Found { file: id.to_owned(), lines: None }).collect();
            measure(question, &found, None)
        })
        .collect();
    let asked: usize = memories.rounds.iter().map(|round| round.questions.len()).sum();
    if measured.len() == asked { Ok(measured) } else { Err("FTS5 has not answered every question".to_owned()) }
}

fn run(input: &Value) -> Result<Value, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("memory/fts5.py");
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", script.display());
    let mut command = Command::new("python3");
    command.arg(&script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.spawn().map_err(|error| failed(&error))?;
    let mut stdin = process.stdin.take().ok_or("no standard input")?;
    let text = input.to_string();
    let feeder = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = process.wait_with_output().map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&output.status));
    }
    feeder.join().map_err(|_| "the thread that writes the input panicked")?.map_err(|error| failed(&error))?;
    serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))
}
