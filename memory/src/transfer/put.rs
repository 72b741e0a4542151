//! Batch writes of imported entries, and dry runs of these writes.

use std::cell::RefCell;
use std::collections::HashMap;

use aurora_memory_schema::Verdict;
use aurora_project::{RedactSettings, user};
use aurora_storage::{AccessLog, AccessRecord};

use super::decision::{Decision, StoredEntry, decide};
use super::entry::{Transfer, TransferredEntry};
use super::problem::TransferProblem;
use super::report::TransferReport;
use crate::digest::DocumentHash;
use crate::error::MemoryError;
use crate::memory::Memory;
use crate::place::Owner;
use crate::session::{NewTurn, check_session};
use crate::store::{Change, EntryWriter, Version};

/// Maximum number of entries per transaction.
const MAX_BATCH: usize = 4_096;
/// Total size of the documents in a batch, in bytes, at which the batch is written.
const BATCH_BYTES: usize = 8 << 20;
/// When this number of access records is pending, they are written in one batch. Single writes would be slow, because
/// each write checks the whole access history.
const MAX_PENDING_ACCESSES: usize = 1 << 16;

impl Memory {
    /// Writes imported entries at `now`, in Unix seconds.
    ///
    /// - If no stored entry has the id, or the stored entry was removed, the imported entry is added.
    /// - If the stored entry has the same document, it is unchanged.
    /// - If the documents differ, the document that was edited later wins. If both were edited at the same time, the
    ///   stored document wins, unless an import stored it and [`TransferredEntry::is_current`] is `true`.
    /// - If a stored document is replaced, the entry keeps the earlier of the two creation times.
    /// - An imported turn raises the number of turns of its session to at least the position of the turn.
    /// - Access records are merged: the result has the greater counts, and the times from both records.
    ///
    /// These rules make a transfer idempotent: a second transfer of the same entries changes nothing.
    ///
    /// Entries are written in several transactions. If a transaction fails, the earlier transactions remain durable.
    ///
    /// # Errors
    /// Fails if the memory or its access history cannot be read or written. Problems of individual entries are not
    /// errors; the report lists them.
    pub fn put_all(
        &self,
        entries: &mut dyn Iterator<Item = Transfer>,
        now: i64,
    ) -> Result<TransferReport, MemoryError> {
        let mut accesses = Vec::new();
        let mut report = transfer(entries, self.place().owner(), |batch, report| {
            for decision in self.store().write(|writer| put(writer, batch, now))? {
                report.count(decision);
            }
            accesses.extend(batch.iter_mut().filter_map(access_of));
            if accesses.len() >= MAX_PENDING_ACCESSES {
                report.accesses += self.raise_accesses(&std::mem::take(&mut accesses))?;
            }
            Ok(())
        })?;
        report.accesses += self.raise_accesses(&accesses)?;
        Ok(report)
    }

    /// Reports the effects that [`Memory::put_all`] would have, except on the access history. `None` for `memory`
    /// means an empty memory of `owner`.
    ///
    /// # Errors
    /// Fails if the memory cannot be read.
    pub fn plan_all(
        memory: Option<&Self>,
        owner: Owner,
        entries: &mut dyn Iterator<Item = Transfer>,
    ) -> Result<TransferReport, MemoryError> {
        let view = memory.map(Self::view).transpose()?;
        // The entries that an actual transfer would have written so far.
        let planned: RefCell<HashMap<String, StoredEntry>> = RefCell::default();
        let known = |id: &str| match (planned.borrow().get(id), &view) {
            (Some(known), _) => Ok(Some(*known)),
            (None, Some(view)) => Ok(view.get(id)?.as_ref().and_then(StoredEntry::from_version)),
            (None, None) => Ok(None),
        };
        transfer(entries, owner, |batch, report| {
            for incoming in batch {
                let decision = decide(incoming, known)?;
                if matches!(decision, Decision::Add | Decision::Replace { .. }) {
                    let hash = DocumentHash::new(incoming.entry.document());
                    let (created, edited) = (incoming.created, incoming.edited);
                    let known = StoredEntry { created, edited, hash, is_imported: true };
                    planned.borrow_mut().insert(incoming.entry.id().to_owned(), known);
                }
                report.count(decision);
            }
            Ok(())
        })
    }

