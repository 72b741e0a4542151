//! Searchers for memories.

use std::sync::Arc;

use aurora_project::user;
use aurora_query::{Mode, SearchConfig, Searcher};
use aurora_storage::{AccessLog, Snapshot};

use crate::error::MemoryError;
use crate::memory::Memory;
use crate::rules::{MemoryRules, Visibility};

impl Memory {
    /// Opens a searcher that sees every earlier change of the memory. Returns `None` if no entry was ever added.
    ///
    /// # Errors
    /// Fails if the entries cannot be read or the index cannot be written.
    pub fn searcher(
        &self,
        config: SearchConfig,
        mode: Mode,
        rules: &Arc<MemoryRules>,
        visibility: &Visibility,
    ) -> Result<Option<Arc<Searcher>>, MemoryError> {
        self.open_searcher(self.snapshot()?, config, mode, rules, visibility)
    }

    /// Opens a searcher over the published index, which may lack the newest changes. Returns `None` if there is no
    /// index.
    ///
    /// # Errors
    /// Fails if the index cannot be opened.
    pub(crate) fn published_searcher(
        &self,
        config: SearchConfig,
        mode: Mode,
        rules: &Arc<MemoryRules>,
        visibility: &Visibility,
    ) -> Result<Option<Arc<Searcher>>, MemoryError> {
        let snapshot = if self.project().has_index() { Some(self.project().snapshot()?) } else { None };
        self.open_searcher(snapshot, config, mode, rules, visibility)
    }

    fn open_searcher(
        &self,
        snapshot: Option<Snapshot>,
        config: SearchConfig,
        mode: Mode,
        rules: &Arc<MemoryRules>,
        visibility: &Visibility,
    ) -> Result<Option<Arc<Searcher>>, MemoryError> {
        let Some(snapshot) = snapshot else { return Ok(None) };
        let opened = self.project().searcher(self.place().owner().as_str(), snapshot, config, mode)?;
        Ok(Some(Arc::new(opened.searcher.with_memory(visibility.search_rules(rules)))))
    }

    /// Opens the access history, which records the chunks that searches returned and that outcomes judged. Returns
    /// `None` if the history cannot be opened.
    pub fn access_log(&self) -> Option<AccessLog> {
        AccessLog::open(&self.project().directory(), &user::trust().known).ok()
    }
}
