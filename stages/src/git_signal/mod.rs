//! `git-signal`: attributes every line of a file to the commit that last changed it.

pub mod history;
mod repository;
mod stored;
mod walk;

use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker,
};
use aurora_storage::HistoryTier;
use serde::{Deserialize, Serialize};

pub use repository::{KeptRun, Patience, Repository, Use};
pub use stored::from_stored;
pub(crate) use stored::to_stored;
pub use walk::{Walk, WalkProgress};

use crate::columns::{Attribution, BLAME, PATH, STATUS, TEXT};
use crate::job::Job;

/// `[stage.git-signal]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GitSignal {
    /// What is attributed.
    pub tier: HistoryTier,
}

impl GitSignal {
    /// Name of the stage's type.
    pub const NAME: &'static str = "git-signal";
}

impl StageConfig for GitSignal {
    const TYPE: &'static str = Self::NAME;

    fn access(&self) -> Access {
        Access::transform().reads([PATH.spec(), STATUS.spec(), TEXT.spec()]).writes([BLAME.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(GitSignalStage { job: Job::of(cx)?, tier: self.tier }))
    }
}

struct GitSignalStage {
    job: Arc<Job>,
    tier: HistoryTier,
}

impl Stage for GitSignalStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(GitSignalWorker { stage: self })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(GitSignal::TYPE, 2).with("tier", format!("{:?}", self.tier))
    }
}

struct GitSignalWorker<'a> {
    stage: &'a GitSignalStage,
}

impl Worker for GitSignalWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let (paths, statuses, texts) = (batch.read(PATH)?, batch.read(STATUS)?, batch.read(TEXT)?);
        let mut blames = Vec::with_capacity(paths.len());
        for ((path, status), text) in paths.iter().zip(statuses).zip(texts) {
            let blame = if status.has_chunks() {
                self.stage.job.repository.attribute(path, text, self.stage.tier)
            } else {
                Attribution::NoRepository
            };
            if let Attribution::Unavailable(reason) = &blame {
                cx.warn(path, &format!("git history unavailable: {reason}"));
            }
            blames.push(blame);
        }
        batch.write(BLAME, blames)?;
        Ok(())
    }
}
