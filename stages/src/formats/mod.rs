//! The format of a file: a language of [`aurora_languages`], or a document format of [`documents`].

pub mod documents;
mod table;

use aurora_languages::{Language, by_extension, by_name};

use documents::{DOCUMENTS, DocumentFormat, Extractor};

pub(crate) use table::FormatTable;

/// The name of a file's format, decided by its extension in any case. None for files that are not indexed.
pub fn format_of(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.').filter(|(_, extension)| !extension.contains('/'))?;
    let has_extension = |format: &&DocumentFormat| format.extensions.iter().any(|e| e.eq_ignore_ascii_case(extension));
    let document = || DOCUMENTS.iter().find(has_extension).map(|format| format.name);
    by_extension(extension).map(|language| language.name).or_else(document)
}

/// How text is extracted from a format that is not text.
pub fn extractor_of(format: &str) -> Option<Extractor> {
    DOCUMENTS.iter().find(|document| document.name == format)?.extract
}

/// Whether a format consists of sections of prose instead of definitions.
pub fn is_prose(format: &str) -> bool {
    by_name(format).is_none_or(Language::is_prose)
}

/// The language that chunks of a format record.
pub fn family_of(format: &str) -> &str {
    by_name(format).map_or(format, |language| language.family)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use aurora_languages::LANGUAGES;

    use super::documents::DOCUMENTS;
    use super::format_of;

    #[test]
    fn a_format_is_decided_by_the_extension() {
        for language in LANGUAGES {
            for extension in language.extensions {
                assert_eq!(format_of(&format!("a.b/c.{}", extension.to_uppercase())), Some(language.name));
            }
        }
        assert_eq!(format_of("Makefile"), None);
        assert_eq!(format_of("a.py/b"), None);
        assert_eq!(format_of("a.DOCX"), Some("docx"));
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
