//! Components for tests, created from core modules in text format.
#![allow(dead_code, reason = "each test program uses a part of the module")]

use std::path::Path;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The world of stages, and the WASI interfaces that language runtimes import. A component imports only what its module
/// uses.
const WORLD: &str = r"
package test:guest;

world guest {
  include aurora:stage/stage@1.0.0;
  import wasi:cli/stdout@0.2.0;
  import wasi:cli/stderr@0.2.0;
  import wasi:clocks/monotonic-clock@0.2.0;
  import wasi:clocks/wall-clock@0.2.0;
  import wasi:random/random@0.2.0;
}

package wasi:io@0.2.0 {
  interface error { resource error; }
  interface poll {
    resource pollable { ready: func() -> bool; }
    poll: func(in: list<borrow<pollable>>) -> list<u32>;
  }
  interface streams {
    use error.{error};
    use poll.{pollable};
    variant stream-error { last-operation-failed(error), closed }
    resource output-stream {
      check-write: func() -> result<u64, stream-error>;
      blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
      subscribe: func() -> pollable;
    }
  }
}

package wasi:cli@0.2.0 {
  interface stdout { use wasi:io/streams@0.2.0.{output-stream}; get-stdout: func() -> output-stream; }
  interface stderr { use wasi:io/streams@0.2.0.{output-stream}; get-stderr: func() -> output-stream; }
}

package wasi:clocks@0.2.0 {
  interface monotonic-clock { now: func() -> u64; }
  interface wall-clock { record datetime { seconds: u64, nanoseconds: u32 } now: func() -> datetime; }
}

package wasi:random@0.2.0 {
  interface random { get-random-bytes: func(len: u64) -> list<u8>; }
}
";

/// Returns a component of the world of stages. Its `process` returns `payments` for the column `chunk.owner` of every
/// chunk. If a text in the first column begins with `X`, `process` first runs the code `bad`, which may use the
/// parameters of `process` and may return.
pub(crate) fn component(bad: &str) -> Vec<u8> {
    encode(&core_module("", bad))
}

/// Returns a component like [`component`] with additional items in the core module, such as imports.
pub(crate) fn component_with(items: &str, bad: &str) -> Vec<u8> {
    encode(&core_module(items, bad))
}

/// Creates a component from the text of a core module that implements the world of stages.
pub(crate) fn encode(text: &str) -> Vec<u8> {
    let mut module = wat::parse_str(text).expect("valid WAT");
    let mut resolve = Resolve::default();
    resolve.push_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("wit")).expect("valid WIT");
    let package = resolve.push_str("guest.wit", WORLD).expect("valid WIT");
    let world = resolve.select_world(&[package], Some("guest")).expect("a world");
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).expect("metadata");
    let mut encoder = ComponentEncoder::default().module(&module).expect("a module of the world");
    encoder.encode().expect("a component")
}

fn core_module(items: &str, bad: &str) -> String {
    // Layouts of the canonical ABI: A column is {name, name length, case, list, list length}. An optional text is {is
    // some, text, length}. The result is {case, columns, length, failed, length, dropped, length}.
    format!(
        r#"(module
  (import "$root" "log" (func $log (param i32 i32)))
  {items}
  (memory (export "memory") 4)
  (global $top (mut i32) (i32.const 65536))
  (data (i32.const 1024) "chunk.owner")
  (data (i32.const 1040) "payments")
  (data (i32.const 1056) "chunk.other")
  (func $alloc (export "cabi_realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and
      (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
      (i32.sub (i32.const 0) (local.get $align))))
    (global.set $top (i32.add (local.get $at) (local.get $size)))
    (if (i32.gt_u (global.get $top) (i32.mul (memory.size) (i32.const 65536)))
      (then (if (i32.eq (i32.const -1) (memory.grow (i32.add (i32.const 1) (i32.div_u (local.get $size) (i32.const 65536)))))
        (then unreachable))))
    (local.get $at))
  (func (export "configure") (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 0))
  ;; Whether a text of the first column begins with X.
  (func $has_bad (param $columns i32) (result i32)
    (local $at i32) (local $end i32)
    (local.set $at (i32.load offset=12 (local.get $columns)))
    (local.set $end (i32.add (local.get $at) (i32.mul (i32.const 12) (i32.load offset=16 (local.get $columns)))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (if (i32.and (i32.load8_u (local.get $at))
                   (i32.eq (i32.load8_u (i32.load offset=4 (local.get $at))) (i32.const 88)))
        (then (return (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (i32.const 12)))
      (br $next)))
    (i32.const 0))
  ;; A result with one column: its name, the case of its values, and `rows` texts.
  (func $answer (param $name i32) (param $case i32) (param $rows i32) (param $text i32) (param $length i32) (result i32)
    (local $list i32) (local $column i32) (local $result i32) (local $at i32) (local $end i32)
    (local.set $list (call $alloc (i32.const 0) (i32.const 0) (i32.const 8) (i32.mul (local.get $rows) (i32.const 16))))
    (local.set $column (call $alloc (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 20)))
    (local.set $result (call $alloc (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 28)))
    (local.set $at (local.get $list))
    (local.set $end (i32.add (local.get $list) (i32.mul (local.get $rows) (i32.const 12))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (i32.store (local.get $at) (i32.const 1))
      (i32.store offset=4 (local.get $at) (local.get $text))
      (i32.store offset=8 (local.get $at) (local.get $length))
      (local.set $at (i32.add (local.get $at) (i32.const 12)))
      (br $next)))
    (i32.store (local.get $column) (local.get $name))
    (i32.store offset=4 (local.get $column) (i32.const 11))
    (i32.store offset=8 (local.get $column) (local.get $case))
    (i32.store offset=12 (local.get $column) (local.get $list))
    (i32.store offset=16 (local.get $column) (local.get $rows))
    (i32.store offset=4 (local.get $result) (local.get $column))
    (i32.store offset=8 (local.get $result) (i32.const 1))
    (local.get $result))
  (func (export "process") (param $files i32) (param $chunk_files i32) (param $chunks i32) (param $columns i32) (param i32)
    (result i32) (local $more i64)
    (if (call $has_bad (local.get $columns)) (then {bad}))
    (call $answer (i32.const 1024) (i32.const 0) (local.get $chunks) (i32.const 1040) (i32.const 8)))
)"#
    )
}