    fn raise_accesses(&self, accesses: &[(String, AccessRecord)]) -> Result<u64, MemoryError> {
        if accesses.is_empty() {
            return Ok(0);
        }
        let log = AccessLog::open(&self.project().directory(), &user::trust().known)?;
        let copies: Vec<(&str, AccessRecord)> =
            accesses.iter().map(|(id, access)| (id.as_str(), access.clone())).collect();
        Ok(log.raise(&copies)? as u64)
    }
}

/// Passes accepted entries to `write` in batches, and collects the problems of the other items.
fn transfer(
    entries: &mut dyn Iterator<Item = Transfer>,
    owner: Owner,
    mut write: impl FnMut(&mut [TransferredEntry], &mut TransferReport) -> Result<(), MemoryError>,
) -> Result<TransferReport, MemoryError> {
    let mut report = TransferReport::default();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let masks_personal_data = RedactSettings::masks_personal_data();
    for incoming in entries {
        match incoming.and_then(|incoming| check_accepted(incoming, owner)) {
            Ok(mut incoming) => {
                if masks_personal_data {
                    incoming.entry = incoming.entry.without_personal_data();
                }
                bytes += size_of(&incoming);
                batch.push(incoming);
            }
            Err(problem) => report.add(problem),
        }
        if batch.len() >= MAX_BATCH || bytes >= BATCH_BYTES {
            write(&mut batch, &mut report)?;
            batch.clear();
            bytes = 0;
        }
    }
    if !batch.is_empty() {
        write(&mut batch, &mut report)?;
    }
    Ok(report)
}

/// Checks that a memory of `owner` accepts the entry, and that the score of the entry is high enough.
fn check_accepted(incoming: TransferredEntry, owner: Owner) -> Transfer {
    let id = incoming.entry.id();
    if let Err(error) = incoming.placement.check(owner) {
        return Err(TransferProblem::unmapped(&incoming.source, "scope", error.to_string()).about(id));
    }
    let verdict = Verdict::from_score(incoming.entry.score());
    if !verdict.is_stored() {
        return Err(TransferProblem::not_stored(&incoming.source, id, verdict.reason()));
    }
    Ok(incoming)
}

/// Returns the size of an entry's document in bytes.
fn size_of(incoming: &TransferredEntry) -> usize {
    serde_json::to_vec(incoming.entry.document()).map_or(0, |document| document.len())
}

fn put(
    writer: &mut EntryWriter<'_, '_>,
    batch: &mut [TransferredEntry],
    now: i64,
) -> Result<Vec<Decision>, MemoryError> {
    let mut decisions = Vec::with_capacity(batch.len());
    for incoming in batch {
        let decision = decide(incoming, |id| Ok(writer.get(id)?.as_ref().and_then(StoredEntry::from_version)))?;
        let created = match decision {
            Decision::Add => Some(incoming.created),
            Decision::Replace { created } => Some(created.min(incoming.created)),
            Decision::Nothing | Decision::Keep => None,
        };
        if let Some(created) = created {
            writer.put(incoming.entry.id(), version(incoming, created, now))?;
        }
        if let Some((session, order)) = turn_of(incoming) {
            writer.raise_turns(session, order)?;
        }
        decisions.push(decision);
    }
    Ok(decisions)
}

fn version(incoming: &TransferredEntry, created: i64, now: i64) -> Version {
    Version {
        number: 0,
        before: 0,
        change: Change::Import,
        time: now,
        created,
        edited: incoming.edited,
        scope: incoming.placement.scope,
        session: incoming.placement.session.clone(),
        document: Some(incoming.entry.document().clone()),
    }
}

/// Returns the session and position of an imported turn. They are parsed from its id, so that a later turn of the
/// session does not get the same id.
fn turn_of(incoming: &TransferredEntry) -> Option<(&str, u32)> {
    let (session, order) = NewTurn::parse_id(incoming.entry.id())?;
    check_session(session).ok()?;
    Some((session, order))
}

fn access_of(incoming: &mut TransferredEntry) -> Option<(String, AccessRecord)> {
    Some((incoming.entry.id().to_owned(), incoming.access.take()?))
}
