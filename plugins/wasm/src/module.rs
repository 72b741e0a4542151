//! A component, compiled and linked.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use aurora_pipeline::StageContext;

use wasmtime::component::{Component, InstancePre, Linker};
use wasmtime::{Cache, CacheConfig, Config, Engine, Store};

use crate::imports;
use crate::limits::Limits;
use crate::state::State;

/// How often a call sees whether the run is stopping.
const TICK: Duration = Duration::from_millis(100);

/// A directory of the user for compiled modules, as a service of the program. It contains machine code that is run without
/// further checks, so it must not be one that a repository can write to. Without it, each run compiles its modules.
#[derive(Clone, Debug)]
pub struct CompiledModules(pub PathBuf);

/// How a module is compiled and run.
#[derive(Clone, Debug)]
pub(crate) struct ModuleOptions {
    pub(crate) limits: Limits,
    pub(crate) has_clock: bool,
    pub(crate) compiled: Option<Arc<CompiledModules>>,
}

/// A compiled component whose imports are known to fit. Cheap to instantiate.
pub(crate) struct Module {
    engine: Engine,
    linked: InstancePre<State>,
    limits: Limits,
}

impl Module {
    /// Compiles a component.
    ///
    /// # Errors
    /// A message for the author of the module: it is no component, or imports what no stage is given.
    pub(crate) fn compile(bytes: &[u8], options: &ModuleOptions) -> Result<Self, String> {
        let engine = Engine::new(&engine_config(options)).map_err(|error| format!("{error:#}"))?;
        let component = Component::from_binary(&engine, bytes).map_err(|error| not_a_component(bytes, &error))?;
        let mut linker = Linker::new(&engine);
        imports::define(&mut linker, &component, options.has_clock)?;
        let linked = linker.instantiate_pre(&component).map_err(|error| {
            format!("the imports of the module do not fit the world `aurora:stage/stage@1.0.0`: {error:#}")
        })?;
        Ok(Self { engine, linked, limits: options.limits })
    }

    pub(crate) fn linked(&self) -> &InstancePre<State> {
        &self.linked
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Runs calls of the module, and interrupts them when the run is stopping.
    pub(crate) fn interruptible<R>(&self, cx: &StageContext<'_>, calls: impl FnOnce() -> R) -> R {
        thread::scope(|scope| {
            let (done, wait) = mpsc::channel::<()>();
            let watch = move || {
                while wait.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    if cx.cancelled() {
                        self.engine.increment_epoch();
                    }
                }
            };
            // Without a thread, a call ends when it has consumed its fuel.
            let _ = thread::Builder::new().name("aurora-wasm-watch".to_owned()).spawn_scoped(scope, watch);
            let result = calls();
            drop(done);
            result
        })
    }

    /// A store for one instance.
    pub(crate) fn store(&self) -> Store<State> {
        let mut store = Store::new(&self.engine, State::new(self.limits));
        store.set_epoch_deadline(1);
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(self.limits.most_result_bytes());
        store
    }
}

/// The same module gives the same results on every machine: calls are limited by fuel instead of time, and the freedom that
/// WebAssembly leaves to NaNs and relaxed SIMD is not used.
fn engine_config(options: &ModuleOptions) -> Config {
    let mut config = Config::new();
    config.consume_fuel(true).epoch_interruption(true);
    config.cranelift_nan_canonicalization(true).relaxed_simd_deterministic(true);
    if let Some(CompiledModules(directory)) = options.compiled.as_deref() {
        let mut cache = CacheConfig::new();
        cache.with_directory(directory);
        // Without the cache the module is compiled, which is only slower.
        config.cache(Cache::new(cache).ok());
    }
    config
}

fn not_a_component(bytes: &[u8], error: &wasmtime::Error) -> String {
    // The version field of the header is 1 for core modules; components have 13 and a layer of 1.
    if bytes.starts_with(b"\0asm\x01\0\0\0") {
        return "the file is a core WebAssembly module, not a component; `wasm-tools component new` makes one of it"
            .into();
    }
    format!("the file is not a WebAssembly component: {error:#}")
}
