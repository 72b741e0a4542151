//! What a call may use.

use std::time::Duration;

use wasmtime::{ResourceLimiter, StoreContextMut, Trap};

/// Most entries of all tables together. A Python interpreter has about 10,000.
const MAX_TABLE_ENTRIES: usize = 1_000_000;
/// Most instances of core modules, tables and linear memories, each. A Python interpreter has about 50 instances.
const MAX_INSTANCES: usize = 200;
/// Fuel for a call of a function of the host, and for each byte that it moves. They take longer than an instruction.
const FUEL_PER_HOST_CALL: u64 = 1_000;
const FUEL_PER_HOST_BYTE: u64 = 10;
/// Fuel that a call consumes in a second at least: a hundredth of what is usual.
const MIN_FUEL_PER_SECOND: u64 = 10_000_000;

/// Limits of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Fuel; an instruction costs about one.
    pub(crate) fuel: u64,
    /// Bytes of all linear memories together.
    pub(crate) memory: u64,
    /// Longest time. Fuel ends a call earlier, unless the module has found work that costs little fuel and much time.
    pub(crate) time: Duration,
}

impl Limits {
    pub(crate) fn new(fuel: u64, memory: u64) -> Self {
        Self { fuel, memory, time: Duration::from_secs(fuel.div_ceil(MIN_FUEL_PER_SECOND)) }
    }

    /// Most bytes that a call may return. A module can return one string many times, so the size of its memory is no limit.
    pub(crate) fn max_result_bytes(self) -> usize {
        usize::try_from(self.memory / 4).unwrap_or(usize::MAX)
    }
}

/// Consumes the fuel for a call of a function of the host that moves some bytes.
///
/// # Errors
/// If there is not so much fuel left.
pub(crate) fn charge<T: 'static>(store: &mut StoreContextMut<'_, T>, bytes: usize) -> wasmtime::Result<()> {
    let cost = FUEL_PER_HOST_CALL.saturating_add(FUEL_PER_HOST_BYTE.saturating_mul(bytes as u64));
    let left = store.get_fuel()?.checked_sub(cost);
    store.set_fuel(left.unwrap_or(0))?;
    if left.is_some() { Ok(()) } else { Err(Trap::OutOfFuel.into()) }
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

/// Whether the module does not allow the growth itself. Such growth fails after the limiter was asked, so it must not count.
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
            assert!(!memory.memory_growing(0, 60, Some(50)).expect("an answer"));
        }
        assert!(memory.memory_growing(0, 50, Some(50)).expect("an answer"));
        assert!(!memory.is_exceeded);
        assert!(!memory.memory_growing(50, 101, None).expect("an answer"), "two memories share the limit");
        assert!(memory.is_exceeded);
    }
}
