//! Checks the contents of the web page's files.

use std::path::{Path, PathBuf};

/// Returns the names and texts of the page's files.
pub(crate) fn files() -> Vec<(String, String)> {
    let directory: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("serve/page");
    let entries = std::fs::read_dir(directory)
        .expect("the directory can be read")
        .map(|entry| entry.expect("the entry can be read").path());
    let mut files: Vec<_> = entries
        .map(|path| {
            let name = path.file_name().expect("the path has a file name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).expect("the file can be read"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn the_page_loads_nothing_from_other_servers() {
    for (name, text) in files() {
        // This is the name of an XML namespace, which browsers do not fetch.
        let text = text.replace("http://www.w3.org/2000/svg", "");
        for foreign in
            ["http:", "https:", "ws:", "wss:", "//fonts", "@import", "src=\"//", "href=\"//", "url(\"", "import("]
        {
            assert!(!text.contains(foreign), "{name} has {foreign}");
        }
    }
}

/// Texts from an index are not trusted, so they must not become markup or code.
#[test]
fn no_text_becomes_markup_or_code() {
    for (name, text) in files() {
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
            "eval(",
            "new Function",
            "setTimeout(\"",
            "javascript:",
            "<style",
            " style=\"",
        ] {
            assert!(!text.contains(word), "{name} has {word}");
        }
        let scripts = text.matches("<script").count();
        assert_eq!(scripts, text.matches("<script type=\"module\" src=\"page/").count(), "{name} has an inline script");
    }
}

#[test]
fn files_are_short() {
    for (name, text) in files() {
        assert!(text.lines().count() < 500, "{name} has {} lines", text.lines().count());
    }
}
