//! Divides a snapshot into parts.

use std::io;

use aurora_codec::{put_sized, put_varint};

use super::{FILES, GROUPS, MAX_PART_BYTES};
use crate::error::StorageError;
use crate::maintain::artefact::ArtefactManifest;
use crate::maintain::artefact::part::check_lengths;
use crate::maintain::canonical::Canonical;
use crate::manifest::FORMAT_VERSION;
use crate::read::{ChunkId, FileRecord, FileStamp, Snapshot, encode_whole, files};
use crate::tables::Table;
use crate::workers::Workers;

/// Number of files that a thread reads at a time.
const BATCH_FILES: usize = 32;
/// A part with fewer bytes of rows ends only at the end of its group, because small parts compress badly.
const MIN_PART_BYTES: usize = 8 << 10;

/// The rows of one file: the key, and a value for each group. An empty value is omitted.
struct FileRows {
    key: Vec<u8>,
    values: [Vec<u8>; GROUPS.len()],
}

/// A part, and its place in its group.
#[derive(Debug)]
pub struct DividedPart {
    /// Name of the group.
    pub group: &'static str,
    /// First four bytes of the hash of the last key.
    pub end: u32,
    /// `end` of the preceding part of the group; 0 for the first part.
    pub previous_end: u32,
    /// The rows, which are not compressed.
    pub rows: Vec<u8>,
}

/// Collects the rows of a group until a part ends.
struct PartBuilder {
    /// A part may end with a row if these bits of the hash of its key are zero.
    mask: u32,
    part: DividedPart,
}

impl Snapshot {
    /// Divides the generation into parts, most of which stay the same in a later generation with few changed files.
    /// Calls `work` with every part on one of the `workers`, then `each` with every result on the calling thread.
    /// Returns the results of `each` in the order of the parts, and the manifest without the parts. Its numbers of
    /// terms and postings are 0, because the parts do not contain them.
    ///
    /// # Errors
    /// Fails if nothing has been published or if the index is damaged, and returns the first error of `each`.
    pub fn divide<T: Send, U, E: From<StorageError>>(
        &self,
        program: &str,
        workers: Workers,
        work: impl Fn(DividedPart) -> T + Sync,
        mut each: impl FnMut(T) -> Result<U, E>,
    ) -> Result<(ArtefactManifest, Vec<U>), E> {
        let known = self.manifest();
        if known.generation == 0 {
            return Err(StorageError::Refused("nothing has been indexed yet".to_owned()).into());
        }
        // Checks that every chunk belongs to one file.
        let chunks = Canonical::new(self, workers)?.len();
        let mut parts = [const { Vec::new() }; GROUPS.len()];
        let mut vectors = 0;
        workers.in_order(
            |(group, part)| (group, work(part)),
            |(group, part): (usize, T)| {
                parts[group].push(each(part)?);
                Ok::<_, E>(())
            },
            |full| {
                let mut builders = GROUPS.map(|group| PartBuilder::new(group, known.file_count));
                workers.in_order(
                    |files: Vec<FileRecord>| self.file_rows(files),
                    |rows: Result<_, StorageError>| {
                        let (rows, count): (Vec<FileRows>, u64) = rows?;
                        vectors += count;
                        for FileRows { key, values } in rows {
                            for (group, value) in values.iter().enumerate().filter(|(_, value)| !value.is_empty()) {
                                let part = builders[group].push(&key, value);
                                let part = part.map_err(|error| StorageError::io(self.path(), error))?;
                                if let Some(part) = part {
                                    full.push(part.rows.len(), (group, part))?;
                                }
                            }
                        }
                        Ok::<_, E>(())
                    },
                    |batches| {
                        // Unlike the iterator over files, the rows are in the order of the keys.
                        let decode = |row: Result<(&[u8], &[u8]), StorageError>| {
                            let (key, value) = row?;
                            let invalid = || self.damaged(format!("the row of {} is invalid", key.escape_ascii()));
                            files::decode(key, value).ok_or_else(invalid)
                        };
                        let mut files = self.rows(Table::Files, &[]).map(decode).peekable();
                        while files.peek().is_some() {
                            batches.push(0, files.by_ref().take(BATCH_FILES).collect::<Result<_, StorageError>>()?)?;
                        }
                        Ok(())
                    },
                )?;
                let rest = builders.into_iter().map(|builder| builder.part).enumerate();
                for (group, part) in rest.filter(|(_, part)| !part.rows.is_empty()) {
                    full.push(part.rows.len(), (group, part))?;
                }
                Ok::<_, E>(())
            },
        )?;
        let manifest = ArtefactManifest {
            index_format: FORMAT_VERSION,
            program: program.to_owned(),
            head_commit: known.head_commit.clone(),
            complete: self.is_complete()?,
            model: known.model.clone(),
            fingerprints: known.fingerprints.clone(),
            columns: known.columns.clone(),
            shard: None,
            unfinished: known.unfinished.clone(),
            files: known.file_count,
            chunks,
            vectors,
            terms: 0,
            postings: 0,
            field_totals: known.field_totals,
            parts: Vec::new(),
        };
        Ok((manifest, parts.into_iter().flatten().collect()))
    }

