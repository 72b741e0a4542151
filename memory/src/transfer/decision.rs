//! What becomes of an entry that comes from elsewhere.

use super::entry::TransferredEntry;
use crate::digest::DocumentHash;
use crate::error::MemoryError;
use crate::store::{Change, Version};

/// Hexadecimal digits behind the id of an entry whose derived id belongs to another one.
const HASH_DIGITS: usize = 8;

/// What becomes of an entry that comes from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// There is none with its id.
    Add,
    /// There is another document, which is older, or which an import has stored from an earlier state of the same source.
    Replace {
        /// When the entry that is there was added.
        created: i64,
    },
    /// The same document is there.
    Nothing,
    /// There is another document that is not older.
    Keep,
}

/// The entry that has an id already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) created: i64,
    pub(super) edited: i64,
    pub(super) hash: DocumentHash,
    /// Whether its newest version comes from elsewhere, so that nobody has changed it here since.
    pub(super) is_imported: bool,
}

impl Known {
    /// `None` for one that was removed.
    pub(super) fn of(version: &Version) -> Option<Self> {
        let hash = DocumentHash::of(version.document.as_ref()?);
        let is_imported = version.change == Change::Import;
        Some(Self { created: version.created, edited: version.edited, hash, is_imported })
    }
}

/// Decides about an entry, which gets another id where its own was derived and belongs to another one. That id depends on the
/// document only, so that a second transfer finds the entry again.
pub(super) fn decide(
    incoming: &mut TransferredEntry,
    known: impl Fn(&str) -> Result<Option<Known>, MemoryError>,
) -> Result<Decision, MemoryError> {
    let hash = DocumentHash::of(incoming.entry.document());
    let Some(found) = known(incoming.entry.id())? else { return Ok(Decision::Add) };
    if found.hash == hash {
        return Ok(Decision::Nothing);
    }
    if !incoming.has_derived_id {
        return Ok(against(incoming, found));
    }
    let id = format!("{}-{}", incoming.entry.id(), &hash.to_string()[..HASH_DIGITS]);
    incoming.entry.set_id(&id).map_err(|error| MemoryError::Unfit(error.to_string()))?;
    Ok(match known(&id)? {
        None => Decision::Add,
        Some(found) if found.hash == DocumentHash::of(incoming.entry.document()) => Decision::Nothing,
        Some(found) => against(incoming, found),
    })
}

fn against(incoming: &TransferredEntry, found: Known) -> Decision {
    let is_newer = incoming.edited > found.edited;
    // Files may change twice in a second, or keep their time.
    let is_changed_source = incoming.is_current && found.is_imported && incoming.edited == found.edited;
    if is_newer || is_changed_source { Decision::Replace { created: found.created } } else { Decision::Keep }
}
