//! Tests for the outline of `sample.html`.

use super::HTML;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&HTML, include_str!("sample.html")), @r#"
    section Manual & Reference 5-10  |  |  | exported
    section The Guide 11-23  |  |  | exported
    section The Guide > Install 13-19  |  |  | exported
    section The Guide > Install > On Linux 17-19  |  |  | exported
    section The Guide > Use <it> 20-23  |  |  | exported
    constants: run
    "#);
}

#[test]
fn headings_may_share_a_line() {
    insta::assert_snapshot!(outline(&HTML, "<title>A</title>\n><h1>B</h1> <h2>C</h2>\n<h1>D</h1>\n"), @r#"
    section A 1-2  |  |  | exported
    section B 2-2  |  |  | exported
    section B > C 2-2  |  |  | exported
    section D 3-3  |  |  | exported
    "#);
}
