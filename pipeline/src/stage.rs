//! The traits that a stage implements: for its configuration, for the stage itself, and for its workers.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::access::Access;
use crate::context::StageContext;
use crate::emitter::Emitter;
use crate::fingerprint::Fingerprint;
use crate::problems::Problems;
use crate::program_spec::ProgramSpec;
use crate::stage_error::StageError;
use crate::view::BatchView;

/// The configuration of one stage type: a table `[stage.<name>]` in a pipeline file.
pub trait StageConfig: DeserializeOwned + Send + 'static {
    /// The name of the stage type in pipeline files.
    const TYPE: &'static str;

    /// The columns that a stage with this configuration reads and writes.
    fn access(&self) -> Access;

    /// The program that the stage runs as a separate process, or the module that it runs in a sandbox.
    fn program(&self) -> Option<ProgramSpec> {
        None
    }

    /// Reports invalid values that have the correct type. Must not do any I/O.
    fn check(&self, problems: &mut Problems<'_>) {
        let _ = problems;
    }

    /// Builds the stage, for instance opens files and loads models.
    ///
    /// # Errors
    /// Returns an error if the stage cannot be built. The message should contain advice.
    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError>;
}

/// A stage that is ready to run. All its workers share it.
pub trait Stage: Send + Sync {
    /// Creates a worker on the calling thread. The worker may reuse buffers for several batches.
    fn open(&self) -> Box<dyn Worker + '_>;

    /// Everything that the output of this stage depends on, except its input.
    fn fingerprint(&self) -> Fingerprint;

    /// Called once after every worker has finished, but not if the run has failed. A stage that declares
    /// `restructures()` may emit more batches. After a cancellation ([`StageContext::cancelled`]), the stage may not
    /// have received every batch.
    ///
    /// # Errors
    /// Any error ends the run.
    fn close(&self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let _ = (out, cx);
        Ok(())
    }
}

/// One worker of a stage. The worker of a source produces batches. All other workers process batches.
///
/// A closure with a view and a context as arguments is also a worker. [`producer`] converts a closure into the worker
/// of a source.
pub trait Worker {
    /// Called for each batch of a sink before [`Worker::process`], in the order in which the source emitted the
    /// batches. Never called for two batches at the same time: the other workers of the sink wait.
    ///
    /// # Errors
    /// Any error ends the run.
    fn admit(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let _ = (batch, cx);
        Ok(())
    }

    /// Processes one batch. Errors in single files should be reported to `cx`, so that the run continues.
    ///
    /// # Errors
    /// If a transform returns [`StageError::Stopped`] while the run is stopping, its batch is dropped. Any other error
    /// ends the run.
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let _ = batch;
        Err(StageError::new(format!("stage `{}` does not process batches", cx.stage())))
    }

    /// Emits all batches. An emission waits for the memory budget and fails with [`StageError::Stopped`] if the run is
    /// stopping. The worker should return that error with `?`.
    ///
    /// # Errors
    /// Any error except `Stopped` ends the run.
    fn produce(&mut self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let _ = out;
        Err(StageError::new(format!("stage `{}` does not produce batches", cx.stage())))
    }

    /// Called after the worker's last batch, but not if the run has failed.
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

/// Converts a closure into the worker of a source.
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

/// The environment in which a stage is built.
#[derive(Clone, Copy)]
pub struct BuildContext<'a> {
    /// The directory that the pipeline processes.
    pub root: &'a Path,
    /// Objects that the program provides to stages.
    pub services: &'a Services,
}

/// Shared objects by type, such as an index writer or a model directory.
#[derive(Clone, Default)]
pub struct Services {
    objects: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Services({})", self.objects.len())
    }
}

impl Services {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an object. Replaces an existing object of the same type.
    pub fn insert<T: Any + Send + Sync>(&mut self, object: Arc<T>) {
        self.objects.insert(TypeId::of::<T>(), object);
    }

    /// Returns the object of the given type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.objects.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }
}
