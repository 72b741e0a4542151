//! Tests for the outline of `sample.css`.

use super::CSS;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&CSS, include_str!("sample.css")), @r#"
    block :root 5-11 :root | The colours of the brand. |
    block .button, a.button:hover > span::before 16-24 .button, a.button:hover > span::before | A button of any size. |
    block @media (min-width: 40rem) and (prefers-reduced-motion: no-preference) .grid 27-34 .grid |  |
    block @keyframes appear 37-48 @keyframes appear |  |
    constants: --brand-primary --brand-secondary --brand-surface --brand-text --brand-border .small @font-face
    "#);
}
