//! The git repository at or above a directory, as a source of attribution.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aurora_confined::Directory;
use gix::ObjectId;

use crate::attribution::FileBlame;
use crate::blame::{Blamer, LineCommits};
use crate::blame_config::BlameConfig;
use crate::change_table::{ChangeTable, PathId};
use crate::commit::CommitId;
use crate::commit_graph::{CommitGraph, CommitPos};
use crate::commit_table::CommitTable;
use crate::diff_cache::DiffCache;
use crate::error::{HistoryError, Unattributed};
use crate::events::EventIndex;
use crate::inspection::{self, Inspection};
use crate::objects::{ObjectReader, ObjectStore};
use crate::scan::scan;
use crate::tree::TreeCache;
use crate::tree_diff::{PathState, TreeDiffer};
use crate::walk_cache::{self, CacheEnd};
use aurora_cachefile::CacheFile;

/// Bytes that an object may take that gix reads. One that is larger counts as missing.
const MAX_OBJECT: usize = 128 << 20;

/// Most tags from one to the next.
const MAX_TAGS: usize = 8;

/// A walk that was kept is begun anew once it knows more commits than this, and most of all, that HEAD does not reach.
const MAX_UNREACHABLE: usize = 100_000;

/// The history of the repository that a directory belongs to, seen from one HEAD.
///
/// HEAD and the configuration are read once, by [`History::open`]; open again to see changes. Paths are relative to the
/// directory that was opened and use `/`. All methods may be called from several threads at once.
pub struct History {
    objects: ObjectStore,
    /// The directory that paths are relative to.
    pub(crate) root: PathBuf,
    /// That directory relative to the work tree, ending in `/`, or empty.
    pub(crate) prefix: Vec<u8>,
    head: Option<CommitId>,
    info: RepositoryInfo,
    ignores_includes: bool,
    pub(crate) config: BlameConfig,
    comparisons: Option<Arc<DiffCache>>,
    idle: Mutex<Vec<Blamer>>,
}

/// What kind of repository it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepositoryInfo {
    /// Whether history was cut off when cloning; the commits at the cut count as the first ones.
    pub is_shallow: bool,
    /// Whether objects may be missing because the clone left them out.
    pub is_partial: bool,
    /// Whether there is no work tree.
    pub is_bare: bool,
    /// Which hash names the objects.
    pub hash: gix::hash::Kind,
}

impl History {
    /// Opens the repository that `root` lies in; `None` if there is none at or above it.
    pub fn open(root: &Path) -> Result<Option<History>, HistoryError> {
        let failure = |reason: String| HistoryError::Open { path: root.to_owned(), reason };
        let unread = |reason: String| failure(without_quotes(root, reason));
        let Some((repository, inspection)) = discover(root).map_err(failure)? else { return Ok(None) };
        let local = repository.to_thread_local();
        if local.common_dir().join("reftable").is_dir() {
            let how = "its references are in the reftable format, which is not read; \
                       `git refs migrate --ref-format=files` converts them";
            return Err(failure(how.to_owned()));
        }
        let head = local.head().map_err(|error| unread(error.to_string()))?;
        let head = if head.is_unborn() { None } else { Some(target(head).map_err(unread)?) };
        let git_config = local.config_snapshot();
        let info = RepositoryInfo {
            is_shallow: local.is_shallow().unwrap_or(false),
            is_partial: is_partial(&git_config, local.common_dir()),
            is_bare: local.workdir().is_none(),
            hash: local.object_hash(),
        };
        let prefix = prefix_below(local.workdir(), root).map_err(|error| failure(error.to_string()))?;
        let objects = ObjectStore::new(repository, inspection.objects);
        let head = head.map(|id| peeled(&local, &objects, id)).transpose().map_err(failure)?.map(CommitId);
        let config = BlameConfig::read(&local, &|path| content_at(&objects, head.as_ref()?, path))?;
        let (comparisons, idle) = (None, Mutex::new(Vec::new()));
        let ignores_includes = !inspection.includes_are_sound;
        let root = root.to_owned();
        Ok(Some(History { objects, root, prefix, head, info, ignores_includes, config, comparisons, idle }))
    }

