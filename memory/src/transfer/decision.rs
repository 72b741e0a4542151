//! The decision whether an imported entry is stored.

use super::entry::TransferredEntry;
use crate::digest::DocumentHash;
use crate::error::MemoryError;
use crate::store::{Change, Version};

/// Number of hexadecimal digits of the document's hash that are appended to a derived id if another entry has the same
/// id.
const HASH_DIGITS: usize = 8;

/// The decision about an imported entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Adds the entry, because no stored entry has its id.
    Add,
    /// Replaces the stored document, because it differs from the incoming document and is older. A stored document of
    /// the same age is replaced only if an import stored it and the incoming document is the current content of its
    /// source.
    Replace {
        /// The time at which the stored entry was added.
        created: i64,
    },
    /// Stores nothing, because the same document is already stored.
    Nothing,
    /// Keeps the stored document, which differs and is not older.
    Keep,
}

/// The properties of a stored entry that the decision needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StoredEntry {
    pub(super) created: i64,
    pub(super) edited: i64,
    pub(super) hash: DocumentHash,
    /// Whether an import created the newest version, so that the entry has not been changed locally since then.
    pub(super) is_imported: bool,
}

impl StoredEntry {
    /// Creates the value from the newest version of an entry. Returns `None` if the entry was removed.
    pub(super) fn from_version(version: &Version) -> Option<Self> {
        let hash = DocumentHash::new(version.document.as_ref()?);
        let is_imported = version.change == Change::Import;
        Some(Self { created: version.created, edited: version.edited, hash, is_imported })
    }
}

/// Decides whether an entry is stored. If the id was derived and a different entry has it, the incoming entry gets a
/// new id. The new id depends only on the document, so that a second transfer finds the entry again.
pub(super) fn decide(
    incoming: &mut TransferredEntry,
    known: impl Fn(&str) -> Result<Option<StoredEntry>, MemoryError>,
) -> Result<Decision, MemoryError> {
    let hash = DocumentHash::new(incoming.entry.document());
    let Some(found) = known(incoming.entry.id())? else { return Ok(Decision::Add) };
    if found.hash == hash {
        return Ok(Decision::Nothing);
    }
    if !incoming.has_derived_id {
        return Ok(compare(incoming, found));
    }
    let id = format!("{}-{}", incoming.entry.id(), &hash.to_string()[..HASH_DIGITS]);
    incoming.entry.set_id(&id).map_err(|error| MemoryError::Unfit(error.to_string()))?;
    Ok(match known(&id)? {
        None => Decision::Add,
        Some(found) if found.hash == DocumentHash::new(incoming.entry.document()) => Decision::Nothing,
        Some(found) => compare(incoming, found),
    })
}

fn compare(incoming: &TransferredEntry, found: StoredEntry) -> Decision {
    let is_newer = incoming.edited > found.edited;
    // Equal times do not imply equal content: a file can change twice within a second, or keep its modification time.
    let is_changed_source = incoming.is_current && found.is_imported && incoming.edited == found.edited;
    if is_newer || is_changed_source { Decision::Replace { created: found.created } } else { Decision::Keep }
}
