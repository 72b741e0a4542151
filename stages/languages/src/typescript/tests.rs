//! Tests for the outline of `sample.ts` and `sample.tsx`.

use super::{TSX, TYPESCRIPT};
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&TYPESCRIPT, include_str!("sample.ts")), @r#"
    import ./area Area
    import fs fs
    interface Shape 4-9 export interface Shape<T> extends Base, Other<T> | A shape. |  | is Base Other | exported
    method Shape.area 5-5 area(): number |  |  | exported
    method Shape.perimeter 7-7 perimeter?(x: string): void | Around it. |  | exported
    type Id 10-10 export type Id = string | number |  |  | exported
    enum Color 11-11 export enum Color |  |  | exported
    function parse 13-15 export function parse(a: string): string | Parses. |  | 1 branches | exported
    class Animal 16-23 export abstract class Animal<T> extends Being implements Shape<number> |  | Input | is Being Shape | exported
    method Animal.secret 17-17 private secret(): void |  |
    method Animal.speak 18-18 abstract speak(): void |  |  | exported
    method Animal.onClick 20-21 onClick(e: Event) |  | HostListener secret | exported
    method Animal.handler 22-22 handler = async (x: number): Promise<void> |  |  | exported
    module Util.Deep 24-24 namespace Util.Deep |  |
    function Util.Deep.help 24-24 export function help() |  |  | exported
    module foo 25-25 declare module "foo" |  |
    function foo.ext 25-25 export function ext(): void |  |  | exported
    function global 26-26 declare function global(x: number): string |  |
    function default 27-27 export default function () |  |  | exported
    constants: Red Green
    "#);
}

#[test]
fn sample_with_jsx() {
    insta::assert_snapshot!(outline(&TSX, include_str!("sample.tsx")), @"function App 2-2 export const App: React.FC<Props> = ({ title }) | The page. | Main | exported");
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

export declare const VERSION: string;
export enum Level { Low, High = 3 }
namespace Util { export const depth = 1; }
abstract class Box { static readonly EDGE: number = 1; private static made = () => 1; readonly inner = 2; }
"##;
    assert_eq!(
        constants_of(&TYPESCRIPT, source),
        "port AsyncFunction one renamed three last head tail size old LIMIT VERSION Low High depth EDGE"
    );
}
