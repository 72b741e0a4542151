//! Memories as roots of a search.

use std::sync::Arc;

use aurora_project::{NamedSearcher, Searcher, user};
use aurora_query::{Mode, SearchConfig};
use aurora_storage::AccessLog;

use crate::error::MemoryError;
use crate::memory::Memory;
use crate::rules::{MemoryRules, Visibility};

impl Memory {
    /// Opens the memory as a root of a search that sees every earlier change; `None` if there are no entries.
    ///
    /// # Errors
    /// Fails if the entries cannot be read or the index cannot be written.
    pub fn searcher(
        &self,
        config: SearchConfig,
        mode: Mode,
        rules: &Arc<MemoryRules>,
        visibility: &Visibility,
    ) -> Result<Option<NamedSearcher>, MemoryError> {
        let Some(snapshot) = self.snapshot()? else { return Ok(None) };
        let searcher = Arc::new(Searcher::open(self.project(), snapshot, config, mode)?);
        let name = self.place().owner().as_str().to_owned();
        Ok(Some(NamedSearcher { name, searcher, memory: Some(visibility.search_rules(rules)) }))
    }

    /// Opens the history of shown and judged chunks; `None` if it cannot be opened.
    pub fn access_log(&self) -> Option<AccessLog> {
        AccessLog::open(&self.project().directory(), &user::trust().known).ok()
    }
}
