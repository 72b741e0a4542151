//! Turns the subjects of commits into questions: which code did a commit change? The questions are evaluated on the
//! tree of a commit that precedes all of these commits.

use aurora_query::is_side_code;
use aurora_redact::masked;
use gix::ObjectId;
use gix_imara_diff::{Algorithm, Diff, InternedInput, sources::byte_lines};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::golden::{Answer, Question};
use crate::mine::backend::IndexerBackend;
use crate::mine::error::MineError;
use crate::mine::history::{Commit, CommitHistory, FileChange};
use crate::mine::selection::Selection;
use crate::mine::source::{Definition, DefinitionKind, SourceFile};
use crate::mine::{sentence, subject};

/// Name of this set of questions.
pub(crate) const SET: &str = "commit";

/// Maximum number of code files that a commit may change. A commit that changes more files has no single subject.
const MAX_FILES: usize = 4;
/// Maximum number of functions as answers. If a commit changes more functions, the answers are the changed files.
const MAX_FUNCTIONS: usize = 8;
/// Maximum number of commits to examine for each requested question.
const COMMITS_PER_QUESTION: usize = 25;
/// Number of candidates to collect for each requested question. It is greater than 1, because some candidates have no
/// answer in the tree of the pin (see [`CommitPlan`]).
const CANDIDATES_PER_QUESTION: f64 = 1.25;

/// A candidate for a question, made from a commit.
pub(crate) struct CommitQuestion {
    id: ObjectId,
    query: String,
    touched: Vec<Touched>,
}

/// A file that a commit changed, as it was before the commit.
struct Touched {
    path: String,
    /// Qualified names of the changed functions; empty if other code was changed.
    functions: Vec<String>,
}

/// The newest commits that can become questions, and the pin: a commit that precedes all of them.
pub(crate) struct CommitPlan {
    pub(crate) pin: ObjectId,
    pub(crate) candidates: Vec<CommitQuestion>,
}

/// Searches the history for candidates, newest commit first. Skips merges, housekeeping, and commits for which neither
/// a function nor a file is an answer. The pin is the parent of the oldest chosen commit. Neither the pin nor its
/// ancestors are chosen. Returns `None` if there are no candidates.
pub(crate) fn plan(
    history: &CommitHistory,
    backend: &dyn IndexerBackend,
    selection: &Selection,
) -> Result<Option<CommitPlan>, MineError> {
    let wanted = (selection.most as f64 * CANDIDATES_PER_QUESTION).ceil() as usize;
    let mut candidates: Vec<(ObjectId, CommitQuestion)> = Vec::new();
    let mut asked = FxHashSet::default();
    for commit in history.commits()?.take(wanted * COMMITS_PER_QUESTION) {
        if candidates.len() >= wanted {
            break;
        }
        if let Some(candidate) = candidate(history, backend, &commit)
            && asked.insert(sentence::key(&candidate.query))
        {
            candidates.push((commit.parents[0], candidate));
        }
    }
    let Some(&(pin, _)) = candidates.last() else { return Ok(None) };
    let before = history.reachable(pin)?;
    let candidates = candidates.into_iter().map(|(_, candidate)| candidate);
    Ok(Some(CommitPlan { pin, candidates: candidates.filter(|candidate| !before.contains(&candidate.id)).collect() }))
}

/// Creates the questions of a plan. `files` are the files in the tree of the pin. Returns each question with the key
/// that decides whether the question is held out.
pub(crate) fn questions(plan: &CommitPlan, files: &[SourceFile], selection: &Selection) -> Vec<(String, Question)> {
    let files: FxHashMap<&str, &SourceFile> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let answered = plan.candidates.iter().filter_map(|candidate| {
        let mut relevant = Vec::new();
        for touched in &candidate.touched {
            let Some(file) = files.get(touched.path.as_str()) else { continue };
            let found = touched.functions.iter().filter_map(|name| function(file, name));
            let before = relevant.len();
            relevant.extend(found);
            if relevant.len() == before {
                relevant.push(Answer { path: file.path.clone(), lines: None, name: None, ..Answer::default() });
            }
        }
        let id = candidate.id.to_string();
        let question = Question {
            id: format!("{SET}:{}", &id[..12.min(id.len())]),
            query: candidate.query.clone(),
            set: SET.to_owned(),
            relevant,
            ..Question::default()
        };
        (!question.relevant.is_empty()).then_some((id, question))
    });
    answered.take(selection.most).collect()
}

