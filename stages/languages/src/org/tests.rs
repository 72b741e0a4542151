//! Tests for the outline of `sample.org`.

use super::ORG;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&ORG, include_str!("sample.org")), @r#"
    section Guide to it 1-26  |  |  | exported
    section Guide to it > Install the program 6-24  |  |  | exported
    section Guide to it > Install the program > On Linux :not a tag: 17-24  |  |  | exported
    section Guide to it > Appendix 25-26  |  |  | exported
    constants: install Installer linux
    "#);
}
