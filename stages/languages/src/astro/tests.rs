//! Tests for the outline of `sample.astro`.

use super::ASTRO;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&ASTRO, include_str!("sample.astro")), @"
    import ../layouts/Layout.astro Layout
    interface Props 4-6 interface Props |  |
    function loadPosts 11-13 async function loadPosts() |  | fetch json
    function mark 23-25 function mark(element: HTMLElement) |  | add
    constants: title posts li
    calls outside symbols: Layout loadPosts querySelectorAll forEach
    ");
}
