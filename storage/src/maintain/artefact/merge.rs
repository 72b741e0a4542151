//! Merges the artefacts of all shards of a tree into the index of a project. Nothing in the artefacts is trusted.
//!
//! The rows of each shard are checked and moved to new ids ([`super::shard`]). The postings of all shards are merged
//! into one segment. At the end, the whole index is verified.

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};

use aurora_inverted::WINDOW;
use roaring::RoaringBitmap;
use serde::Serialize;

use super::SHARD_PARTS;
use super::manifest::{ArtefactManifest, Shard};
use super::reader::{ImportContext, Input, conclude, damaged, verify};
use super::shard::{CheckedRows, ShardRows};
use crate::environment::Environment;
use crate::error::StorageError;
use crate::maintain::rebuild::KeywordBuilder;
use crate::maintain::replacement::Replacement;
use crate::manifest::SegmentInfo;
use crate::project::{ProjectDirectory, keep_out_of_git};
use crate::read::{BLOCK_IDS, Snapshot};
use crate::tables::Table;
use crate::unfinished::Unfinished;
use crate::workers::Workers;
use crate::write::WriterOptions;

/// Memory of one thread of a merge in bytes: its rows in flight, before and after they are encoded.
const THREAD_BYTES: usize = 16 << 20;
/// Share of the memory that one transaction may use. One transaction is collected, one waits, and one is written.
const TRANSACTION_SHARE: usize = 8;

/// The content of a merged index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Merged {
    /// Number of shards.
    pub shards: u32,
    /// Commit that was checked out when the tree was indexed.
    pub head_commit: Option<String>,
    /// Whether the runs on all shards processed everything that they were to index.
    pub complete: bool,
    /// Number of file rows.
    pub files: u64,
    /// Number of chunks.
    pub chunks: u32,
    /// Number of vectors.
    pub vectors: u64,
}

/// An artefact with its manifest. The path names it in errors.
struct Part {
    path: PathBuf,
    file: File,
    manifest: ArtefactManifest,
    shard: Shard,
}

impl Environment {
    /// Merges the artefacts of all shards of a tree, in any order, into the index of a project, given its `.aurora`
    /// directory. A single run on the tree would give the same content and the same artefact; the ids of chunks may
    /// differ. As in an import, the existing index is replaced in one step.
    ///
    /// `memory` limits the rows in flight, in bytes. In addition, the merge needs about 200 bytes for each chunk.
    /// [`ImportContext::name`] is not used.
    ///
    /// # Errors
    /// Returns [`StorageError::Shards`] if the artefacts are not the shards of one index, each exactly once, and the
    /// errors of [`Environment::import`]. On an error, the existing index is unchanged.
    pub fn merge(
        directory: &Path,
        files: Vec<(PathBuf, File)>,
        memory: usize,
        context: ImportContext<'_>,
    ) -> Result<Merged, StorageError> {
        let mut parts = files.into_iter().map(Part::read).collect::<Result<Vec<_>, _>>()?;
        parts.sort_by_key(|part| part.shard.number);
        check_set(&parts)?;
        let threads = context.workers.threads().min(memory / THREAD_BYTES);
        let context = ImportContext { workers: Workers::new(threads), ..context };
        let home = ProjectDirectory::at(directory).create().map_err(|error| StorageError::io(directory, error))?;
        keep_out_of_git(&home)?;
        let mut replacement = Replacement::begin_within(&home, context.known, memory / TRANSACTION_SHARE)?;
        let options = WriterOptions { memory: memory / 2, threads, columns: Vec::new() };
        let mut merge = Merge {
            keywords: KeywordBuilder::begin(&home, &options, 0)?,
            live: RoaringBitmap::new(),
            ids: 0,
            last_file: None,
        };
        for part in &mut parts {
            merge.add(part, &mut replacement, context.workers)?;
        }
        let announced = sum(&parts);
        let Merge { keywords, live, .. } = merge;
        let base = replacement.base();
        let (segment, field_totals) = keywords.write(&base, threads, &mut replacement)?;
        drop(base);
        let misfit = |what: &str| StorageError::Shards(format!("a shard is damaged, or the shards do not fit: {what}"));
        if field_totals != announced.field_totals {
            return Err(misfit("the totals of field lengths are wrong"));
        }
        let segment = segment.map(|info| SegmentInfo { chunks: live.len(), ..info });
        let check = |snapshot: &Snapshot| verify(snapshot, &announced, context);
        conclude(directory, replacement, &announced, segment, live, context, check).map_err(|error| match error {
            StorageError::ArtefactDamaged { what, .. } => misfit(&what),
            error => error,
        })?;
        Ok(Merged {
            shards: parts.len() as u32,
            head_commit: announced.head_commit,
            complete: announced.complete,
            files: announced.files,
            chunks: announced.chunks,
            vectors: announced.vectors,
        })
    }
}

