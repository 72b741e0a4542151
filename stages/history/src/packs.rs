//! A reader of pack files that caches every object of a delta chain.
//!
//! gix caches an object only if it was requested and is a delta. The versions of a file or a directory share delta
//! bases, so more than half of the bytes that gix inflates during blame were already inflated before.

use std::sync::Arc;

use aurora_codec::ByteReader;
use aurora_confined::Directory;
use gix::ObjectId;
use gix::objs::Kind;
use gix::odb::pack::data::entry::Header;
use gix::odb::pack::{data, index};
use gix::zlib::Inflate;

/// Maximum number of packs. If there are more packs, searching them one after the other would take too long, so gix
/// reads all objects.
const MAX_PACKS: usize = 24;
/// Maximum size of an object in bytes. gix reads larger objects.
const MAX_OBJECT_BYTES: u64 = 16 << 20;
/// Maximum length of a delta chain. Git does not write longer chains, but a chain in a damaged pack may be endless.
const MAX_CHAIN: usize = 4_096;
/// Maximum total size of the objects in a delta chain, in bytes. Without this limit, decoding a small pack with a chain
/// of large objects could take hours.
const MAX_PRODUCED_BYTES: u64 = 4 << 30;
/// The number of slots of the delta base cache, which is direct-mapped by pack and offset.
const SLOTS: usize = 1 << 12;
/// Multiplier of Fibonacci hashing: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The packs of an object database, shared by the readers of all threads.
pub(crate) struct Packs(Vec<(index::File, data::File)>);

impl Packs {
    /// Opens the packs of `objects` and its alternates. Opens no packs if there are too many packs, if replace refs
    /// exist, or if a pack cannot be opened. In these cases, gix reads all objects.
    pub(crate) fn open(objects: &gix::odb::Store) -> Self {
        Self(Self::try_open(objects).unwrap_or_default())
    }

    fn try_open(objects: &gix::odb::Store) -> Option<Vec<(index::File, data::File)>> {
        if objects.replacements().next().is_some() {
            return None;
        }
        let mut packs = Vec::new();
        let alternates = objects.alternate_db_paths().ok()?;
        for directory in std::iter::once(objects.path().to_owned()).chain(alternates) {
            let directory = directory.join("pack");
            let Ok(files) = Directory::open_root(&directory).and_then(|packs| packs.entries()) else { continue };
            for path in files.iter().map(|(name, _)| directory.join(name)) {
                let data = path.with_extension("pack");
                if path.extension().is_some_and(|extension| extension == "idx") && path.is_file() && data.is_file() {
                    let index = index::File::at(&path, objects.object_hash()).ok()?;
                    let data = data::File::at(data, objects.object_hash()).ok()?;
                    packs.push((index, data));
                }
            }
        }
        packs.sort_by_key(|(index, _)| std::cmp::Reverse(index.num_objects()));
        (packs.len() <= MAX_PACKS).then_some(packs)
    }
}

/// Reads objects from [`Packs`] on one thread.
pub(crate) struct PackReader {
    packs: Arc<Packs>,
    inflate: Inflate,
    bases: DeltaBaseCache,
    /// The delta entries from the requested object to the base object.
    chain: Vec<data::Entry>,
    delta: Vec<u8>,
    spare: Vec<u8>,
    /// Total size of the objects that were decoded for the requested object, in bytes.
    produced: u64,
}

/// The result of a lookup in the packs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PackLookup {
    /// The object was read.
    Found(Kind),
    /// No pack has the object, or the object cannot be decoded. gix may be able to read the object.
    NotFound,
    /// Decoding the object exceeds a limit. gix must not read the object, because gix has no such limit.
    LimitExceeded,
}

impl PackReader {
    /// Creates a reader that caches up to `max_bytes` bytes of decoded objects.
    pub(crate) fn new(packs: Arc<Packs>, max_bytes: usize) -> Self {
        let (inflate, bases) = (Inflate::default(), DeltaBaseCache::new(max_bytes));
        Self { packs, inflate, bases, chain: Vec::new(), delta: Vec::new(), spare: Vec::new(), produced: 0 }
    }

    /// Replaces the content of `out` with the object `id`. If the object is not found, the content of `out` is
    /// unspecified.
    pub(crate) fn read(&mut self, id: &ObjectId, out: &mut Vec<u8>) -> PackLookup {
        let packs = Arc::clone(&self.packs);
        let found = |(pack, (index, _)): (usize, &(index::File, _))| Some((pack, index.lookup(id)?));
        let Some((pack, position)) = packs.0.iter().enumerate().find_map(found) else { return PackLookup::NotFound };
        let (index, data) = &packs.0[pack];
        self.produced = 0;
        match self.decode(pack as u32, index, data, index.pack_offset_at_index(position), out) {
            Some(kind) => PackLookup::Found(kind),
            // gix has no such limits and would take too long.
            None if self.chain.len() == MAX_CHAIN || self.produced > MAX_PRODUCED_BYTES => PackLookup::LimitExceeded,
            None => PackLookup::NotFound,
        }
    }

