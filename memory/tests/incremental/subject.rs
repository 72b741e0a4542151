//! A memory under test and a model of its expected state.

use std::collections::BTreeMap;
use std::fs;

use aurora_memory::{ListFilter, Memory, MemoryError, MemoryPlace, MemoryRules, NewTurn, Owner};
use aurora_memory_schema::Kind;
use aurora_query::SearchConfig;
use aurora_storage::Verdict;
use tempfile::TempDir;

use crate::answers::{every_id, search_all};
use crate::chain::Chain;
use crate::content::{CODE, KINDS, SESSIONS, TAGS, TEXTS, document, draft, id, placement};
use crate::operation::Operation;
use crate::own_home::directory;
use crate::recorded::{Access, Change, RELATION, Recorded, SPEAKER};

/// The time of the first change, in Unix seconds. It is in the future, so that nothing is old by the system's clock.
const BEGINNING: i64 = 4_000_000_000;
/// Seconds between two changes.
const STEP: i64 = 61;
const DAY: i64 = 86_400;

/// A memory and the changes that produced it.
pub(crate) struct Subject {
    directory: TempDir,
    is_project: bool,
    memory: Option<Memory>,
    now: i64,
    made: Vec<Recorded>,
    /// The chain of every id that has a version.
    chains: BTreeMap<String, Chain>,
    /// All ids, in the order of their creation.
    ids: Vec<String>,
    turns: BTreeMap<&'static str, u32>,
    accesses: Vec<Access>,
    /// Whether a search may fail because the index is damaged.
    is_damaged: bool,
}

impl Subject {
    pub(crate) fn new(is_project: bool) -> Self {
        let mut subject = Self {
            directory: directory(),
            is_project,
            memory: None,
            now: BEGINNING,
            made: Vec::new(),
            chains: BTreeMap::new(),
            ids: Vec::new(),
            turns: BTreeMap::new(),
            accesses: Vec::new(),
            is_damaged: false,
        };
        subject.reopen();
        subject
    }

    pub(crate) fn memory(&self) -> &Memory {
        self.memory.as_ref().expect("is open")
    }

    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// Applies an operation and checks its outcome.
    pub(crate) fn apply(&mut self, operation: &Operation) {
        self.now += STEP;
        match operation {
            Operation::Add { kind, name, content, placement } => self.add(KINDS[*kind], *name, *content, *placement),
            Operation::Edit { entry, content } => self.change(*entry, |id, subject| {
                let kind = Kind::from_id(id).expect("an id");
                let document = match kind {
                    Kind::Turn => serde_json::json!({ "content": { "text": TEXTS[content % TEXTS.len()] } }),
                    kind => document(kind, *content),
                };
                let outcome = subject.memory().edit(id, draft(kind, &document, None), subject.now);
                outcome.map(|outcome| outcome.stored.then_some(Change::Edit { document }))
            }),
            Operation::Tag { entry, add, remove } => self.change(*entry, |id, subject| {
                let tags = |tags: &[usize]| tags.iter().map(|&tag| TAGS[tag]).collect::<Vec<_>>();
                let (add, remove) = (tags(add), tags(remove));
                subject.memory().tag(id, &add, &remove, subject.now).map(|_| Some(Change::Tag { add, remove }))
            }),
            Operation::Link { entry, to, weight } => self.change(*entry, |id, subject| {
                let to = subject.ids.get(to % (subject.ids.len() + 1)).map_or(CODE, String::as_str).to_owned();
                let weight = weight.map(|quarters| f64::from(quarters) / 4.0);
                let done = subject.memory().link(id, &to, RELATION, weight, subject.now);
                match done {
                    Err(MemoryError::Unfit(_)) if to == *id && weight.is_some() => Ok(None),
                    done => done.map(|()| Some(Change::Link { to, weight })),
                }
            }),
            Operation::Remove { entry } => self.remove(*entry),
            Operation::Undo { entry } => self.undo(*entry),
            Operation::Turn { session, text, placement, reply_to } => self.turn(*session, *text, *placement, *reply_to),
            Operation::Judge { entry, verdict } => self.note(*entry, Some(Verdict::ALL[*verdict]), 1),
            Operation::Show { entry, times } => self.note(*entry, None, *times),
            Operation::Prune => self.prune(),
            Operation::Compact => self.compact(),
            Operation::Search { text } => self.search(TEXTS[*text]),
            Operation::Reopen => self.reopen(),
            Operation::LoseIndex => self.lose_index(),
            Operation::DamageIndex { how, at } => self.damage_index(*how, *at),
            Operation::Wait { days } => self.now += days * DAY,
        }
    }

