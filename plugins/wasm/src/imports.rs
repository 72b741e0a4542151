//! The imports of a component: the log, stubs of WASI interfaces, and clocks if the configuration grants them.
//!
//! Language runtimes import WASI interfaces even if the program does not use them. The stubs provide an empty
//! environment, no arguments, no directories, and a fixed sequence of random numbers. Output to the standard streams is
//! logged ([`streams`]). Every other WASI function traps when it is called.

use std::time::{SystemTime, UNIX_EPOCH};

use wasmtime::component::types::{ComponentInstance, ComponentItem};
use wasmtime::component::{Component, Linker, LinkerInstance, Val};
use wasmtime::{Engine, StoreContextMut, bail};

use crate::limits::charge;
use crate::state::State;
use crate::streams;

/// Maximum number of random bytes that a module may request at once.
const MAX_RANDOM_BYTES: u64 = 1 << 16;

type Function = fn(&mut State, &[Val]) -> Option<Val>;

/// Defines all imports of a component.
///
/// # Errors
/// Returns an error if an import belongs neither to WASI nor to the world of stages.
pub(crate) fn define(linker: &mut Linker<State>, component: &Component, has_clock: bool) -> Result<(), String> {
    linker.root().func_wrap("log", log).map_err(|error| error.to_string())?;
    let engine = linker.engine().clone();
    for (import, item) in component.component_type().imports(&engine) {
        let (interface, version) = import.split_once('@').unwrap_or((import, ""));
        if import == "log" {
            continue;
        }
        if interface == "aurora:stage/types" {
            if version.starts_with("1.") {
                continue;
            }
            return Err(format!(
                "the module is made for `aurora:stage@{version}`, but this program supports `aurora:stage@1.0.0`"
            ));
        }
        let ComponentItem::ComponentInstance(instance) = item.ty else { return Err(refused(import)) };
        if !interface.starts_with("wasi:") {
            return Err(refused(import));
        }
        if version.starts_with("0.2.") {
            let defined = linker
                .instance(import)
                .and_then(|mut linker| define_interface(&mut linker, import, &instance, &engine, has_clock));
            defined.map_err(|error| error.to_string())?;
        }
    }
    linker.define_unknown_imports_as_traps(component).map_err(|error| error.to_string())
}

fn log(mut store: StoreContextMut<'_, State>, (line,): (String,)) -> wasmtime::Result<()> {
    charge(&mut store, line.len())?;
    store.data_mut().log(&line);
    Ok(())
}

fn refused(import: &str) -> String {
    format!("the module imports `{import}`; a stage may only import `log` and the interfaces of WASI")
}

/// Defines the supported functions of a WASI interface.
fn define_interface(
    linker: &mut LinkerInstance<'_, State>,
    import: &str,
    instance: &ComponentInstance,
    engine: &Engine,
    has_clock: bool,
) -> wasmtime::Result<()> {
    let interface = import.split_once('@').map_or(import, |(interface, _)| interface);
    for (name, item) in instance.exports(engine) {
        if let ComponentItem::Resource(_) = item.ty {
            if let Some(resource) = streams::resource_type(name) {
                linker.resource(name, resource, |_, _| Ok(()))?;
            }
        } else if let Some(function) = stub(interface, name).or_else(|| clock(interface, name).filter(|_| has_clock)) {
            define_function(linker, name, format!("{import}#{name}"), function)?;
        } else {
            streams::define(linker, interface, name)?;
        }
    }
    Ok(())
}

fn define_function(
    linker: &mut LinkerInstance<'_, State>,
    name: &str,
    full_name: String,
    function: Function,
) -> wasmtime::Result<()> {
    linker.func_new(name, move |mut store, _, parameters, results| {
        let (Some(value), [result]) = (function(store.data_mut(), parameters), results) else {
            bail!("`{full_name}` cannot answer this call");
        };
        let size = if let Val::List(items) = &value { items.len() } else { 0 };
        *result = value;
        charge(&mut store, size)
    })
}

/// Returns a stub for a function that language runtimes call when they start. The result of a stub does not depend on
/// the system.
fn stub(interface: &str, name: &str) -> Option<Function> {
    let function: Function = match (interface, name) {
        ("wasi:cli/environment", "get-environment" | "get-arguments") => |_, _| Some(Val::List(Vec::new())),
        ("wasi:cli/environment", "initial-cwd") => |_, _| Some(Val::Option(None)),
        ("wasi:cli/terminal-stdin", "get-terminal-stdin")
        | ("wasi:cli/terminal-stdout", "get-terminal-stdout")
        | ("wasi:cli/terminal-stderr", "get-terminal-stderr") => |_, _| Some(Val::Option(None)),
        ("wasi:filesystem/preopens", "get-directories") => |_, _| Some(Val::List(Vec::new())),
        ("wasi:random/random", "get-random-bytes") | ("wasi:random/insecure", "get-insecure-random-bytes") => {
            random_bytes
        }
        ("wasi:random/random", "get-random-u64") | ("wasi:random/insecure", "get-insecure-random-u64") => {
            |state, _| Some(Val::U64(state.next_random()))
        }
        ("wasi:random/insecure-seed", "insecure-seed") => {
            |state, _| Some(Val::Tuple(vec![Val::U64(state.next_random()), Val::U64(state.next_random())]))
        }
        _ => return None,
    };
    Some(function)
}

fn random_bytes(state: &mut State, parameters: &[Val]) -> Option<Val> {
    let [Val::U64(length @ ..=MAX_RANDOM_BYTES)] = parameters else { return None };
    Some(Val::List((0..*length).map(|_| Val::U8(state.next_random() as u8)).collect()))
}

/// Returns a function of the WASI clocks. The wall clock returns the time in UTC.
fn clock(interface: &str, name: &str) -> Option<Function> {
    let function: Function = match (interface, name) {
        ("wasi:clocks/monotonic-clock", "now") => {
            |state, _| u64::try_from(state.started.elapsed().as_nanos()).ok().map(Val::U64)
        }
        ("wasi:clocks/monotonic-clock", "resolution") => |_, _| Some(Val::U64(1)),
        ("wasi:clocks/wall-clock", "now") => |_, _| {
            let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            Some(datetime(elapsed.as_secs(), elapsed.subsec_nanos()))
        },
        ("wasi:clocks/wall-clock", "resolution") => |_, _| Some(datetime(0, 1)),
        _ => return None,
    };
    Some(function)
}

fn datetime(seconds: u64, nanoseconds: u32) -> Val {
    let seconds = ("seconds".to_owned(), Val::U64(seconds));
    let nanoseconds = ("nanoseconds".to_owned(), Val::U32(nanoseconds));
    Val::Record(vec![seconds, nanoseconds])
}
