//! A compiled and linked component.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use aurora_pipeline::StageContext;
use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Config, Engine, Store, UpdateDeadline};

use crate::compiled::CompiledModules;
use crate::contents;
use crate::imports;
use crate::limits::Limits;
use crate::state::State;

/// Interval at which running calls check whether they must end.
const TICK: Duration = Duration::from_millis(100);

/// Options for compiling and running a module.
#[derive(Clone, Debug)]
pub(crate) struct ModuleOptions {
    pub(crate) limits: Limits,
    pub(crate) has_clock: bool,
    pub(crate) compiled: Option<Arc<CompiledModules>>,
}

/// A compiled component with checked imports. Creating an instance of it is cheap.
pub(crate) struct Module {
    engine: Engine,
    pub(crate) linked: InstancePre<State>,
    limits: Limits,
    is_stopping: Arc<AtomicBool>,
}

impl Module {
    /// Compiles a component.
    ///
    /// # Errors
    /// Returns a message for the author of the module if it is not a component, is too large, or has an unsupported
    /// import.
    pub(crate) fn compile(bytes: &[u8], options: &ModuleOptions) -> Result<Self, String> {
        contents::check(bytes)?;
        let engine = Engine::new(&engine_config(options)).map_err(|error| format!("{error:#}"))?;
        let component = Component::from_binary(&engine, bytes).map_err(|error| not_a_component(bytes, &error))?;
        if let Some(compiled) = &options.compiled {
            // If the hash is not recorded, the compiled module is not used again. This is only slower.
            let _ = compiled.record();
        }
        let mut linker = Linker::new(&engine);
        imports::define(&mut linker, &component, options.has_clock)?;
        let linked = linker.instantiate_pre(&component).map_err(|error| {
            format!("the imports of the module do not fit the world `aurora:stage/stage@1.0.0`: {error:#}")
        })?;
        Ok(Self { engine, linked, limits: options.limits, is_stopping: Arc::default() })
    }

    /// Runs calls of the module. Interrupts them if they take too long or the run is stopping.
    pub(crate) fn interruptible<R>(&self, cx: &StageContext<'_>, calls: impl FnOnce() -> R) -> R {
        thread::scope(|scope| {
            let (done, wait) = mpsc::channel::<()>();
            let watch = move || {
                while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    self.is_stopping.store(cx.cancelled(), Ordering::Relaxed);
                    self.engine.increment_epoch();
                }
            };
            // If the thread cannot be spawned, calls only end when their fuel is consumed.
            let _ = thread::Builder::new().name("aurora-wasm-watch".to_owned()).spawn_scoped(scope, watch);
            let result = calls();
            drop(done);
            result
        })
    }

    /// Creates a store with the fuel and the limits of one call.
    pub(crate) fn store(&self) -> Store<State> {
        let limits = self.limits;
        let mut store = Store::new(&self.engine, State::new(limits));
        store.set_fuel(limits.fuel).expect("the engine counts fuel");
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(limits.max_result_bytes());
        store.set_epoch_deadline(1);
        let is_stopping = Arc::clone(&self.is_stopping);
        store.epoch_deadline_callback(move |store| {
            let is_over = is_stopping.load(Ordering::Relaxed) || store.data().started.elapsed() > limits.time;
            Ok(if is_over { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) })
        });
        store
    }
}

/// Returns an engine configuration with which a module has the same results on every machine. Calls are limited by
/// fuel, and NaNs and relaxed SIMD are deterministic.
fn engine_config(options: &ModuleOptions) -> Config {
    let mut config = Config::new();
    config.consume_fuel(true).epoch_interruption(true);
    config.cranelift_nan_canonicalization(true).relaxed_simd_deterministic(true);
    // The WIT interface uses 32-bit addresses. Shared memories are not available, because the necessary cargo feature
    // of wasmtime is disabled. Waiting for a shared memory would consume no fuel.
    config.wasm_memory64(false);
    config.cache(options.compiled.as_deref().and_then(CompiledModules::cache));
    config
}

fn not_a_component(bytes: &[u8], error: &wasmtime::Error) -> String {
    // The version field of the header is 1 in a core module. In a component, it is 13 with a layer of 1.
    if bytes.starts_with(b"\0asm\x01\0\0\0") {
        return "the file is a core WebAssembly module, not a component; `wasm-tools component new` converts it".into();
    }
    format!("the file is not a WebAssembly component: {error:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Call, CallError};
    use crate::guest;
    use crate::interface::{Batch, Settings};

    /// Returns the error of a call that loops while the epoch of the engine advances.
    fn call(limits: Limits, is_stopping: bool) -> CallError {
        let bytes = guest::component_with("(func $loop (loop $forever (br $forever))) (start $loop)", "");
        let module =
            Module::compile(&bytes, &ModuleOptions { limits, has_clock: false, compiled: None }).expect("compiles");
        module.is_stopping.store(is_stopping, Ordering::Relaxed);
        let settings = Settings { name: String::new(), config: String::new(), reads: Vec::new(), writes: Vec::new() };
        let batch = Batch { files: 0, chunk_files: Vec::new(), columns: Vec::new() };
        thread::scope(|scope| {
            let (done, wait) = mpsc::channel::<()>();
            scope.spawn(|| {
                let wait = wait;
                while wait.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Timeout) {
                    module.engine.increment_epoch();
                }
            });
            let result = Call::new(&module).run(settings, batch);
            drop(done);
            result.expect_err("the module loops forever")
        })
    }

    #[test]
    fn a_call_that_takes_too_long_is_interrupted() {
        let limits = Limits { time: Duration::from_millis(10), ..Limits::new(u64::MAX, 1 << 20) };
        assert!(matches!(call(limits, false), CallError::Interrupted(_)));
    }

    #[test]
    fn a_call_of_a_run_that_is_stopping_is_interrupted() {
        assert!(matches!(call(Limits::new(u64::MAX, 1 << 20), true), CallError::Interrupted(_)));
    }

    #[test]
    fn a_call_within_its_time_ends_when_its_fuel_is_consumed() {
        let failed = CallError::Failed("the module consumed its `fuel`".to_owned());
        assert_eq!(call(Limits { time: Duration::from_secs(600), ..Limits::new(50_000_000, 1 << 20) }, false), failed);
    }
}
