//! `aur mem eval mine`: builds golden sets from the repository itself.

use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_evaluation::mine::{
    self, Definition, DefinitionKind, IndexerBackend, MineOptions, Outline, Overview, Selection,
};
use aurora_languages::{FileSymbols, Language, Parser, Symbol, SymbolKind, by_name};
use aurora_stages::formats;
use aurora_stages::index::MAX_PIPELINE_BYTES;
use aurora_storage::ProjectDirectory;
use clap::Args;

use crate::context::{Failure, Outcome, Program, args, indexing, mined_trees, place};
use crate::output::{sanitize, units, width};

/// Build golden sets from a repository: names, documentation, commits
#[derive(Debug, Args)]
#[command(after_help = "\
Writes four sets: `exact` (names defined once), `docstring` (first sentences of the documentation of
functions, searched in a copy without it), `topics` (the same for files) and `commit` (subjects of
commits and what they changed). A part of each set is held out from tuning. The copies are indexed
in the same directory.

Examples:
  aur mem eval mine
  aur mem eval mine ~/src/app --out /tmp/app-eval --max 400")]
pub(crate) struct MineArgs {
    /// Repository [default: the current directory]
    pub(crate) path: Option<PathBuf>,

    /// Directory to write [default: .aurora/eval in the repository]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Maximum number of questions per set, including held-out questions
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) max: usize,

    /// Seed for the selection of questions
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Percentage of questions that are held out from tuning
    #[arg(long, value_name = "PCT", default_value = "30", value_parser = args::parse_percent)]
    pub(crate) held_out: f64,
}

/// Mines golden sets and prints the number of questions in each.
pub(crate) fn run(args: &MineArgs, program: &Program) -> Outcome {
    let root = place::for_index(args.path.as_deref())?;
    let root = root.canonicalize().map_err(|error| Failure::new(format!("{}: {error}", root.display())))?;
    let out = match &args.out {
        Some(out) => std::path::absolute(out).map_err(|error| Failure::new(format!("{}: {error}", out.display())))?,
        None => ProjectDirectory::in_root(&root).path_of(ProjectDirectory::MINED_SETS),
    };
    let selection = Selection { most: args.max, seed: args.seed, held_out: args.held_out };
    let backend = StagesBackend { source: root.clone(), program };
    let directory = match &args.out {
        Some(out) => create_named(out),
        None => {
            let directory = ProjectDirectory::in_root(&root).create();
            // An earlier version may have created the directory with access for other users, so remove their access.
            let sets = directory.and_then(|directory| directory.create_private_directory(ProjectDirectory::MINED_SETS));
            sets.inspect(Directory::make_private)
        }
    };
    let directory = directory.map_err(|error| Failure::new(format!("cannot write {}: {error}", out.display())))?;
    let trees = mined_trees::create(&out)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", mined_trees::path_for(&out).display())))?;
    let manifest = mine::run(&MineOptions { root, out: directory, trees, selection }, &backend)?;
    program.terminal.write(|stdout| {
        let widest = width::widest(manifest.sets.iter().map(|set| &set.name));
        for set in &manifest.sets {
            let name = width::pad(&set.name, widest);
            writeln!(stdout, "{name}  {:>5} questions  {}", units::count(set.questions as u64), set.file)?;
        }
        writeln!(stdout, "Written to {}; `aur mem eval` uses it", sanitize::line(&out.display().to_string()))
    })
}

/// Opens a directory given by the user. A missing directory is created, and only the user may access it.
fn create_named(path: &Path) -> io::Result<Directory> {
    let path = std::path::absolute(path)?;
    match Directory::open_root(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Directory::create_private_root(&path),
        opened => opened,
    }
}

