//! Every rule on what it must find, and on what it must leave. Tokens are put together while the tests run, so that no scanner
//! takes them for leaked ones.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

use crate::entropy::{entropy, is_random, repeats};
use crate::formats::BEFORE_RUN;
use crate::runs::runs;
use crate::token_format::{Before, FORMATS, Least};
use crate::{MASK, Secret, find, mask};

/// The text with its secrets masked.
fn masked(text: &str) -> String {
    mask(text.to_owned(), &find(text))
}

/// A value that looks random, the same in every run.
fn random(length: usize) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = 0x2545_f491_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(ALPHABET[(state >> 16) as usize % ALPHABET.len()])
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn every_format_finds_its_tokens() {
    let mut runner = TestRunner::deterministic();
    for format in FORMATS {
        let pattern = format!("(?-u:{})", format.pattern).replace(r"\w", "[0-9A-Za-z_]").replace(r"\d", "[0-9]");
        let tokens = string_regex(&pattern).expect("a pattern of ASCII characters");
        let whole = regex::bytes::Regex::new(&format!(r"\A(?-u:{})\z", format.pattern)).expect("a regular expression");
        let mut tested = 0;
        for _ in 0..50 {
            let token = tokens.new_tree(&mut runner).expect("a token").current();
            let secret = whole.captures(token.as_bytes()).and_then(|groups| groups.get(1)).expect("a group").as_bytes();
            let is_likely = match format.least {
                Least::Entropy(least) => entropy(secret) >= least && !repeats(secret),
                Least::Random => is_random(secret),
            };
            let before = match format.before {
                Before::Other => "send(",
                Before::Digit => "1234567890",
                Before::Word => "https://example.org/api",
            };
            if is_likely
                && runs(token.as_bytes()).next().is_some_and(|run| run.start <= BEFORE_RUN)
                && token.ends_with(|last: char| last.is_ascii_alphanumeric())
            {
                let text = format!("{before}{token})");
                let secret = std::str::from_utf8(secret).expect("ASCII");
                assert!(!masked(&text).contains(secret), "{}: {text}", format.name);
                tested += 1;
            }
        }
        assert!(tested > 0, "{}", format.name);
    }
}

#[test]
fn prefixes_of_formats_stay() {
    let token = ["gh", "p_", &random(36)].concat();
    assert_eq!(masked(&format!("push {token} now")), format!("push ghp_{} now", "_".repeat(36)));
    assert_eq!(masked(&format!("push ghp_{} now", "x".repeat(36))), format!("push ghp_{} now", "x".repeat(36)));
    assert_eq!(find(&format!("ghp_{}", random(20))), []);
}

#[test]
fn assigned_values_are_masked_in_every_notation() {
    let value = random(24);
    for notation in [
        "password = \"{}\"",
        "DB_PASSWORD={}",
        "export API_TOKEN='{}'",
        "{\"client_secret\": \"{}\"}",
        "client-secret: {} # staging",
        "$config['api_key'] => '{}';",
        "String apiKey = \"{}\";",
        "val token: String = \"{}\"",
        "let secret = Secret::new(\"{}\");",
        "System.setProperty(\"API_TOKEN\", \"{}\")",
        "<password>{}</password>",
        "<add key=\"Password\" value=\"{}\"/>",
        "- name: API_TOKEN\n  value: {}",
        "run --token {} --verbose",
        "GET /v1?access_token={}&page=2",
        "if token == \"{}\":",
        "token ::= `{}`",
        "{\\\"token\\\": \\\"{}\\\"}",
        "curl -H 'Authorization: Bearer {}'",
    ] {
        let expected = notation.replace("{}", &MASK.to_string().repeat(value.len()));
        assert_eq!(masked(&notation.replace("{}", &value)), expected);
    }
}

#[test]
fn joined_strings_are_one_value() {
    let (line, last) = (random(64), random(9));
    let text =
        format!("String privateKey =\n    \"{line}\\n\" +\n    \"{line}\" + \"{last}\";\nString name = \"Anna2\";");
    let found = find(&text);
    assert_eq!(
        found.iter().map(|secret| secret.continues).collect::<Vec<_>>(),
        [false, true, true],
        "{}",
        masked(&text)
    );
    assert!(masked(&text).ends_with("\"_________\";\nString name = \"Anna2\";"));
    let text = format!("put(\"secret\", \"{line}\", \"name\", \"other\")");
    assert!(masked(&text).ends_with("_\", \"name\", \"other\")"));
}

