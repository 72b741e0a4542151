//! Every language directory is complete, and the table of languages is unambiguous.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{LANGUAGES, Language, Parser, by_extension, by_name};

/// Directories of the engine; all others are languages.
const ENGINE: &[&str] = &["extract", "query", "tests"];

/// What the queries of a programming language must capture. Of the others, some languages have no equivalent.
const REQUIRED_OF_CODE: &[&str] = &[
    "@definition.constant",
    "@name",
    "@body",
    "@comment",
    "@local.scope",
    "@reference.call",
    "@branch",
    "@loop",
    "@import",
    "@error",
];

/// What the queries of a language of documents must capture.
const REQUIRED_OF_PROSE: &[&str] = &["@heading"];

#[test]
fn every_directory_is_a_registered_language_with_all_parts() {
    for directory in language_directories() {
        let shown = directory.display();
        for part in ["mod.rs", "tests.rs"] {
            assert!(directory.join(part).is_file(), "{shown} has no {part}");
        }
        let queries = texts_of(&directory, |name| name.ends_with(".scm"));
        assert!(!queries.is_empty(), "{shown} has no query");
        for (name, query) in &queries {
            let is_used = LANGUAGES.iter().any(|language| language.queries.contains(&query.as_str()));
            assert!(is_used, "no language uses {name} of {shown}: is it missing in `LANGUAGES`?");
        }
        let samples = texts_of(&directory, |name| name.starts_with("sample."));
        assert!(!samples.is_empty(), "{shown} has no sample");
    }
}

#[test]
fn every_language_has_a_sample_with_symbols_and_highlights() {
    let directories = language_directories();
    let samples: Vec<_> =
        directories.iter().flat_map(|directory| texts_of(directory, |name| name.starts_with("sample."))).collect();
    for language in LANGUAGES {
        let is_sample = |name: &str| language.extensions.iter().any(|extension| name == format!("sample.{extension}"));
        let (name, sample) = samples.iter().find(|(name, _)| is_sample(name)).expect(language.name);
        let parsed = Parser::new().parse(Some(language), sample);
        assert!(!parsed.symbols.is_empty(), "no symbols in {name}");
        assert!(language.highlight(sample).iter().any(|line| !line.is_empty()), "nothing is highlighted in {name}");
    }
}

#[test]
fn queries_compile_and_capture_what_is_required() {
    for language in LANGUAGES {
        let name = language.name;
        assert_eq!(language.compiled_query().err().map(|error| error.to_string()), None, "{name}");
        let required = if language.is_prose() { REQUIRED_OF_PROSE } else { REQUIRED_OF_CODE };
        let captures = captures_of(language);
        for capture in required {
            assert!(captures.contains(*capture), "the queries of {name} have no {capture}");
        }
        let has_functions = ["@definition.function", "@definition.method"].iter().any(|c| captures.contains(*c));
        assert!(has_functions || language.is_prose(), "the queries of {name} define neither functions nor methods");
    }
}

#[test]
fn tree_sitter_accepts_all_queries() {
    for language in LANGUAGES {
        let compiled = tree_sitter::Query::new(&(language.grammar)(), &language.queries.join("\n"));
        assert_eq!(compiled.err().map(|error| error.to_string()), None, "{}", language.name);
    }
}

#[test]
fn every_extension_belongs_to_one_language_and_names_are_unique() {
    let mut seen = HashSet::new();
    for language in LANGUAGES {
        assert!(by_name(language.name).is_some_and(|found| std::ptr::eq(found, *language)), "{}", language.name);
        assert!(by_name(language.family).is_some(), "{}", language.family);
        assert!(!language.extensions.is_empty(), "{}", language.name);
        for extension in language.extensions {
            assert!(seen.insert(*extension), "two languages have the extension {extension}");
            assert_eq!(*extension, extension.to_lowercase());
            let found = by_extension(&extension.to_uppercase()).map(|found| found.name);
            assert_eq!(found, Some(language.name));
        }
    }
    assert!(by_extension("").is_none());
}

fn language_directories() -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let entries = fs::read_dir(source).unwrap().map(|entry| entry.unwrap().path());
    let is_language = |path: &PathBuf| path.is_dir() && !ENGINE.iter().any(|engine| path.ends_with(engine));
    let directories: Vec<_> = entries.filter(is_language).collect();
    assert!(!directories.is_empty());
    directories
}

/// Name and text of the files in a directory whose name fits.
fn texts_of(directory: &Path, fits: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let files = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    files.filter(|(name, _)| fits(name)).map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
}

fn captures_of(language: &Language) -> HashSet<String> {
    let query = tree_sitter::Query::new(&(language.grammar)(), &language.queries.join("\n")).unwrap();
    query.capture_names().iter().map(|name| format!("@{name}")).collect()
}
