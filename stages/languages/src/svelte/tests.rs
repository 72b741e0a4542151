//! Tests for the outline of `sample.svelte`.

use super::SVELTE;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&SVELTE, include_str!("sample.svelte")), @"
    import ./Row.svelte Row
    function openedRows 4-6 export function openedRows() | Number of rows that were opened. |  | exported
    class Selection 13-19 class Selection |  |
    method Selection.select 15-18 select(index: number) |  |
    constants: opened rows selection p
    calls outside symbols: Row Selection
    ");
}
