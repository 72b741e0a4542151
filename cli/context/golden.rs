//! Loads the golden sets that the arguments select, and opens the indexes that their questions are evaluated on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_evaluation::engine::Engine;
use aurora_evaluation::golden::{self, GoldenSource, Question};
use aurora_evaluation::mine::Manifest;
use aurora_evaluation::report::{Run, unknown_set};
use aurora_project::ProjectError;
use aurora_query::{ConfigLayers, LoadedReranker, Mode, SearchConfig};
use aurora_storage::ProjectDirectory;

use crate::context::{Failure, Outcome, Program, first_index, indexing, mined_trees, query_embedder};

/// Questions for one index.
pub(crate) struct QuestionBatch {
    /// The indexed directory.
    pub(crate) root: PathBuf,
    /// Whether the root is a copy of an old tree of the repository, created by `aur mem eval mine`.
    pub(crate) mined: bool,
    /// Whether the questions are held out from tuning.
    pub(crate) held_out: bool,
    pub(crate) questions: Vec<Question>,
}

/// Reads the golden files in `given`, and the golden sets in the directories in `given`. If `given` is empty, reads the
/// sets that were mined in `root`.
pub(crate) fn gather(given: &[PathBuf], root: &Path) -> Outcome<Vec<QuestionBatch>> {
    let mut batches = Vec::new();
    let mut sources = Vec::new();
    for directory in directories(given, root)? {
        match Manifest::read(&directory)? {
            Some(manifest) => batches.extend(mined(&directory, &manifest)?),
            None => sources.extend(golden_files(&directory)?),
        }
    }
    sources.extend(given.iter().filter(|path| !path.is_dir()).map(|path| GoldenSource::named(path)));
    if !sources.is_empty() {
        let questions = golden::read(sources)?;
        batches.push(QuestionBatch { root: root.to_owned(), mined: false, held_out: false, questions });
    }
    Ok(batches)
}

/// Opens the directories in `given`. If `given` is empty, opens the directory of the mined sets of `root`, without
/// following symbolic links.
fn directories(given: &[PathBuf], root: &Path) -> Outcome<Vec<Directory>> {
    let failed = |path: &Path, error: io::Error| Failure::new(format!("cannot read {}: {error}", path.display()));
    if !given.is_empty() {
        let directories = given.iter().filter(|path| path.is_dir());
        return directories.map(|path| Directory::open_root(path).map_err(|error| failed(path, error))).collect();
    }
    let default = ProjectDirectory::in_root(root).path_of(ProjectDirectory::MINED_SETS);
    let opened = ProjectDirectory::in_root(root)
        .open()
        .and_then(|directory| directory.open_directory(ProjectDirectory::MINED_SETS));
    match opened {
        Ok(directory) => Ok(vec![directory]),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Failure::new(format!("no golden set: none was given, and none was mined in {}", default.display()))
                .with_help("make one with `aur mem eval mine`, or give a file of questions"))
        }
        Err(error) => Err(failed(&default, error)),
    }
}

fn mined(directory: &Directory, manifest: &Manifest) -> Outcome<Vec<QuestionBatch>> {
    let (mut batches, trees) = (Vec::new(), mined_trees::path_for(directory.path()));
    for set in &manifest.sets {
        let questions = manifest.questions(directory, set)?;
        if !questions.is_empty() {
            let root = manifest.root_of(&trees, set);
            let root = root.map_err(|error| {
                Failure::from_error(&error).with_help("`aur mem eval mine` creates the trees again")
            })?;
            batches.push(QuestionBatch { root, mined: true, held_out: set.held_out, questions });
        }
    }
    if batches.is_empty() {
        Err(Failure::new(format!("{} contains no questions", directory.path().display())))
    } else {
        Ok(batches)
    }
}

/// Returns the golden files of a directory that was not created by mining.
fn golden_files(directory: &Directory) -> Outcome<Vec<GoldenSource>> {
    let shown = directory.path().display();
    let entries = directory.entries().map_err(|error| Failure::new(format!("cannot read {shown}: {error}")))?;
    let is_golden = |name: &Path| {
        name.extension().is_some_and(|end| ["jsonl", "yaml", "yml"].iter().any(|known| end.eq_ignore_ascii_case(known)))
    };
    let mut names: Vec<OsString> = entries.into_iter().map(|(name, _)| name).collect();
    names.retain(|name| is_golden(Path::new(name)));
    names.sort();
    if names.is_empty() {
        return Err(Failure::new(format!("{shown} contains no golden set (.jsonl or .yaml)")));
    }
    Ok(names.iter().map(|name| GoldenSource::below(directory, name)).collect())
}

