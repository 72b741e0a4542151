//! The format of a file: a language of [`aurora_languages`], or a document format of [`documents`].

pub mod documents;
mod table;

use aurora_languages::{LANGUAGES, Language, by_content, by_extension, by_file_name, by_name, by_word};

use documents::{DOCUMENTS, DocumentFormat, Extractor};

pub(crate) use table::FormatTable;

/// The format of a file whose name implies no format. When its text is read, the file gets another format.
pub const UNKNOWN: &str = "unknown";
/// The format of plain text, which is in no language.
const PLAIN: &str = "text";

/// Returns the format that the name or the extension of a file implies, ignoring the case of the extension. Returns
/// `None` if the name implies no format.
pub fn format_of(path: &str) -> Option<&'static str> {
    if let Some(language) = by_file_name(file_name(path)) {
        return Some(language.name);
    }
    let extension = extension(path)?;
    let has_extension = |format: &&DocumentFormat| format.extensions.iter().any(|e| e.eq_ignore_ascii_case(extension));
    let document = || DOCUMENTS.iter().find(has_extension).map(|format| format.name);
    by_extension(extension).map(|language| language.name).or_else(document)
}

/// Returns the format that the text of a file implies, or `None` if this is `format`. `format` is the format that the
/// file name implies.
pub(crate) fn format_of_text(path: &str, format: &str, text: &str) -> Option<&'static str> {
    let extension = extension(path).unwrap_or_default();
    if format == UNKNOWN {
        return Some(by_content(extension, text).map_or(PLAIN, |language| language.name));
    }
    // The text cannot override a format that the pipeline assigns to an extension, or that the whole file name implies.
    let usual =
        by_extension(extension).filter(|usual| usual.name == format && by_file_name(file_name(path)).is_none())?;
    let found = by_content(extension, text).filter(|found| found.name != usual.name).map(|found| found.name);
    found.or_else(|| (usual.rejects)(text).then_some(PLAIN))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn extension(path: &str) -> Option<&str> {
    file_name(path).rsplit_once('.').map(|(_, extension)| extension)
}

/// Returns the function that extracts text from a format, or `None` if the format is text.
pub fn extractor_of(format: &str) -> Option<Extractor> {
    DOCUMENTS.iter().find(|document| document.name == format)?.extract
}

/// Whether the definitions in fenced code become symbols in a document format.
pub fn has_code(format: &str) -> bool {
    DOCUMENTS.iter().any(|document| document.name == format && document.has_code)
}

/// Whether a format consists of sections of prose instead of definitions.
pub fn is_prose(format: &str) -> bool {
    by_name(format).is_none_or(Language::is_prose)
}

/// Returns the language that is stored with the chunks of a format.
pub fn family_of(format: &str) -> &str {
    by_name(format).map_or(format, |language| language.family)
}

/// Returns the stored language for a name, a file extension or an alias that a user enters, ignoring case.
pub fn language_by_word(name: &str) -> Option<&'static str> {
    let extension = name.strip_prefix('.').unwrap_or(name);
    let is_called = |format: &&DocumentFormat| {
        let mut names = format.extensions.iter().chain([&format.name]).chain(format.aliases);
        names.any(|known| known.eq_ignore_ascii_case(extension))
    };
    let document = || DOCUMENTS.iter().find(is_called).map(|format| format.name);
    by_word(extension).map(|language| language.family).or_else(document)
}

/// Returns the stored languages of all built-in formats.
pub fn language_names() -> Vec<&'static str> {
    let languages = LANGUAGES.iter().map(|language| language.family);
    languages.chain(DOCUMENTS.iter().map(|format| format.name)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use aurora_languages::LANGUAGES;

    use super::documents::DOCUMENTS;
    use super::{UNKNOWN, family_of, format_of, format_of_text, language_by_word};

    #[test]
    fn a_format_is_decided_by_the_extension() {
        for language in LANGUAGES {
            for extension in language.extensions {
                assert_eq!(format_of(&format!("a.b/c.{}", extension.to_uppercase())), Some(language.name));
            }
        }
        assert_eq!(format_of("NOTES"), None);
        assert_eq!(format_of("a.py/b"), None);
        assert_eq!(format_of("a.DOCX"), Some("docx"));
    }

    #[test]
    fn the_text_decides_the_format_if_the_name_does_not() {
        for (path, format, text, expected) in [
            ("bin/run", UNKNOWN, "#!/usr/bin/env python3\nx = 1\n", Some("python")),
            ("NOTES", UNKNOWN, "Some words.\n", Some("text")),
            ("a.unheard", UNKNOWN, "# vim: ft=go\n", Some("go")),
            ("a.py", "python", "#!/usr/bin/env node\n", None),
            ("a.py", "mine", "#!/usr/bin/env node\n", None),
        ] {
            assert_eq!(format_of_text(path, format, text), expected, "{path}");
        }
    }

    #[test]
    fn a_language_is_found_by_each_of_its_names() {
        for language in LANGUAGES {
            let names = [language.name, language.family].into_iter().chain(language.aliases.iter().copied());
            for name in names.chain(language.extensions.iter().copied()) {
                assert_eq!(language_by_word(&name.to_uppercase()), Some(language.family), "{name}");
                assert_eq!(language_by_word(&format!(".{name}")), Some(language.family), "{name}");
            }
        }
        for (name, expected) in [
            ("golang", "go"),
            ("c++", "cpp"),
            ("C#", "csharp"),
            ("tsx", "typescript"),
            ("Makefile", "make"),
            ("dockerfile", "containerfile"),
            ("python3", "python"),
            ("node", "javascript"),
            ("typescriptreact", "typescript"),
            ("shellscript", "bash"),
            ("plaintext", "text"),
            ("restructuredtext", "rst"),
            (".adoc", "asciidoc"),
            ("jupyter", "notebook"),
        ] {
            assert_eq!(language_by_word(name), Some(expected), "{name}");
            assert_eq!(family_of(expected), expected);
        }
        assert_eq!([language_by_word("klingon"), language_by_word("")], [None, None]);
    }

    #[test]
    fn extensions_belong_to_one_format_and_names_are_unique() {
        let languages = LANGUAGES.iter().map(|language| (language.name, language.extensions));
        let documents = DOCUMENTS.iter().map(|document| (document.name, document.extensions));
        let (mut names, mut seen) = (HashSet::new(), HashSet::new());
        for (name, extensions) in languages.chain(documents) {
            assert!(names.insert(name), "{name}");
            assert!(extensions.iter().all(|extension| seen.insert(*extension)), "{name}");
        }
    }
}
