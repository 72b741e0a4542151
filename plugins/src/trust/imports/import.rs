//! An import in the source text of a program.

use super::language::Language;

/// Name of the Python module that Aurora provides to programs.
const HELPER: &str = "aurora_stage";

/// An import, as written in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Import {
    /// A Python module with its dotted name and the number of leading dots.
    Python { level: usize, module: String },
    /// A path relative to the importing file, possibly without its extension.
    Relative { path: String, language: Language },
    /// A path below a directory of the search path of Ruby, possibly without its extension.
    Searched(String),
    /// A word or literal that may be a file path, relative to the root or to the directory of the file that contains
    /// the word.
    Word(String),
    /// A JavaScript package or one of its modules, in a directory `node_modules`.
    NodePackage(String),
    /// A package that is installed outside of the project.
    Package(String),
}

impl Import {
    /// Returns the import for the module that `python -m` runs in a package.
    pub(super) fn python_main(module: &str) -> Self {
        Self::Python { level: 0, module: format!("{module}.__main__") }
    }

    /// Returns the import for a module specifier in JavaScript.
    pub(super) fn node(text: &str) -> Self {
        match (text.starts_with('.'), text.strip_prefix("node:")) {
            (true, _) => Self::Relative { path: text.to_owned(), language: Language::JavaScript },
            (false, Some(name)) => Self::Package(name.to_owned()),
            (false, None) => Self::NodePackage(text.to_owned()),
        }
    }

    /// Returns the module to report as missing if the import matches no file.
    pub(super) fn missing(&self) -> Option<MissingModule> {
        match self {
            Self::Python { level: 0, module } if !module.ends_with(".__main__") => {
                let name = module.split('.').next().filter(|name| *name != HELPER)?;
                Some(MissingModule::new(name, Language::Python, &module.replace('.', "/")))
            }
            Self::Relative { path, language } => Some(MissingModule::new(path, *language, path)),
            Self::Searched(path) => Some(MissingModule::new(path, Language::Ruby, path)),
            Self::NodePackage(name) => Some(MissingModule::new(name, Language::JavaScript, name)),
            // The path is empty, because the package cannot be a file of the project.
            Self::Package(name) => Some(MissingModule::new(name, Language::JavaScript, "")),
            // Not reported: the name may be defined in a package without being a module, and a word need not be a path.
            Self::Python { .. } | Self::Word(_) => None,
        }
    }
}

/// A module that was not found in the places where the program looks for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::trust) struct MissingModule {
    /// Name of the module in descriptions.
    pub(super) name: String,
    pub(super) language: Language,
    /// Path of the module relative to an unknown directory, without the extension. Empty if the module cannot be a file
    /// of the project.
    pub(super) path: String,
}

impl MissingModule {
    fn new(name: &str, language: Language, path: &str) -> Self {
        // Paths that begin with `@/` or `~/` are relative to a directory in the TypeScript configuration.
        let path = path.trim_start_matches(['.', '/', '@', '~']);
        let path = match path.rsplit_once('.') {
            Some((stem, ending)) if language.loads(ending) => stem,
            _ => path,
        };
        Self { name: name.to_owned(), language, path: path.to_owned() }
    }
}
