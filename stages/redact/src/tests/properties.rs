//! Tests of properties that must hold for every text.

use proptest::prelude::*;

use super::masked;
use crate::{MASK, Secret, find, mask};

#[test]
fn long_values_end_at_character_boundaries() {
    let long = "é1A仕".repeat(300);
    for start in ["", "x", "xy"] {
        for text in [
            format!("password = \"{start}{long}\""),
            format!("curl -u {start}a:{long}"),
            format!("https://u:{start}{long}@h"),
            format!("kind: Secret\ndata:\n  a: {start}{long}"),
            format!("{{\"kind\": \"Secret\", \"data\": {{\"a\": \"{start}{long}"),
        ] {
            assert_eq!(masked(&text).len(), text.len());
        }
    }
}

/// Generates texts in which parts of secrets are adjacent to each other and to multi-byte characters.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9+/=_.-]{1,40}",
        "[ \t\n\"'`:=,;()<>@\\\\é仕]{1,4}",
        "\\PC{1,6}",
        proptest::sample::select(vec![
            "password",
            "token",
            "api_key",
            "Authorization: Bearer ",
            "://",
            "user:",
            "ghp_",
            "AKIA",
            "eyJ",
            "xoxb-1-",
            "sk-",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "kind: Secret",
            "data:\n  a: ",
            r#"{"kind": "Secret", "#,
            r#""data": {"a": ""#,
            r#""},"#,
            "curl -u ",
            "\\n",
            " = \"",
            ": ",
            "value=",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn masks_preserve_all_other_bytes(text in text()) {
        let found = find(&text);
        let masked = mask(text.clone(), &found);
        prop_assert_eq!(masked.len(), text.len());
        for (at, (byte, before)) in masked.bytes().zip(text.bytes()).enumerate() {
            let is_masked = found.iter().any(|secret| secret.span.contains(&at));
            let is_correct = if is_masked { byte == MASK as u8 && before != b'\n' } else { byte == before };
            prop_assert!(is_correct, "byte {}", at);
        }
    }

    #[test]
    fn spans_are_in_order_and_disjoint(text in text()) {
        let found = find(&text);
        let has_text = |secret: &Secret| text.get(secret.span.clone()).is_some_and(|part| !part.is_empty());
        prop_assert!(found.iter().all(has_text));
        prop_assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
    }

    #[test]
    fn masking_a_masked_text_changes_nothing(text in text()) {
        let once = masked(&text);
        prop_assert_eq!(masked(&once), once);
    }
}
