//! Selects the objects of the parts of a new index.
//!
//! A part that the newest manifest has too keeps its object. A part that has changed is compressed with the base of its
//! earlier version as the dictionary, or with the earlier version itself if that has no base. A part that changes often
//! therefore keeps its base, and a pull needs only one base for each part.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use aurora_storage::DividedPart;

use crate::cache::PartCache;
use crate::error::RemoteError;
use crate::list::{LIST, PartList, total_bytes};
use crate::part::{Part, StoredPart, encode};
use crate::remote::Remote;

/// Maximum size of all objects of an index, relative to its size without dictionaries.
const MAX_SHARE: f64 = 1.1;
/// If the objects are larger, dictionaries are avoided until the objects have at most this relative size.
const TARGET_SHARE: f64 = 1.05;

/// Compresses parts.
pub(crate) struct Encoder<'e> {
    remote: &'e Remote,
    cache: Option<&'e PartCache>,
    /// Sizes of the objects below `parts` in the remote.
    known: &'e HashMap<String, u64>,
    previous: &'e PreviousParts,
    /// Hashes of parts that get an object without a dictionary.
    pub(crate) without_base: HashSet<String>,
    /// Number of bytes of bases that were downloaded.
    pub(crate) downloaded: AtomicU64,
}

/// A part and its object, which is `None` if the remote has it.
pub(crate) struct Encoded {
    pub(crate) stored: StoredPart,
    pub(crate) object: Option<Vec<u8>>,
}

impl<'e> Encoder<'e> {
    /// Creates an encoder for a remote with `known` objects.
    pub(crate) fn new(
        remote: &'e Remote,
        cache: Option<&'e PartCache>,
        known: &'e HashMap<String, u64>,
        previous: &'e PreviousParts,
    ) -> Self {
        let (without_base, downloaded) = (HashSet::new(), AtomicU64::new(0));
        Self { remote, cache, known, previous, without_base, downloaded }
    }

    /// Compresses a part, unless the remote has it. New objects are written to the cache.
    pub(crate) fn encode(&self, divided: &DividedPart) -> Result<Encoded, RemoteError> {
        let DividedPart { group, end, previous_end, rows } = divided;
        let io = |source| RemoteError::Io { path: "memory".into(), source };
        let (group, mut part) = ((*group).to_owned(), Part::new(rows));
        let allows_base = !self.without_base.contains(&part.hash);
        let same = self.previous.by_hash.get(&part.hash).map(|at| &self.previous.parts[*at]);
        let same = same.filter(|same| same.base.is_none() || allows_base);
        if let Some(same) = same.filter(|same| same.with_base().all(|stored| self.has(&stored))) {
            let part = Part { length: part.length, ..same.part.clone() };
            return Ok(Encoded {
                stored: StoredPart { group, end: *end, part, base: same.base.clone() },
                object: None,
            });
        }
        let mut object = encode(rows, None).map_err(io)?;
        part.compressed = object.len() as u64;
        let mut stored = StoredPart { group, end: *end, part, base: None };
        if self.has(&stored) {
            return Ok(Encoded { stored, object: None });
        }
        // The head of a list has no base, so that it can be read without a list.
        let is_head = stored.group == LIST && *end == 0;
        let base = self.previous.base(&stored, *previous_end).filter(|_| allows_base && !is_head);
        if let Some(base) = base.filter(|base| self.has(base) && base.part.hash != stored.part.hash) {
            match self.remote.runtime.block_on(self.remote.read_part(&base, self.cache)) {
                Ok((bytes, downloaded)) => {
                    self.downloaded.fetch_add(downloaded, Ordering::Relaxed);
                    let delta = encode(rows, Some(&bytes)).map_err(io)?;
                    if delta.len() <= object.len() / 2 {
                        stored.part.compressed = delta.len() as u64;
                        (stored.base, object) = (Some(base.part), delta);
                    }
                }
                Err(RemoteError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if self.has(&stored) {
            return Ok(Encoded { stored, object: None });
        }
        // An object that cannot be written is downloaded if it becomes a base.
        drop(self.cache.map(|cache| cache.write(&stored, &object)));
        Ok(Encoded { stored, object: Some(object) })
    }

    /// Whether the remote has the object of a part with the right size.
    fn has(&self, stored: &StoredPart) -> bool {
        self.known.get(&stored.object()) == Some(&stored.part.compressed)
    }
}

/// The parts of the newest manifest.
#[derive(Default)]
pub(crate) struct PreviousParts {
    parts: Vec<StoredPart>,
    by_hash: HashMap<String, usize>,
    by_end: HashMap<(String, u32), usize>,
    /// Indices in `parts` by the end of the preceding part.
    by_previous_end: HashMap<(String, u32), usize>,
}

impl PreviousParts {
    /// Indexes the parts of a list and the pieces of the list itself.
    pub(crate) fn new(list: PartList) -> Self {
        let PartList { mut parts, pieces, .. } = list;
        parts.extend(pieces);
        let mut previous = Self::default();
        let mut last = (String::new(), 0);
        for (at, StoredPart { group, end, part, .. }) in parts.iter().enumerate() {
            let previous_end = if last.0 == *group { last.1 } else { 0 };
            previous.by_hash.insert(part.hash.clone(), at);
            previous.by_end.insert((group.clone(), *end), at);
            previous.by_previous_end.insert((group.clone(), previous_end), at);
            last = (group.clone(), *end);
        }
        Self { parts, ..previous }
    }

    /// Size of the parts before compression, or `None` without any parts.
    pub(crate) fn length(&self) -> Option<u64> {
        let length = self.parts.iter().map(|stored| stored.part.length).sum();
        (length > 0).then_some(length)
    }

    /// Returns the base for a new version of a part: the base of the part with the same end, or of the part that
    /// follows the same part.
    fn base(&self, stored: &StoredPart, previous_end: u32) -> Option<StoredPart> {
        let by_end = self.by_end.get(&(stored.group.clone(), stored.end));
        let at = by_end.or_else(|| self.by_previous_end.get(&(stored.group.clone(), previous_end)));
        let earlier = &self.parts[*at?];
        Some(earlier.base().unwrap_or_else(|| earlier.clone()))
    }
}

/// Returns the hashes of parts that should have objects without dictionaries, so that a pull into a fresh clone does
/// not download much more than if no object had one.
pub(crate) fn excessive_bases(parts: &[StoredPart]) -> HashSet<String> {
    // A base compresses about as well as the part.
    let plain = |stored: &StoredPart| match &stored.base {
        Some(base) => base.compressed as f64 * stored.part.length as f64 / base.length.max(1) as f64,
        None => stored.part.compressed as f64,
    };
    let (mut total, all_plain) = (total_bytes(parts) as f64, parts.iter().map(plain).sum::<f64>());
    let mut excessive = HashSet::new();
    if total <= all_plain * MAX_SHARE {
        return excessive;
    }
    let cost = |stored: &'_ StoredPart| {
        let base = stored.base.as_ref()?;
        Some((base.compressed as f64 + stored.part.compressed as f64 - plain(stored), stored.part.hash.clone()))
    };
    let mut costs: Vec<(f64, String)> = parts.iter().filter_map(cost).collect();
    costs.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    for (cost, hash) in costs {
        if total <= all_plain * TARGET_SHARE {
            break;
        }
        total -= cost;
        excessive.insert(hash);
    }
    excessive
}