    fn decode(
        &mut self,
        pack: u32,
        index: &index::File,
        data: &data::File,
        offset: u64,
        out: &mut Vec<u8>,
    ) -> Option<Kind> {
        self.chain.clear();
        let mut at = offset;
        let kind = loop {
            if let Some(kind) = self.bases.get((pack, at), out) {
                break kind;
            }
            // The index of a truncated pack has offsets past the end of the pack.
            let entry = (at < data.data_len() as u64).then(|| data.entry(at).ok())??;
            if entry.decompressed_size > MAX_OBJECT_BYTES {
                self.produce(entry.decompressed_size);
                return None;
            }
            match &entry.header {
                Header::OfsDelta { base_distance } => at = entry.checked_base_pack_offset(*base_distance)?,
                Header::RefDelta { base_id } => at = index.pack_offset_at_index(index.lookup(base_id)?),
                header => {
                    let kind = header.as_kind()?;
                    inflate(&mut self.inflate, data, &entry, out)?;
                    self.bases.put((pack, at), kind, out);
                    break kind;
                }
            }
            if self.chain.len() == MAX_CHAIN {
                return None;
            }
            self.chain.push(entry);
        };
        while let Some(entry) = self.chain.pop() {
            inflate(&mut self.inflate, data, &entry, &mut self.delta)?;
            // Check the limit before applying the delta.
            self.produce(result_size(&self.delta)?);
            if self.produced > MAX_PRODUCED_BYTES {
                return None;
            }
            apply(out, &self.delta, &mut self.spare)?;
            std::mem::swap(out, &mut self.spare);
            self.bases.put((pack, entry.pack_offset()), kind, out);
        }
        Some(kind)
    }
}

impl PackReader {
    /// Adds the size of a decoded object to the total. For an object that is too large and is left to gix, adds the
    /// size once per object in the chain, because gix decodes the whole chain.
    fn produce(&mut self, bytes: u64) {
        let versions = if bytes > MAX_OBJECT_BYTES { self.chain.len() as u64 + 1 } else { 1 };
        self.produced = self.produced.saturating_add(bytes.saturating_mul(versions));
    }
}

fn inflate(inflate: &mut Inflate, data: &data::File, entry: &data::Entry, out: &mut Vec<u8>) -> Option<()> {
    out.resize(entry.decompressed_size as usize, 0);
    data.decompress_entry(entry, inflate, out).ok().map(drop)
}

/// Returns the size of the object that a delta produces.
fn result_size(delta: &[u8]) -> Option<u64> {
    let mut header = ByteReader::new(delta);
    header.varint()?;
    header.varint()
}

/// Applies `delta` to `base`. Returns `None` if the delta is malformed.
fn apply(base: &[u8], delta: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = ByteReader::new(delta);
    if rest.varint()? != base.len() as u64 {
        return None;
    }
    let len = rest.varint()?;
    if len > MAX_OBJECT_BYTES {
        return None;
    }
    out.clear();
    out.reserve(len as usize);
    while let Some(command) = rest.byte() {
        let piece = match command {
            0 => return None,
            1..=0x7F => rest.take(command.into())?,
            _ => {
                let (mut start, mut len) = (0usize, 0usize);
                for bit in 0..7 {
                    if command & (1 << bit) != 0 {
                        let byte = usize::from(rest.byte()?);
                        match bit {
                            0..4 => start |= byte << (8 * bit),
                            _ => len |= byte << (8 * (bit - 4)),
                        }
                    }
                }
                base.get(start..start.checked_add(if len == 0 { 0x1_0000 } else { len })?)?
            }
        };
        if out.len() + piece.len() > len as usize {
            return None;
        }
        out.extend_from_slice(piece);
    }
    (out.len() as u64 == len).then_some(())
}

/// A direct-mapped cache of decoded objects by pack and offset, bounded in bytes.
struct DeltaBaseCache {
    slots: Vec<CachedBase>,
    bytes: usize,
    max_bytes: usize,
    /// The next slot to evict when the cache is full.
    hand: usize,
}

struct CachedBase {
    location: (u32, u64),
    kind: Kind,
    data: Vec<u8>,
}