    /// Keeps in `file`, between runs, what comparing old versions finds: what it knows is not read and compared again.
    /// [`History::store_comparisons`] adds what is new. A file that cannot be read or written costs time, nothing else.
    #[must_use]
    pub fn with_comparisons_in(self, file: CacheFile) -> Self {
        let kept = DiffCache::in_file(file, &self.config.walk_key);
        Self { comparisons: Some(Arc::new(kept)), idle: Mutex::default(), ..self }
    }

    /// Adds what was compared since [`History::open`] to the file of [`History::with_comparisons_in`], if one was given.
    pub fn store_comparisons(&self) {
        self.comparisons.iter().for_each(|kept| kept.store());
    }

    /// The directory that paths are relative to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commit at HEAD; `None` before the first commit.
    pub fn head(&self) -> Option<&CommitId> {
        self.head.as_ref()
    }

    /// What kind of repository it is.
    pub fn info(&self) -> RepositoryInfo {
        self.info
    }

    /// Whether files are passed over that the repository's configuration includes: one of them is no regular file, or too
    /// large.
    pub fn ignores_includes(&self) -> bool {
        self.ignores_includes
    }

    /// Changes whenever configuration changes what attribution yields: `.mailmap`, ignored commits, the shallow boundary,
    /// replaced objects, the diff's indent heuristic.
    ///
    /// Attribution that was stored under another fingerprint is void, whatever its [`EventKey`](crate::EventKey).
    pub fn config_fingerprint(&self) -> [u8; 20] {
        self.config.fingerprint
    }