    /// Returns the rows of files, and their number of vectors.
    fn file_rows(&self, files: Vec<FileRecord>) -> Result<(Vec<FileRows>, u64), StorageError> {
        let (snapshot, mut count) = (self.with_own_frames(), 0);
        let mut all = Vec::with_capacity(files.len());
        for mut file in files {
            let (key, ids) = (files::key(&file.path), std::mem::take(&mut file.chunks));
            let [mut record, mut chunks, mut vectors] = [const { Vec::new() }; 3];
            let (mut representation, mut blame) = (&[][..], None);
            if let Some(&first) = ids.first() {
                (representation, blame) = (self.encoded_representation(first)?, snapshot.encoded_blame(first)?);
            }
            for (&id, index) in ids.iter().zip(0u32..) {
                file.chunks.push(ChunkId(index));
                let chunk = snapshot.whole_chunk(id)?;
                let chunk = chunk.ok_or_else(|| self.damaged(format!("chunk {id} has no record")))?;
                put_sized(&mut chunks, &encode_whole(&chunk));
                if let Some((scale, row)) = snapshot.row(id)? {
                    put_varint(&mut vectors, index.into());
                    vectors.extend_from_slice(&scale.to_le_bytes());
                    vectors.extend_from_slice(&row);
                    count += 1;
                }
            }
            (file.stamp, file.blob) = (FileStamp::default(), Vec::new());
            for bytes in [&files::encode(&file)[..], representation, &blame.unwrap_or_default()] {
                put_sized(&mut record, bytes);
            }
            all.push(FileRows { key, values: [record, chunks, vectors] });
        }
        Ok((all, count))
    }
}

impl PartBuilder {
    fn new(group: &'static str, files: u64) -> Self {
        let part = DividedPart { group, end: 0, previous_end: 0, rows: Vec::new() };
        Self { mask: (1 << boundary_bits(group, files)) - 1, part }
    }

    /// Adds a row. Returns the part if it ends here.
    fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<Option<DividedPart>> {
        let DividedPart { group, end, rows, .. } = &mut self.part;
        check_lengths(group, key, value)?;
        put_sized(rows, key);
        put_sized(rows, value);
        let [a, b, c, d, ..] = *blake3::hash(key).as_bytes();
        *end = u32::from_le_bytes([a, b, c, d]);
        let is_boundary = *end & self.mask == 0;
        let is_full = rows.len() >= MAX_PART_BYTES || is_boundary && rows.len() >= MIN_PART_BYTES;
        let next = DividedPart { group, end: 0, previous_end: *end, rows: Vec::new() };
        Ok(is_full.then(|| std::mem::replace(&mut self.part, next)))
    }
}

/// Returns the base-2 logarithm of the average number of files in a part. Larger indexes have larger parts, so that the
/// number of parts and the size of their list stay manageable. All parts change when the number of files crosses one of the limits.
fn boundary_bits(group: &str, files: u64) -> u32 {
    let scale = match files {
        ..4096 => 0,
        4096..32_768 => 1,
        32_768..262_144 => 2,
        _ => 3,
    };
    match group {
        FILES => scale + 3,
        _ => scale + 2,
    }
}
