//! What is found in `sample.ts` and `sample.tsx`.

use crate::languages::outline::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline("typescript", include_str!("sample.ts")), @r#"
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
    "#);
}

#[test]
fn sample_with_jsx() {
    insta::assert_snapshot!(outline("tsx", include_str!("sample.tsx")), @"function App 2-2 export const App: React.FC<Props> = ({ title }) | The page. | Main | exported");
}
