//! Writes many entries that come from elsewhere, or says what that would do.

use std::cell::RefCell;
use std::collections::HashMap;

use aurora_memory_schema::Verdict;
use aurora_project::user;
use aurora_storage::{AccessLog, AccessRecord};

use super::decision::{Decision, Known, decide};
use super::entry::{Transfer, TransferredEntry};
use super::problem::TransferProblem;
use super::report::TransferReport;
use crate::digest::DocumentHash;
use crate::error::MemoryError;
use crate::memory::Memory;
use crate::place::Owner;
use crate::session::{NewTurn, check_session};
use crate::store::{Change, EntryWriter, Version};

/// Most entries of a transaction, and most bytes of their documents, unless one alone has more.
const BATCH: usize = 4_096;
const BATCH_BYTES: usize = 8 << 20;
/// Most access records that wait to be written: the whole log is checked before each write.
const WAITING: usize = 1 << 16;

impl Memory {
    /// Writes entries that come from elsewhere, at `now`, in Unix seconds. An entry that is not there is added, also where one
    /// was removed. The same document with the same id changes nothing; of two documents, the one that was edited later stays,
    /// and of two with the same time the one that is there, see [`TransferredEntry::is_current`]. The entry keeps the earlier time
    /// at which it was added. Turns raise the counter of their session. Of access histories, the greater counts and the times of
    /// both are kept. So a second transfer of the same entries changes nothing.
    ///
    /// Entries are written in transactions of some thousand. Where one fails, those before it are durable.
    ///
    /// # Errors
    /// When the memory or its access history cannot be read or written. What is wrong with an entry is in the report.
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
            if accesses.len() >= WAITING {
                report.accesses += self.raise_accesses(&std::mem::take(&mut accesses))?;
            }
            Ok(())
        })?;
        report.accesses += self.raise_accesses(&accesses)?;
        Ok(report)
    }

    /// What [`Memory::put_all`] would do, without access histories. `None` stands for a memory without entries, that of `owner`.
    ///
    /// # Errors
    /// When the memory cannot be read.
    pub fn plan_all(
        memory: Option<&Self>,
        owner: Owner,
        entries: &mut dyn Iterator<Item = Transfer>,
    ) -> Result<TransferReport, MemoryError> {
        let view = memory.map(Self::view).transpose()?;
        // What would have been written before.
        let planned: RefCell<HashMap<String, Known>> = RefCell::default();
        let known = |id: &str| match (planned.borrow().get(id), &view) {
            (Some(known), _) => Ok(Some(*known)),
            (None, Some(view)) => Ok(view.get(id)?.as_ref().and_then(Known::of)),
            (None, None) => Ok(None),
        };
        transfer(entries, owner, |batch, report| {
            for incoming in batch {
                let decision = decide(incoming, known)?;
                if matches!(decision, Decision::Add | Decision::Replace { .. }) {
                    let hash = DocumentHash::of(incoming.entry.document());
                    let (created, edited) = (incoming.created, incoming.edited);
                    let known = Known { created, edited, hash, is_imported: true };
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

/// Passes entries to `write` in batches, and collects what is to be reported.
fn transfer(
    entries: &mut dyn Iterator<Item = Transfer>,
    owner: Owner,
    mut write: impl FnMut(&mut [TransferredEntry], &mut TransferReport) -> Result<(), MemoryError>,
) -> Result<TransferReport, MemoryError> {
    let mut report = TransferReport::default();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for incoming in entries {
        match incoming.and_then(|incoming| acceptable(incoming, owner)) {
            Ok(incoming) => {
                bytes += size_of(&incoming);
                batch.push(incoming);
            }
            Err(problem) => report.add(problem),
        }
        if batch.len() >= BATCH || bytes >= BATCH_BYTES {
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

/// The entry, if the memory of `owner` takes it.
fn acceptable(incoming: TransferredEntry, owner: Owner) -> Transfer {
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

/// About how many bytes an entry takes.
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
        let decision = decide(incoming, |id| Ok(writer.get(id)?.as_ref().and_then(Known::of)))?;
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

/// The session of a turn and its place there, from the id, which is what the next turn must not have.
fn turn_of(incoming: &TransferredEntry) -> Option<(&str, u32)> {
    let (session, order) = NewTurn::place(incoming.entry.id())?;
    check_session(session).ok()?;
    Some((session, order))
}

fn access_of(incoming: &mut TransferredEntry) -> Option<(String, AccessRecord)> {
    Some((incoming.entry.id().to_owned(), incoming.access.take()?))
}
