//! The configuration that attribution depends on: `.mailmap`, `blame.ignoreRevsFile`, `diff.indentHeuristic`, the shallow
//! boundary and replace refs; and a fingerprint of all of it.

use std::path::Path;

use gix::ObjectId;
use gix::hashtable::HashSet;

use super::error::HistoryError;

/// Raised when the rules of attribution change, so that results of older builds are not taken over.
const RULES_VERSION: u8 = 1;

/// What a repository's configuration says about attribution.
pub(super) struct Settings {
    pub(super) mailmap: gix::mailmap::Snapshot,
    /// Commits whose changes are passed on to their parents.
    pub(super) ignored: HashSet<ObjectId>,
    /// Commits whose parents were not cloned.
    pub(super) shallow: HashSet<ObjectId>,
    pub(super) indent_heuristic: bool,
    pub(super) fingerprint: [u8; 20],
}

impl Settings {
    /// Reads the configuration; files that it names but that cannot be read count as empty.
    pub(super) fn read(repository: &gix::Repository) -> Result<Self, HistoryError> {
        let config = repository.config_snapshot();
        let mailmap = repository.open_mailmap();
        let shallow: HashSet<ObjectId> =
            repository.shallow_commits().ok().flatten().map(|list| list.iter().copied().collect()).unwrap_or_default();
        let ignored = ignored_commits(repository);
        let indent_heuristic = config.boolean("diff.indentHeuristic").unwrap_or(true);
        let mut settings = Self { mailmap, ignored, shallow, indent_heuristic, fingerprint: [0; 20] };
        settings.fingerprint = settings
            .take_fingerprint(repository)
            .map_err(|reason| HistoryError::Open { path: repository.git_dir().to_owned(), reason })?;
        Ok(settings)
    }

    fn take_fingerprint(&self, repository: &gix::Repository) -> Result<[u8; 20], String> {
        let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
        let mut field = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        field(&[RULES_VERSION, u8::from(self.indent_heuristic)]);
        for entry in self.mailmap.iter() {
            let parts = [entry.new_name(), entry.new_email(), entry.old_name(), Some(entry.old_email())];
            parts.into_iter().for_each(|part| field(part.map_or(b"\0".as_slice(), |part| part.as_ref())));
        }
        for list in [&self.ignored, &self.shallow] {
            let mut sorted: Vec<&ObjectId> = list.iter().collect();
            sorted.sort_unstable();
            sorted.into_iter().for_each(|id| field(id.as_slice()));
            field(b"end");
        }
        for (replaced, by) in replacements(repository) {
            field(&replaced);
            field(by.as_slice());
        }
        let digest = hasher.try_finalize().map_err(|error| error.to_string())?;
        let mut fingerprint = [0; 20];
        fingerprint.copy_from_slice(&digest.as_slice()[..20]);
        Ok(fingerprint)
    }
}

/// The commits listed in the files that `blame.ignoreRevsFile` names. An empty value forgets what was listed before.
fn ignored_commits(repository: &gix::Repository) -> HashSet<ObjectId> {
    let mut ignored = HashSet::default();
    let config = repository.config_snapshot();
    let base = repository.workdir().unwrap_or_else(|| repository.git_dir());
    for value in config.plumbing().strings("blame.ignoreRevsFile").unwrap_or_default() {
        if value.is_empty() {
            ignored.clear();
            continue;
        }
        let text = value.to_string();
        let named = match text.strip_prefix("~/").zip(home()) {
            Some((below, home)) => home.join(below),
            None => base.join(Path::new(&text)),
        };
        let Ok(list) = std::fs::read_to_string(&named) else { continue };
        let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        ignored.extend(lines.filter_map(|line| ObjectId::from_hex(line.as_bytes()).ok()));
    }
    ignored
}

fn home() -> Option<std::path::PathBuf> {
    std::env::home_dir()
}

/// The objects that `refs/replace/` replaces, and by what.
fn replacements(repository: &gix::Repository) -> Vec<(Vec<u8>, ObjectId)> {
    let Ok(references) = repository.references() else { return Vec::new() };
    let Ok(references) = references.prefixed("refs/replace/") else { return Vec::new() };
    let found = references.filter_map(Result::ok);
    found.filter_map(|reference| Some((reference.name().as_bstr().to_vec(), reference.try_id()?.detach()))).collect()
}
