//! How much of an index has to be made again, from the fingerprints of the stages.

use crate::services::RunScope;

/// The entry of the manifest's fingerprints for HEAD and everything else that attribution depends on.
pub(super) const HISTORY: &str = "history";

/// Stages whose output can be made again from stored chunks.
const DERIVED: &[&str] = &["embed", "git-signal", "store", "bm25"];

/// Compares the fingerprints of the last run with those of this one. If a stage up to chunking differs, every file has to
/// be processed again; if only later stages differ, their work is done again from the stored chunks.
pub(super) fn scope(before: &[(String, String)], now: &[(String, String)], force: bool) -> RunScope {
    if force || before.is_empty() {
        return RunScope::Everything;
    }
    let differing: Vec<&str> = now
        .iter()
        .chain(before)
        .filter(|entry| entry.0 != HISTORY && !(before.contains(entry) && now.contains(entry)))
        .map(|(name, _)| name.as_str())
        .collect();
    let derived = |name: &&str| DERIVED.contains(name);
    match differing.as_slice() {
        [] => RunScope::Changes,
        names if names.iter().all(derived) => RunScope::Derived,
        _ => RunScope::Everything,
    }
}
