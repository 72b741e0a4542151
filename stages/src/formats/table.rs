//! The formats of one run, by extension: the built-in ones, and those that the pipeline names.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use aurora_languages::LANGUAGES;

use super::documents::DOCUMENTS;
use crate::columns::LanguageName;

/// The formats of one run.
#[derive(Debug)]
pub(crate) struct FormatTable {
    /// By extension in lower case.
    by_extension: HashMap<String, LanguageName>,
}

impl FormatTable {
    /// The built-in formats, and `further` ones: names of languages by extension, which win.
    pub(crate) fn new(further: &BTreeMap<String, String>) -> Self {
        let languages = LANGUAGES.iter().map(|language| (language.name, language.extensions));
        let documents = DOCUMENTS.iter().map(|document| (document.name, document.extensions));
        let mut by_extension = HashMap::new();
        for (name, extensions) in languages.chain(documents) {
            let name = LanguageName::from(name);
            by_extension.extend(extensions.iter().map(|extension| (extension.to_ascii_lowercase(), name.clone())));
        }
        let further = further.iter();
        by_extension.extend(further.map(|(extension, name)| (extension.to_ascii_lowercase(), name.as_str().into())));
        Self { by_extension }
    }

    /// The format of a file by its extension; `None` for files that are not indexed.
    pub(crate) fn format_of(&self, path: &str) -> Option<LanguageName> {
        let (_, extension) = path.rsplit_once('.').filter(|(_, extension)| !extension.contains('/'))?;
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
    fn further_formats_are_added_to_the_built_in_ones() {
        let further =
            BTreeMap::from([("proto".to_owned(), "protobuf".to_owned()), ("pyi".to_owned(), "python".to_owned())]);
        let table = FormatTable::new(&further);
        for (path, expected) in [
            ("a/b.proto", Some("protobuf")),
            ("A.PROTO", Some("protobuf")),
            ("a.pyi", Some("python")),
            ("Makefile", None),
            ("a.py/b", None),
        ] {
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
