//! The outline of `sample.html`.

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
    values: run
    "#);
}
