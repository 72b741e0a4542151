//! Languages whose imports are read.

/// A language whose imports are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
    Ruby,
    Shell,
}

impl Language {
    /// The language of a file with this path and text.
    pub(super) fn from_file(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("py" | "pyw") => Some(Self::Python),
            Some("js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx") => Some(Self::JavaScript),
            Some("rb") => Some(Self::Ruby),
            Some("sh" | "bash" | "zsh" | "ksh") => Some(Self::Shell),
            _ => {
                let line = text.lines().next()?.strip_prefix("#!")?;
                line.split([' ', '/']).find_map(Self::from_interpreter)
            }
        }
    }

    /// The language that an interpreter runs, such as `python3.12`.
    pub(super) fn from_interpreter(name: &str) -> Option<Self> {
        let name = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
        match name {
            "python" | "pypy" => Some(Self::Python),
            "node" | "nodejs" | "deno" | "bun" => Some(Self::JavaScript),
            "ruby" => Some(Self::Ruby),
            "sh" | "bash" | "dash" | "zsh" | "ksh" => Some(Self::Shell),
            _ => None,
        }
    }
}