    /// Walks the history, in parallel on rayon's current pool. `progress(done, total)` counts commits that have to be
    /// compared with their parents.
    ///
    /// `kept` is a file that keeps the walk between runs: what it knows is not walked again, and what is new is added. One
    /// that cannot be read or written costs time, nothing else.
    pub fn index_events(
        &self,
        kept: Option<&CacheFile>,
        cancel: &AtomicBool,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<EventIndex, HistoryError> {
        let Some(head) = self.head else { return Ok(EventIndex::default()) };
        let BlameConfig { walk_key, grafts, mailmap, .. } = &self.config;
        let load = |commits| CommitGraph::load(commits, &self.reader(), head.0, grafts, mailmap, cancel);
        let walk = kept.map(|file| walk_cache::read(file, walk_key, self.info.hash)).unwrap_or_default();
        let mut mark = walk.mark();
        let (mut graph, mut changes) = (load(walk.commits)?, walk.changes);
        if graph.unreachable() > MAX_UNREACHABLE.max(graph.len()) {
            (mark, graph, changes) = (CacheEnd::default(), load(CommitTable::default())?, ChangeTable::default());
        }
        let all = (0..graph.len() as u32).map(CommitPos);
        let new: Vec<CommitPos> = all.filter(|&commit| !changes.knows(graph.row(commit))).collect();
        let blocks = scan(&graph, &new, &self.objects, cancel, progress);
        if cancel.load(Ordering::Relaxed) {
            return Err(HistoryError::Cancelled);
        }
        let incomplete = graph.incomplete || blocks.iter().any(|block| block.missing);
        blocks.into_iter().for_each(|block| changes.add(block));
        // What is missing now may be there the next time.
        if let Some(file) = kept.filter(|_| !incomplete && !new.is_empty()) {
            let _ = walk_cache::write(file, walk_key, mark, &graph.table, &changes);
        }
        Ok(EventIndex::new(graph, changes, &self.prefix, incomplete))
    }

    /// Attributes the lines that `path` has at HEAD. `index` must come from this history.
    pub fn blame(&self, index: &EventIndex, path: impl AsRef<[u8]>) -> Result<FileBlame, Unattributed> {
        let (id, blob) = self.file_at_head(index, path.as_ref())?;
        self.with_blamer(|blamer| {
            let lines = blamer.attribute((index, id, blob), &self.config.ignored, &|_, _| None, None);
            let (lines, _) = lines.ok_or_else(|| blamer.failure(&blob))?;
            Ok(self.file_blame(index, &lines))
        })
    }

    /// The id of `path` and its blob at HEAD.
    pub(crate) fn file_at_head(&self, index: &EventIndex, path: &[u8]) -> Result<(PathId, ObjectId), Unattributed> {
        let id = index.path_id_below_prefix(path).ok_or(Unattributed::Untracked)?;
        let event = index.next_event(id, CommitPos(0)).ok_or(Unattributed::Untracked)?;
        let PathState::File(blob) = index.new_state(event) else { return Err(Unattributed::Untracked) };
        Ok((id, blob))
    }

    /// The attribution that the commits of the lines make.
    pub(crate) fn file_blame(&self, index: &EventIndex, lines: &LineCommits) -> FileBlame {
        FileBlame::new(&lines.commits, &index.graph, lines.incomplete || index.is_incomplete())
    }

    /// Whether `path` is a regular file at HEAD.
    pub fn has_file(&self, path: impl AsRef<[u8]>) -> Result<bool, Unattributed> {
        let Some(head) = self.head else { return Ok(false) };
        let path = [self.prefix.as_slice(), path.as_ref()].concat();
        let missing = |what: &str| {
            let reason = format!("{what} of {head}, the commit at HEAD, is missing or damaged; `git fsck` tells more");
            Unattributed::Unavailable { reason }
        };
        self.with_blamer(|blamer| {
            let tree = blamer.reader.tree_of(&head.0).ok_or_else(|| missing("the header"))?;
            let (reader, trees) = (&blamer.reader, &mut blamer.trees);
            let mut differ = TreeDiffer { reader, trees, cancel: None, missing: false };
            let found = differ.look_up(&tree, &path);
            if differ.missing { Err(missing("a directory")) } else { Ok(matches!(found, PathState::File(_))) }
        })
    }

    /// The files named by `blame.ignoreRevsFile` that cannot be read: they count as empty, where git would refuse to blame.
    pub fn unreadable_ignore_files(&self) -> &[PathBuf] {
        &self.config.unreadable
    }

    /// Lends a blamer to `work`; there are never more of them than threads that worked at the same time.
    pub(crate) fn with_blamer<T>(&self, work: impl FnOnce(&mut Blamer) -> T) -> T {
        let resting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut blamer = resting
            .unwrap_or_else(|| Blamer::new(self.reader(), self.config.indent_heuristic, self.comparisons.clone()));
        let result = work(&mut blamer);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(blamer);
        result
    }

    /// The repository for the calling thread.
    pub(crate) fn local(&self) -> gix::Repository {
        self.objects.repository.to_thread_local()
    }

    /// A reader of objects for the calling thread.
    pub(crate) fn reader(&self) -> ObjectReader {
        ObjectReader::new(&self.objects)
    }
}

/// The repository at or above `root`, once its files were looked at.
fn discover(root: &Path) -> Result<Option<(gix::ThreadSafeRepository, Inspection)>, String> {
    let root = root.canonicalize().map_err(|error| error.to_string())?;
    let mut is_within_repository = false;
    for directory in root.ancestors() {
        inspection::pointers(directory)?;
        is_within_repository |= looks_like_repository(directory);
    }
    if !is_within_repository {
        return Ok(None);
    }
    let unread = |error: String| without_quotes(&root, error);
    let (found, _) = gix::discover::upwards(&root).map_err(|error| unread(error.to_string()))?;
    let inspection = inspection::inspect(&found.into_repository_and_work_tree_directories().0)?;
    let options = |mut options: gix::open::Options| {
        if !inspection.includes_are_sound {
            let mut permissions = gix::open::Permissions::default();
            permissions.config.includes = false;
            options = options.permissions(permissions);
        }
        options.config_overrides([format!("gitoxide.objects.allocLimit={MAX_OBJECT}")])
    };
    let gix::sec::trust::Mapping { full, reduced } = gix::sec::trust::Mapping::default();
    let options = gix::sec::trust::Mapping { full: options(full), reduced: options(reduced) };
    let opened = gix::ThreadSafeRepository::discover_opts(&root, gix::discover::upwards::Options::default(), options);
    let repository = opened.map_err(|error| unread(error.to_string()))?;
    Ok(Some((repository, inspection)))
}

fn looks_like_repository(directory: &Path) -> bool {
    let git = directory.join(".git");
    git.is_file()
        || git.join("HEAD").exists()
        || (directory.join("HEAD").is_file() && directory.join("objects").is_dir())
}

/// Files of git whose content errors quote.
const QUOTED: [&str; 6] = ["HEAD", "commondir", "config", "config.worktree", "packed-refs", "shallow"];

/// The reason, unless it may quote a file that a symbolic link within `.git` leads to, which may lie anywhere.
fn without_quotes(root: &Path, reason: String) -> String {
    let is_link = |path: PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let git = root.ancestors().map(|directory| directory.join(".git"));
    let link = git.flat_map(|git| QUOTED.map(|name| git.join(name))).find(|path| is_link(path.clone()));
    match link {
        Some(link) => {
            format!("its files are damaged; {} is a symbolic link, so that nothing is quoted", link.display())
        }
        None => reason,
    }
}

/// The object that HEAD names in the end. No object is read for it.
fn target(head: gix::Head<'_>) -> Result<ObjectId, String> {
    if let Some(id) = head.id() {
        return Ok(id.detach());
    }
    let mut reference = head.try_into_referent().ok_or("HEAD names no object")?;
    Ok(reference.follow_to_object().map_err(|error| error.to_string())?.detach())
}

/// What a tag stands for in the end; what is no tag stands for itself.
fn peeled(local: &gix::Repository, objects: &ObjectStore, mut id: ObjectId) -> Result<ObjectId, String> {
    for _ in 0..MAX_TAGS {
        objects.check(&id)?;
        let kind = local.find_header(id).map_err(|error| error.to_string())?.kind();
        if kind != gix::objs::Kind::Tag {
            return Ok(id);
        }
        let tag = local.find_tag(id).map_err(|error| error.to_string())?;
        id = tag.target_id().map_err(|error| error.to_string())?.detach();
    }
    Err("HEAD leads from one tag to the next without end".to_owned())
}

/// The content of a path at a commit.
fn content_at(objects: &ObjectStore, commit: &CommitId, path: &[u8]) -> Option<Vec<u8>> {
    let (reader, mut trees) = (ObjectReader::new(objects), TreeCache::new());
    let tree = reader.tree_of(&commit.0)?;
    let mut differ = TreeDiffer { reader: &reader, trees: &mut trees, cancel: None, missing: false };
    let PathState::File(blob) = differ.look_up(&tree, path) else { return None };
    let mut content = Vec::new();
    reader.read(&blob, &mut content).map(|_| content)
}

/// Whether the clone left objects out.
fn is_partial(config: &gix::config::Snapshot<'_>, common_dir: &Path) -> bool {
    if config.string("extensions.partialClone").is_some() {
        return true;
    }
    let packs = Directory::open_root(&common_dir.join("objects").join("pack")).and_then(|packs| packs.entries());
    let is_promisor = |name: &OsStr| Path::new(name).extension().is_some_and(|extension| extension == "promisor");
    packs.is_ok_and(|packs| packs.iter().any(|(name, _)| is_promisor(name)))
}

/// `root` relative to the work tree, with `/` between and behind its components.
fn prefix_below(work_tree: Option<&Path>, root: &Path) -> std::io::Result<Vec<u8>> {
    let Some(work_tree) = work_tree else { return Ok(Vec::new()) };
    let (work_tree, root) = (work_tree.canonicalize()?, root.canonicalize()?);
    let below = root.strip_prefix(&work_tree).unwrap_or(Path::new(""));
    let mut prefix = Vec::new();
    for component in below.components() {
        prefix.extend_from_slice(component.as_os_str().as_encoded_bytes());
        prefix.push(b'/');
    }
    Ok(prefix)
}
