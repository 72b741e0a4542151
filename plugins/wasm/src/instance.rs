//! One instance of a module.

use wasmtime::component::TypedFunc;
use wasmtime::{Store, Trap};

use crate::interface::{
    Batch, ConfigureParameters, ConfigureResults, Output, ProcessParameters, ProcessResults, Settings,
};
use crate::limits::Limits;
use crate::module::Module;
use crate::state::{LONGEST_MESSAGE, State, printable};

/// An instance that has been configured.
pub(crate) struct Instance {
    store: Store<State>,
    process: TypedFunc<ProcessParameters, ProcessResults>,
    limits: Limits,
}

/// Why there is no instance.
#[derive(Debug)]
pub(crate) enum StartError {
    /// The module is not a stage, or does not accept its configuration. A message.
    Refused(String),
    /// The call failed.
    Failed {
        /// Why.
        reason: String,
        /// The fuel that it has consumed.
        consumed: u64,
    },
}

impl Instance {
    /// Instantiates and configures a module.
    pub(crate) fn start(module: &Module, settings: Settings) -> Result<Self, StartError> {
        let (mut store, limits) = (module.store(), module.limits());
        let failed = |store: &Store<State>, error| StartError::Failed {
            reason: reason(store, &error),
            consumed: consumed_fuel(store, limits),
        };
        refuel(&mut store, limits).map_err(|error| failed(&store, error))?;
        let instance = module.linked().instantiate(&mut store).map_err(|error| failed(&store, error))?;
        let missing = |error: wasmtime::Error| {
            StartError::Refused(format!(
                "the module does not implement the world `aurora:stage/stage@1.0.0`: {error:#}"
            ))
        };
        let configure = instance
            .get_typed_func::<ConfigureParameters, ConfigureResults>(&mut store, "configure")
            .map_err(missing)?;
        let process = instance.get_typed_func(&mut store, "process").map_err(missing)?;
        let (answer,) = configure.call(&mut store, (settings,)).map_err(|error| failed(&store, error))?;
        answer.map_err(|message| {
            let message = printable(&message, LONGEST_MESSAGE);
            StartError::Refused(format!("the module does not accept its configuration: {message}"))
        })?;
        Ok(Self { store, process, limits })
    }

    /// Calls the module with rows.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) fn process(&mut self, batch: Batch) -> Result<Output, String> {
        let called = refuel(&mut self.store, self.limits).and_then(|()| self.process.call(&mut self.store, (batch,)));
        match called {
            Ok((Ok(output),)) => Ok(output),
            Ok((Err(message),)) => Err(printable(&message, LONGEST_MESSAGE)),
            Err(error) => Err(reason(&self.store, &error)),
        }
    }

    /// The fuel that the last call has consumed.
    pub(crate) fn consumed_fuel(&self) -> u64 {
        consumed_fuel(&self.store, self.limits)
    }

    /// What the module has logged since the last call of this method.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        self.store.data_mut().take_lines()
    }
}

fn refuel(store: &mut Store<State>, limits: Limits) -> wasmtime::Result<()> {
    store.data_mut().memory.is_exceeded = false;
    store.set_fuel(limits.fuel)
}

fn consumed_fuel(store: &Store<State>, limits: Limits) -> u64 {
    limits.fuel.saturating_sub(store.get_fuel().unwrap_or(0))
}

/// Finds the reason of a call that did not return.
fn reason(store: &Store<State>, error: &wasmtime::Error) -> String {
    let text = error.root_cause().to_string();
    if store.data().memory.is_exceeded {
        return "the module needs more than its `memory`".to_owned();
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => "the module consumed its `fuel`".to_owned(),
        Some(Trap::StackOverflow) => "the module exhausted the call stack".to_owned(),
        Some(trap) => format!("the module trapped: {trap}"),
        None => match text.strip_prefix("unknown import: ").and_then(|rest| rest.split_once(" has not")) {
            Some((function, _)) => format!("the module called {function}, which is not granted"),
            None => format!("the module failed: {}", printable(&text, LONGEST_MESSAGE)),
        },
    }
}
