//! Turns the first sentence of each function's documentation into a question.

use crate::golden::{Answer, Question};
use crate::mine::documented::{self, Candidate, DocSpan, SqueezedTexts};
use crate::mine::selection::Selection;
use crate::mine::sentence;
use crate::mine::source::{Definition, DefinitionKind, SourceFile};
use crate::random::hash;

/// Name of this set of questions.
pub(crate) const SET: &str = "docstring";

/// Returns questions from the first sentences that occur nowhere else in `files`.
pub(crate) fn questions(files: &[SourceFile], texts: &SqueezedTexts, selection: &Selection) -> Vec<(String, Question)> {
    let asked: Vec<_> = files
        .iter()
        .flat_map(|file| file.definitions.iter().map(move |definition| (file, definition)))
        .filter_map(|(file, definition)| {
            Some((file, definition, sentence::question(&definition.doc, &definition.name)?))
        })
        .collect();
    let single = documented::single_keys(asked.iter().map(|(.., text)| text.as_str()));
    let candidates = asked.into_iter().filter_map(|(file, definition, text)| {
        let doc = DocSpan::new(file, definition.doc_bytes.as_ref()?)?.bytes;
        let is_asked = definition.kind == DefinitionKind::Callable
            && single.contains(&sentence::key(&text))
            && !file.is_secondary();
        let key = &definition.qualified_name;
        is_asked.then(|| Candidate { file, key, question: question(file, definition, text), doc })
    });
    documented::choose(candidates.collect(), texts, selection)
}

/// Returns the documentation of all functions. In the tree on which the questions are evaluated, all of it is blanked.
/// Otherwise, functions that keep their documentation would rank higher than the function that is the answer.
pub(crate) fn documentation(files: &[SourceFile]) -> impl Iterator<Item = DocSpan<'_>> {
    files.iter().flat_map(|file| {
        let functions = file.definitions.iter().filter(|definition| definition.kind == DefinitionKind::Callable);
        functions.filter_map(|function| DocSpan::new(file, function.doc_bytes.as_ref()?))
    })
}

fn question(file: &SourceFile, definition: &Definition, text: String) -> Question {
    let lines = format!("{}-{}", definition.lines.0, definition.lines.1);
    let id = hash(0, &[&file.path, &definition.qualified_name, &lines]);
    Question {
        id: format!("{SET}:{:08x}", id >> 32),
        query: text,
        set: SET.to_owned(),
        relevant: vec![Answer {
            path: file.path.clone(),
            lines: Some(definition.lines),
            name: Some(definition.qualified_name.clone()),
            ..Answer::default()
        }],
        ..Question::default()
    }
}
