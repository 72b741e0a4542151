//! One of several concurrent writers. Each writer writes its own entries and records their expected state.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::random::Random;
use crate::store::Store;

/// An action of a writer.
#[derive(Debug, Clone, PartialEq)]
enum Action {
    Add { id: String },
    Edit { id: String },
    Remove { id: String },
    Tag { id: String, tag: String },
    Undo { id: String },
    Turn { text: String },
    Prune,
    Search,
}

/// The session that all turns belong to.
pub(crate) const SESSION: &str = "shared";
/// A word that occurs in all texts.
pub(crate) const WORD: &str = "endurance";
/// Number of notes per writer.
const NOTES: usize = 4;

/// The entries that a writer has written, or may have written.
#[derive(Default)]
pub(crate) struct Written {
    /// The documents of the notes, by id.
    pub(crate) notes: BTreeMap<String, Value>,
    /// The texts of the acknowledged turns, by id.
    pub(crate) turns: BTreeMap<String, String>,
    /// Number of turns that were not acknowledged, but may have been added.
    pub(crate) unknown_turns: usize,
    /// Number of processes that were killed.
    pub(crate) kills: usize,
    /// Number of actions whose answer was complete.
    pub(crate) acknowledged: usize,
}

/// The moment at which a process is killed.
#[derive(Clone, Copy)]
enum Deadline {
    Never,
    After(Duration),
    /// After a delay, which begins when any process is in a write transaction.
    InTransaction(Duration),
}

pub(crate) struct Writer<'s> {
    store: &'s Store,
    number: usize,
    random: Random,
    /// The states of each note that an undo can restore, and the current state as the last element.
    states: BTreeMap<String, Vec<Option<Value>>>,
    written: Written,
    /// Duration of the last action of each kind. Killed actions do not count.
    lasts: BTreeMap<&'static str, Duration>,
}

impl<'s> Writer<'s> {
    pub(crate) fn new(store: &'s Store, number: usize, seed: u64) -> Self {
        let random = Random(seed.wrapping_mul(1_000).wrapping_add(number as u64));
        Self { store, number, random, states: BTreeMap::new(), written: Written::default(), lasts: BTreeMap::new() }
    }

    /// Performs actions until the given number of processes were killed, and returns the written entries.
    pub(crate) fn run(mut self, kills: usize) -> Written {
        let max_rounds = 6 * kills + 20;
        for round in 0.. {
            if self.written.kills == kills {
                break;
            }
            assert!(round < max_rounds, "{} of {round} processes could be killed", self.written.kills);
            self.act(round);
        }
        let current = |(id, states): (String, Vec<Option<Value>>)| Some((id, states.last().cloned()??));
        self.written.notes = self.states.into_iter().filter_map(current).collect();
        self.written
    }

    fn act(&mut self, round: usize) {
        let action = self.action(round);
        let (arguments, input) = self.arguments(&action, round);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = self.store.command(&arguments);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("the stream is piped");
        // The process may be killed before it has read its input.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = self.end(child, &action);
        // A complete answer is an acknowledgement, even if the process is killed afterwards.
        let is_acknowledged = output.ends_with('\n');
        self.written.acknowledged += usize::from(is_acknowledged);
        self.conclude(&action, &output, is_acknowledged, round);
    }

    /// Waits for a process or kills it, and returns the output of the process.
    fn end(&mut self, mut child: Child, action: &Action) -> String {
        let begun = Instant::now();
        let usual = self.lasts.get(action.name()).copied().unwrap_or(Duration::from_millis(200));
        let mut deadline = match self.random.below(6) {
            0 => Deadline::Never,
            // Late kills are more frequent than early ones, because the commit comes last.
            1 | 2 => {
                let share = self.random.below(1_050).max(self.random.below(1_050));
                Deadline::After(usual.mul_f64(share as f64 / 1_000.0))
            }
            _ => Deadline::InTransaction(Duration::from_micros(self.random.below(5_000) as u64)),
        };
        let mut stdout = child.stdout.take().expect("the stream is piped");
        let reading = std::thread::spawn(move || {
            let mut output = String::new();
            stdout.read_to_string(&mut output).map(|_| output).unwrap_or_default()
        });
        let is_over = loop {
            if child.try_wait().expect("the status of the process is available").is_some() {
                break true;
            }
            match deadline {
                Deadline::After(time) if begun.elapsed() >= time => break false,
                Deadline::InTransaction(then) if self.store.is_written() => {
                    deadline = Deadline::After(begun.elapsed() + then);
                }
                _ => std::thread::sleep(Duration::from_micros(200)),
            }
        };
        if is_over {
            self.lasts.insert(action.name(), begun.elapsed());
        } else {
            child.kill().expect("the process can be killed");
            self.written.kills += 1;
        }
        child.wait().expect("the program ends");
        reading.join().expect("the thread does not panic")
    }