/// Copies the pipeline file of a project, if there is one.
fn copy_pipeline(from: &Path, to: &Path) -> io::Result<()> {
    let read = |directory: Directory| directory.read(ProjectDirectory::PIPELINE, MAX_PIPELINE_BYTES);
    match ProjectDirectory::in_root(from).open().and_then(read) {
        Ok(pipeline) => ProjectDirectory::in_root(to).create()?.write(ProjectDirectory::PIPELINE, &pipeline),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives the miner access to the parser and the indexer.
struct StagesBackend<'a> {
    source: PathBuf,
    program: &'a Program,
}

impl IndexerBackend for StagesBackend<'_> {
    fn is_code(&self, path: &str) -> bool {
        formats::format_of(path).is_some_and(|format| !formats::is_prose(format))
    }

    fn outline(&self, path: &str, text: &str) -> Outline {
        let Some(language) = formats::format_of(path).and_then(by_name) else { return Outline::default() };
        let parsed = Parser::new().parse(Some(language), text);
        Outline { overviews: overviews(language, &parsed, text), definitions: definitions(parsed.symbols, text) }
    }

    fn index(&self, root: &Path) -> Result<Vec<String>, String> {
        let updated = if root == self.source {
            indexing::update(root, self.program)
        } else {
            let copied = copy_pipeline(&self.source, root);
            copied.map_err(|error| {
                format!("{}: {error}", ProjectDirectory::in_root(root).path_of(ProjectDirectory::PIPELINE).display())
            })?;
            indexing::update_mined(root, self.program)
        };
        let listed = updated.and_then(|()| -> Outcome<Vec<String>> {
            let snapshot = self.program.project(root.to_owned()).snapshot()?;
            let paths = snapshot.files().map(|file| file.map(|file| file.path));
            Ok(paths.collect::<Result<Vec<_>, _>>()?)
        });
        let mut paths = listed.map_err(|failure| {
            if let Failure::Findings { found, .. } = &failure {
                self.program.terminal.show(found);
            }
            failure.message()
        })?;
        // Keep only files of the tree: the index also contains conversation logs and documents of custom stages.
        let tree = Directory::open_root(root).map_err(|error| format!("{}: {error}", root.display()))?;
        paths.retain(|path| tree.metadata(path).is_ok());
        Ok(paths)
    }

    fn progress(&self, message: &str) {
        self.program.terminal.note(message);
    }
}

fn definitions(symbols: Vec<Symbol>, text: &str) -> Vec<Definition> {
    let line_of = |at: u32| text.as_bytes()[..at as usize].iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
    let definitions = symbols.into_iter().filter_map(|symbol| {
        let kind = match symbol.kind {
            SymbolKind::Function | SymbolKind::Method => DefinitionKind::Callable,
            kind if is_type(kind) => DefinitionKind::Type,
            _ => return None,
        };
        Some(Definition {
            kind,
            declared_until: symbol.body.map_or(symbol.lines.1, line_of).min(symbol.lines.1),
            name: symbol.name,
            qualified_name: symbol.qualified_name,
            lines: symbol.lines,
            doc: symbol.doc,
            doc_bytes: symbol.doc_bytes.map(range),
        })
    });
    definitions.collect()
}

/// Returns the documentation of the file, the other comments at its start, and the documentation of its types and
/// modules.
fn overviews(language: &Language, parsed: &FileSymbols, text: &str) -> Vec<Overview> {
    let is_doc =
        |run: &&Range<u32>| parsed.doc_bytes.as_ref().is_some_and(|doc| doc.start < run.end && run.start < doc.end);
    let comment = |run: &Range<u32>| {
        let source = text.get(range(run.clone())).unwrap_or_default();
        (None, language.comment_text(source), run.clone())
    };
    // Prefer the opening comment to `doc_bytes`, because the comment does not include a `#!` line above it.
    let doc = match parsed.opening.iter().find(is_doc) {
        Some(run) => Some(comment(run)),
        None => parsed.doc_bytes.clone().map(|bytes| (None, parsed.doc.clone(), bytes)),
    };
    let opening = parsed.opening.iter().filter(|run| !is_doc(run)).map(comment);
    let symbols = parsed.symbols.iter().filter(|symbol| is_type(symbol.kind) || symbol.kind == SymbolKind::Module);
    let types = symbols.filter_map(|symbol| {
        symbol.doc_bytes.clone().map(|bytes| (Some(symbol.name.clone()), symbol.doc.clone(), bytes))
    });
    let found = doc.into_iter().chain(opening).chain(types);
    found.map(|(name, text, bytes)| Overview { name, text, bytes: range(bytes) }).collect()
}

fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind::{Class, Enum, Interface, Struct, Type};
    matches!(kind, Class | Interface | Type | Struct | Enum)
}

fn range(bytes: Range<u32>) -> Range<usize> {
    bytes.start as usize..bytes.end as usize
}
