//! Tests for the outline of `sample.rst`.

use super::RST;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&RST, include_str!("sample.rst")), @r#"
    section Guide to Flask 2 5-67  |  |  | exported
    section Guide to Flask 2 > Install 16-56  |  |  | exported
    section Guide to Flask 2 > Install > On Linux 40-56  |  |  | exported
    section Guide to Flask 2 > Using Flask s 57-67  |  |  | exported
    section Guide to Flask 2 > Using Flask s > 1. Numbered 64-67  |  |  | exported
    constants: guide start Installer linux
    "#);
}
