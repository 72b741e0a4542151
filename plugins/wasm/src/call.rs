//! A single call of a module.

use wasmtime::component::TypedFunc;
use wasmtime::{Store, Trap};

use crate::interface::{
    Batch, ConfigureParameters, ConfigureResults, Output, ProcessParameters, ProcessResults, Settings,
};
use crate::module::Module;
use crate::state::{MAX_MESSAGE_BYTES, State, printable};

/// A call of a module, with its own instance, fuel and memory.
pub(crate) struct Call<'m> {
    module: &'m Module,
    store: Store<State>,
}

/// The reason why a call has no result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The module is not a stage or rejects its configuration. Contains the message.
    Refused(String),
    /// The module failed. The reason depends only on the rows, the module and its configuration.
    Failed(String),
    /// The run is stopping, or the call took too long. The result may be different in another run.
    Interrupted(&'static str),
}

impl<'m> Call<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        Self { module, store: module.store() }
    }

    /// Instantiates the module, configures the instance and passes the rows to it.
    ///
    /// # Errors
    /// Returns the reason why the call has no result.
    pub(crate) fn run(&mut self, settings: Settings, batch: Batch) -> Result<Output, CallError> {
        let process = self.start(settings)?;
        let called = process.call(&mut self.store, (batch,));
        let (answer,) = called.map_err(|error| self.failure(&error))?;
        answer.map_err(|message| CallError::Failed(printable(&message, MAX_MESSAGE_BYTES)))
    }

    fn start(&mut self, settings: Settings) -> Result<TypedFunc<ProcessParameters, ProcessResults>, CallError> {
        let instance = self.module.linked.instantiate(&mut self.store).map_err(|error| self.failure(&error))?;
        let configure = instance
            .get_typed_func::<ConfigureParameters, ConfigureResults>(&mut self.store, "configure")
            .map_err(not_a_stage)?;
        let process = instance.get_typed_func(&mut self.store, "process").map_err(not_a_stage)?;
        let called = configure.call(&mut self.store, (settings,));
        let (answer,) = called.map_err(|error| self.failure(&error))?;
        answer.map_err(|message| {
            let message = printable(&message, MAX_MESSAGE_BYTES);
            CallError::Refused(format!("the module does not accept its configuration: {message}"))
        })?;
        Ok(process)
    }

    /// Amount of fuel that is left.
    pub(crate) fn fuel_left(&self) -> u64 {
        self.store.get_fuel().unwrap_or(0)
    }

    /// Returns the lines that the module has logged since the last call of this method.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        self.store.data_mut().take_lines()
    }

    fn failure(&self, error: &wasmtime::Error) -> CallError {
        let reason = match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => return CallError::Interrupted("the module took too long for its `fuel`"),
            _ if self.store.data().memory.is_exceeded => "the module needs more than its `memory`".to_owned(),
            Some(Trap::OutOfFuel) => "the module consumed its `fuel`".to_owned(),
            Some(Trap::StackOverflow) => "the module exhausted the call stack".to_owned(),
            Some(trap) => format!("the module trapped: {trap}"),
            None => untrapped(&error.root_cause().to_string()),
        };
        CallError::Failed(reason)
    }
}

fn not_a_stage(error: wasmtime::Error) -> CallError {
    CallError::Refused(format!("the module does not implement the world `aurora:stage/stage@1.0.0`: {error:#}"))
}

/// Describes an error that is not a trap.
fn untrapped(text: &str) -> String {
    match text.strip_prefix("unknown import: ").and_then(|rest| rest.split_once(" has not")) {
        Some((function, _)) => format!("the module called {function}, which is not granted"),
        None => format!("the module failed: {}", printable(text, MAX_MESSAGE_BYTES)),
    }
}
