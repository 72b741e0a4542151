//! Programming languages whose imports can be read.

/// A programming language whose imports can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Language {
    Python,
    JavaScript,
    Ruby,
    Shell,
}

impl Language {
    /// Returns the language of a file, determined from its path or its first line.
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

    /// Whether a file with this extension may be a module of the language.
    pub(super) fn loads(self, ending: &str) -> bool {
        match self {
            Self::Python => matches!(ending, "py" | "pyw" | "pyc" | "so" | "pyd"),
            Self::JavaScript => {
                matches!(ending, "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "node")
            }
            Self::Ruby => matches!(ending, "rb" | "so" | "bundle" | "dll"),
            Self::Shell => false,
        }
    }

    /// Whether a file with this extension is a native library that Python loads. The file name of such a library may
    /// contain a platform tag, as in `teams.abi3.so`.
    pub(super) fn is_library(ending: &str) -> bool {
        matches!(ending, "so" | "pyd")
    }

    /// Returns the letters of options that take no value. One argument may combine several of these letters with
    /// another option, as in `-um tools.owner`.
    pub(super) fn flags(self) -> &'static str {
        match self {
            Self::Python => "bBdEhiIOPqRsSuvVx?",
            Self::Ruby => "alnpsvw",
            Self::JavaScript | Self::Shell => "",
        }
    }

    /// Returns the language of an interpreter such as `python3.12`.
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
