//! The configuration on which attribution depends, and its fingerprint: the mailmap, `blame.ignoreRevsFile`,
//! `diff.indentHeuristic`, the shallow boundary, grafts and replace refs.

use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use gix::ObjectId;
use gix::hashtable::{HashMap, HashSet};

use crate::error::HistoryError;
use crate::mailmap;
use crate::mask::Mask;

/// Incremented when the rules of attribution change, so that results cached by older builds are not used.
const RULES_VERSION: u8 = 2;

/// Maximum size of a file that lists ignored commits or grafts, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The new parents of the commits in `info/grafts` and of the commits at the shallow boundary.
pub(crate) type Grafts = HashMap<ObjectId, Vec<ObjectId>>;

/// The part of a repository's configuration on which attribution depends.
pub(crate) struct BlameConfig {
    pub(crate) mailmap: gix::mailmap::Snapshot,
    /// Commits that blame ignores. Blame passes the lines that such a commit changed on to its parents.
    pub(crate) ignored: HashSet<ObjectId>,
    /// Files named by `blame.ignoreRevsFile` that cannot be read.
    pub(crate) unreadable: Vec<PathBuf>,
    /// The grafts of `info/grafts`, and the commits at the shallow boundary, which have no parents.
    pub(crate) grafts: Grafts,
    pub(crate) indent_heuristic: bool,
    pub(crate) fingerprint: [u8; 20],
    /// A hash of everything that can change the parents, contents or author names of commits: the shallow boundary,
    /// grafts, replace refs, the hash function and the version of the mask.
    pub(crate) walk_key: [u8; 20],
}

impl BlameConfig {
    /// Reads the configuration. Files that the configuration names but that cannot be read are treated as empty.
    ///
    /// `at_head` returns the content of a path at HEAD.
    pub(crate) fn read(
        repository: &gix::Repository,
        at_head: &dyn Fn(&[u8]) -> Option<Vec<u8>>,
        mask: Option<Mask>,
    ) -> Result<Self, HistoryError> {
        let config = repository.config_snapshot();
        let mailmap = mailmap::read(repository, at_head);
        let mut grafts = grafts(repository);
        let shallow = repository.shallow_commits().ok().flatten();
        grafts.extend(shallow.iter().flat_map(|list| list.iter()).map(|&commit| (commit, Vec::new())));
        let (ignored, unreadable) = ignored_commits(repository);
        let indent_heuristic = config.boolean("diff.indentHeuristic").unwrap_or(true);
        let (fingerprint, walk_key) = ([0; 20], [0; 20]);
        let mut settings = Self { mailmap, ignored, unreadable, grafts, indent_heuristic, fingerprint, walk_key };
        let failure = |reason| HistoryError::Open { path: repository.git_dir().to_owned(), reason };
        settings.walk_key = settings.compute_walk_key(repository, mask).map_err(failure)?;
        settings.fingerprint = settings.compute_fingerprint().map_err(failure)?;
        Ok(settings)
    }

    fn compute_walk_key(&self, repository: &gix::Repository, mask: Option<Mask>) -> Result<[u8; 20], String> {
        let mut fields = FieldHasher::new();
        fields.add(&[RULES_VERSION]);
        fields.add(&mask.map_or(0, |mask| mask.version).to_le_bytes());
        fields.add(repository.object_hash().to_string().as_bytes());
        let mut grafts: Vec<_> = self.grafts.iter().collect();
        grafts.sort_unstable();
        for (commit, parents) in grafts {
            fields.add(commit.as_slice());
            parents.iter().for_each(|parent| fields.add(parent.as_slice()));
            fields.add(b"end");
        }
        for (replaced, by) in replacements(repository) {
            fields.add(&replaced);
            fields.add(by.as_slice());
        }
        fields.finish()
    }

    fn compute_fingerprint(&self) -> Result<[u8; 20], String> {
        let mut fields = FieldHasher::new();
        fields.add(&self.walk_key);
        fields.add(&[u8::from(self.indent_heuristic)]);
        for entry in self.mailmap.iter() {
            let parts = [entry.new_name(), entry.new_email(), entry.old_name(), Some(entry.old_email())];
            parts.into_iter().for_each(|part| fields.add(part.map_or(b"\0".as_slice(), |part| part.as_ref())));
        }
        fields.add_ids(&self.ignored);
        fields.finish()
    }
}

/// Hashes byte strings, each after its length, so that concatenation is unambiguous.
struct FieldHasher(gix::hash::Hasher);

impl FieldHasher {
    fn new() -> Self {
        Self(gix::hash::hasher(gix::hash::Kind::Sha1))
    }

    fn add(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn add_ids(&mut self, ids: &HashSet<ObjectId>) {
        let mut sorted: Vec<&ObjectId> = ids.iter().collect();
        sorted.sort_unstable();
        sorted.into_iter().for_each(|id| self.add(id.as_slice()));
        self.add(b"end");
    }

    fn finish(self) -> Result<[u8; 20], String> {
        let digest = self.0.try_finalize().map_err(|error| error.to_string())?;
        let mut bytes = [0; 20];
        bytes.copy_from_slice(&digest.as_slice()[..20]);
        Ok(bytes)
    }
}

/// Returns the commits that are listed in the files named by `blame.ignoreRevsFile`, and the files that cannot be read.
/// As in git, an empty value clears the list of files before it.
fn ignored_commits(repository: &gix::Repository) -> (HashSet<ObjectId>, Vec<PathBuf>) {
    let (mut ignored, mut unreadable) = (HashSet::default(), Vec::new());
    let config = repository.config_snapshot();
    let base = repository.workdir().unwrap_or_else(|| repository.git_dir());
    for value in config.plumbing().strings("blame.ignoreRevsFile").unwrap_or_default() {
        if value.is_empty() {
            ignored.clear();
            unreadable.clear();
            continue;
        }
        let text = value.to_string();
        let named = match text.strip_prefix("~/").zip(home()) {
            Some((below, home)) => home.join(below),
            None => base.join(Path::new(&text)),
        };
        let Ok(list) = read_regular_to_string(&named, MAX_BYTES) else {
            unreadable.push(named);
            continue;
        };
        let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        ignored.extend(lines.filter_map(|line| ObjectId::from_hex(line.as_bytes()).ok()));
    }
    (ignored, unreadable)
}

/// Reads `info/grafts`. Each line contains a commit, followed by its new parents. Git still supports this deprecated
/// file.
fn grafts(repository: &gix::Repository) -> Grafts {
    let file = repository.common_dir().join("info").join("grafts");
    let lines = read_regular_to_string(&file, MAX_BYTES).unwrap_or_default();
    let graft = |line: &str| {
        let ids: Option<Vec<ObjectId>> =
            line.split_ascii_whitespace().map(|id| ObjectId::from_hex(id.as_bytes()).ok()).collect();
        let ids = ids.filter(|ids| ids.iter().all(|id| id.kind() == repository.object_hash()))?;
        ids.split_first().map(|(commit, parents)| (*commit, parents.to_vec()))
    };
    lines.lines().filter_map(graft).collect()
}

fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// Returns the replace refs, each with the name of the reference and the replacement object.
fn replacements(repository: &gix::Repository) -> Vec<(Vec<u8>, ObjectId)> {
    let Ok(references) = repository.references() else { return Vec::new() };
    let Ok(references) = references.prefixed("refs/replace/") else { return Vec::new() };
    let found = references.filter_map(Result::ok);
    found.filter_map(|reference| Some((reference.name().as_bstr().to_vec(), reference.try_id()?.detach()))).collect()
}
