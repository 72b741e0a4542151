//! Describes everything that a program may load although its digest does not cover it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use aurora_confined::{Directory, EntryKind};

use super::super::files::real_path;
use super::import::MissingModule;
use super::language::Language;
use super::paths::{directory_of, join, normal};

/// Directories that are not searched for missing modules. Imports from `node_modules` are found by name.
const NOT_SEARCHED: [&str; 3] = [".git", "__pycache__", "node_modules"];
/// Maximum number of directories that are searched for missing modules.
const MAX_SEARCHED_DIRECTORIES: usize = 20_000;
/// Maximum number of candidate files in the description of a missing module.
const MAX_NAMED_FILES: usize = 3;

/// Files and modules that a program may load although its digest does not cover them. The project is only searched by
/// [`Uncovered::describe`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::trust) struct Uncovered {
    /// Descriptions that concern neither missing modules nor literals.
    pub(super) descriptions: BTreeSet<String>,
    /// Modules that were not found in the places where the program looks for them.
    pub(super) missing: BTreeSet<MissingModule>,
    /// Literals that may be paths of data files. The value is the path of a program that contains the literal.
    pub(super) literals: BTreeMap<String, String>,
}

impl Uncovered {
    /// Removes literals that are equal to one of the paths.
    pub(in crate::trust) fn forget(&mut self, paths: &[String]) {
        self.literals.retain(|literal, _| !paths.contains(literal));
    }

    /// Returns all descriptions. Searches the project for files that are named by literals, and for candidates for
    /// missing modules.
    pub(in crate::trust) fn describe(&self, root: &Directory, is_covered: impl Fn(&str) -> bool) -> Vec<String> {
        let mut descriptions = self.descriptions.clone();
        for (literal, program) in &self.literals {
            for path in [normal(literal), normal(&join(directory_of(program), literal))].into_iter().flatten() {
                let Ok(Some(real)) = real_path(root, &path) else { continue };
                let is_file = root.metadata(&real).is_ok_and(|metadata| metadata.kind == EntryKind::File);
                if is_file && !is_covered(&real) {
                    descriptions.insert(format!("the file {real}, which {program} names"));
                }
            }
        }
        let mut files: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for module in &self.missing {
            files.entry(&module.name).or_default();
        }
        if !files.is_empty() && !search(root, &self.missing, &mut files) {
            descriptions.insert(format!(
                "modules beyond the first {MAX_SEARCHED_DIRECTORIES} directories, because only these were searched for \
                 missing modules"
            ));
        }
        let missing = files.into_iter().map(|(name, files)| {
            if files.is_empty() {
                return format!("the module {name}, which was not found in the project");
            }
            let verb = if files.len() == 1 { "has" } else { "have" };
            let mut named: Vec<String> = files.iter().take(MAX_NAMED_FILES).cloned().collect();
            if files.len() > MAX_NAMED_FILES {
                named.push(format!("{} more", files.len() - MAX_NAMED_FILES));
            }
            let last = named.pop().unwrap_or_default();
            let named = if named.is_empty() { last } else { format!("{} and {last}", named.join(", ")) };
            format!("the module {name}, which was not found where the program looks for it; {named} {verb} that name")
        });
        descriptions.into_iter().chain(missing).collect()
    }
}

/// Adds the candidate files for each missing module to `files`. Returns `false` if there are too many directories.
fn search<'m>(
    root: &Directory,
    missing: &'m BTreeSet<MissingModule>,
    files: &mut BTreeMap<&'m str, BTreeSet<String>>,
) -> bool {
    let mut wanted: HashMap<&str, Vec<&'m MissingModule>> = HashMap::new();
    for module in missing.iter().filter(|module| !module.path.is_empty()) {
        wanted.entry(last_of(&module.path)).or_default().push(module);
    }
    if wanted.is_empty() {
        return true;
    }
    // The queue contains paths and not open directories, because the number of open files is limited.
    let mut waiting = VecDeque::from([String::new()]);
    let mut searched = 0;
    while let Some(directory) = waiting.pop_front() {
        if searched == MAX_SEARCHED_DIRECTORIES {
            return false;
        }
        searched += 1;
        let opened = if directory.is_empty() { Ok(root.clone()) } else { root.open_directory(&directory) };
        for (name, kind) in opened.and_then(|opened| opened.entries()).unwrap_or_default() {
            let Some(name) = name.to_str() else { continue };
            let path = join(&directory, name);
            if kind == EntryKind::Directory && !NOT_SEARCHED.contains(&name) {
                waiting.push_back(path);
                continue;
            }
            let Some((module, ending)) = module_of(&path).filter(|_| kind != EntryKind::Directory) else { continue };
            for candidate in wanted.get(last_of(module)).into_iter().flatten() {
                let is_it = module.strip_suffix(candidate.path.as_str());
                if candidate.language.loads(ending)
                    && is_it.is_some_and(|above| above.is_empty() || above.ends_with('/'))
                {
                    files.entry(&candidate.name).or_default().insert(path.clone());
                }
            }
        }
    }
    true
}

/// Returns the path of the module or package that a file may define, and the extension of the file.
fn module_of(path: &str) -> Option<(&str, &str)> {
    let (stem, ending) = path.rsplit_once('.')?;
    // The file name of a Python library may contain a platform tag.
    let name = last_of(stem);
    let tag = if Language::is_library(ending) { name.split_once('.').map_or(0, |(_, tag)| tag.len() + 1) } else { 0 };
    let module = &stem[..stem.len() - tag];
    let is_package = matches!(last_of(module), "__init__" | "index");
    Some((if is_package { directory_of(module) } else { module }, ending))
}

fn last_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