/// Returns the manifest of the whole index, without its parts.
fn sum(parts: &[Part]) -> ArtefactManifest {
    let mut all = parts[0].manifest.clone();
    for Part { manifest, .. } in &parts[1..] {
        all.unfinished.append(manifest.unfinished.clone());
        all.complete &= manifest.complete;
        all.files = all.files.saturating_add(manifest.files);
        all.chunks = all.chunks.saturating_add(manifest.chunks);
        all.vectors = all.vectors.saturating_add(manifest.vectors);
        let totals = all.field_totals.iter_mut().zip(manifest.field_totals);
        totals.for_each(|(sum, total)| *sum = sum.saturating_add(total));
    }
    all
}

/// The state of a merge.
struct Merge {
    keywords: KeywordBuilder,
    /// The ids of all chunks.
    live: RoaringBitmap,
    /// Number of ids of the previous shards, a multiple of [`BLOCK_IDS`].
    ids: u32,
    /// Key of the last file of the previous shards, and the shard of this file.
    last_file: Option<(Vec<u8>, PathBuf)>,
}

impl Merge {
    /// Writes the rows of the next shard.
    fn add(&mut self, part: &mut Part, to: &mut Replacement, workers: Workers) -> Result<(), StorageError> {
        let Part { path, file, manifest, shard } = part;
        file.rewind().map_err(|error| StorageError::io(path, error))?;
        let mut input = Input { inner: &mut BufReader::new(&*file), name: path };
        if input.manifest()? != *manifest {
            return Err(input.damaged("manifest", "it was changed during the merge".to_owned()));
        }
        let ids = shard.ids.checked_next_multiple_of(BLOCK_IDS).and_then(|ids| self.ids.checked_add(ids));
        let ids = ids.filter(|ids| *ids < u32::MAX - WINDOW);
        let ids = ids.ok_or_else(|| StorageError::IdsExhausted { path: path.clone() })?;
        let mut rows = ShardRows::new(manifest, shard, self.ids);
        for ((table, _), listed) in SHARD_PARTS.into_iter().zip(&manifest.parts) {
            let damaged = |what| damaged(path, &listed.name, what);
            let mut found = CheckedRows::default();
            input.read_part(
                listed,
                workers,
                |frame| rows.check(table, &frame),
                |frame| {
                    let mut frame = frame.map_err(damaged)?;
                    found.append(&mut frame).map_err(damaged)?;
                    self.keywords.add(frame.run, frame.lengths)?;
                    to.committer().push_sealed(frame.operations)
                },
            )?;
            if table == Table::Files {
                self.follow(path, &found)?;
            }
            rows.end(table, found).map_err(damaged)?;
        }
        input.end()?;
        self.live.extend(rows.live());
        self.ids = ids;
        Ok(())
    }

    /// Checks that the paths of a shard are greater than the paths of the previous shards.
    fn follow(&mut self, path: &Path, files: &CheckedRows) -> Result<(), StorageError> {
        if files.first.is_empty() {
            return Ok(());
        }
        if let Some((last, before)) = &self.last_file
            && *last >= files.first
        {
            let (a, b, at) = (before.display(), path.display(), files.first.escape_ascii());
            return Err(StorageError::Shards(format!("{a} and {b} overlap at {at}")));
        }
        self.last_file = Some((files.last.clone(), path.to_owned()));
        Ok(())
    }
}

