//! Tests of the rules for personal data.

use proptest::prelude::*;

use crate::{find_personal, masked_personal};

fn rules(text: &str) -> Vec<&'static str> {
    find_personal(text).into_iter().map(|found| found.rule).collect()
}

#[test]
fn personal_data_is_found() {
    for (text, rule) in [
        ("My email is john@example.com.", "email"),
        ("mailto:jane.doe+news@mail.example.co.uk", "email"),
        ("From: Jane <jane_doe@example.org>", "email"),
        ("card 4111 1111 1111 1111, please", "payment-card"),
        ("card=5500-0055-5555-5559", "payment-card"),
        ("4012888888881881", "payment-card"),
        ("amex 3782 822463 10005", "payment-card"),
        ("call +44 20 7946 0958 or", "phone"),
        ("tel:+14155552671", "phone"),
        ("+1 (415) 555-2671", "phone"),
        ("+49 (0)30 901820-11", "phone"),
        ("(212) 555-0123", "phone"),
        ("my number is 415-555-2671.", "phone"),
        ("SSN: 078-05-1120", "us-ssn"),
        ("IBAN DE89 3704 0044 0532 0130 00", "iban"),
        ("GB82WEST12345698765432", "iban"),
        ("NINO AB 12 34 56 C", "uk-nino"),
        ("CPF 529.982.247-25", "br-cpf"),
    ] {
        assert_eq!(rules(text), [rule], "{text}");
        let masked = masked_personal(text.to_owned());
        assert_eq!(masked.len(), text.len());
        assert_eq!(masked_personal(masked.clone()), masked);
    }
}

#[test]
fn technical_text_is_not_personal_data() {
    for text in [
        "git clone git@github.com:org/repo.git",
        "ssh deploy@host.example.org:/srv",
        "https://user@host.example.org/path",
        "postgres://app:pw@db.example.org/x",
        "react@18.2.0 and @types/node@20.1.0",
        "actions/checkout@v4.1.0",
        "icon@2x.png, getty@tty1.service",
        "Co-authored-by: x <1234+me@users.noreply.github.com>",
        "noreply@example.com",
        "2026-11-29T17:55:41.123456789+00:00",
        "1732899341123 1732899341123456789",
        "4111111111111112",
        "0.4111111111111111",
        "id=4111-1111-1111-1111-1111",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "550e8400-e29b-41d4-a716-446655440000",
        "lines 100-200, 415-555-26710, v415.555.2671",
        "127.0.0.1 255.255.255.0 10.20.30.40:8080",
        "+1234567890\n-1234567890",
        "@@ -1,5 +1,7 @@ +12345 +123.45678901",
        "UTC+0200 and +0530",
        "1.2.3-45-6789 000-12-3456 123-00-4567 12-34-5678",
        "DE89370400440532013001",
        "ISBN 978-3-16-148410-0",
        "529.982.247-26 and 111.111.111-11",
        "0x4012888888881881 4012888888881881n",
    ] {
        assert_eq!(rules(text), [] as [&str; 0], "{text}");
    }
}

proptest! {
    #[test]
    fn spans_are_disjoint_and_masking_is_idempotent(text in "[a-zé@.0-9+() \n-]{0,120}") {
        let found = find_personal(&text);
        prop_assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        prop_assert!(found.iter().all(|found| text.get(found.span.clone()).is_some()));
        let masked = masked_personal(text.clone());
        prop_assert_eq!(masked.len(), text.len());
    }
}
