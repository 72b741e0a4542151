//! Turns each name that a repository defines exactly once into a question.

use rustc_hash::FxHashMap;

use crate::golden::{Answer, Question};
use crate::mine::selection::Selection;
use crate::mine::source::{Definition, DefinitionKind, SourceFile};

/// Name of this set of questions.
pub(crate) const SET: &str = "exact";

/// Minimum number of letters in a name. Shorter names are too common.
const MIN_LETTERS: usize = 4;

/// Returns questions for the names of functions and types that have one definition among all `files`. The answer is all
/// lines of the function, or the declaration of the type.
pub(crate) fn questions(files: &[SourceFile], selection: &Selection) -> Vec<(String, Question)> {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for definition in files.iter().flat_map(|file| &file.definitions) {
        *counts.entry(&definition.name).or_default() += 1;
    }
    let candidates = files.iter().filter(|file| !file.is_secondary()).flat_map(|file| {
        let unique = file.definitions.iter().filter(|definition| counts.get(&*definition.name) == Some(&1));
        unique.filter(|definition| is_distinctive(&definition.name)).map(move |definition| (file, definition))
    });
    let chosen = selection.choose(candidates.collect(), |(file, _)| &file.path, |(_, definition)| &definition.name);
    chosen.into_iter().map(|(file, definition)| (file.path.clone(), question(file, definition))).collect()
}

fn question(file: &SourceFile, definition: &Definition) -> Question {
    let last = match definition.kind {
        DefinitionKind::Callable => definition.lines.1,
        DefinitionKind::Type => definition.declared_until,
    };
    Question {
        id: format!("{SET}:{}", definition.name),
        query: definition.name.clone(),
        set: SET.to_owned(),
        relevant: vec![Answer {
            path: file.path.clone(),
            lines: Some((definition.lines.0, last.max(definition.lines.0))),
            name: Some(definition.qualified_name.clone()),
            ..Answer::default()
        }],
        ..Question::default()
    }
}

fn is_distinctive(name: &str) -> bool {
    let is_dunder = name.starts_with("__") && name.ends_with("__");
    let is_identifier = name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    name.chars().filter(|c| c.is_alphabetic()).count() >= MIN_LETTERS && is_identifier && !is_dunder
}