/// Keeps only the questions of the named sets, or all questions if no set is named.
pub(crate) fn keep_sets(batches: &mut Vec<QuestionBatch>, sets: &[String]) -> Outcome {
    if sets.is_empty() {
        return Ok(());
    }
    let mut known: Vec<String> =
        batches.iter().flat_map(|batch| &batch.questions).map(|question| question.set.clone()).collect();
    known.sort();
    known.dedup();
    if let Some(wrong) = sets.iter().find(|set| !known.contains(set)) {
        return Err(Failure::new(unknown_set(wrong, known.iter().map(String::as_str))));
    }
    for batch in batches.iter_mut() {
        batch.questions.retain(|question| sets.contains(&question.set));
    }
    batches.retain(|batch| !batch.questions.is_empty());
    Ok(())
}

/// A function that opens the index of a root. The flag is [`QuestionBatch::mined`].
pub(crate) type Open<'a> = dyn Fn(&Path, bool) -> Outcome<Engine> + 'a;

/// Opens the engine of every batch. Batches with the same root share an engine.
pub(crate) fn engines(batches: &[QuestionBatch], open: &Open<'_>) -> Outcome<Vec<Engine>> {
    let mut engines: Vec<Engine> = Vec::new();
    for (at, batch) in batches.iter().enumerate() {
        let engine = match batches[..at].iter().position(|earlier| earlier.root == batch.root) {
            Some(earlier) => engines[earlier].clone(),
            None => open(&batch.root, batch.mined)?,
        };
        engines.push(engine);
    }
    Ok(engines)
}

/// Asks the questions of every batch. `engines` are the engines of the batches.
pub(crate) fn ask(engines: &[Engine], batches: &[QuestionBatch], config: &SearchConfig) -> Outcome<Run> {
    let mut run = Run::new();
    for (engine, batch) in engines.iter().zip(batches) {
        let asked = engine.ask(config, &batch.questions)?;
        run.extend(batch.questions.iter().cloned().zip(asked));
    }
    Ok(run)
}

/// Opens an index for evaluation, with the rerankers that configurations can name. If the root is a
/// copy created by `aur mem eval mine`, its index is updated first. Any other directory is indexed only if it has no
/// index.
pub(crate) fn engine(
    root: &Path,
    mined: bool,
    mode: Mode,
    rerankers: &BTreeMap<String, LoadedReranker>,
    program: &Program,
) -> Outcome<Engine> {
    let project = program.project(root.to_owned());
    if mined {
        indexing::update_mined(root, program)?;
    } else {
        first_index::for_search(&project, false, program)?;
    }
    let snapshot = project.snapshot()?;
    let embedder = query_embedder::for_index(&project, &snapshot, mode, &program.terminal)?;
    let engine = Engine::new(snapshot, embedder, mode)?;
    Ok(engine.with_rerankers(rerankers.clone()))
}

/// Loads the configuration for an evaluation. `named` is either a configuration file, which is applied to the built-in
/// defaults only (the configurations of the user and the project are ignored), or `default` for the built-in defaults.
/// If it is `None`, the configuration that searches in `root` use is loaded.
pub(crate) fn config(named: Option<&Path>, root: &Path, program: &Program) -> Outcome<SearchConfig> {
    let loaded = match named {
        None => program.project(root.to_owned()).settings(Vec::new()),
        Some(name) if name == Path::new("default") => Ok(SearchConfig::default()),
        Some(file) if !file.is_file() => {
            return Err(Failure::new(format!("the configuration file {} does not exist", file.display()))
                .with_help("give a TOML file, or `default` for the built-in configuration"));
        }
        Some(file) => SearchConfig::load(&ConfigLayers { user: Some(file), ..ConfigLayers::default() })
            .map_err(ProjectError::Configuration),
    };
    Ok(loaded?)
}
