//! Clickable paths: OSC 8 hyperlinks.
//!
//! Without hyperlinks, many editors and terminals still recognise `path:line`.

use std::io::IsTerminal;
use std::path::Path;

use aurora_query::Source;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::output::Painter;

/// Bytes that are encoded in URLs: all but unreserved characters (RFC 3986) and the slash.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Hyperlinks to files. The default value writes no links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    /// Path prefixes of the roots and their `file://` URLs. A prefix is the name of a root and a slash, or empty.
    bases: Vec<(String, String)>,
    /// Whether the terminal reads a line number from a fragment such as `#12` at the end of the URL.
    lines: bool,
}

impl Links {
    /// Returns links to files below `roots`, a list of names and paths. Returns no links if standard output has no
    /// colours, is not a terminal, or is a terminal without support for links. If there are several roots, the path of
    /// each file begins with the name of its root.
    pub(crate) fn detect<'r>(paint: Painter, roots: impl ExactSizeIterator<Item = (&'r str, &'r Path)>) -> Self {
        let is = |name: &str, values: &[&str]| std::env::var(name).is_ok_and(|value| values.contains(&value.as_str()));
        let is_unsupported = is("TERM", &["dumb", "linux"]) || is("TERM_PROGRAM", &["Apple_Terminal"]);
        if !paint.is_enabled() || !std::io::stdout().is_terminal() || is_unsupported {
            return Self::default();
        }
        let lines = is("TERM", &["xterm-kitty"]) || is("TERM_PROGRAM", &["vscode"]);
        let is_one = roots.len() == 1;
        let base = |(name, root): (&str, &Path)| {
            (if is_one { String::new() } else { format!("{name}/") }, file_url(&root.to_string_lossy()))
        };
        Self { bases: roots.map(base).collect(), lines }
    }

    /// Returns links to files below `root`, with lines if `lines` is set.
    #[cfg(test)]
    pub(crate) fn below(root: &Path, lines: bool) -> Self {
        Self { bases: vec![(String::new(), file_url(&root.to_string_lossy()))], lines }
    }

    /// Returns `shown` as a link to the file of a result. Only code results are linked, because other results are not
    /// files of a root.
    pub(crate) fn link_to(&self, source: Source, path: &str, line: Option<u32>, shown: &str) -> String {
        if source == Source::Code { self.link(path, line, shown) } else { shown.to_owned() }
    }

    /// Returns `shown` as a link to a file, or unchanged if the file is not below a root.
    pub(crate) fn link(&self, path: &str, line: Option<u32>, shown: &str) -> String {
        let below = self.bases.iter().filter_map(|(name, url)| Some((url, path.strip_prefix(name.as_str())?)));
        let found = below.min_by_key(|(_, rest)| rest.len());
        let Some((base, path)) = found.filter(|_| !shown.is_empty()) else { return shown.to_owned() };
        let fragment = line.filter(|_| self.lines).map(|line| format!("#{line}")).unwrap_or_default();
        format!("\x1b]8;;{base}/{}{fragment}\x1b\\{shown}\x1b]8;;\x1b\\", utf8_percent_encode(path, &ENCODED))
    }
}

/// Returns the URL of an absolute path, without a slash at the end.
fn file_url(path: &str) -> String {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let path = path.trim_end_matches('/');
    let slash = if path.starts_with('/') || path.is_empty() { "" } else { "/" };
    let drive = if cfg!(windows) && path.as_bytes().get(1) == Some(&b':') { 2 } else { 0 };
    let (drive, rest) = path.split_at_checked(drive).unwrap_or(("", path));
    format!("file://{slash}{drive}{}", utf8_percent_encode(rest, &ENCODED))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn urls_are_encoded_and_have_line_fragments() {
        let links = Links::below(Path::new("/srv/my project"), true);
        assert_eq!(
            links.link("src/größe #1.py", Some(12), "x"),
            "\x1b]8;;file:///srv/my%20project/src/gr%C3%B6%C3%9Fe%20%231.py#12\x1b\\x\x1b]8;;\x1b\\"
        );
        assert_eq!(Links::default().link("a.py", None, "a.py"), "a.py");
        assert!(Links::below(Path::new("/"), false).link("a", Some(1), "a").starts_with("\x1b]8;;file:///a\x1b"));
    }

    proptest! {
        #[test]
        fn a_path_cannot_break_out_of_its_link(path in any::<String>()) {
            let encoded = utf8_percent_encode(&path, &ENCODED).to_string();
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}
