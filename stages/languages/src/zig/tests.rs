//! Tests for the outline of `sample.zig`.

use super::ZIG;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&ZIG, include_str!("sample.zig")), @r#"
    import std std
    import std Allocator
    import config.zig config
    import stdio.h
    import trace.zig
    struct Ring 17-51 pub const Ring = struct | A buffer of bytes. |  | exported
    function Ring.state.reset 22-24 fn reset(self: *@This()) void |  |
    method Ring.push 32-46 pub fn push(self: *Self, byte: u8) !void | Adds a byte.⏎Fails if there is no room. | isFull check advance warn parse fail find record | 7 branches | 2 loops | exported
    method Ring.isFull 48-50 fn isFull(self: Self) bool |  |
    enum Color 53-53 const Color = enum |  |
    struct Value 54-54 pub const Value = union(enum) |  |  | exported
    struct Handle 55-55 const Handle = opaque |  |
    enum Error 56-56 pub const Error = error |  |  | exported
    type Callback 57-57 const Callback = fn (byte: u8) void |  |
    function puts 59-59 extern "c" fn puts(text: [*:0]const u8) c_int |  |
    function ring_new 61-61 export fn ring_new() void |  |  | exported
    struct List 63-71 pub fn List(comptime T: type) type |  |  | exported
    method List.init 67-69 pub fn init() @This() |  |  | exported
    function odd name 73-76 fn @"odd name"() void |  |
    function push fails if the buffer is full 84-87 test "push fails if the buffer is full" | Covers the full buffer. | expectError push
    function List 89-91 test List |  | List init
    constants: c max_size instances format empty red green Full Closed
    doc: A ring buffer.⏎⏎It never allocates.
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
const std = @import("std");
pub const limit: u32 = 1;
threadlocal var @"odd name": u8 = 0;
const E = enum { a, b };
const Failure = error{Gone};
const S = struct {
    field: u8,
    const inner = 2;
};
fn f() void {
    const hidden = 1;
}
test "t" {
    const hidden = 1;
}
"#;
    assert_eq!(constants_of(&ZIG, source), "limit odd name a b Gone inner");
}
