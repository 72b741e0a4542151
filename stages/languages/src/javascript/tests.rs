//! Tests for the outline of `sample.jsx`.

use super::JAVASCRIPT;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&JAVASCRIPT, include_str!("sample.jsx")), @r#"
    import react React useIt memo
    import node:path path
    import ./side.css
    import fs fs
    import path glue resolve
    import ./lazy.js lazy
    import ./again
    function add 12-12 export const add = (a, b) | Adds.⏎@param a first |  | exported
    function Point 14-14 function Point() |  |  | exported
    method Point.norm 15-15 Point.prototype.norm = function (x) |  | square | of Point | 2 branches
    method Point.scale 16-16 scale() |  |
    method load 19-19 load() |  | readFileSync | exported
    method save 20-20 save: async (x) |  | store | exported
    function util 23-23 exports.util = function named() |  |  | exported
    function start 24-24 module.exports = function start() |  |  | exported
    class Widget 27-34 export default class Widget extends React.Component | Draws. |  | is Component | exported
    method Widget.secret 28-28 #secret() |  |
    method Widget.create 29-29 static create = () |  | Widget | exported
    method Widget.handle 30-30 handle = (e) |  | secret | 1 loops | exported
    method Widget.constructor 31-31 constructor(props) |  |  | exported
    method Widget.size 32-32 get size() |  |  | exported
    method Widget.render 33-33 render() |  | Panel | exported
    method api.get 35-35 get: function () |  |
    method api.post 35-35 post() |  |
    function helper 36-36 function helper() |  |
    function a 37-37 a = () |  |
    function b 37-37 b = function* () |  | memo
    constants: named api
    calls outside symbols: require describe it expect
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r##"
const fs = require("fs"), port = 80;
export const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
const { one, two: renamed, three = 3, four: last = 4 } = options, [head, tail = 1] = list;
export const add = (a, b) => { const sum = a + b; return sum; };
export default class Widget { static size = 3; static make = () => new Widget(); width = 4; draw() { var inside; } }
var old;
exports.LIMIT = 10;
exports.helper = helper;
for (let i = 0; i < 3; i++) { const each = i; }
{ const block = 1; }
const store = create((set) => { const hidden = 1; return { get() {} }; });
function run() { const local = 1; exports.NESTED = 2; }
"##;
    assert_eq!(constants_of(&JAVASCRIPT, source), "port AsyncFunction one renamed three last head tail size old LIMIT");
}
