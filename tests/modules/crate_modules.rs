//! Reads the modules of a crate, and the paths with which they refer to each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::source::{Token, tokens};

/// The names of the modules from the root of the crate to a module. Empty for the root itself.
pub(crate) type ModulePath = Vec<String>;

/// A module, its child modules, and the paths in its source.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    references: Vec<Reference>,
    /// Names that `use` declares in the module, and the paths that these names stand for.
    aliases: BTreeMap<String, Vec<String>>,
}

/// A path in the source of a module.
#[derive(Debug)]
struct Reference {
    path: Vec<String>,
    line: usize,
    /// Whether the module only re-exports the item with `pub use`.
    is_reexport: bool,
}

/// A use of an item of another module.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) from: ModulePath,
    pub(crate) to: ModulePath,
    /// Whether `from` only re-exports the item.
    pub(crate) is_reexport: bool,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

/// Returns every use of a module by another module of the same crate. `root` is the crate's `lib.rs` or `main.rs`.
pub(crate) fn uses(root: &Path) -> Vec<Use> {
    let mut modules = Modules::default();
    let directory = root.parent().expect("the path has a parent");
    modules.read(Vec::new(), root, directory);
    modules.uses()
}

#[derive(Default)]
struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    fn read(&mut self, path: ModulePath, file: &Path, directory: &Path) {
        let source = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.module(&tokens(&source), path, file, directory);
    }

    /// Reads the tokens of a file or of an inline module. The files of the child modules are in `directory`.
    fn module(&mut self, tokens: &[Token], path: ModulePath, file: &Path, directory: &Path) {
        self.0.insert(path.clone(), Module { file: file.to_owned(), ..Module::default() });
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
        let mut at = 0;
        while at < tokens.len() {
            match text(at) {
                "mod" if matches!(text(at + 2), ";" | "{") => {
                    let name = text(at + 1).to_owned();
                    let child = [path.clone(), vec![name.clone()]].concat();
                    self.entry(&path).children.insert(name.clone());
                    let below = directory.join(&name);
                    if text(at + 2) == "{" {
                        let end = end_of_braces(tokens, at + 2);
                        self.module(&tokens[at + 3..end], child, file, &below);
                        at = end;
                    } else {
                        let beside = directory.join(format!("{name}.rs"));
                        let file = if beside.exists() { beside } else { below.join("mod.rs") };
                        self.read(child, &file, &below);
                        at += 3;
                    }
                }
                "use" => {
                    let end = (at..tokens.len()).find(|&at| text(at) == ";").unwrap_or(tokens.len());
                    let is_public = at > 0 && matches!(text(at - 1), "pub" | ")");
                    self.use_tree(&path, &tokens[at + 1..end], Vec::new(), is_public);
                    at = end + 1;
                }
                word if is_name(word) && text(at + 1) == "::" && (at == 0 || text(at - 1) != "::") => {
                    let mut names = vec![word.to_owned()];
                    let line = tokens[at].line;
                    at += 1;
                    while text(at) == "::" && is_name(text(at + 1)) {
                        names.push(text(at + 1).to_owned());
                        at += 2;
                    }
                    self.entry(&path).references.push(Reference { path: names, line, is_reexport: false });
                }
                _ => at += 1,
            }
        }
    }

    /// Reads the tokens after `use`, such as `a::{b, c::d as e}`.
    fn use_tree(&mut self, module: &[String], tokens: &[Token], mut path: Vec<String>, is_reexport: bool) {
        let mut alias = None;
        for (at, token) in tokens.iter().enumerate() {
            match token.text.as_str() {
                "::" | "*" => {}
                "{" => {
                    for branch in branches(&tokens[at + 1..end_of_braces(tokens, at)]) {
                        self.use_tree(module, branch, path.clone(), is_reexport);
                    }
                    return;
                }
                "as" => {
                    alias = tokens.get(at + 1).map(|token| token.text.clone());
                    break;
                }
                "self" if at + 1 == tokens.len() && !path.is_empty() => {}
                name => path.push(name.to_owned()),
            }
        }
        let (Some(name), Some(token)) = (alias.or_else(|| path.last().cloned()), tokens.first()) else { return };
        let module = self.entry(module);
        module.references.push(Reference { path: path.clone(), line: token.line, is_reexport });
        if tokens.last().is_some_and(|last| last.text != "*") {
            module.aliases.insert(name, path);
        }
    }

    fn entry(&mut self, path: &[String]) -> &mut Module {
        self.0.entry(path.to_vec()).or_default()
    }

    fn uses(&self) -> Vec<Use> {
        let mut uses = Vec::new();
        for (from, module) in &self.0 {
            for Reference { path, line, is_reexport } in &module.references {
                if let Some(to) = self.defining(from, path, 0) {
                    let (from, file) = (from.clone(), module.file.clone());
                    uses.push(Use { from, to, is_reexport: *is_reexport, file, line: *line });
                }
            }
        }
        uses
    }

    /// Returns the module that defines the item to which `path` refers in `module`, or `None` if the item is outside of
    /// the crate.
    fn defining(&self, module: &[String], path: &[String], depth: usize) -> Option<ModulePath> {
        let mut at = module.to_vec();
        let mut names = path;
        match names.first()?.as_str() {
            "crate" => {
                at.clear();
                names = &names[1..];
            }
            "self" => names = &names[1..],
            "super" => {
                while names.first().is_some_and(|name| name == "super") {
                    at.pop();
                    names = &names[1..];
                }
            }
            name if self.0.get(module)?.children.contains(name) => {}
            _ => return None,
        }
        while let Some(name) =
            names.first().filter(|name| self.0.get(&at).is_some_and(|of| of.children.contains(*name)))
        {
            at.push(name.clone());
            names = &names[1..];
        }
        // If the item is imported with `use`, another module defines it. The limit on the depth ends cyclic aliases,
        // which occur only in code that does not compile.
        let alias = names.first().and_then(|name| self.0.get(&at)?.aliases.get(name)).filter(|_| depth < 8);
        let elsewhere = alias.and_then(|alias| self.defining(&at, &[alias, &names[1..]].concat(), depth + 1));
        Some(elsewhere.unwrap_or(at))
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns the index of the brace that closes the brace at `open`.
fn end_of_braces(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth += i32::from(token.text == "{") - i32::from(token.text == "}");
        if depth == 0 {
            return at;
        }
    }
    tokens.len()
}

/// Splits tokens at commas outside of braces.
fn branches(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_i32;
    let split = tokens.split(|token| {
        depth += i32::from(token.text == "{") - i32::from(token.text == "}");
        depth == 0 && token.text == ","
    });
    split.filter(|branch| !branch.is_empty()).collect()
}
