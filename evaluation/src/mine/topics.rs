//! Questions about what a file is for: the first sentence of the documentation of a file, or of the type or module that
//! the file is named after.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::golden::{Answer, Question};
use crate::mine::documented::{self, Candidate, DocSpan, Documented, SqueezedTexts, blanked};
use crate::mine::file_name::FileName;
use crate::mine::selection::Selection;
use crate::mine::source::{Overview, SourceFile};
use crate::mine::{overview, sentence};
use crate::random::hash;

/// The set's name.
pub(crate) const SET: &str = "topics";

/// A file with fewer letters and digits beside its documentation consists of it.
const LEAST_LETTERS: usize = 100;

/// Sentences that say what a file is for and occur nowhere else among `files`. The file itself answers.
pub(crate) fn questions(files: &[SourceFile], texts: &SqueezedTexts, selection: &Selection) -> Vec<Documented> {
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    let mut asked = Vec::new();
    for file in files {
        let Some((overview, text)) = topic(file) else { continue };
        *counts.entry(sentence::key(&text)).or_default() += 1;
        asked.push((file, overview, text));
    }
    let candidates = asked.into_iter().filter_map(|(file, overview, text)| {
        let doc = overview.bytes.clone();
        let is_asked = counts.get(&sentence::key(&text)) == Some(&1)
            && !file.is_aside()
            && letters_beside(file, &doc) >= LEAST_LETTERS;
        is_asked.then(|| Candidate { file, key: SET, question: question(file, text), doc })
    });
    documented::choose(candidates.collect(), texts, selection)
}

/// All documentation of files, and of the types and modules in them: a file that keeps its own would be found before one that lost
/// it.
pub(crate) fn documentation(files: &[SourceFile]) -> impl Iterator<Item = DocSpan<'_>> {
    files.iter().flat_map(|file| file.overviews.iter().filter_map(|overview| DocSpan::new(file, &overview.bytes)))
}

/// The first documentation of a file as a whole that has something to ask. What is about the file goes before what is about
/// the type or module that it is named after.
fn topic(file: &SourceFile) -> Option<(&Overview, String)> {
    let name = FileName::of(&file.path);
    let mut about = file.overviews.iter().filter(|overview| {
        let is_about = overview.name.as_deref().is_none_or(|documented| name.is_named_after(documented));
        is_about && DocSpan::new(file, &overview.bytes).is_some()
    });
    about.find_map(|overview| {
        let text = overview::question(&overview.text, &name, overview.name.as_deref())?;
        Some((overview, text))
    })
}

/// Letters and digits of a file without `doc` and what else documents the file.
fn letters_beside(file: &SourceFile, doc: &Range<usize>) -> usize {
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
