//! One import of a program.

use super::language::Language;

/// The module that comes with the program itself.
const HELPER: &str = "aurora_stage";
/// Endings that an import in JavaScript or TypeScript may leave out.
pub(super) const JAVASCRIPT_ENDINGS: [&str; 22] = [
    "",
    ".js",
    ".mjs",
    ".cjs",
    ".jsx",
    ".ts",
    ".mts",
    ".cts",
    ".tsx",
    ".json",
    ".node",
    "/package.json",
    "/index.js",
    "/index.mjs",
    "/index.cjs",
    "/index.jsx",
    "/index.ts",
    "/index.mts",
    "/index.cts",
    "/index.tsx",
    "/index.json",
    "/index.node",
];
/// Endings that an import in Ruby may leave out.
pub(super) const RUBY_ENDINGS: [&str; 5] = ["", ".rb", ".so", ".bundle", ".dll"];

/// One import, as a file states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Import {
    /// A module of Python by its dotted name, and how many dots stand before it.
    Python { level: usize, module: String },
    /// A path relative to the importing file, whose ending may be missing.
    Relative { path: String, endings: &'static [&'static str] },
    /// A path below a directory of the search path, whose ending may be missing.
    Searched { path: String, endings: &'static [&'static str] },
    /// A word or a literal that may be a file, relative to the root or to the file that contains it.
    Word(String),
    /// A package of JavaScript, or a module of one, in a directory `node_modules`.
    NodePackage(String),
    /// A package that is installed elsewhere.
    Package(String),
}

impl Import {
    /// What `python -m` runs of a package.
    pub(super) fn python_main(module: &str) -> Self {
        Self::Python { level: 0, module: format!("{module}.__main__") }
    }

    /// What JavaScript imports by a text.
    pub(super) fn node(text: &str) -> Self {
        match (text.starts_with('.'), text.strip_prefix("node:")) {
            (true, _) => Self::Relative { path: text.to_owned(), endings: &JAVASCRIPT_ENDINGS },
            (false, Some(name)) => Self::Package(name.to_owned()),
            (false, None) => Self::NodePackage(text.to_owned()),
        }
    }

    /// The module that is missing if there is no file.
    pub(super) fn missing(&self) -> Option<MissingModule> {
        match self {
            Self::Python { level: 0, module } if !module.ends_with(".__main__") => {
                let name = module.split('.').next().filter(|name| *name != HELPER)?;
                Some(MissingModule::new(name, Language::Python, &module.replace('.', "/")))
            }
            Self::Relative { path, endings } | Self::Searched { path, endings } => {
                let language = if endings.contains(&".rb") { Language::Ruby } else { Language::JavaScript };
                Some(MissingModule::new(path, language, path))
            }
            Self::NodePackage(name) => Some(MissingModule::new(name, Language::JavaScript, name)),
            // No file of the project can be meant.
            Self::Package(name) => Some(MissingModule::new(name, Language::JavaScript, "")),
            // A name that a package defines may be no module.
            Self::Python { .. } | Self::Word(_) => None,
        }
    }
}

/// A module that was not found where the program looks for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::trust) struct MissingModule {
    /// The name in descriptions.
    pub(super) name: String,
    pub(super) language: Language,
    /// The path below an unknown directory, without the ending of a program; empty if no file of the project can be meant.
    pub(super) path: String,
}

impl MissingModule {
    fn new(name: &str, language: Language, path: &str) -> Self {
        // Paths that begin with `@/` or `~/` are relative to a directory that the configuration of TypeScript names.
        let path = path.trim_start_matches(['.', '/', '@', '~']);
        let path = match path.rsplit_once('.') {
            Some((stem, ending)) if language.loads(ending) => stem,
            _ => path,
        };
        Self { name: name.to_owned(), language, path: path.to_owned() }
    }
}
