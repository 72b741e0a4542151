//! Language detection for the examples.

use std::path::Path;

use aurora_languages::{Language, by_content, by_extension, by_file_name};

/// Returns the language of a file. The file name decides, then the text, then the extension.
pub(crate) fn language_of(path: &Path, text: &str) -> Option<&'static Language> {
    let part = |part: Option<&std::ffi::OsStr>| part.and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let (name, extension) = (part(path.file_name()), part(path.extension()));
    let usual = || by_extension(&extension).filter(|usual| !(usual.rejects)(text));
    by_file_name(&name).or_else(|| by_content(&extension, text)).or_else(usual)
}
