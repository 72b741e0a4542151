//! Tests that every language directory is complete and that the table of languages is unambiguous.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{LANGUAGES, Language, Parser, by_extension, by_file_name, by_name};

/// Directories of the engine in `src`. Every other directory contains a language.
const ENGINE: &[&str] = &["extract", "query", "tests"];

/// Captures that the queries of a programming language must have. Other captures are not required, because some
/// languages have no equivalent.
const REQUIRED_CODE_CAPTURES: &[&str] = &[
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

/// Captures that the queries of a language without statements must have.
const REQUIRED_DATA_CAPTURES: &[&str] = &["@name", "@error"];

/// Captures that the queries of a language whose definitions are in embedded parts must have.
const REQUIRED_COMPONENT_CAPTURES: &[&str] = &["@comment"];

/// Captures that the queries of a document language must have.
const REQUIRED_PROSE_CAPTURES: &[&str] = &["@heading"];

#[test]
fn every_directory_is_a_registered_language_with_all_parts() {
    for directory in language_directories() {
        let shown = directory.display();
        for part in ["mod.rs", "tests.rs"] {
            assert!(directory.join(part).is_file(), "{shown} has no {part}");
        }
        let feature = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let module = fs::read_to_string(directory.join("mod.rs")).unwrap();
        assert!(module.contains(&format!("#![cfg(feature = \"{feature}\")]")), "{shown} does not name its feature");
        let queries = texts_of(&directory, |name| name.ends_with(".scm"));
        let is_read_by_lines = by_name(feature).is_some_and(|language| language.grammar.is_none());
        assert_ne!(queries.is_empty(), !is_read_by_lines, "{shown} has queries if it has a grammar");
        for (name, query) in &queries {
            let is_used = LANGUAGES.iter().any(|language| language.queries.contains(&query.as_str()));
            assert!(is_used, "no language uses {name} of {shown}: is it missing from `LANGUAGES`?");
        }
        let samples = texts_of(&directory, is_sample);
        assert!(!samples.is_empty(), "{shown} has no sample");
    }
}

/// Whether a file is the sample of a language. Its name is `sample.EXTENSION` or a file name that identifies the
/// language, such as `Makefile`.
fn is_sample(name: &str) -> bool {
    name.starts_with("sample.") || by_file_name(name).is_some()
}

#[test]
fn every_language_has_a_sample_with_symbols_and_highlights() {
    let directories = language_directories();
    let samples: Vec<_> = directories.iter().flat_map(|directory| texts_of(directory, is_sample)).collect();
    for language in LANGUAGES {
        let is_own = |name: &str| {
            let extension = name.strip_prefix("sample.").unwrap_or_default();
            language.extensions.contains(&extension) || by_file_name(name).is_some_and(|l| std::ptr::eq(l, *language))
        };
        let (name, sample) = samples.iter().find(|(name, _)| is_own(name)).expect(language.name);
        let parsed = Parser::new().parse(Some(language), sample);
        assert!(!parsed.symbols.is_empty(), "no symbols in {name}");
        assert_eq!(parsed.errors, 0, "syntax errors in {name}");
        assert!(language.highlight(sample).iter().any(|line| !line.is_empty()), "nothing is highlighted in {name}");
    }
}

#[test]
fn symbols_nest_correctly_and_are_complete() {
    for directory in language_directories() {
        for (name, sample) in texts_of(&directory, is_sample) {
            let from_extension = || by_extension(name.strip_prefix("sample.")?);
            let Some(language) = by_file_name(&name).or_else(from_extension) else { continue };
            let found = Parser::new().parse(Some(language), &sample);
            for symbol in &found.symbols {
                let shown = format!("{name}: {} {}", symbol.kind.as_str(), symbol.qualified_name);
                let text = sample.get(symbol.bytes.start as usize..symbol.bytes.end as usize).expect(&shown);
                assert!(!symbol.name.is_empty() && !symbol.name.contains('\n'), "{shown}");
                assert!(symbol.qualified_name.ends_with(&symbol.name), "{shown}: the last segment is the name");
                assert!(text.contains(&symbol.name) || language.embedded.is_none() || language.is_prose(), "{shown}");
                assert!(!text.trim().is_empty() && symbol.lines.0 <= symbol.lines.1, "{shown}");
                assert!(!symbol.signature.is_empty() || language.is_prose(), "{shown} has no signature");
                assert!(
                    symbol.calls.iter().all(|call| !call.is_empty() && !call.contains(char::is_whitespace)),
                    "{shown}: {:?}",
                    symbol.calls
                );
                if let Some(parent) = symbol.parent {
                    let parent = &found.symbols[parent as usize];
                    assert!(
                        parent.bytes.start <= symbol.bytes.start && symbol.bytes.end <= parent.bytes.end,
                        "{shown}"
                    );
                }
            }
        }
    }
}

#[test]
fn queries_compile_and_have_the_required_captures() {
    for language in with_grammar() {
        let name = language.name;
        assert_eq!(language.compiled_query().err().map(|error| error.to_string()), None, "{name}");
        let required = match language {
            language if language.is_prose() => REQUIRED_PROSE_CAPTURES,
            language if language.embedded.is_some() => REQUIRED_COMPONENT_CAPTURES,
            language if language.is_declarative => REQUIRED_DATA_CAPTURES,
            _ => REQUIRED_CODE_CAPTURES,
        };
        let captures = captures_of(language);
        for capture in required {
            assert!(captures.contains(*capture), "the queries of {name} have no {capture}");
        }
        let has_functions = ["@definition.function", "@definition.method"].iter().any(|c| captures.contains(*c));
        let needs_functions = !language.is_prose() && !language.is_declarative && language.embedded.is_none();
        assert!(has_functions || !needs_functions, "the queries of {name} define neither functions nor methods");
    }
}

#[test]
fn tree_sitter_accepts_all_queries() {
    for language in with_grammar() {
        let grammar = language.grammar.unwrap()();
        let compiled = tree_sitter::Query::new(&grammar, &language.queries.join("\n"));
        assert_eq!(compiled.err().map(|error| error.to_string()), None, "{}", language.name);
    }
}

fn with_grammar() -> impl Iterator<Item = &'static Language> {
    LANGUAGES.iter().copied().filter(|language| language.grammar.is_some())
}

