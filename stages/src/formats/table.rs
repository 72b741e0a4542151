//! A table of the file formats in one run: the built-in formats and the formats that the pipeline declares.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use aurora_languages::LANGUAGES;

use super::UNKNOWN;
use super::documents::DOCUMENTS;
use crate::columns::LanguageName;

/// The formats of one run.
#[derive(Debug)]
pub(crate) struct FormatTable {
    /// Formats by extension in lower case.
    by_extension: HashMap<String, LanguageName>,
    /// Formats by whole file name.
    by_file_name: HashMap<&'static str, LanguageName>,
    /// Formats by prefix of the file name.
    by_prefix: Vec<(&'static str, LanguageName)>,
    unknown: LanguageName,
}

impl FormatTable {
    /// Creates the table from the built-in formats and `additional`, which maps extensions to names of languages. The
    /// entries of `additional` take precedence.
    pub(crate) fn new(additional: &BTreeMap<String, String>) -> Self {
        let languages = LANGUAGES.iter().map(|language| (language.name, language.extensions));
        let documents = DOCUMENTS.iter().map(|document| (document.name, document.extensions));
        let mut by_extension = HashMap::new();
        for (name, extensions) in languages.chain(documents) {
            let name = LanguageName::from(name);
            by_extension.extend(extensions.iter().map(|extension| (extension.to_ascii_lowercase(), name.clone())));
        }
        let (mut by_file_name, mut by_prefix) = (HashMap::new(), Vec::new());
        for (language, pattern) in
            LANGUAGES.iter().flat_map(|language| language.file_names.iter().map(move |name| (language, name)))
        {
            let name = LanguageName::from(language.name);
            match pattern.strip_suffix('*') {
                Some(prefix) => by_prefix.push((prefix, name)),
                None => drop(by_file_name.insert(*pattern, name)),
            }
        }
        let additional = additional.iter();
        by_extension.extend(additional.map(|(extension, name)| (extension.to_ascii_lowercase(), name.as_str().into())));
        Self { by_extension, by_file_name, by_prefix, unknown: UNKNOWN.into() }
    }

    /// Returns the format of files whose name implies no format.
    pub(crate) fn unknown(&self) -> LanguageName {
        self.unknown.clone()
    }

    /// Returns the format that a file name without directories implies, or `None` if it implies no format.
    pub(crate) fn format_of(&self, name: &str) -> Option<LanguageName> {
        let of_prefix =
            || self.by_prefix.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, language)| language);
        if let Some(language) = self.by_file_name.get(name).or_else(of_prefix) {
            return Some(language.clone());
        }
        let (_, extension) = name.rsplit_once('.')?;
        let is_lower = !extension.bytes().any(|byte| byte.is_ascii_uppercase());
        let extension = if is_lower { Cow::Borrowed(extension) } else { Cow::Owned(extension.to_ascii_lowercase()) };
        self.by_extension.get(&*extension).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats;

    #[test]
    fn additional_formats_extend_the_built_in_formats() {
        let additional =
            BTreeMap::from([("proto".to_owned(), "protobuf".to_owned()), ("pyi".to_owned(), "python".to_owned())]);
        let table = FormatTable::new(&additional);
        for (path, expected) in
            [("b.proto", Some("protobuf")), ("A.PROTO", Some("protobuf")), ("a.pyi", Some("python")), ("NOTES", None)]
        {
            assert_eq!(table.format_of(path).as_deref(), expected, "{path}");
        }
        for path in ["a.rs", "b.MD", "c.docx", "d.none", "e"] {
            assert_eq!(
                FormatTable::new(&BTreeMap::new()).format_of(path).as_deref(),
                formats::format_of(path),
                "{path}"
            );
        }
    }
}
