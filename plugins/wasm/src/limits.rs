//! What an instance may use.

use wasmtime::ResourceLimiter;

/// Most entries of all tables together. A Python interpreter has about 10,000.
const MOST_TABLE_ENTRIES: usize = 1_000_000;

/// Limits of one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Fuel of one call; an instruction costs about one.
    pub(crate) fuel: u64,
    /// Bytes of all linear memories together.
    pub(crate) memory: u64,
}

impl Limits {
    /// Most bytes that one call may return. A module can return one string many times, so the size of its memory is no limit.
    pub(crate) fn most_result_bytes(self) -> usize {
        usize::try_from(self.memory / 4).unwrap_or(usize::MAX)
    }
}

/// Counts the linear memory and the tables of an instance.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    free_bytes: u64,
    free_entries: usize,
    /// Whether growth was refused.
    pub(crate) is_exceeded: bool,
}

impl MemoryLimiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { free_bytes: limits.memory, free_entries: MOST_TABLE_ENTRIES, is_exceeded: false }
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let left = self.free_bytes.checked_sub(desired.saturating_sub(current) as u64);
        self.free_bytes = left.unwrap_or(self.free_bytes);
        self.is_exceeded |= left.is_none();
        Ok(left.is_some())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let left = self.free_entries.checked_sub(desired.saturating_sub(current));
        self.free_entries = left.unwrap_or(self.free_entries);
        self.is_exceeded |= left.is_none();
        Ok(left.is_some())
    }
}
