//! A memory: a store of entries and an index of the entries.

use aurora_memory_policy::Scope;
use std::io::ErrorKind;
use std::sync::Arc;

use aurora_confined::{Directory, refusal_of};
use aurora_memory_schema::{Draft, EditError, Entry, Outcome};
use aurora_project::{Project, RedactSettings, user};
use aurora_storage::{AccessLog, AccessRecord, OpenMode, ProjectDirectory, Snapshot, StorageError};

use crate::error::MemoryError;
use crate::index;
use crate::place::{MemoryPlace, Owner};
use crate::session::{NewTurn, check_session};
use crate::store::{Change, ContentKey, EntryStore, EntryView, EntryWriter, MemoryCompaction, Version};

/// Number of entries whose access records are read at once.
const BATCH: usize = 1_024;

/// A store of entries and an index of the entries. A change is durable when the function that makes it returns, and the
/// next search sees it.
pub struct Memory {
    place: MemoryPlace,
    store: Arc<EntryStore>,
    project: Project,
}

/// The scope and session of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The scope in which searches find the entry.
    pub scope: Scope,
    /// The session that the entry belongs to; required in scope `session`.
    pub session: Option<String>,
}

impl Memory {
    /// Opens a memory. Creates it if it does not exist.
    ///
    /// # Errors
    /// Fails if the memory cannot be opened or created, or was created by someone else.
    pub fn create(place: MemoryPlace) -> Result<Self, MemoryError> {
        Self::open_with(place, OpenMode::Create)
    }

