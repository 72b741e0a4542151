//! Opens repositories: inspects the files of git first, and then opens them with gix.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use gix::ObjectId;

use crate::blame_config::BlameConfig;
use crate::commit::CommitId;
use crate::error::HistoryError;
use crate::inspection::{self, Inspection};
use crate::mask::Mask;
use crate::objects::{ObjectReader, ObjectStore};
use crate::tree::TreeCache;
use crate::tree_diff::{PathState, TreeDiffer};

/// Maximum size of an object that gix reads, in bytes. A larger object counts as missing.
const MAX_OBJECT_BYTES: usize = 128 << 20;

/// Maximum number of annotated tags between HEAD and a commit.
const MAX_TAGS: usize = 8;

/// Properties of a repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepositoryInfo {
    /// Whether the repository is a shallow clone. The commits at the boundary count as root commits.
    pub is_shallow: bool,
    /// Whether the repository is a partial clone, in which objects may be missing.
    pub is_partial: bool,
    /// Whether the repository has no work tree.
    pub is_bare: bool,
    /// The hash function of the object ids.
    pub hash: gix::hash::Kind,
}

/// An opened repository, with the data that is read when it is opened.
pub(crate) struct Opened {
    pub(crate) objects: ObjectStore,
    /// The directory that was opened, relative to the work tree, ending in `/`, or empty.
    pub(crate) prefix: Vec<u8>,
    pub(crate) head: Option<CommitId>,
    pub(crate) info: RepositoryInfo,
    pub(crate) ignores_includes: bool,
    pub(crate) config: BlameConfig,
}

/// Opens the repository at or above `root`. Returns `None` if there is no repository. `mask` masks secrets in the names
/// of authors.
pub(crate) fn open(root: &Path, mask: Option<Mask>) -> Result<Option<Opened>, HistoryError> {
    let failure = |reason: String| HistoryError::Open { path: root.to_owned(), reason };
    let unread = |reason: String| failure(without_quotes(root, reason));
    let Some((repository, inspection)) = discover(root).map_err(failure)? else { return Ok(None) };
    let local = repository.to_thread_local();
    if local.common_dir().join("reftable").is_dir() {
        let how = "its references are in the reftable format, which is not supported; \
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
    let head = head.map(|id| peel(&local, &objects, id)).transpose().map_err(failure)?.map(CommitId);
    let config = BlameConfig::read(&local, &|path| content_at(&objects, head.as_ref()?, path), mask)?;
    let ignores_includes = !inspection.includes_are_safe;
    Ok(Some(Opened { objects, prefix, head, info, ignores_includes, config }))
}

/// Finds the repository at or above `root`, inspects its files, and opens it.
pub(crate) fn discover(root: &Path) -> Result<Option<(gix::ThreadSafeRepository, Inspection)>, String> {
    let root = root.canonicalize().map_err(|error| error.to_string())?;
    let mut is_within_repository = false;
    for directory in root.ancestors() {
        inspection::check_pointers(directory)?;
        is_within_repository |= looks_like_repository(directory);
    }
    if !is_within_repository {
        return Ok(None);
    }
    let unread = |error: String| without_quotes(&root, error);
    let (found, _) = gix::discover::upwards(&root).map_err(|error| unread(error.to_string()))?;
    let inspection = inspection::inspect(&found.into_repository_and_work_tree_directories().0)?;
    let options = |mut options: gix::open::Options| {
        if !inspection.includes_are_safe {
            let mut permissions = gix::open::Permissions::default();
            permissions.config.includes = false;
            options = options.permissions(permissions);
        }
        options.config_overrides([format!("gitoxide.objects.allocLimit={MAX_OBJECT_BYTES}")])
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

/// Files whose content gix may quote in error messages.
const QUOTED: [&str; 6] = ["HEAD", "commondir", "config", "config.worktree", "packed-refs", "shallow"];

/// Returns `reason`, or a general reason if one of the files in [`QUOTED`] is a symbolic link. In that case, `reason`
/// might quote a file outside of the repository.
fn without_quotes(root: &Path, reason: String) -> String {
    let is_link = |path: PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let git = root.ancestors().map(|directory| directory.join(".git"));
    let link = git.flat_map(|git| QUOTED.map(|name| git.join(name))).find(|path| is_link(path.clone()));
    match link {
        Some(link) => {
            format!("its files are damaged; details are withheld because {} is a symbolic link", link.display())
        }
        None => reason,
    }
}

/// Returns the id of the object to which HEAD points, following symbolic references. Does not read the object.
fn target(head: gix::Head<'_>) -> Result<ObjectId, String> {
    if let Some(id) = head.id() {
        return Ok(id.detach());
    }
    let mut reference = head.try_into_referent().ok_or("HEAD names no object")?;
    Ok(reference.follow_to_object().map_err(|error| error.to_string())?.detach())
}

/// Follows annotated tags to the object to which they point.
pub(crate) fn peel(local: &gix::Repository, objects: &ObjectStore, mut id: ObjectId) -> Result<ObjectId, String> {
    for _ in 0..MAX_TAGS {
        objects.check(&id)?;
        let kind = local.find_header(id).map_err(|error| error.to_string())?.kind();
        if kind != gix::objs::Kind::Tag {
            return Ok(id);
        }
        let tag = local.find_tag(id).map_err(|error| error.to_string())?;
        id = tag.target_id().map_err(|error| error.to_string())?.detach();
    }
    Err("the chain of tags at HEAD is too long".to_owned())
}

/// Returns the content of a path at a commit.
fn content_at(objects: &ObjectStore, commit: &CommitId, path: &[u8]) -> Option<Vec<u8>> {
    let (reader, mut trees) = (ObjectReader::new(objects), TreeCache::new());
    let tree = reader.tree_of(&commit.0)?;
    let mut differ = TreeDiffer { reader: &reader, trees: &mut trees, cancel: None, missing: false };
    let PathState::File(blob) = differ.look_up(&tree, path) else { return None };
    let mut content = Vec::new();
    reader.read(&blob, &mut content).map(|_| content)
}

/// Whether the repository is a partial clone.
fn is_partial(config: &gix::config::Snapshot<'_>, common_dir: &Path) -> bool {
    if config.string("extensions.partialClone").is_some() {
        return true;
    }
    let packs = Directory::open_root(&common_dir.join("objects").join("pack")).and_then(|packs| packs.entries());
    let is_promisor = |name: &OsStr| Path::new(name).extension().is_some_and(|extension| extension == "promisor");
    packs.is_ok_and(|packs| packs.iter().any(|(name, _)| is_promisor(name)))
}

/// Returns the path of `root` relative to the work tree, with a `/` after each component.
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