    fn add(&mut self, kind: Kind, name: Option<usize>, content: usize, place: usize) {
        let (document, given) = (document(kind, content), name.map(|name| id(kind, name)));
        let (draft, placement) = (draft(kind, &document, given.as_deref()), placement(self.is_project, place));
        let wanted = draft.entry().id().to_owned();
        match self.memory().add(draft, &placement, self.now) {
            Ok(outcome) if !outcome.stored => {}
            Ok(outcome) if outcome.reason.contains("stored already") => {
                let version = self.memory().get(&outcome.id).expect("reads").expect("is there");
                assert_eq!((version.scope, &version.session), (placement.scope, &placement.session));
                assert!(self.is_live(&outcome.id));
            }
            Ok(outcome) => {
                assert!(!self.is_live(&outcome.id) && outcome.id.starts_with(&wanted), "{outcome:?}");
                assert!(given.is_none() || outcome.id == wanted, "{outcome:?}");
                self.record(&outcome.id, Vec::new(), Change::Add { kind, document, placement });
            }
            Err(MemoryError::Exists(id)) => assert!(given.is_some() && id == wanted && self.is_live(&id)),
            Err(error) => panic!("{error}"),
        }
    }

    fn turn(&mut self, session: usize, text: usize, place: usize, reply_to: Option<usize>) {
        let (session, text) = (SESSIONS[session], TEXTS[text]);
        let turns: Vec<&String> = self.ids.iter().filter(|id| id.starts_with("turn:") && self.is_live(id)).collect();
        let reply_to = reply_to.and_then(|at| turns.get(at % turns.len().max(1))).map(|id| (*id).clone());
        let scope = placement(self.is_project, place).scope;
        let turn = NewTurn { session, speaker: SPEAKER, text, reply_to: reply_to.as_deref(), time: self.now };
        let id = self.memory().add_turn(&turn, scope, self.now).expect("is added");
        let count = self.turns.entry(session).or_default();
        *count += 1;
        assert_eq!(id, format!("turn:{session}:{count}"));
        let (session, text) = (session.to_owned(), text.to_owned());
        self.record(&id, Vec::new(), Change::Turn { session, text, scope, reply_to });
    }

    /// Changes an entry. `change` receives the id of the entry and returns the change that it made, if any.
    fn change(&mut self, entry: usize, change: impl FnOnce(&String, &Self) -> Result<Option<Change>, MemoryError>) {
        let Some(id) = self.id(entry) else { return };
        let number = |subject: &Self| subject.memory().get(&id).expect("reads").map(|version| version.number);
        let before = number(self);
        match (change(&id, self), self.chains.get(&id).and_then(Chain::current).cloned()) {
            (Ok(Some(change)), Some(changes)) if number(self) != before => self.record(&id, changes, change),
            (Ok(_), Some(_)) => assert_eq!(number(self), before),
            // Editing with a draft that is not stored does not look up the entry.
            (Ok(None), None) => {}
            (Err(MemoryError::NoEntry(named)), None) => assert_eq!(named, id),
            (done, current) => panic!("{id}: {done:?} of {current:?}"),
        }
    }

    fn remove(&mut self, entry: usize) {
        let Some(id) = self.id(entry) else { return };
        match self.memory().remove(&id, self.now) {
            Ok(()) => {
                assert!(self.is_live(&id));
                self.push(&id, None);
            }
            Err(MemoryError::NoEntry(_)) => assert!(!self.is_live(&id)),
            Err(error) => panic!("{error}"),
        }
    }

    fn undo(&mut self, entry: usize) {
        let Some(id) = self.id(entry) else { return };
        let undone = self.memory().undo(&id, self.now);
        match (undone, self.chains.get_mut(&id).map(Chain::undo)) {
            (Ok(version), Some(Ok(()))) => assert_eq!(version.document.is_some(), self.is_live(&id)),
            (Err(MemoryError::NothingToUndo(_)), Some(Err(_))) | (Err(MemoryError::NoEntry(_)), None) => {}
            (undone, expected) => panic!("{id}: {undone:?}, expected {expected:?}"),
        }
    }

    fn note(&mut self, entry: usize, verdict: Option<Verdict>, times: usize) {
        let Some(id) = self.id(entry) else { return };
        for second in 0..times as i64 {
            let access = Access { id: id.clone(), time: self.now + second, verdict };
            access.repeat(self.memory());
            self.accesses.push(access);
        }
    }

    fn prune(&mut self) {
        let (rules, config) = (MemoryRules::default(), SearchConfig::default());
        let filter = ListFilter { state: Some("archived".to_owned()), ..ListFilter::default() };
        let mut archived = Vec::new();
        let listed = self.memory().for_each(&filter, (&rules, &config), self.now, |report| {
            archived.push(report.entry.id().to_owned());
            Ok(())
        });
        listed.expect("reads");
        let (pruned, kept) = self.memory().prune(&rules, false, self.now).expect("prunes");
        assert!(pruned.iter().map(|pruned| &pruned.id).eq(&archived), "{pruned:?}, {archived:?}");
        archived.iter().for_each(|id| self.push(id, None));
        assert_eq!(kept, self.live().count());
    }