    /// Opens a memory; `None` if it does not exist.
    ///
    /// # Errors
    /// Fails if the memory cannot be opened or was created by someone else.
    pub fn open(place: MemoryPlace) -> Result<Option<Self>, MemoryError> {
        match Self::open_with(place, OpenMode::Existing) {
            Ok(memory) => Ok(Some(memory)),
            Err(MemoryError::NoMemory(_) | MemoryError::Storage(StorageError::NoIndex { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open_with(place: MemoryPlace, mode: OpenMode) -> Result<Self, MemoryError> {
        let home = home(&place, mode)?;
        let store = Arc::new(EntryStore::open(&home, mode, user::trust().known)?);
        let project = Project::new(place.directory().to_owned(), Arc::new(index::registry()));
        Ok(Self { place, store, project })
    }

    /// Creates a memory in a directory, with a separate record of trusted stores.
    #[cfg(test)]
    pub(crate) fn for_test(owner: Owner, directory: &std::path::Path) -> Self {
        let home = Directory::open_root(directory).expect("the caller has created the directory");
        let known = aurora_storage::KnownIndexes::at(directory.join("known"));
        let store = Arc::new(EntryStore::open(&home, OpenMode::Create, known).expect("a store can be created"));
        let project = Project::new(directory.to_owned(), Arc::new(index::registry()));
        Self { place: MemoryPlace::at(owner, directory), store, project }
    }

    /// Accepts a memory that someone else created. Checks all entries and the access history before accepting them.
    ///
    /// # Errors
    /// Fails if the memory does not exist or is damaged, or if the record of trusted stores cannot be written.
    pub fn accept(place: MemoryPlace) -> Result<Self, MemoryError> {
        let known = user::trust().known;
        EntryStore::accept(&home(&place, OpenMode::Existing)?, known.clone())?;
        let memory = Self::open_with(place, OpenMode::Existing)?;
        match AccessLog::accept(&memory.project.directory(), &known) {
            // A damaged access history is not an error, because the next write replaces it with a new one.
            Ok(()) | Err(StorageError::NoIndex { .. } | StorageError::DamagedRecords { .. }) => Ok(memory),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the location of the memory.
    pub fn place(&self) -> &MemoryPlace {
        &self.place
    }

    /// Returns the project of the memory, which provides its index and access history.
    pub fn project(&self) -> &Project {
        &self.project
    }

    pub(crate) fn store(&self) -> &EntryStore {
        &self.store
    }

    /// Calls `visit` for every entry of a view, in the order of ids, with the entry's access record. Skips removed
    /// entries.
    pub(crate) fn visit_entries(
        &self,
        view: &EntryView,
        mut visit: impl FnMut(&str, &Version, Option<&AccessRecord>) -> Result<(), MemoryError>,
    ) -> Result<(), MemoryError> {
        let mut entries =
            view.from("")?.filter(|entry| !matches!(entry, Ok((_, version)) if version.document.is_none()));
        loop {
            let batch = entries.by_ref().take(BATCH).collect::<Result<Vec<_>, _>>()?;
            if batch.is_empty() {
                return Ok(());
            }
            let accesses = self.accesses(&batch.iter().map(|(id, _)| *id).collect::<Vec<_>>());
            for ((id, version), access) in batch.iter().zip(accesses) {
                visit(id, version, access.as_ref())?;
            }
        }
    }

    pub(crate) fn view(&self) -> Result<EntryView, MemoryError> {
        self.store.view()
    }

    /// Updates the index if entries have changed, and returns its newest generation. Returns `None` if no entry was
    /// ever added.
    ///
    /// # Errors
    /// Fails if the entries cannot be read or the index cannot be written.
    pub fn snapshot(&self) -> Result<Option<Snapshot>, MemoryError> {
        index::catch_up(&self.project, &self.store)
    }

    /// Whether the published index contains every change of the entries.
    ///
    /// # Errors
    /// Fails if the entries cannot be read.
    pub(crate) fn is_index_current(&self) -> Result<bool, MemoryError> {
        index::is_current(&self.project, &self.store)
    }

    /// Adds an entry at `now`, in Unix seconds, if its score is high enough, and no entry of the same kind, scope and
    /// session has the same text. If there is such an entry, the outcome contains its id. If the id was derived and
    /// another entry has it, appends a numeric suffix to the id.
    ///
    /// # Errors
    /// Returns [`MemoryError::Exists`] if the draft has an explicit id, and a different entry already has this id.
    /// Fails if the entry cannot be written.
    pub fn add(&self, draft: Draft, placement: &Placement, now: i64) -> Result<Outcome, MemoryError> {
        placement.check(self.place.owner())?;
        let (outcome, has_derived_id) = (draft.outcome(), draft.has_derived_id());
        let Ok(entry) = draft.into_entry() else { return Ok(outcome) };
        let entry = without_personal_data(entry);
        self.store.write(|writer| {
            let key = ContentKey::new(&entry, placement.scope, placement.session.as_deref());
            if let Some(id) = key.map(|key| writer.duplicate_of(key)).transpose()?.flatten() {
                let reason = format!("The entry {id} has the same text.");
                return Ok(Outcome { id, stored: false, is_pattern: false, reason });
            }
            let entry = assign_id(writer, entry, has_derived_id)?;
            let outcome = Outcome { id: entry.id().to_owned(), ..outcome };
            writer.put(&outcome.id, version(entry, placement, Change::Add, now))?;
            Ok(outcome)
        })
    }

    /// Replaces the document of an entry if the score of the new document is high enough. Ignores the id of the draft.
    ///
    /// # Errors
    /// Returns [`MemoryError::NoEntry`] if the entry does not exist. Fails if the draft and the entry have different
    /// kinds, or if the entry cannot be written.
    pub fn edit(&self, id: &str, draft: Draft, now: i64) -> Result<Outcome, MemoryError> {
        let outcome = draft.outcome();
        let Ok(entry) = draft.into_entry() else { return Ok(Outcome { id: id.to_owned(), ..outcome }) };
        let mut entry = without_personal_data(entry);
        entry.set_id(id).map_err(|error| MemoryError::Unfit(error.to_string()))?;
        self.store.write(|writer| {
            let before = live(writer, id)?;
            if before.document.as_ref() != Some(entry.document()) {
                let document = Some(entry.document().clone());
                writer.put(id, Version { change: Change::Edit, time: now, edited: now, document, ..before })?;
            }
            Ok(Outcome { id: id.to_owned(), ..outcome })
        })
    }

    /// Appends a turn to its session and returns the id of the turn.
    ///
    /// # Errors
    /// Fails if the session, the speaker or the text is invalid, if the entry `reply_to` does not exist, or if the turn
    /// cannot be written.
    pub fn add_turn(&self, turn: &NewTurn<'_>, scope: Scope, now: i64) -> Result<String, MemoryError> {
        let placement = Placement { scope, session: Some(turn.session.to_owned()) };
        placement.check(self.place.owner())?;
        turn.check()?;
        self.store.write(|writer| {
            if let Some(answered) = turn.reply_to {
                live(writer, answered)?;
            }
            let order = writer.next_turn(turn.session)?;
            let entry = without_personal_data(turn.entry(order)?.without_secrets());
            let id = entry.id().to_owned();
            writer.put(&id, version(entry, &placement, Change::Add, now))?;
            Ok(id)
        })
    }

    /// Removes an entry. Until a compaction, [`Self::undo`] can restore the entry.
    ///
    /// # Errors
    /// Returns [`MemoryError::NoEntry`] if the entry does not exist. Fails if the change cannot be written.
    pub fn remove(&self, id: &str, now: i64) -> Result<(), MemoryError> {
        self.store.write(|writer| remove(writer, id, Change::Remove, now))
    }

    /// Removes every entry whose newest version still has the given number, in one transaction. Returns for each entry
    /// whether it was removed.
    pub(crate) fn remove_unchanged<'i>(
        &self,
        entries: impl Iterator<Item = (&'i str, u32)>,
        change: Change,
        now: i64,
    ) -> Result<Vec<bool>, MemoryError> {
        self.store.write(|writer| {
            let mut removed = Vec::new();
            for (id, number) in entries {
                let is_same = writer.get(id)?.is_some_and(|version| version.number == number);
                if is_same {
                    remove(writer, id, change, now)?;
                }
                removed.push(is_same);
            }
            Ok(removed)
        })
    }

    /// Adds and removes tags of an entry. Returns the resulting tags.
    ///
    /// # Errors
    /// Returns [`MemoryError::NoEntry`] if the entry does not exist. Fails if a tag is invalid or the change cannot be
    /// written.
    pub fn tag(&self, id: &str, add: &[&str], remove: &[&str], now: i64) -> Result<Vec<String>, MemoryError> {
        let tags = |entry: &Entry| entry.tags().into_iter().map(str::to_owned).collect();
        self.modify(id, Change::Tag, now, |entry| {
            entry.set_tags(add, remove)?;
            Ok(tags(entry))
        })
    }

    /// Links an entry to another entry or to a chunk of code. If `weight` is `None`, removes the link.
    ///
    /// # Errors
    /// Returns [`MemoryError::NoEntry`] if the entry does not exist. Fails if the link is invalid or the change cannot
    /// be written.
    pub fn link(&self, id: &str, to: &str, relation: &str, weight: Option<f64>, now: i64) -> Result<(), MemoryError> {
        self.modify(id, Change::Link, now, |entry| {
            match weight {
                Some(weight) => drop(entry.add_link(to, relation, weight)?),
                None => drop(entry.remove_link(to, Some(relation))),
            }
            Ok(())
        })
    }

    /// Undoes the newest change of an entry, or, after earlier undos, the newest change that has not been undone yet.
    /// Returns the resulting version.
    ///
    /// # Errors
    /// Returns [`MemoryError::NoEntry`] or [`MemoryError::NothingToUndo`]. Fails if the change cannot be written.
    pub fn undo(&self, id: &str, now: i64) -> Result<Version, MemoryError> {
        self.store.write(|writer| writer.undo(id, now))
    }

    /// Returns the newest version of an entry, even if the entry was removed.
    ///
    /// # Errors
    /// Fails if the entry cannot be read.
    pub fn get(&self, id: &str) -> Result<Option<Version>, MemoryError> {
        self.view()?.get(id)
    }

    /// Returns the versions of an entry, oldest first.
    ///
    /// # Errors
    /// Fails if the versions cannot be read.
    pub fn versions(&self, id: &str) -> Result<Vec<Version>, MemoryError> {
        self.view()?.versions(id)
    }

    /// Deletes removed entries and all versions except the newest version of each entry. The deleted data cannot be
    /// restored. Updates the index first.
    ///
    /// # Errors
    /// Fails if the index or the store cannot be written.
    pub fn compact(&self) -> Result<MemoryCompaction, MemoryError> {
        self.snapshot()?;
        self.store.compact(index::newest_indexed_change(&self.project)?)
    }

    fn modify<T>(
        &self,
        id: &str,
        change: Change,
        now: i64,
        modify: impl FnOnce(&mut Entry) -> Result<T, EditError>,
    ) -> Result<T, MemoryError> {
        self.store.write(|writer| {
            let before = live(writer, id)?;
            let mut entry = entry_of(id, &before)?;
            let done = modify(&mut entry).map_err(|error| MemoryError::Unfit(error.to_string()))?;
            let entry = without_personal_data(entry.without_secrets());
            if before.document.as_ref() != Some(entry.document()) {
                let document = Some(entry.document().clone());
                writer.put(id, Version { change, time: now, document, ..before })?;
            }
            Ok(done)
        })
    }
}

impl Placement {
    /// Checks that the memory of `owner` accepts entries with this placement.
    pub(crate) fn check(&self, owner: Owner) -> Result<(), MemoryError> {
        let is_turn_of_project = self.session.is_some() && self.scope == Scope::Project;
        if Owner::for_scope(self.scope) != owner && !is_turn_of_project {
            let (scope, owner) = (self.scope, owner.as_str());
            return Err(MemoryError::Unfit(format!("entries of scope {scope} are not kept in the {owner}'s memory")));
        }
        match &self.session {
            None if self.scope == Scope::Session => {
                Err(MemoryError::Unfit("an entry of scope session needs the name of the session".to_owned()))
            }
            Some(session) => check_session(session),
            None => Ok(()),
        }
    }
}

fn home(place: &MemoryPlace, mode: OpenMode) -> Result<Directory, MemoryError> {
    let path = place.directory();
    let opened = match (place.owner(), mode) {
        (Owner::User, OpenMode::Create) => Directory::create_private_root(path),
        (Owner::User, OpenMode::Existing) => Directory::open_private_root(path),
        // A repository could contain a symbolic link in place of the directory.
        (Owner::Project, mode) => crate::home::open_project(path, mode),
    };
    let home = opened.map_err(|error| match (refusal_of(&error), error.kind()) {
        (Some(refusal), _) => StorageError::Unsafe { path: path.to_owned(), refusal }.into(),
        (None, ErrorKind::NotFound) => MemoryError::NoMemory(path.to_owned()),
        (None, ErrorKind::PermissionDenied) => StorageError::Unreadable { path: path.to_owned(), source: error }.into(),
        _ => MemoryError::io(path)(error),
    })?;
    if place.owner() == Owner::User {
        home.make_private();
    }
    if mode == OpenMode::Create {
        // The directory of the index and the access history is private, because they also contain texts of entries.
        home.create_private_directory(ProjectDirectory::NAME).map_err(MemoryError::io(path))?;
    }
    Ok(home)
}

/// Returns the newest version of an entry. Fails if the entry does not exist or was removed.
fn live(writer: &EntryWriter<'_, '_>, id: &str) -> Result<Version, MemoryError> {
    let found = writer.get(id)?.filter(|version| version.document.is_some());
    found.ok_or_else(|| MemoryError::NoEntry(id.to_owned()))
}

fn remove(writer: &mut EntryWriter<'_, '_>, id: &str, change: Change, now: i64) -> Result<(), MemoryError> {
    let before = live(writer, id)?;
    writer.put(id, Version { change, time: now, document: None, ..before }).map(drop)
}

/// Masks the personal data of an entry, unless the user's configuration turns this off.
fn without_personal_data(entry: Entry) -> Entry {
    if RedactSettings::masks_personal_data() { entry.without_personal_data() } else { entry }
}

fn version(entry: Entry, placement: &Placement, change: Change, now: i64) -> Version {
    Version {
        number: 0,
        before: 0,
        change,
        time: now,
        created: now,
        edited: now,
        scope: placement.scope,
        session: placement.session.clone(),
        document: Some(entry.document().clone()),
    }
}

pub(crate) fn entry_of(id: &str, version: &Version) -> Result<Entry, MemoryError> {
    let document = version.document.clone().ok_or_else(|| MemoryError::NoEntry(id.to_owned()))?;
    Entry::from_document(document).map_err(|error| MemoryError::Damaged(format!("{id}: {error}")))
}

/// Assigns a free id to a new entry. If another entry has the id, appends a numeric suffix, but only to a derived id.
fn assign_id(writer: &EntryWriter<'_, '_>, mut entry: Entry, is_derived: bool) -> Result<Entry, MemoryError> {
    let base = entry.id().to_owned();
    for number in 2u64.. {
        if writer.get(entry.id())?.is_none_or(|version| version.document.is_none()) {
            break;
        }
        if !is_derived {
            return Err(MemoryError::Exists(base));
        }
        entry.set_id(&format!("{base}-{number}")).map_err(|error| MemoryError::Unfit(error.to_string()))?;
    }
    Ok(entry)
}
