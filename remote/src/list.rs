//! The list of the parts of an index.
//!
//! A list is itself stored in parts: pieces with the entries, and a head that describes the index and lists the pieces.
//! Whether a piece ends with an entry depends on the end of the part, so most pieces stay the same if a few entries
//! change.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use aurora_storage::{ArtefactManifest, DividedPart};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::cache::PartCache;
use crate::error::RemoteError;
use crate::manifest::RemoteManifest;
use crate::part::{Part, StoredPart};
use crate::remote::Remote;
use crate::store::PARALLEL;

/// Name of the group of parts with a list.
pub(crate) const LIST: &str = "list";
/// Maximum number of parts of an index.
const MAX_PARTS: usize = 1 << 18;
/// Maximum size of a piece in bytes.
const MAX_PIECE_BYTES: u64 = 1 << 20;
/// A piece ends with this number of entries, which have less than `MAX_PIECE_BYTES` bytes.
const MAX_PIECE_ENTRIES: usize = 1024;
/// Base-2 logarithm of the average number of entries in a piece.
const PIECE_BITS: u32 = 5;
/// Maximum number of pieces in memory that other lists may share.
const MAX_SHARED_PIECES: usize = 1024;

/// The parts of an index.
pub(crate) struct PartList {
    /// The index, without parts.
    pub(crate) index: ArtefactManifest,
    /// The parts of the index in order.
    pub(crate) parts: Vec<StoredPart>,
    /// The head of the list.
    head: StoredPart,
    /// The pieces of the list.
    pub(crate) pieces: Vec<StoredPart>,
}

/// The head of a list.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    index: ArtefactManifest,
    pieces: Vec<StoredPart>,
}

impl PartList {
    /// Divides the list of the parts of an index into pieces, each of which `store` stores, and a head.
    pub(crate) fn divide(
        index: ArtefactManifest,
        parts: Vec<StoredPart>,
        mut store: impl FnMut(DividedPart) -> Result<StoredPart, RemoteError>,
    ) -> Result<Self, RemoteError> {
        let json = |error: serde_json::Error| RemoteError::damaged("the list", error.to_string());
        let (mut pieces, mut open, mut previous_end) = (Vec::new(), 0, 0);
        for at in 1..=parts.len() {
            let StoredPart { group, end, .. } = &parts[at - 1];
            let [a, b, c, d, ..] = *blake3::hash(format!("{group} {end}").as_bytes()).as_bytes();
            let end = u32::from_le_bytes([a, b, c, d]);
            if end.trailing_zeros() >= PIECE_BITS || at - open == MAX_PIECE_ENTRIES || at == parts.len() {
                let rows = serde_json::to_vec(&parts[open..at]).map_err(json)?;
                pieces.push(store(DividedPart { group: LIST, end, previous_end, rows })?);
                (open, previous_end) = (at, end);
            }
        }
        let head = Head { index, pieces };
        let rows = serde_json::to_vec(&head).map_err(json)?;
        let Head { index, pieces } = head;
        let head = store(DividedPart { group: LIST, end: 0, previous_end: 0, rows })?;
        Ok(Self { index, parts, head, pieces })
    }

    /// Returns the parts whose objects are necessary, including the parts of the list, each once.
    pub(crate) fn objects(&self) -> Vec<StoredPart> {
        objects([&self.head].into_iter().chain(&self.pieces).chain(&self.parts))
    }

    /// Size of the objects of the index in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        total_bytes(&self.parts)
    }

    /// Returns the head, whose object has no dictionary.
    pub(crate) fn head(&self) -> &Part {
        &self.head.part
    }
}

/// Returns the parts whose objects are necessary, each once.
fn objects<'p>(parts: impl Iterator<Item = &'p StoredPart>) -> Vec<StoredPart> {
    let mut seen = HashSet::new();
    parts.flat_map(StoredPart::with_base).filter(|stored| seen.insert(stored.object())).collect()
}

/// Returns the size of the objects of parts in bytes.
pub(crate) fn total_bytes(parts: &[StoredPart]) -> u64 {
    objects(parts.iter()).iter().fold(0, |sum, stored| sum.saturating_add(stored.part.compressed))
}

/// Reads lists, many of which share most of their pieces.
pub(crate) struct ListReader<'r> {
    remote: &'r Remote,
    cache: Option<&'r PartCache>,
    pieces: Mutex<HashMap<String, Vec<StoredPart>>>,
}

impl<'r> ListReader<'r> {
    /// Creates a reader that looks for parts in a cache first.
    pub(crate) fn new(remote: &'r Remote, cache: Option<&'r PartCache>) -> Self {
        Self { remote, cache, pieces: Mutex::default() }
    }

    /// Reads the list of a manifest, and checks it against the manifest. Returns also the number of downloaded bytes.
    pub(crate) async fn read(&self, manifest: &RemoteManifest) -> Result<(PartList, u64), RemoteError> {
        manifest.check_sizes()?;
        let damaged = |what: String| RemoteError::damaged(format!("the list of manifest {}", manifest.sequence), what);
        let part = Part { hash: manifest.list.clone(), length: manifest.list_length, compressed: manifest.list_bytes };
        let head = StoredPart { group: LIST.to_owned(), end: 0, part, base: None };
        let (bytes, mut downloaded) = self.remote.read_part(&head, self.cache).await?;
        let Head { index, pieces } = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let is_piece = |piece: &StoredPart| piece.is_valid() && piece.part.length <= MAX_PIECE_BYTES;
        if !pieces.iter().all(is_piece) || !index.parts.is_empty() {
            return Err(damaged("it is invalid".to_owned()));
        }
        let mut parts: Vec<StoredPart> = Vec::new();
        let mut reads = stream::iter(&pieces).map(|piece| self.read_piece(piece)).buffered(PARALLEL);
        while let Some((piece, bytes)) = reads.try_next().await? {
            downloaded += bytes;
            parts.extend(piece);
            if parts.len() > MAX_PARTS {
                return Err(RemoteError::TooLarge(format!("an index has more than {MAX_PARTS} parts")));
            }
        }
        drop(reads);
        let list = PartList { index, parts, head, pieces };
        let announced = (manifest.parts, manifest.bytes, manifest.files, manifest.chunks, manifest.vectors);
        let PartList { index, parts, .. } = &list;
        let found = (parts.len() as u64, list.bytes(), index.files, index.chunks, index.vectors);
        if announced != found || manifest.commit != index.head_commit || !parts.iter().all(StoredPart::is_valid) {
            return Err(damaged("it does not match the manifest".to_owned()));
        }
        Ok((list, downloaded))
    }

    /// Returns the entries of a piece, and the number of downloaded bytes.
    async fn read_piece(&self, piece: &StoredPart) -> Result<(Vec<StoredPart>, u64), RemoteError> {
        let shared = || self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shared().get(&piece.object()).cloned();
        if let Some(entries) = known {
            return Ok((entries, 0));
        }
        let (bytes, downloaded) = self.remote.read_part(piece, self.cache).await?;
        let entries: Vec<StoredPart> =
            serde_json::from_slice(&bytes).map_err(|error| RemoteError::damaged("a list", error.to_string()))?;
        let mut shared = shared();
        if shared.len() == MAX_SHARED_PIECES {
            shared.clear();
        }
        shared.insert(piece.object(), entries.clone());
        Ok((entries, downloaded))
    }
}
