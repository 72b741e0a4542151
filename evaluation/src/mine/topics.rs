//! Turns the purpose of a file into a question: the first sentence of the documentation of the file, or of the type or
//! module that the file is named after.

use std::ops::Range;

use crate::golden::{Answer, Question};
use crate::mine::documented::{self, Candidate, DocSpan, SqueezedTexts, blanked};
use crate::mine::file_name::FileName;
use crate::mine::selection::Selection;
use crate::mine::source::{Overview, SourceFile};
use crate::mine::{overview, sentence};
use crate::random::hash;

/// Name of this set of questions.
pub(crate) const SET: &str = "topics";

/// Minimum number of letters and digits outside of the documentation. A file with fewer letters has hardly any content
/// after its documentation is blanked.
const MIN_LETTERS: usize = 100;

/// Returns questions from sentences that describe the purpose of a file and occur nowhere else in `files`. The answer
/// is the file itself.
pub(crate) fn questions(files: &[SourceFile], texts: &SqueezedTexts, selection: &Selection) -> Vec<(String, Question)> {
    let with_topic = |file| topic(file).map(|(overview, text)| (file, overview, text));
    let asked: Vec<_> = files.iter().filter_map(with_topic).collect();
    let single = documented::single_keys(asked.iter().map(|(.., text)| text.as_str()));
    let candidates = asked.into_iter().filter_map(|(file, overview, text)| {
        let doc = overview.bytes.clone();
        let is_asked = single.contains(&sentence::key(&text))
            && !file.is_secondary()
            && letters_without(file, &doc) >= MIN_LETTERS;
        is_asked.then(|| Candidate { file, key: SET, question: question(file, text), doc })
    });
    documented::choose(candidates.collect(), texts, selection)
}

/// Returns the documentation of all files, and of the types and modules in them. In the tree on which the questions are
/// evaluated, all of it is blanked. Otherwise, files that keep their documentation would rank higher than the file that
/// is the answer.
pub(crate) fn documentation(files: &[SourceFile]) -> impl Iterator<Item = DocSpan<'_>> {
    files.iter().flat_map(|file| file.overviews.iter().filter_map(|overview| DocSpan::new(file, &overview.bytes)))
}

/// Returns the first documentation of a file that yields a question. The documentation of the file is tried before the
/// documentation of the type or module that the file is named after.
fn topic(file: &SourceFile) -> Option<(&Overview, String)> {
    let name = FileName::from_path(&file.path);
    let mut about = file.overviews.iter().filter(|overview| {
        let is_about = overview.name.as_deref().is_none_or(|documented| name.is_named_after(documented));
        is_about && DocSpan::new(file, &overview.bytes).is_some()
    });
    about.find_map(|overview| {
        let text = overview::question(&overview.text, &name, overview.name.as_deref())?;
        Some((overview, text))
    })
}

/// Returns the number of letters and digits in a file, without `doc` and without the documentation of the file itself.
fn letters_without(file: &SourceFile, doc: &Range<usize>) -> usize {
    let whole = file.overviews.iter().filter(|overview| overview.name.is_none()).map(|overview| overview.bytes.clone());
    let without = blanked(&file.text, whole.chain([doc.clone()]).collect());
    without.chars().filter(|c| c.is_alphanumeric()).count()
}

fn question(file: &SourceFile, text: String) -> Question {
    Question {
        id: format!("{SET}:{:08x}", hash(0, &[&file.path]) >> 32),
        query: text,
        set: SET.to_owned(),
        relevant: vec![Answer { path: file.path.clone(), ..Answer::default() }],
        ..Question::default()
    }
}
