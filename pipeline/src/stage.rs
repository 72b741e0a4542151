//! The contract of a stage: its configuration, the stage itself, and its workers.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::context::StageContext;
use crate::diagnostics::Problems;
use crate::emitter::Emitter;
use crate::grant::AccessError;
use crate::view::BatchView;

/// The configuration of one type of stage, as `[stage.<name>]` of a pipeline's file gives it.
pub trait StageConfig: DeserializeOwned + Send + 'static {
    /// The name under which pipelines use this type.
    const TYPE: &'static str;

    /// The columns which a stage of this configuration touches.
    fn access(&self) -> Access;

    /// Reports values which are well-formed and yet wrong. Does no I/O.
    fn check(&self, problems: &mut Problems<'_>) {
        let _ = problems;
    }

    /// Makes the stage: opens files, loads models.
    ///
    /// # Errors
    /// When the stage cannot be made; the message says what to do.
    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError>;
}

/// A stage which is ready to run. It is shared by its workers.
pub trait Stage: Send + Sync {
    /// Starts a worker on the thread which calls; it keeps buffers from batch to batch.
    fn open(&self) -> Box<dyn Worker + '_>;

    /// What the output of this stage depends on besides its input.
    fn fingerprint(&self) -> Fingerprint;

    /// Called once, after every worker has finished, and never when the run has failed. A stage which declares
    /// `restructures()` may emit further batches for the stages behind it. After a cancellation the stage has not
    /// seen all there is ([`StageContext::cancelled`]).
    ///
    /// # Errors
    /// Any error ends the run.
    fn close(&self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let _ = (out, cx);
        Ok(())
    }
}

/// One worker of a stage: a source produces, every other stage processes.
///
/// A closure that takes a view and a context is a worker too; [`producer`] makes one for a source.
pub trait Worker {
    /// Works on one batch. A bad file is reported to `cx`, and the run goes on.
    ///
    /// # Errors
    /// [`StageError::Stopped`] from a transform gives the batch up where the run is to stop anyway. Any other error
    /// ends the run.
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let _ = batch;
        Err(StageError::new(format!("stage `{}` does not process batches", cx.stage())))
    }

    /// Emits batches until there are no more. Emission waits for the memory budget, and fails with
    /// [`StageError::Stopped`] when the run is to end, which is handed on with `?`.
    ///
    /// # Errors
    /// Any error but `Stopped` ends the run.
    fn produce(&mut self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let _ = out;
        Err(StageError::new(format!("stage `{}` does not produce batches", cx.stage())))
    }

    /// Called when the worker has seen its last batch, and never when the run has failed.
    ///
    /// # Errors
    /// Any error ends the run.
    fn finish(&mut self, cx: &StageContext<'_>) -> Result<(), StageError> {
        let _ = cx;
        Ok(())
    }
}

impl<F> Worker for F
where
    F: FnMut(&mut BatchView<'_>, &StageContext<'_>) -> Result<(), StageError>,
{
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        self(batch, cx)
    }
}

/// A source's worker made of a closure.
pub fn producer<'a, F>(produce: F) -> Box<dyn Worker + 'a>
where
    F: FnMut(&mut Emitter<'_>, &StageContext<'_>) -> Result<(), StageError> + 'a,
{
    Box::new(Producer(produce))
}

struct Producer<F>(F);

impl<F> Worker for Producer<F>
where
    F: FnMut(&mut Emitter<'_>, &StageContext<'_>) -> Result<(), StageError>,
{
    fn produce(&mut self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        (self.0)(out, cx)
    }
}

/// Why a stage could not be made, or could not go on. Either ends the run; a bad file does not belong here.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The stage broke its declaration.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The run is to end, by cancellation or because another stage failed. Not an error of this stage.
    #[error("the run is being stopped")]
    Stopped,
    /// Everything else.
    #[error("{message}")]
    Failed {
        /// What happened to what, and what to do.
        message: String,
        /// The cause, where there is one.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

impl StageError {
    /// An error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// An error with a message and its cause.
    pub fn caused(message: impl Into<String>, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed { message: message.into(), source: Some(cause.into()) }
    }

    /// Wraps an error whose own message says enough.
    pub fn from_error(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed { message: cause.to_string(), source: cause.source().is_some().then(|| Box::new(cause) as _) }
    }
}

/// What the output of a stage depends on besides its input: when it changes, what the stage made is out of date.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The type of the stage; [`Pipeline::fingerprints`](crate::Pipeline::fingerprints) puts the stage's name here.
    pub name: String,
    /// Raised by the stage's author when the same input gives another output.
    pub version: u32,
    /// The parts of the configuration which bear on the output, `key=value;` each.
    pub config: String,
}

impl Fingerprint {
    /// A fingerprint without configuration.
    pub fn new(name: impl Into<String>, version: u32) -> Self {
        Self { name: name.into(), version, config: String::new() }
    }

    /// Adds a value which the output depends on.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Self {
        let value = value.to_string().replace('\\', "\\\\").replace(';', "\\;");
        self.config.push_str(&format!("{key}={value};"));
        self
    }

    /// The same under another name; the type becomes a part of the configuration.
    pub(crate) fn renamed(self, name: &str) -> Self {
        if self.name == name {
            return self;
        }
        Self { name: name.to_owned(), version: self.version, config: format!("use={};{}", self.name, self.config) }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} v{} {}", self.name, self.version, self.config)
    }
}

/// What a stage may use while it is made.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
    /// The directory which the pipeline works on.
    pub root: &'a Path,
    /// What the program lends to stages.
    pub services: &'a Services,
}

/// Shared objects by type: an index writer, a model directory.
#[derive(Clone, Default)]
pub struct Services {
    objects: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl Services {
    /// No services.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lends an object, in place of any other of its type.
    pub fn insert<T: Any + Send + Sync>(&mut self, object: Arc<T>) {
        self.objects.insert(TypeId::of::<T>(), object);
    }

    /// The object of that type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.objects.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }
}
