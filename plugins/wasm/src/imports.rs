//! What a component gets for its imports: the log, nothing of the outside world, and a clock if the configuration grants one.
//!
//! Language runtimes import interfaces of WASI even if the program does not use them. They see an empty environment, no
//! arguments, no directories and a fixed sequence of random numbers. Every other function of WASI traps when it is called.

use std::time::{SystemTime, UNIX_EPOCH};

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, Val};
use wasmtime::{StoreContextMut, bail};

use crate::state::State;

/// Most random bytes of one request.
const MOST_RANDOM_BYTES: u64 = 1 << 16;

type Function = fn(&mut State, &[Val]) -> Option<Val>;

/// Defines everything that a component imports.
///
/// # Errors
/// If it imports what is neither WASI nor of the world of stages.
pub(crate) fn define(linker: &mut Linker<State>, component: &Component, has_clock: bool) -> Result<(), String> {
    let log = |mut store: StoreContextMut<'_, State>, (line,): (String,)| {
        store.data_mut().log(&line);
        Ok(())
    };
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
                "the module is made for `aurora:stage@{version}`, and this program has `aurora:stage@1.0.0`"
            ));
        }
        let ComponentItem::ComponentInstance(instance) = item.ty else { return Err(refused(import)) };
        if !interface.starts_with("wasi:") {
            return Err(refused(import));
        }
        for (name, _) in instance.exports(&engine) {
            let Some(function) = inert(interface, name).or_else(|| clock(interface, name).filter(|_| has_clock)) else {
                continue;
            };
            let called = format!("{import}#{name}");
            let defined = linker.instance(import).and_then(|mut instance| {
                instance.func_new(name, move |mut store, _, parameters, results| {
                    match (function(store.data_mut(), parameters), results) {
                        (Some(value), [result]) => *result = value,
                        _ => bail!("`{called}` cannot answer this call"),
                    }
                    Ok(())
                })
            });
            defined.map_err(|error| error.to_string())?;
        }
    }
    linker.define_unknown_imports_as_traps(component).map_err(|error| error.to_string())
}

fn refused(import: &str) -> String {
    format!("the module imports `{import}`; a stage is given `log` and the interfaces of WASI only")
}

/// Functions that language runtimes call when they start, with answers that depend on nothing.
fn inert(interface: &str, name: &str) -> Option<Function> {
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
    let [Val::U64(length @ ..=MOST_RANDOM_BYTES)] = parameters else { return None };
    Some(Val::List((0..*length).map(|_| Val::U8(state.next_random() as u8)).collect()))
}

/// The clocks of WASI, in UTC.
fn clock(interface: &str, name: &str) -> Option<Function> {
    let function: Function = match (interface, name) {
        ("wasi:clocks/monotonic-clock", "now") => |_, _| {
            let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            u64::try_from(elapsed.as_nanos()).ok().map(Val::U64)
        },
        ("wasi:clocks/wall-clock", "now") => |_, _| {
            let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            let seconds = ("seconds".to_owned(), Val::U64(elapsed.as_secs()));
            let nanoseconds = ("nanoseconds".to_owned(), Val::U32(elapsed.subsec_nanos()));
            Some(Val::Record(vec![seconds, nanoseconds]))
        },
        _ => return None,
    };
    Some(function)
}
