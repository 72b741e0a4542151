//! Tests for the outline of `sample.md`.

use super::MARKDOWN;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&MARKDOWN, include_str!("sample.md")), @r#"
    section Guide to it and code 6-19  |  |  | exported
    section Guide to it and code > Install 10-19  |  |  | exported
    section Guide to it and code > Install > On Linux 16-19  |  |  | exported
    section Appendix 20-26  |  |  | exported
    section Appendix > On Linux 25-26  |  |  | exported
    "#);
}

#[test]
fn definitions_in_fences_become_names_of_their_section() {
    let text = "# Guide\n\n```rust,ignore\nstruct Stack;\nfn push() {}\n```\n\n1. Then:\n\n   ~~~~ python\n   def pop():\n       ~~~\n   ~~~~\n\n\
                ```\nfn unnamed() {}\n```\n\n``` `rust` ```\n\n```{.js}\nfunction open() {}\n";
    assert_eq!(constants_of(&MARKDOWN, text), "Stack push pop open");
}
