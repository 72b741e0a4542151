//! Tests for the outline of `sample.toml`.

use super::TOML;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&TOML, include_str!("sample.toml")), @r#"
    block cargo-features 2-13 cargo-features | The manifest of a tool. |
    block workspace.dependencies 20-24 workspace.dependencies | What the tool is made of. |
    block bin.report 31-38 bin report | Prints the report of the last run. |  | of bin
    constants: package tool.lint.options src/bin/serve.rs
    doc: The manifest of a tool.
    "#);
}
