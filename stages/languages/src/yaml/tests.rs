//! The outline of `sample.yaml`, and what becomes of larger and deeper texts.

use super::YAML;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&YAML, include_str!("sample.yaml")), @r#"
    block jobs.test 11-21 test | Runs the tests on every platform. |
    block jobs.lint 22-30 "lint" |  |
    block Deployment.web 32-47 Deployment web |  |  | of Deployment
    block paths./pets/{id}.get 60-64 get |  |
    block paths./pets/{id}.delete 65-69 delete |  |
    values: on push env web showPetById removePet
    doc: Builds and tests every change.
    "#);
}
