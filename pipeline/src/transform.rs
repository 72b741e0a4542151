//! A shorthand for a stage that is a transform, has no state between batches, and is its own configuration.

use serde::de::{Deserialize, DeserializeOwned, Deserializer};

use crate::access::Access;
use crate::context::StageContext;
use crate::fingerprint::Fingerprint;
use crate::problems::Problems;
use crate::stage::{BuildContext, Stage, StageConfig, Worker};
use crate::stage_error::StageError;
use crate::view::BatchView;

/// A transform whose only state is its configuration. [`Stateless`] makes it a stage type, as in
/// `registry.register::<Stateless<Owners>>()`.
pub trait Transform: DeserializeOwned + Send + Sync + 'static {
    /// The name of the stage type in pipeline files.
    const TYPE: &'static str;

    /// The columns that the transform reads and writes.
    fn access(&self) -> Access;

    /// Everything that the output depends on, except the input.
    fn fingerprint(&self) -> Fingerprint;

    /// Processes one batch. May be called from several threads at once.
    ///
    /// # Errors
    /// Any error ends the run.
    fn process(&self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError>;

    /// Reports invalid values that have the correct type.
    fn check(&self, problems: &mut Problems<'_>) {
        let _ = problems;
    }
}

/// The stage of a [`Transform`].
#[derive(Clone, Copy, Debug)]
pub struct Stateless<T>(pub T);

impl<'de, T: Transform> Deserialize<'de> for Stateless<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

impl<T: Transform> StageConfig for Stateless<T> {
    const TYPE: &'static str = T::TYPE;

    fn access(&self) -> Access {
        self.0.access()
    }

    fn check(&self, problems: &mut Problems<'_>) {
        self.0.check(problems);
    }

    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self))
    }
}

impl<T: Transform> Stage for Stateless<T> {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, cx: &StageContext<'_>| self.0.process(batch, cx))
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint()
    }
}
