//! Tests for tokens in known formats.

use super::{Random, masked, random};
use crate::token_format::{Before, Criterion, FORMATS};
use crate::{MASK, find};

/// Number of random tokens per format.
const TOKENS: usize = 2000;
/// Maximum number of tokens of a format with [`Criterion::Random`] that may look like names and stay unmasked.
const MAX_NAMES: usize = TOKENS / 200;

/// Contexts of a token, which replaces `{}`. In some contexts, the token is at the start or the end of the text.
const CONTEXTS: &[&str] = &[
    "{}\n",
    "export KEY={}\n",
    "key = \"{}\";\n",
    "key = '{}'\r\n",
    "https://example.org/v1?key={}&page=2\n",
    "X-Key: {}\r\n",
    "// renew {} soon\n",
    "{\"key\": \"{}\", \"next\": 1}\n",
    "\"{\\\"key\\\": \\\"{}\\\"}\\n\"\n",
    "print(\"one\\n{}\\n\")\n",
    "| `{}` | <key>{}</key> |\n",
    "f({}), [{}]\n",
    "\u{1b}[32m{}\u{1b}[0m é{}仕\n",
    "{}",
];

#[test]
fn random_tokens_of_every_format_are_masked_in_every_context() {
    let (mut random, mut unmasked) = (Random(1), Vec::new());
    for format in FORMATS {
        let pattern =
            regex_syntax::parse(&format!("(?-u:{})", format.pattern)).expect("the pattern is a regular expression");
        let whole = regex::bytes::Regex::new(&format!(r"\A(?-u:{})\z", format.pattern))
            .expect("the pattern is a regular expression");
        let before = match (&format.criterion, format.before) {
            (Criterion::Header, _) => "Authorization: ",
            (_, Before::Other) => "",
            (_, Before::Digit) => "1234567890",
            (_, Before::Word) => "https://example.org/api",
        };
        let before_format = unmasked.len();
        for drawn in 0..TOKENS {
            let token = random.matching(&pattern);
            let secret = whole.captures(token.as_bytes()).and_then(|groups| groups.get(1)).expect("a group");
            let secret = &token[secret.range()];
            let context = |at: usize| CONTEXTS[at % CONTEXTS.len()].replace("{}", &format!("{before}{token}"));
            let text = [context(drawn), context(drawn / CONTEXTS.len()), context(CONTEXTS.len() - 1)].join("\n");
            let masked = masked(&text);
            if let Some(at) = masked.find(secret) {
                let before = text[..at].lines().last().unwrap_or_default();
                unmasked.push(format!("{}: {token} after {before}", format.name));
            }
        }
        if matches!(format.criterion, Criterion::Random) && unmasked.len() - before_format <= MAX_NAMES {
            unmasked.truncate(before_format);
        }
    }
    assert!(unmasked.is_empty(), "{} tokens: {unmasked:#?}", unmasked.len());
}

#[test]
fn token_prefixes_are_not_masked() {
    let token = ["gh", "p_", &random(36)].concat();
    assert_eq!(masked(&format!("push {token} now")), format!("push ghp_{} now", "_".repeat(36)));
    assert_eq!(masked(&format!("push ghp_{} now", "x".repeat(36))), format!("push ghp_{} now", "x".repeat(36)));
    assert_eq!(find(&format!("ghp_{}", random(20))), []);
}

#[test]
fn password_hashes_are_masked_after_their_prefix() {
    let (hash, masked_hash) = (random(53), "_".repeat(53));
    assert_eq!(masked(&format!("bob:$2y$10${hash}\n")), format!("bob:$2y$10${masked_hash}\n"));
    assert_eq!(masked(&format!("- bob:$$2y$$10$${hash}\n")), format!("- bob:$$2y$$10$${masked_hash}\n"));
    for text in ["awk '{print $1$2, $5$6$7}'", "echo $1$salt$2", "sed 's/$6$/x/'", "$2y$10$short"] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn legacy_vault_tokens_are_distinguished_from_members() {
    let token = random(24);
    assert_eq!(masked(&format!("vault login s.{token}")), format!("vault login s.{}", MASK.to_string().repeat(24)));
    for text in ["s.handleConnectionRequests(c)", "s.base64EncodedCertificate", &format!("keys.{token}")] {
        assert_eq!(masked(text), text);
    }
}

/// `docs/reference/secret-formats.md` compares the formats with the formats of other scanners. The table must have one
/// row per format, in the same order.
#[test]
fn the_documentation_lists_every_format() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/secret-formats.md"));
    let page = page.expect("`docs/reference/secret-formats.md` exists");
    let rows = page.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| !line.is_empty());
    let begins: Vec<String> = FORMATS
        .iter()
        .map(|format| {
            let criterion = match format.criterion {
                Criterion::Prefix => "prefix".to_owned(),
                Criterion::Entropy(least) => format!("entropy {least:.1}"),
                Criterion::Header => "header".to_owned(),
                Criterion::Random => "random".to_owned(),
            };
            format!("| {} | `{}` | {criterion} | ", format.name, format.pattern.replace('|', "\\|"))
        })
        .collect();
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), begins.len());
    for (row, begin) in rows.into_iter().zip(begins) {
        assert!(row.starts_with(&begin), "expected a row that begins with {begin}, found {row}");
    }
}
