//! The memory under test, and a model of its expected state.

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

/// The time of the first change, in Unix seconds. It is in the future, so that entries are not old according to the
/// clock of the system.
const BEGINNING: i64 = 4_000_000_000;
/// Seconds between two changes.
const STEP: i64 = 61;
const DAY: i64 = 86_400;

/// The memory under test, and the changes that produced it.
pub(crate) struct Subject {
    directory: TempDir,
    is_project: bool,
    memory: Option<Memory>,
    now: i64,
    made: Vec<Recorded>,
    /// The states of every entry that has a version, by id.
    chains: BTreeMap<String, Chain>,
    /// The ids of all entries that ever existed, in the order of their creation.
    ids: Vec<String>,
    turns: BTreeMap<&'static str, u32>,
    accesses: Vec<Access>,
    /// Whether the index was damaged, so that a search can fail.
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
        self.memory.as_ref().expect("the memory is open")
    }

    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// Applies an operation and compares the result with the model.
    pub(crate) fn apply(&mut self, operation: &Operation) {
        self.now += STEP;
        match operation {
            Operation::Add { kind, name, content, placement } => self.add(KINDS[*kind], *name, *content, *placement),
            Operation::Edit { entry, content } => self.change(*entry, |id, subject| {
                let kind = Kind::from_id(id).expect("the id has a kind");
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

    fn add(&mut self, kind: Kind, name: Option<usize>, content: usize, number: usize) {
        let (document, given) = (document(kind, content), name.map(|name| id(kind, name)));
        let (draft, placement) = (draft(kind, &document, given.as_deref()), placement(self.is_project, number));
        let requested = draft.entry().id().to_owned();
        match self.memory().add(draft, &placement, self.now) {
            Ok(outcome) if outcome.reason.contains("has the same text") => {
                let version = self.memory().get(&outcome.id).expect("readable").expect("the entry exists");
                assert_eq!((version.scope, &version.session), (placement.scope, &placement.session));
                assert!(!outcome.stored && self.is_live(&outcome.id));
            }
            Ok(outcome) if !outcome.stored => {}
            Ok(outcome) => {
                assert!(!self.is_live(&outcome.id) && outcome.id.starts_with(&requested), "{outcome:?}");
                assert!(given.is_none() || outcome.id == requested, "{outcome:?}");
                self.record(&outcome.id, Vec::new(), Change::Add { kind, document, placement });
            }
            Err(MemoryError::Exists(id)) => assert!(given.is_some() && id == requested && self.is_live(&id)),
            Err(error) => panic!("{error}"),
        }
    }

    fn turn(&mut self, session: usize, text: usize, number: usize, reply_to: Option<usize>) {
        let (session, text) = (SESSIONS[session], TEXTS[text]);
        let turns: Vec<&String> = self.ids.iter().filter(|id| id.starts_with("turn:") && self.is_live(id)).collect();
        let reply_to = reply_to.and_then(|at| turns.get(at % turns.len().max(1))).map(|id| (*id).clone());
        let scope = placement(self.is_project, number).scope;
        let turn = NewTurn { session, speaker: SPEAKER, text, reply_to: reply_to.as_deref(), time: self.now };
        let id = self.memory().add_turn(&turn, scope, self.now).expect("the turn is valid");
        let count = self.turns.entry(session).or_default();
        *count += 1;
        assert_eq!(id, format!("turn:{session}:{count}"));
        let (session, text) = (session.to_owned(), text.to_owned());
        self.record(&id, Vec::new(), Change::Turn { session, text, scope, reply_to });
    }

    /// Calls `change` with the id of an entry, and compares the result with the model. `change` returns the change that
    /// it has made, or `None` if the entry is unchanged.
    fn change(&mut self, entry: usize, change: impl FnOnce(&String, &Self) -> Result<Option<Change>, MemoryError>) {
        let Some(id) = self.id(entry) else { return };
        let number = |subject: &Self| subject.memory().get(&id).expect("readable").map(|version| version.number);
        let before = number(self);
        match (change(&id, self), self.chains.get(&id).and_then(Chain::current).cloned()) {
            (Ok(Some(change)), Some(changes)) if number(self) != before => self.record(&id, changes, change),
            (Ok(_), Some(_)) => assert_eq!(number(self), before),
            // `edit` checks the score of the new document before it looks for the entry. If the score is too low, it
            // stores nothing and returns no error, even if the entry does not exist.
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
        listed.expect("readable");
        let (pruned, kept) = self.memory().prune(&rules, false, self.now).expect("the entries can be removed");
        assert!(pruned.iter().map(|pruned| &pruned.id).eq(&archived), "{pruned:?}, {archived:?}");
        archived.iter().for_each(|id| self.push(id, None));
        assert_eq!(kept, self.live().count());
    }

    fn compact(&mut self) {
        let done = match self.memory().compact() {
            // A compaction first updates the index, which fails if the index is damaged.
            Err(error) if self.is_damaged => return eprintln!("a damaged index: {error}"),
            done => done.expect("the memory can be compacted"),
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
                    assert!(self.is_live(id), "{key} was found, but was removed");
                }
            }
            Err(error) => assert!(self.is_damaged, "{error}"),
        }
    }

    fn reopen(&mut self) {
        self.memory = None;
        let owner = if self.is_project { Owner::Project } else { Owner::User };
        let place = MemoryPlace::at(owner, self.directory.path().join("a/memory"));
        fs::create_dir_all(self.directory.path().join("a")).expect("the directory can be created");
        self.memory = Some(Memory::create(place).expect("the memory can be opened"));
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
                    let offset = (at * 4096 + step * 997) % data.len();
                    data[offset] ^= 0x55;
                }),
            }
            fs::write(&path, data).expect("the index can be written");
            self.is_damaged = true;
        }
        self.reopen();
    }

    /// Deletes a damaged index if its damage is detected. Otherwise, the comparison of the answers checks that the
    /// damage has no effect.
    pub(crate) fn delete_damaged_index(&mut self) {
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

    /// Creates a new memory and replays the changes that produce the current entries, at the same times.
    pub(crate) fn replayed(&self) -> Self {
        assert!(every_id(self.memory(), self.now).iter().eq(self.live()), "unexpected or lost entries");
        let fresh = Self::new(self.is_project);
        // The position of a turn is never reused, so removed turns are also replayed, and then removed again.
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
                fresh.memory().remove(turn, self.now).expect("the turn exists");
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
        let index = self.made.len();
        self.made.push(Recorded { id: id.to_owned(), time: self.now, change });
        self.push(id, Some([before, vec![index]].concat()));
    }

    fn push(&mut self, id: &str, changes: Option<Vec<usize>>) {
        if !self.ids.iter().any(|existing| existing == id) {
            self.ids.push(id.to_owned());
        }
        let has_version = self.chains.contains_key(id);
        self.chains.entry(id.to_owned()).or_default().push(changes, has_version);
    }
}
