//! Tests for the outline of `sample.json`.

use super::JSON;
use crate::snapshot::outline;

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&JSON, include_str!("sample.json")), @r#"
    block paths 5-17 "paths" |  |
    block components.schemas.Pet 21-28 "Pet" | Anything with fur. |
    block x-rules.no-console 35-40 no-console |  |
    constants: info /pets listPets /owners listOwners
    "#);
}
