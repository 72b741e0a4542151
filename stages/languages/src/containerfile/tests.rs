//! Tests for the outline of `Dockerfile`.

use super::CONTAINERFILE;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&CONTAINERFILE, include_str!("Dockerfile")), @r#"
    block build 6-14 FROM golang:${GO_VERSION} AS build | Compiles the service. |  | is golang | exported
    block test 16-20 FROM build AS test |  |  | is build | exported
    block gcr.io/distroless/static 23-27 FROM gcr.io/distroless/static:nonroot | What is shipped. |  | is gcr.io/distroless/static | exported
    constants: GO_VERSION CGO_ENABLED GOFLAGS REVISION
    doc: syntax=docker/dockerfile:1⏎The image of the service.
    "#);
}

/// In this text, `#` does not begin a comment, and the grammar ends the first instruction after the second line.
#[test]
fn the_lines_of_a_stage_with_an_error_match_its_bytes() {
    insta::assert_snapshot!(outline(&CONTAINERFILE, "FROM n:#\nr"), @"block n 1-2 FROM n: r |  |  | is n | exported");
}
