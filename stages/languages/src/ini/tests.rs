//! Tests for the outline of `sample.ini`, and for the detection of INI files.

use super::INI;
use crate::snapshot::{constants_of, outline};
use crate::{by_content, by_file_name};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&INI, include_str!("sample.ini")), @r#"
    block storage 6-13 storage | Where reports are kept. |
    constants: name greeting path fallback.paths retention.days retention.reason remote "origin" url
    doc: Settings of the report service.
    "#);
}

#[test]
fn keys_end_at_the_first_separator() {
    let text = "a.b=1\r\nc : 2\nd\\\n\n!e = 3\nf = \\\n g = 4\nh i = x;y\n= 5\nj =\n";
    assert_eq!(constants_of(&INI, text), "a.b c f h i j");
}

#[test]
fn the_first_line_identifies_ini_files() {
    assert!(by_content("conf", "# a comment\n\n[unit]\na = 1\n").is_some_and(|language| language.name == "ini"));
    assert!(by_content("conf", "server {\n  listen 80;\n}\n").is_none());
    assert!(by_file_name(".editorconfig").is_some_and(|language| language.name == "ini"));
}
