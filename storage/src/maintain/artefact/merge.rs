//! Merges the artefacts of all shards of a tree into the index of a project. Nothing in the artefacts is trusted.
//!
//! Every artefact is first imported as a separate index in the directory for temporary files, and verified there.
//! [`Canonical`] then numbers the chunks of all these indexes in the order of paths, as if one run had written them.

use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use serde::Serialize;

use super::manifest::{ArtefactManifest, Shard};
use super::reader::{ImportContext, Input, generation_before};
use crate::environment::Environment;
use crate::error::StorageError;
use crate::maintain::canonical::{Canonical, Evidence};
use crate::maintain::replacement::Replacement;
use crate::manifest::Manifest;
use crate::opening::OpenMode;
use crate::project::{ProjectDirectory, keep_out_of_git};
use crate::read::{Snapshot, files};
use crate::trust::KnownIndexes;
use crate::unfinished::Unfinished;
use crate::workers::Workers;

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
    /// directory. A single run on the tree would give the same index and the same artefact. As in an import, the
    /// existing index is replaced in one step.
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
        let generation = generation_before(directory)? + 1;
        let scratch = Scratch::create(&home)?;
        let mut snapshots = Vec::with_capacity(parts.len());
        for part in &mut parts {
            snapshots.push(part.import(&scratch.path(part.shard.number), context)?);
        }
        check_order(&parts, &snapshots)?;
        let canonical = Canonical::concatenated(&snapshots, context.workers)?;
        let segment = canonical.rows(Evidence::Omit, &mut |operation| replacement.committer().push(operation))?;
        let files = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.manifest.files));
        let mut unfinished = Unfinished::default();
        for (at, part) in parts.iter().enumerate() {
            let of_part = part.manifest.unfinished.clone();
            if at == 0 { unfinished = of_part } else { unfinished.append(of_part) }
        }
        let manifest = Manifest {
            imported: true,
            root: context.root.to_owned(),
            created: context.now,
            updated: context.now,
            complete: parts.iter().all(|part| part.manifest.complete),
            unfinished,
            chunk_count: u64::from(canonical.len()),
            file_count: files,
            field_totals: canonical.field_totals(),
            ..canonical.manifest(generation, segment)
        };
        let report = replacement.complete(&manifest)?.verify_with(context.workers);
        if let Some(problem) = report.problems.into_iter().next() {
            return Err(StorageError::Shards(format!("the shards do not fit together: {problem}")));
        }
        let merged = Merged {
            shards: parts.len() as u32,
            head_commit: manifest.head_commit,
            complete: manifest.complete,
            files,
            chunks: canonical.len(),
            vectors: report.vectors,
        };
        drop(canonical);
        drop(snapshots);
        replacement.finish()?;
        Ok(merged)
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

    /// Imports and verifies the artefact. `directory` is the `.aurora` directory of the new index.
    fn import(&mut self, directory: &Path, context: ImportContext<'_>) -> Result<Snapshot, StorageError> {
        self.file.rewind().map_err(|error| StorageError::io(&self.path, error))?;
        let mut input = Input { inner: &mut BufReader::new(&self.file), name: &self.path };
        if input.manifest()? != self.manifest {
            return Err(input.damaged("manifest", "it was changed during the merge".to_owned()));
        }
        let context = ImportContext { name: &self.path, known: &KnownIndexes::none(), ..context };
        input.import(directory, &self.manifest, context)?;
        Environment::open(directory, OpenMode::Existing)?.snapshot()
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

/// Checks that all paths of a shard are greater than the paths of the previous shard.
fn check_order(parts: &[Part], snapshots: &[Snapshot]) -> Result<(), StorageError> {
    let mut last: Option<(Vec<u8>, &Part)> = None;
    for (part, snapshot) in parts.iter().zip(snapshots) {
        let mut records = snapshot.files();
        let Some(first) = records.next().transpose()? else { continue };
        if let Some((key, before)) = &last
            && *key >= files::key(&first.path)
        {
            let (a, b) = (before.path.display(), part.path.display());
            return Err(StorageError::Shards(format!("{a} and {b} overlap at {}", first.path.escape_debug())));
        }
        let end = records.last().transpose()?.map_or(first.path, |file| file.path);
        last = Some((files::key(&end), part));
    }
    Ok(())
}

/// The directory of the imported shards, which is removed when the value is dropped. The next writer removes the
/// directory of a killed merge.
struct Scratch {
    home: Directory,
}

impl Scratch {
    const NAME: &str = ProjectDirectory::TEMPORARY;

    /// Creates an empty directory. The caller holds the writer's lock.
    fn create(home: &Directory) -> Result<Self, StorageError> {
        let created = home.remove(Self::NAME).and_then(|()| home.create_private_directory(Self::NAME));
        created.map_err(|error| StorageError::io(&home.path().join(Self::NAME), error))?;
        Ok(Self { home: home.clone() })
    }

    fn path(&self, shard: u32) -> PathBuf {
        self.home.path().join(Self::NAME).join(format!("shard-{shard}"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If the directory cannot be removed now, the next writer removes it.
        drop(self.home.remove(Self::NAME));
    }
}
