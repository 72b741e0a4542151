//! Tests for the outline of `sample.adoc`.

use super::ASCIIDOC;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&ASCIIDOC, include_str!("sample.adoc")), @r#"
    section Guide to it 2-44  |  |  | exported
    section Guide to it > Install now 8-37  |  |  | exported
    section Guide to it > Install now > On Linux 19-37  |  |  | exported
    section Guide to it > Appendix 38-44  |  |  | exported
    section Guide to it > Appendix > Back 43-44  |  |  | exported
    constants: setup Installer linux other last end
    "#);
}