impl Part {
    /// Reads the manifest of an artefact.
    fn read((path, mut file): (PathBuf, File)) -> Result<Self, StorageError> {
        let manifest = Input { inner: &mut file, name: &path }.manifest()?;
        let whole = || StorageError::Shards(format!("{} is a whole index and not a shard", path.display()));
        let shard = manifest.shard.clone().ok_or_else(whole)?;
        Ok(Self { path, file, manifest, shard })
    }
}

/// Checks that the parts, sorted by number, are all shards of one index.
fn check_set(parts: &[Part]) -> Result<(), StorageError> {
    let refuse = |what: String| Err(StorageError::Shards(what));
    let Some(first) = parts.first() else { return refuse("no shards were given".to_owned()) };
    for part in &parts[1..] {
        let (a, b) = (first.path.display(), part.path.display());
        let (of_first, of_part) = (&first.manifest, &part.manifest);
        if first.shard.count != part.shard.count {
            return refuse(format!(
                "{a} is one of {} shards, but {b} is one of {}",
                first.shard.count, part.shard.count
            ));
        }
        if of_first.program != of_part.program {
            return refuse(format!("{a} was written by `{}`, but {b} by `{}`", of_first.program, of_part.program));
        }
        if of_first.head_commit != of_part.head_commit {
            let commit = |manifest: &ArtefactManifest| manifest.head_commit.clone().unwrap_or("no commit".to_owned());
            return refuse(format!("{a} was made from {}, but {b} from {}", commit(of_first), commit(of_part)));
        }
        if first.shard.tree != part.shard.tree {
            return refuse(format!("{a} and {b} were made from trees with different files"));
        }
        if let Some(what) = different_settings(of_first, of_part) {
            return refuse(format!("{a} and {b} were made by different pipelines: they differ in {what}"));
        }
    }
    if let Some(pair) = parts.windows(2).find(|pair| pair[0].shard.number == pair[1].shard.number) {
        let (a, b) = (pair[0].path.display(), pair[1].path.display());
        return refuse(format!("{a} and {b} are both shard {}", pair[0].shard.number));
    }
    let count = first.shard.count;
    let missing: Vec<String> = (1..=count)
        .filter(|number| parts.binary_search_by_key(number, |part| part.shard.number).is_err())
        .take(MAX_LISTED)
        .map(|number| number.to_string())
        .collect();
    match count as usize - parts.len() {
        0 => Ok(()),
        1 => refuse(format!("shard {} of {count} is missing", missing.join(", "))),
        all => {
            let more = if all > missing.len() { ", …" } else { "" };
            refuse(format!("{all} of {count} shards are missing: {}{more}", missing.join(", ")))
        }
    }
}

/// Maximum number of missing shards that an error lists.
const MAX_LISTED: usize = 8;

/// Returns the first setting in which two manifests differ, except what depends on the files of a shard.
fn different_settings(a: &ArtefactManifest, b: &ArtefactManifest) -> Option<String> {
    let mut stages = a.fingerprints.iter().zip(&b.fingerprints);
    if let Some(((stage, _), _)) = stages.find(|(a, b)| a != b) {
        return Some(format!("stage `{stage}`"));
    }
    let settings = |unfinished: &Unfinished| {
        (unfinished.stale.clone(), unfinished.derived.clone(), unfinished.absent.clone(), unfinished.imported)
    };
    let checks = [
        ("their stages", a.fingerprints.len() == b.fingerprints.len()),
        ("the embedding model", a.model == b.model),
        ("the custom columns", a.columns == b.columns),
        ("the programs that were allowed", settings(&a.unfinished) == settings(&b.unfinished)),
    ];
    checks.into_iter().find(|(_, is_equal)| !is_equal).map(|(what, _)| what.to_owned())
}