impl DeltaBaseCache {
    fn new(max_bytes: usize) -> Self {
        let empty = || CachedBase { location: (u32::MAX, 0), kind: Kind::Blob, data: Vec::new() };
        Self { slots: std::iter::repeat_with(empty).take(SLOTS).collect(), bytes: 0, max_bytes, hand: 0 }
    }

    fn slot((pack, offset): (u32, u64)) -> usize {
        ((offset ^ (u64::from(pack) << 48)).wrapping_mul(SPREAD) >> 40) as usize % SLOTS
    }

    fn get(&self, location: (u32, u64), out: &mut Vec<u8>) -> Option<Kind> {
        let slot = &self.slots[Self::slot(location)];
        if slot.location != location {
            return None;
        }
        out.clear();
        out.extend_from_slice(&slot.data);
        Some(slot.kind)
    }

    fn put(&mut self, location: (u32, u64), kind: Kind, data: &[u8]) {
        if data.len() > self.max_bytes / 8 {
            return;
        }
        while self.bytes + data.len() > self.max_bytes {
            let slot = &mut self.slots[self.hand];
            self.bytes -= slot.data.capacity();
            (slot.location, slot.data) = ((u32::MAX, 0), Vec::new());
            self.hand = (self.hand + 1) % SLOTS;
        }
        let slot = &mut self.slots[Self::slot(location)];
        self.bytes -= slot.data.capacity();
        slot.data.clear();
        slot.data.extend_from_slice(data);
        (slot.location, slot.kind) = (location, kind);
        self.bytes += slot.data.capacity();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gix::ObjectId;
    use proptest::prelude::*;

    use super::{PackLookup, PackReader, Packs, apply};
    use crate::tests::fixture::{Repo, lines};

    /// Creates a repository whose objects are deltas of each other. Returns the repository and the ids of all objects.
    fn packed() -> (Repo, Vec<ObjectId>) {
        let repo = Repo::new();
        for version in 0..40 {
            let text = lines("same", 400).replace(&format!("same {}\n", version * 9), "other\n");
            repo.commit_file(&format!("directory/{}.rs", version % 3), text);
        }
        repo.git(&["repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=50"]);
        let listing = repo.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
        let ids = listing.lines().map(|id| ObjectId::from_hex(id.as_bytes()).unwrap()).collect();
        (repo, ids)
    }

    #[test]
    fn reads_the_same_objects_as_gix_with_any_cache_size() {
        let (repo, ids) = packed();
        let repository = gix::open(&repo.root).unwrap();
        let packs = Arc::new(Packs::open(repository.objects.store_ref()));
        for max_bytes in [0, 20_000, 48 << 20] {
            let mut reader = PackReader::new(Arc::clone(&packs), max_bytes);
            let mut bytes = Vec::new();
            for id in ids.iter().chain(ids.iter().rev()) {
                let expected = repository.find_object(*id).unwrap();
                assert_eq!(reader.read(id, &mut bytes), PackLookup::Found(expected.kind));
                assert_eq!(bytes, expected.data);
            }
        }
        let null = ObjectId::null(gix::hash::Kind::Sha1);
        assert_eq!(PackReader::new(packs, 1 << 20).read(&null, &mut Vec::new()), PackLookup::NotFound);
    }

    #[test]
    fn broken_packs_do_not_cause_a_panic() {
        let (repo, ids) = packed();
        let pack = std::fs::read_dir(repo.root.join(".git/objects/pack")).unwrap().flatten().map(|file| file.path());
        let pack = pack.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "pack")).unwrap();
        let whole = std::fs::read(&pack).unwrap();
        std::fs::remove_file(&pack).unwrap();
        for step in 1..60 {
            let mut broken = whole.clone();
            for at in (12 + step..broken.len()).step_by(step * 7) {
                broken[at] ^= 1 << (at % 8);
            }
            broken.truncate(whole.len() - (step % 4) * whole.len() / 5);
            std::fs::write(&pack, &broken).unwrap();
            let packs = Packs::open(gix::open(&repo.root).unwrap().objects.store_ref());
            let mut reader = PackReader::new(Arc::new(packs), 1 << 20);
            for id in &ids {
                reader.read(id, &mut Vec::new());
            }
            std::fs::remove_file(&pack).unwrap();
        }
    }

    proptest! {
        #[test]
        fn applying_arbitrary_deltas_does_not_panic(
            base in proptest::collection::vec(any::<u8>(), 0..60),
            commands in proptest::collection::vec(any::<u8>(), 0..40),
            len in 0u8..100,
        ) {
            let delta = [&[base.len() as u8, len], commands.as_slice()].concat();
            let mut out = Vec::new();
            if apply(&base, &delta, &mut out).is_some() {
                prop_assert_eq!(out.len(), len as usize);
            }
        }
    }
}