/// Returns the function with this name in a file, or `None` unless there is exactly one.
fn function(file: &SourceFile, name: &str) -> Option<Answer> {
    let mut same = file.definitions.iter().filter(|definition| definition.qualified_name == name);
    let definition = same.next().filter(|_| same.next().is_none())?;
    Some(Answer {
        path: file.path.clone(),
        lines: Some(definition.lines),
        name: Some(definition.qualified_name.clone()),
        ..Answer::default()
    })
}

fn candidate(history: &CommitHistory, backend: &dyn IndexerBackend, commit: &Commit) -> Option<CommitQuestion> {
    let [parent] = commit.parents.as_slice() else { return None };
    let query = subject::question(&masked(commit.message.clone()))?;
    let changes = history.changes(*parent, commit.id)?;
    let code: Vec<&FileChange> =
        changes.iter().filter(|change| backend.is_code(&change.path) && !is_side_code(&change.path)).collect();
    if code.is_empty() || code.len() > MAX_FILES {
        return None;
    }
    let mut touched: Vec<Touched> = code.iter().filter_map(|change| touched_file(history, backend, change)).collect();
    if touched.iter().map(|file| file.functions.len()).sum::<usize>() > MAX_FUNCTIONS {
        touched.iter_mut().for_each(|file| file.functions.clear());
    }
    (!touched.is_empty()).then_some(CommitQuestion { id: commit.id, query, touched })
}

/// Returns the changed functions of an existing file, or `None` for a new file.
fn touched_file(history: &CommitHistory, backend: &dyn IndexerBackend, change: &FileChange) -> Option<Touched> {
    let old = String::from_utf8(history.blob(change.old?)?).ok()?;
    let new = match change.new {
        Some(id) => history.blob(id)?,
        None => Vec::new(),
    };
    let definitions = backend.outline(&change.path, &old).definitions;
    let functions = changed_functions(&definitions, &changed_lines(old.as_bytes(), &new));
    Some(Touched { path: change.path.clone(), functions })
}

/// Returns the runs of changed lines in the old text, as half-open ranges from 0. An empty range represents an
/// insertion between two lines.
fn changed_lines(old: &[u8], new: &[u8]) -> Vec<(u32, u32)> {
    let input = InternedInput::new(byte_lines(old), byte_lines(new));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    diff.hunks().map(|hunk| (hunk.before.start, hunk.before.end)).collect()
}

/// Returns the innermost functions that contain or overlap `runs` of changed lines, in the order of the runs.
fn changed_functions(definitions: &[Definition], runs: &[(u32, u32)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for &(start, end) in runs {
        let is_cut = |definition: &&Definition| {
            let (first, last) = definition.lines;
            let inside = match start == end {
                // An insertion belongs to a function if the function has lines before and after the insertion.
                true => first <= start && start < last,
                false => first <= end && start < last,
            };
            definition.kind == DefinitionKind::Callable && inside
        };
        let cut: Vec<&Definition> = definitions.iter().filter(is_cut).collect();
        let encloses = |outer: &Definition, inner: &Definition| {
            outer.lines != inner.lines && outer.lines.0 <= inner.lines.0 && inner.lines.1 <= outer.lines.1
        };
        for definition in cut.iter().filter(|outer| !cut.iter().any(|inner| encloses(outer, inner))) {
            if !names.contains(&definition.qualified_name) {
                names.push(definition.qualified_name.clone());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, lines: (u32, u32)) -> Definition {
        Definition {
            kind: DefinitionKind::Callable,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            lines,
            declared_until: lines.0,
            doc: String::new(),
            doc_bytes: None,
        }
    }

    #[test]
    fn changes_belong_to_the_innermost_function() {
        let definitions = [function("outer", (1, 10)), function("inner", (4, 6)), function("next", (12, 14))];
        for (run, expected) in [
            ((1, 2), vec!["outer"]),          // line 2
            ((4, 5), vec!["inner"]),          // line 5
            ((5, 5), vec!["inner"]),          // between 5 and 6
            ((10, 10), vec![]),               // after the last line of outer
            ((10, 11), vec![]),               // line 11
            ((8, 12), vec!["outer", "next"]), // lines 9 to 12
            ((11, 11), vec![]),               // before next
        ] {
            assert_eq!(changed_functions(&definitions, &[run]), expected, "{run:?}");
        }
    }

    #[test]
    fn runs_of_changed_lines_are_found() {
        let old = b"a\nb\nc\nd\n";
        assert_eq!(changed_lines(old, b"a\nx\nc\nd\n"), [(1, 2)]);
        assert_eq!(changed_lines(old, b"a\nb\nx\nc\nd\n"), [(2, 2)]);
        assert_eq!(changed_lines(old, b"a\nd\n"), [(1, 3)]);
    }
}