#[test]
fn ordinary_code_is_left() {
    let (hash, base64) = ("d41d8cd98f00b204e9800998ecf8427e", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODk=");
    for text in [
        "const token = parser.nextTokenFromInputStream2();",
        "password = getPassword(user2, realm3)",
        "token = tokens[4];",
        "SecretKey key = P11Key.secretKey;",
        "secret: process.env.SECRET_KEY_2",
        "password: ${DB_PASSWORD_1a2B}",
        "password = \"<your-password-h3r3>\"",
        "password: changeme123",
        "token: TOKEN_KIND_2",
        "if (token->type == T1_TOKEN_TYPE_ANY)",
        "SecretKeyFactory.getInstance(\"PBEWithMD5AndDES\")",
        "tokenizer = \"bert4x-b4s3-unc4s3d\"",
        "publicKeyToken=b77a5c561934e089",
        "password_hash: $argon2$v19$m65536$t3p4",
        "token_url = 'https://host/x1Y2z3A4b5C6d7E8'",
        "<UserSecretsId>79a3edd0-2092-40a2-a04d-dcb46d5ca9ed</UserSecretsId>",
        "secretName: app-v2-secret-x1",
        ".token { color: #fa3b9c; background: #0a1b2c3d }",
        "password = \"correct horse battery staple\"",
        &format!("commit {hash}0000"),
        &format!("integrity sha512-{base64}"),
        &format!("const vector = \"{base64}\";"),
        &format!("id: {hash}"),
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUK0b2QUJDREVGR0hJSktMTU5PUFFSU1Q=\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
        "a line that begins with -----BEGIN PRIVATE KEY----- opens a key",
        "https://user:password@example.org and https://{user}:{password}@host",
        "http://host:8080/@scope/name",
        "ssh://git@host:22/path",
        "",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn private_keys_lose_their_lines() {
    let (long, short) = (random(64), random(11));
    let kind = ["RSA PRIVATE", " KEY"].concat();
    let key = |line: &str, end: &str| {
        format!(
            "-----BEGIN {kind}-----{end}Proc-Type: 4,ENCRYPTED{end}{end}{line}{end}{line}{end}{}{end}-----END {kind}-----",
            short
        )
    };
    for end in ["\n", "\r\n", "\\n", "\\n\" +\n    \"", "\n * "] {
        let found = masked(&key(&long, end));
        assert!(!found.contains(&long[..8]) && !found.contains(&short[..8]), "{found}");
        assert!(found.contains("Proc-Type: 4,ENCRYPTED") && found.contains("-----END"), "{found}");
    }
    let text = key(&long, "\n");
    assert_eq!(find(&text).iter().filter(|secret| !secret.continues).count(), 1);
}

#[test]
fn a_key_without_an_end_is_masked_as_far_as_it_goes() {
    let line = random(64);
    let text = format!("-----BEGIN EC {}-----\n{line}\nand so on", ["PRIVATE", " KEY"].concat());
    let found = masked(&text);
    assert!(!found.contains(&line) && found.ends_with("\nand so on"), "{found}");
}

#[test]
fn passwords_in_urls_are_masked() {
    assert_eq!(masked("postgres://app:s3cr3t@db:5432/x"), "postgres://app:______@db:5432/x");
    assert_eq!(masked("https://:hunter2@host"), "https://:_______@host");
    assert_eq!(find("https://user:${PW}@host"), []);
}

#[test]
fn credentials_of_commands_and_manifests_are_masked() {
    assert_eq!(masked("curl -s \\\n  -u 'app:s3cr3t-x' https://h"), "curl -s \\\n  -u 'app:________' https://h");
    assert_eq!(masked("curl --user d2LkV78z: https://h"), "curl --user ________: https://h");
    for text in ["curl -u \"$USER:$PASSWORD\"", "curl -u user:password h", "curl h\nsudo -u a:b1c2d3", "curl -u name h"]
    {
        assert_eq!(masked(text), text);
    }
    let manifest = |kind: &str, value: &str| {
        format!(
            "a: 1\n---\ndata:\n  # note\n  key: {value}\n  file: |\n    {value}\nkind: {kind}\nname: {value}\n---\ndata:\n  key: {value}\n"
        )
    };
    let (value, mask) = ("bXlwYXNzd29yZA==", "________________");
    let expected = manifest("Secret", value).replacen(value, mask, 2);
    assert_eq!(masked(&manifest("Secret", value)), expected);
    assert_eq!(masked(&manifest("ConfigMap", value)), manifest("ConfigMap", value));
}

#[test]
fn manifests_in_json_are_masked() {
    let (value, mask) = ("bXlwYXNzd29yZA==", "________________");
    let secret = |kind: &str, value: &str| {
        format!(
            r#"{{"kind": "{kind}", "data": {{"a\"b": "{value}", "c": "{value}"}}, "metadata": {{"name": "bXlwYXNzd29yZA=="}}}}"#
        )
    };
    let list = |kind: &str, value: &str| {
        let other = secret("ConfigMap", "bXlwYXNzd29yZA==");
        format!("{{\n\"kind\": \"List\",\n\"items\": [{other},\n{}]\n}}\n{other}", secret(kind, value))
    };
    assert_eq!(masked(&list("Secret", value)), list("Secret", mask));
    assert_eq!(masked(&list("ConfigMap", value)), list("ConfigMap", value));
    let kind_last = r#"{"stringData":{"k":"a value with words"},"kind":"Secret"}"#;
    assert_eq!(masked(kind_last), kind_last.replace("a value with words", "__________________"));
    let cut_off = format!(r#"{{"kind": "Secret", "data": {{"a": "{value}", "b": "{value}"#);
    assert_eq!(masked(&cut_off), cut_off.replace(value, mask));
}

#[test]
fn long_values_end_at_characters() {
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

/// Texts in which parts of secrets stand beside each other and beside characters of several bytes.
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
    fn masks_keep_the_place_of_everything(text in text()) {
        let found = find(&text);
        let masked = mask(text.clone(), &found);
        prop_assert_eq!(masked.len(), text.len());
        for (at, (byte, before)) in masked.bytes().zip(text.bytes()).enumerate() {
            let is_masked = found.iter().any(|secret| secret.span.contains(&at));
            let is_right = if is_masked { byte == MASK as u8 && before != b'\n' } else { byte == before };
            prop_assert!(is_right, "byte {}", at);
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
