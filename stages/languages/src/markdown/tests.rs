//! The outline of `sample.md`.

use super::MARKDOWN;
use crate::snapshot::outline;

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
