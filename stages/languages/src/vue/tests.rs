//! Tests for the outline of `sample.vue`.

use super::VUE;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&VUE, include_str!("sample.vue")), @"
    import vue computed ref
    import ./ItemRow.vue ItemRow
    interface Item 10-12 interface Item |  |
    function toggle 18-20 function toggle() | Shows or hides the items. |  | 1 branches
    function labels 22-22 const labels = computed(() |  | computed map shorten
    function shorten 23-23 const shorten = (label: string) |  | slice
    constants: MAX_LABEL props open .open
    calls outside symbols: ItemRow defineProps ref
    ");
}