#[test]
fn every_extension_belongs_to_one_language_and_names_are_unique() {
    let mut seen = HashSet::new();
    for language in LANGUAGES {
        assert!(by_name(language.name).is_some_and(|found| std::ptr::eq(found, *language)), "{}", language.name);
        assert!(by_name(language.family).is_some(), "{}", language.family);
        assert!(!language.extensions.is_empty() || !language.file_names.is_empty(), "{}", language.name);
        for extension in language.extensions {
            assert!(seen.insert(*extension), "two languages have the extension {extension}");
            assert_eq!(*extension, extension.to_lowercase());
            let found = by_extension(&extension.to_uppercase()).map(|found| found.name);
            assert_eq!(found, Some(language.name));
        }
    }
    assert!(by_extension("").is_none());
}

#[test]
fn aliases_interpreters_file_names_and_claims_are_unambiguous() {
    let (mut aliases, mut interpreters, mut names) = (HashSet::new(), HashSet::new(), HashSet::new());
    for language in LANGUAGES {
        for alias in language.aliases {
            assert_eq!(*alias, alias.to_lowercase());
            assert!(by_name(alias).is_none() && aliases.insert(*alias), "{alias} names several languages");
            let extension_owner = by_extension(alias).map_or(language.name, |found| found.name);
            assert_eq!(extension_owner, language.name, "{alias} is an extension of another language");
        }
        assert!(language.interpreters.iter().all(|program| interpreters.insert(*program)), "{}", language.name);
        assert!(language.file_names.iter().all(|name| names.insert(*name)), "{}", language.name);
        for (extension, _) in language.claims {
            let owner = by_extension(extension).map(|owner| owner.name);
            assert_ne!(owner, Some(language.name), "{} claims its own {extension}", language.name);
        }
    }
}

#[test]
fn every_language_is_a_feature() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let features =
        manifest.lines().skip_while(|line| *line != "[features]").take_while(|line| *line != "[dependencies]");
    let features = features.filter_map(|line| line.split_once(" = [")).map(|(feature, _)| feature);
    let features = features.filter(|feature| !["default", "all"].contains(feature));
    let features: HashSet<&str> = features.collect();
    for directory in language_directories() {
        let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        assert!(manifest.contains(&format!("\n{name} = [")), "Cargo.toml has no feature {name}");
        assert!(manifest.contains(&format!("    \"{name}\",\n")), "`all` does not name {name}");
    }
    assert_eq!(features.len(), language_directories().len(), "every feature has a directory");
}

fn language_directories() -> Vec<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let entries = fs::read_dir(source).unwrap().map(|entry| entry.unwrap().path());
    let is_language = |path: &PathBuf| path.is_dir() && !ENGINE.iter().any(|engine| path.ends_with(engine));
    let directories: Vec<_> = entries.filter(is_language).collect();
    assert!(!directories.is_empty());
    directories
}

/// Returns the names and texts of the files in `directory` for whose names `is_wanted` returns true.
fn texts_of(directory: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let files = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    files.filter(|(name, _)| is_wanted(name)).map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
}

fn captures_of(language: &Language) -> HashSet<String> {
    let query = tree_sitter::Query::new(&language.grammar.unwrap()(), &language.queries.join("\n")).unwrap();
    query.capture_names().iter().map(|name| format!("@{name}")).collect()
}