    fn compact(&mut self) {
        let done = match self.memory().compact() {
            // Compaction updates the index first.
            Err(error) if self.is_damaged => return eprintln!("a damaged index: {error}"),
            done => done.expect("compacts"),
        };
        let before = self.chains.len();
        self.chains.retain(|_, chain| chain.current().is_some());
        assert_eq!(done.removed_entries, before - self.chains.len());
        self.chains.values_mut().for_each(Chain::compact);
    }

    fn search(&mut self, text: &str) {
        match search_all(self.memory(), text, self.now) {
            Ok(keys) => {
                for key in keys {
                    let id = key.split('~').next().unwrap_or_default();
                    assert!(self.is_live(id), "{key} is found and is gone");
                }
            }
            Err(error) => assert!(self.is_damaged, "{error}"),
        }
    }

    fn reopen(&mut self) {
        self.memory = None;
        let owner = if self.is_project { Owner::Project } else { Owner::User };
        let place = MemoryPlace::at(owner, self.directory.path().join("a/memory"));
        fs::create_dir_all(self.directory.path().join("a")).expect("makes a directory");
        self.memory = Some(Memory::create(place).expect("opens"));
    }

    fn index(&self) -> std::path::PathBuf {
        self.memory().project().directory().join("index")
    }

    fn lose_index(&mut self) {
        let _ = fs::remove_dir_all(self.index());
        self.is_damaged = false;
    }

    fn damage_index(&mut self, how: usize, at: usize) {
        let path = self.index().join("data.mdb");
        self.memory = None;
        if let Ok(mut data) = fs::read(&path)
            && data.len() > 4 * 4096
        {
            match how {
                0 => data.truncate(data.len() / 2),
                1 => data[..2 * 4096].fill(0),
                _ => (0..4).for_each(|step| {
                    let place = (at * 4096 + step * 997) % data.len();
                    data[place] ^= 0x55;
                }),
            }
            fs::write(&path, data).expect("writes");
            self.is_damaged = true;
        }
        self.reopen();
    }

    /// Deletes a damaged index whose damage is detected. An index whose damage is not detected must give correct
    /// answers.
    pub(crate) fn heal(&mut self) {
        let verify = |subject: &Self| -> Result<(), MemoryError> {
            if let Some(snapshot) = subject.memory().snapshot()? {
                snapshot.digest()?;
            }
            search_all(subject.memory(), TEXTS[0], subject.now).map(drop)
        };
        if let Err(error) = verify(self) {
            assert!(self.is_damaged, "{error}");
            self.lose_index();
        }
    }

    /// Creates a new memory in which the changes that are still in force are made at the same times.
    pub(crate) fn replayed(&self) -> Self {
        assert!(every_id(self.memory(), self.now).iter().eq(self.live()), "unexpected or lost entries");
        let fresh = Self::new(self.is_project);
        // The number of a turn is never reused, so removed turns must be counted too.
        let is_turn = |at: &usize| matches!(self.made[*at].change, Change::Turn { .. });
        let mut changes: Vec<usize> = (0..self.made.len()).filter(is_turn).collect();
        changes.extend(self.chains.values().filter_map(Chain::current).flatten());
        changes.sort_unstable();
        changes.dedup();
        for &change in &changes {
            self.made[change].repeat(fresh.memory());
        }
        for turn in changes.iter().filter(|at| is_turn(at)).map(|&at| &self.made[at].id) {
            if !self.is_live(turn) {
                fresh.memory().remove(turn, self.now).expect("is there");
            }
        }
        self.accesses.iter().for_each(|access| access.repeat(fresh.memory()));
        fresh
    }

    fn live(&self) -> impl Iterator<Item = &String> {
        self.chains.iter().filter(|(_, chain)| chain.current().is_some()).map(|(id, _)| id)
    }

    fn is_live(&self, id: &str) -> bool {
        self.chains.get(id).is_some_and(|chain| chain.current().is_some())
    }

    fn id(&self, entry: usize) -> Option<String> {
        self.ids.get(entry % self.ids.len().max(1)).cloned()
    }

    fn record(&mut self, id: &str, before: Vec<usize>, change: Change) {
        let place = self.made.len();
        self.made.push(Recorded { id: id.to_owned(), time: self.now, change });
        self.push(id, Some([before, vec![place]].concat()));
    }

    fn push(&mut self, id: &str, changes: Option<Vec<usize>>) {
        if !self.ids.iter().any(|known| known == id) {
            self.ids.push(id.to_owned());
        }
        let is_known = self.chains.contains_key(id);
        self.chains.entry(id.to_owned()).or_default().push(changes, is_known);
    }
}
