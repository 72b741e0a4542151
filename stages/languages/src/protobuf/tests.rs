//! Tests for the outline of `sample.proto`.

use super::PROTOBUF;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&PROTOBUF, include_str!("sample.proto")), @r#"
    import google/protobuf/timestamp.proto *
    import example/common.proto *
    interface example.library.v1.Library 13-19 service Library | Lends books. |  | exported
    method example.library.v1.Library.Lend 15-17 rpc Lend(LendRequest) returns (Loan) | Lends a book to a reader. | LendRequest Loan | exported
    method example.library.v1.Library.Watch 18-18 rpc Watch(stream example.common.Filter) returns (stream Loan) |  | Filter Loan | exported
    struct example.library.v1.LendRequest 21-40 message LendRequest |  | Reader Label Timestamp | exported
    struct example.library.v1.LendRequest.Reader 33-39 message Reader | A person with a card. |  | exported
    enum example.library.v1.LendRequest.Reader.Level 35-38 enum Level |  |  | exported
    struct example.library.v1.Label 42-42 message Label |  |  | exported
    struct example.library.v1.Loan 44-46 message Loan |  |  | exported
    block example.library.v1.google.protobuf.FieldOptions 48-50 extend google.protobuf.FieldOptions |  |  | exported
    constants: book reader labels duration days until cards LEVEL_UNSPECIFIED LEVEL_CHILD id unit
    "#);
}
