//! Tests for the outline of `sample.lua`.

use super::LUA;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&LUA, include_str!("sample.lua")), @r#"
    import lib.class class
    import cjson json
    import table insert
    import compat
    method Queue.new 20-23 function Queue.new(name) | Makes a queue.⏎@param name its name⏎@return the queue | setmetatable | of Queue | exported
    method Queue.push 27-33 function Queue:push(job, ...) | Adds a job.⏎The job is a function. | type accepts insert error | of Queue | 3 branches | exported
    method Queue.stats.total 36-45 function Queue.stats.total(limit) | @param limit integer | ipairs empty | of Queue.stats | 1 branches | 3 loops | exported
    function helper 47-47 local function helper(x) |  | encode
    function shorten 49-51 local shorten = function(text) |  | sub
    function empty 53-53 empty = function() |  |  | exported
    method Queue.pop 55-58 Queue.pop = function(self) |  | nested | of Queue | exported
    function Queue.pop.nested 56-56 local nested = function() |  | helper
    method Queue.run all 60-60 Queue["run all"] = function() |  |  | of Queue | exported
    function handlers.on_error 64-66 on_error = function(message) |  | print | exported
    function handlers.on close 67-67 ["on close"] = function() |  |  | exported
    function handlers.nested.deep 68-68 deep = function() |  |  | exported
    function handlers._private 69-69 _private = function() |  |
    function reset 72-74 function reset() |  |  | exported
    constants: unused Queue MAX_JOBS DEFAULTS LIMIT VERSION handlers
    doc: A queue of jobs.⏎Jobs run in the order in which they were added.⏎@module queue
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
local a, b = 1
local later
local net = require("net")
local VERSION <const> = "1"
count = 0
M.LIMIT, M.lower = 1, 2
local Color = { RED = 1, green = 2 }
local run = function() local inside = 1; GLOBAL = 2 end
"#;
    assert_eq!(constants_of(&LUA, source), "a b later VERSION count LIMIT Color RED");
}

#[test]
fn modules_are_imported_with_the_names_that_they_are_bound_to() {
    let source = r#"
local a, b = require("x.a"), require "x.b"
local c = require("x.c").part
local d = other("x.d")
print(require("x.e").name)
dofile('f.lua')
require(prefix .. "g")
"#;
    insta::assert_snapshot!(outline(&LUA, source), @r"
    import x.a a
    import x.b b
    import x.c c
    import x.e
    import f.lua
    constants: d
    calls outside symbols: other print
    ");
}
