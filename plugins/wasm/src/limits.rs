//! The limits of a call.

use std::time::Duration;

use wasmtime::{ResourceLimiter, StoreContextMut, Trap};

/// Maximum number of entries in all tables of a call. A Python interpreter has about 10,000.
const MAX_TABLE_ENTRIES: usize = 1_000_000;
/// Maximum number of core module instances, of tables, and of linear memories. A Python interpreter has about 50
/// instances.
const MAX_INSTANCES: usize = 200;
/// Fuel for a call of a host function, which takes longer than an instruction.
const FUEL_PER_HOST_CALL: u64 = 1_000;
/// Fuel for each byte that a host function copies.
const FUEL_PER_HOST_BYTE: u64 = 10;
/// The maximum duration of a call in seconds is its fuel limit divided by this number. Calls usually consume a hundred
/// times as much fuel per second.
const MIN_FUEL_PER_SECOND: u64 = 10_000_000;

/// The limits of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Amount of fuel. An instruction costs about one unit.
    pub(crate) fuel: u64,
    /// Maximum size of all linear memories together, in bytes.
    pub(crate) memory: u64,
    /// Maximum duration. The fuel usually ends a call earlier, unless the module performs slow operations that cost
    /// little fuel.
    pub(crate) time: Duration,
}

impl Limits {
    pub(crate) fn new(fuel: u64, memory: u64) -> Self {
        Self { fuel, memory, time: Duration::from_secs(fuel.div_ceil(MIN_FUEL_PER_SECOND)) }
    }

    /// Maximum number of bytes that a call may return. A module can return the same string many times, so its memory
    /// does not limit the size of the result.
    pub(crate) fn max_result_bytes(self) -> usize {
        usize::try_from(self.memory / 4).unwrap_or(usize::MAX)
    }
}

/// Consumes the fuel for a call of a host function that copies `bytes` bytes.
///
/// # Errors
/// Returns an error if there is not enough fuel left.
pub(crate) fn charge<T: 'static>(store: &mut StoreContextMut<'_, T>, bytes: usize) -> wasmtime::Result<()> {
    let cost = FUEL_PER_HOST_CALL.saturating_add(FUEL_PER_HOST_BYTE.saturating_mul(bytes as u64));
    let left = store.get_fuel()?.checked_sub(cost);
    store.set_fuel(left.unwrap_or(0))?;
    if left.is_some() { Ok(()) } else { Err(Trap::OutOfFuel.into()) }
}

/// Limits the linear memory and the tables of an instance.
#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    free_bytes: u64,
    free_entries: usize,
    /// Whether a growth was rejected because of the limits.
    pub(crate) is_exceeded: bool,
}

impl MemoryLimiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { free_bytes: limits.memory, free_entries: MAX_TABLE_ENTRIES, is_exceeded: false }
    }
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if is_beyond(desired, maximum) {
            return Ok(false);
        }
        let left = self.free_bytes.checked_sub(desired.saturating_sub(current) as u64);
        self.free_bytes = left.unwrap_or(self.free_bytes);
        self.is_exceeded |= left.is_none();
        Ok(left.is_some())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        if is_beyond(desired, maximum) {
            return Ok(false);
        }
        let left = self.free_entries.checked_sub(desired.saturating_sub(current));
        self.free_entries = left.unwrap_or(self.free_entries);
        self.is_exceeded |= left.is_none();
        Ok(left.is_some())
    }

    fn instances(&self) -> usize {
        MAX_INSTANCES
    }

    fn tables(&self) -> usize {
        MAX_INSTANCES
    }

    fn memories(&self) -> usize {
        MAX_INSTANCES
    }
}

/// Whether the growth exceeds the maximum that the module declares. wasmtime rejects such a growth after this check, so
/// it must not be counted.
fn is_beyond(desired: usize, maximum: Option<usize>) -> bool {
    maximum.is_some_and(|maximum| desired > maximum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_that_the_module_does_not_allow_is_not_counted() {
        let mut memory = MemoryLimiter::new(Limits::new(1, 100));
        for _ in 0..10 {
            assert!(!memory.memory_growing(0, 60, Some(50)).expect("no error"));
        }
        assert!(memory.memory_growing(0, 50, Some(50)).expect("no error"));
        assert!(!memory.is_exceeded);
        assert!(!memory.memory_growing(50, 101, None).expect("no error"), "two memories share the limit");
        assert!(memory.is_exceeded);
    }
}