    fn action(&mut self, round: usize) -> Action {
        let id = format!("note:w{}-{}", self.number, self.random.below(NOTES));
        let is_live = self.current(&id).is_some();
        match self.random.below(12) {
            0..3 => Action::Turn { text: format!("{WORD} of writer {} in round {round}", self.number) },
            3 => Action::Prune,
            4 => Action::Search,
            5 | 6 if self.states.get(&id).is_some_and(|states| states.len() > 1) => Action::Undo { id },
            _ if !is_live => Action::Add { id },
            7 => Action::Remove { id },
            8 | 9 => Action::Tag { id, tag: format!("round-{round}") },
            _ => Action::Edit { id },
        }
    }

    fn current(&self, id: &str) -> Option<&Value> {
        self.states.get(id)?.last()?.as_ref()
    }

    /// Returns the arguments of an action, and the text for standard input.
    fn arguments(&self, action: &Action, round: usize) -> (Vec<String>, String) {
        let input = match action {
            Action::Add { id } | Action::Edit { id } => self.note(id, round).to_string(),
            Action::Turn { text } => text.clone(),
            _ => String::new(),
        };
        let arguments: Vec<&str> = match action {
            Action::Add { .. } => vec!["add", "note", "-", "--scope", "user"],
            Action::Edit { id } => vec!["edit", id, "-"],
            Action::Remove { id } => vec!["remove", id],
            Action::Tag { id, tag } => vec!["tag", id, tag],
            Action::Undo { id } => vec!["undo", id],
            Action::Turn { .. } => vec!["turn", "add", "--session", SESSION, "--speaker", "user", "-"],
            Action::Prune => vec!["prune"],
            Action::Search => vec!["search", WORD, "--source", "memory", "--mode", "sparse", "--no-record"],
        };
        (["mem"].into_iter().chain(arguments).map(str::to_owned).collect(), input)
    }

    /// Returns the document of a note, as it is passed to the program.
    fn note(&self, id: &str, round: usize) -> Value {
        let text =
            format!("{WORD} of writer {} in round {round}\n{}", self.number, "and more\n".repeat(round * 7 % 400));
        json!({ "id": id, "content": { "text": text } })
    }

    /// Records the outcome of an action. An action without acknowledgement must have happened either completely or not
    /// at all.
    fn conclude(&mut self, action: &Action, output: &str, is_acknowledged: bool, round: usize) {
        let id = match action {
            Action::Add { id } | Action::Edit { id } | Action::Remove { id } | Action::Tag { id, .. } => id,
            Action::Undo { id } => id,
            Action::Turn { text } => {
                match is_acknowledged {
                    true => assert!(self.written.turns.insert(output.trim().to_owned(), text.clone()).is_none()),
                    false => self.written.unknown_turns += 1,
                }
                return;
            }
            Action::Prune | Action::Search => return,
        };
        let found = self.store.document(id);
        let states = self.states.entry(id.clone()).or_insert_with(|| vec![None]);
        let before = states.last().cloned().flatten();
        let has_happened = match (action, &found) {
            (Action::Undo { .. }, found) => *found == states[states.len() - 2],
            (Action::Remove { .. }, found) => found.is_none(),
            (Action::Tag { tag, .. }, Some(found)) => {
                let tags = found["governance"]["compliance_tags"].as_array();
                tags.is_some_and(|tags| tags.iter().any(|found| found == tag))
            }
            (_, Some(found)) => {
                let text = found["content"]["text"].as_str().unwrap_or_default();
                text.starts_with(&format!("{WORD} of writer {} in round {round}\n", self.number))
            }
            (_, None) => false,
        };
        let what =
            || format!("{action:?} of writer {} in round {round}: {output:?}, {before:?}, {found:?}", self.number);
        match (has_happened, action) {
            (true, Action::Undo { .. }) => drop(states.pop()),
            (true, _) => states.push(found),
            (false, _) => {
                assert!(!is_acknowledged, "an acknowledged write is lost: {}", what());
                assert_eq!(found, before, "neither the old state nor the new one: {}", what());
            }
        }
    }
}

impl Action {
    fn name(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Edit { .. } => "edit",
            Self::Remove { .. } => "remove",
            Self::Tag { .. } => "tag",
            Self::Undo { .. } => "undo",
            Self::Turn { .. } => "turn",
            Self::Prune => "prune",
            Self::Search => "search",
        }
    }
}
