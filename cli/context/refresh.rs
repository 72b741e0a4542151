//! Updates the index before a search.

use std::time::Duration;

use aurora_project::{Project, chain};
use aurora_stages::index::{self as indexing, IndexError, OutdatedReason, Refresh, Updated};
use aurora_storage::Snapshot;

use crate::output::units;

#[derive(Default)]
pub(crate) struct Refreshed {
    /// The newly published generation; `None` if the index is unchanged.
    pub(crate) newer: Option<Snapshot>,
    /// Note about the index for the answer.
    pub(crate) note: Option<String>,
}

/// Updates the index of a project if that is possible within `budget`. An error becomes a note for the answer.
pub(crate) fn before_search(project: &Project, snapshot: &Snapshot, budget: Duration) -> Refreshed {
    let done = refresh(project, snapshot, budget);
    let is_newer = matches!(done, Ok(Refresh::Updated(_)));
    tracing::info!(root = %project.root().display(), ?done, "updated the index before the search");
    let note = done.map_or_else(Some, |refresh| note(refresh, budget));
    let newer = if is_newer { project.snapshot().ok() } else { None };
    Refreshed { newer, note }
}

/// Updates the index. The error is a sentence for the user.
fn refresh(project: &Project, snapshot: &Snapshot, budget: Duration) -> Result<Refresh, String> {
    let failed = |reason: String| format!("The index was not updated first: {reason}");
    let options = project.options_without_programs().map_err(|error| failed(chain(&error)))?;
    indexing::refresh(&options, snapshot, budget).map_err(|error| match &error {
        IndexError::Pipeline(_) => failed(format!("{error}; `aur pipeline check` shows them")),
        _ => failed(chain(&error)),
    })
}

/// End of the note if the pipeline has stages with programs.
const WITHOUT_PROGRAMS: &str = "; programs of custom stages were not run, `aur mem index` runs them";

/// Returns the note about a refresh; `None` if there is nothing to report.
fn note(refresh: Refresh, budget: Duration) -> Option<String> {
    let changed = |files| format!("{} changed", units::counted(files, "file"));
    match refresh {
        Refresh::Excluded | Refresh::Current | Refresh::Updated(Updated { files: 0, complete: true, .. }) => None,
        Refresh::Updated(Updated { files, complete, without_programs, elapsed }) => {
            let (part, rest) = match (complete, without_programs) {
                (true, true) => ("", WITHOUT_PROGRAMS),
                (true, false) => ("", ""),
                (false, _) => ("a part of ", "; `aur mem index` updates the rest"),
            };
            let (changed, time) = (changed(files), units::duration(elapsed));
            Some(format!("Updated {part}the index first: {changed} ({time}){rest}"))
        }
        Refresh::Outdated { files, or_more, why } => {
            let least = if or_more { "at least " } else { "" };
            let why = match why {
                OutdatedReason::TooMuch => "`aur mem index` updates it",
                OutdatedReason::Busy => "another process is updating it",
                OutdatedReason::OtherPipeline => {
                    "it was built by another pipeline or version of `aur`, so only `aur mem index` updates it"
                }
            };
            Some(format!("The index is older than the tree: {least}{}; {why}", changed(files)))
        }
        Refresh::Unknown => Some(format!(
            "The index may be older than the tree, which could not be checked within {}; `aur mem index` updates it",
            units::duration(budget)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_describe_the_update_or_why_there_was_none() {
        let budget = Duration::from_millis(300);
        let note_of = |files, complete, without_programs| {
            let elapsed = Duration::from_millis(38);
            note(Refresh::Updated(Updated { files, complete, without_programs, elapsed }), budget)
        };
        let updated = |files, complete| note_of(files, complete, false);
        let outdated = |files, or_more, why| note(Refresh::Outdated { files, or_more, why }, budget);
        assert_eq!(
            [note(Refresh::Excluded, budget), note(Refresh::Current, budget), updated(0, true)],
            [const { None }; 3]
        );
        let notes = [
            updated(2, true),
            note_of(2, true, true),
            updated(1, false),
            outdated(812, false, OutdatedReason::TooMuch),
            outdated(1_000, true, OutdatedReason::TooMuch),
            outdated(1, false, OutdatedReason::Busy),
            note(Refresh::Unknown, budget),
        ];
        insta::assert_snapshot!(notes.map(Option::unwrap_or_default).join("\n"), @r"
        Updated the index first: 2 files changed (38 ms)
        Updated the index first: 2 files changed (38 ms); programs of custom stages were not run, `aur mem index` runs them
        Updated a part of the index first: 1 file changed (38 ms); `aur mem index` updates the rest
        The index is older than the tree: 812 files changed; `aur mem index` updates it
        The index is older than the tree: at least 1,000 files changed; `aur mem index` updates it
        The index is older than the tree: 1 file changed; another process is updating it
        The index may be older than the tree, which could not be checked within 300 ms; `aur mem index` updates it
        ");
    }
}
