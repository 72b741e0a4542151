//! The standard streams of a module (WASI 0.2). The input is empty. Lines written to the outputs go to the log of the
//! stage.

use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentType, LinkerInstance, Lower, Resource, ResourceType};

use crate::limits::charge;
use crate::state::{State, Stream};

/// Maximum number of bytes that a module may write at once. The host always accepts output, so the module never waits.
const MAX_WRITE_BYTES: u64 = 4 << 10;

/// The resource `wasi:io/streams.output-stream`. Its handle is 0 for standard output and 1 for standard error.
pub(crate) struct OutputStream;
/// The resource `wasi:io/streams.input-stream`, which is always at its end.
pub(crate) struct InputStream;
/// The resource `wasi:io/poll.pollable`, which is always ready.
pub(crate) struct Pollable;
/// The resource `wasi:io/error.error`, which no function returns.
pub(crate) struct StreamFailure;

#[derive(ComponentType, Lower)]
#[component(variant)]
#[allow(dead_code, reason = "part of the interface, although operations on these streams never fail")]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<StreamFailure>),
    #[component(name = "closed")]
    Closed,
}

type Written = (Result<(), StreamError>,);

/// Returns the host type of a WASI resource.
pub(crate) fn resource_type(name: &str) -> Option<ResourceType> {
    match name {
        "input-stream" => Some(ResourceType::host::<InputStream>()),
        "output-stream" => Some(ResourceType::host::<OutputStream>()),
        "pollable" => Some(ResourceType::host::<Pollable>()),
        "error" => Some(ResourceType::host::<StreamFailure>()),
        _ => None,
    }
}

/// Defines a function of a stream or polling interface. Ignores other functions.
///
/// # Errors
/// Returns an error if the function is already defined.
pub(crate) fn define(linker: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> wasmtime::Result<()> {
    match (interface, name) {
        ("wasi:cli/stdin", "get-stdin") => linker.func_wrap(name, |_, ()| Ok((Resource::<InputStream>::new_own(0),))),
        ("wasi:cli/stdout", "get-stdout") => {
            linker.func_wrap(name, |_, ()| Ok((Resource::<OutputStream>::new_own(Stream::Output as u32),)))
        }
        ("wasi:cli/stderr", "get-stderr") => {
            linker.func_wrap(name, |_, ()| Ok((Resource::<OutputStream>::new_own(Stream::Error as u32),)))
        }
        ("wasi:io/streams", "[method]input-stream.read" | "[method]input-stream.blocking-read") => {
            linker.func_wrap(name, |mut store, (_, _): (Resource<InputStream>, u64)| {
                charge(&mut store, 0)?;
                Ok((Err::<Vec<u8>, _>(StreamError::Closed),))
            })
        }
        ("wasi:io/streams", "[method]input-stream.subscribe") => {
            linker.func_wrap(name, |_, (_,): (Resource<InputStream>,)| Ok((Resource::<Pollable>::new_own(0),)))
        }
        ("wasi:io/streams", "[method]output-stream.check-write") => {
            linker.func_wrap(name, |mut store: StoreContextMut<'_, State>, (_,): (Resource<OutputStream>,)| {
                charge(&mut store, 0)?;
                Ok((Ok::<_, StreamError>(MAX_WRITE_BYTES),))
            })
        }
        ("wasi:io/streams", "[method]output-stream.write" | "[method]output-stream.blocking-write-and-flush") => {
            linker.func_wrap(name, write)
        }
        ("wasi:io/streams", "[method]output-stream.flush" | "[method]output-stream.blocking-flush") => linker
            .func_wrap(name, |mut store, (_,): (Resource<OutputStream>,)| -> wasmtime::Result<Written> {
                charge(&mut store, 0)?;
                Ok((Ok(()),))
            }),
        ("wasi:io/streams", "[method]output-stream.subscribe") => {
            linker.func_wrap(name, |_, (_,): (Resource<OutputStream>,)| Ok((Resource::<Pollable>::new_own(0),)))
        }
        ("wasi:io/poll", "[method]pollable.block") => {
            linker.func_wrap(name, |mut store, (_,): (Resource<Pollable>,)| charge(&mut store, 0))
        }
        ("wasi:io/poll", "[method]pollable.ready") => {
            linker.func_wrap(name, |mut store, (_,): (Resource<Pollable>,)| {
                charge(&mut store, 0)?;
                Ok((true,))
            })
        }
        ("wasi:io/poll", "poll") => linker.func_wrap(name, |mut store, (waiting,): (Vec<Resource<Pollable>>,)| {
            charge(&mut store, waiting.len())?;
            Ok(((0..waiting.len() as u32).collect::<Vec<u32>>(),))
        }),
        _ => Ok(()),
    }
}

fn write(
    mut store: StoreContextMut<'_, State>,
    (stream, bytes): (Resource<OutputStream>, Vec<u8>),
) -> wasmtime::Result<Written> {
    charge(&mut store, bytes.len())?;
    let stream = if stream.rep() == Stream::Error as u32 { Stream::Error } else { Stream::Output };
    store.data_mut().write(stream, &bytes);
    Ok((Ok(()),))
}
