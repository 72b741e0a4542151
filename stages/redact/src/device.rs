//! Finds passwords in the configurations of network devices (Cisco, Junos, Huawei): `enable secret 9 …`, `password 7
//! …`, `snmp-server community …`, `pre-shared-key …`.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memchr, memmem, memrchr};
use regex::bytes::Regex;

use crate::config_line::is_mixed;
use crate::entropy::{is_marked, is_password};
use crate::secret::Secret;
use crate::url::is_real_password;

/// Words to search for first. Every command with a password contains one of these words.
const WORDS: &[&str] = &[
    "password ",
    "secret ",
    " community ",
    "key-string ",
    "shared-key ",
    "-server ",
    " key ",
    "cation-key ",
    "digest-key ",
    "wpa-psk ",
];
/// Maximum number of bytes of a line that are examined on each side of a word.
const MAX_BYTES: usize = 512;
/// Minimum length in bytes of a password in the type 7 encoding.
const MIN_ENCODED_BYTES: usize = 6;
/// Well-known SNMP communities, and words that documentation uses instead of a community.
const COMMUNITIES: &[&str] = &["community", "name", "private", "public", "string"];

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(WORDS)
        .expect("the automaton of a few short strings is small")
});

/// Matches a line with one command, optionally in quotes or after the prompt of a device. Type 7 (`key 7`) is a
/// reversible encoding in hexadecimal digits.
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A
        [\x20\t"'`,>+-]{0,64} (?: [\w.-]{1,63} (?: \( [\w-]{1,32} \) )? [\#>] \x20? )?
        (?:
            (?: enable | super | (?: username | local-user | neighbor | peer ) ~ [\w.:@-]+
                | ppp ~ chap | ppp ~ pap ~ sent-username ~ \S+ )
            (?: ~ privilege ~ \d+ )? ~ (?: password | secret ) (?: ~ level ~ \d+ )? (?: ~ {kind} )? ~ {value:user}
          | (?: set ~ authentication ~ )? (?: password | secret ) ~ {kind} ~ {value:line}
          | key ~ 7 ~ (?P<digits> [0-9A-Fa-f]{8,256} )
          | {words} secret ~ "? (?P<junos> \$[89]\$ {byte}{8,256}? )
          | {words} (?: encrypted-password | authentication-key | pre-shared-key | key-string )
            (?: ~ address ~ \S+ (?: ~ \d+\.\S+ )? ~ key )? (?: ~ {kind} )? ~ {value:key}
          | {words} message-digest-key ~ \d+ ~ md5 (?: ~ {kind} )? ~ {value:digest}
          | crypto ~ (?: isakmp | ikev[12] ) ~ key (?: ~ {kind} )? ~ {value:peer}
          | (?: radius | tacacs )-server ~ {words} (?: key | shared-key ) (?: ~ {kind} )? ~ {value:server}
          | wpa-psk ~ (?: ascii | hex ) (?: ~ [078] )? ~ {value:wireless}
          | snmp-server ~ user ~ \S+ ~ \S+ ~ v3 (?: ~ encrypted )? ~ auth ~ [\w-]+ ~ {value:auth}
            (?: ~ priv ~ (?: [\w-]+ ~ ){1,2} {value:priv} )?
          | (?: snmp-server ~ community | snmp-agent ~ community ~ (?: read | write ) (?: ~ (?: cipher | simple ) )?
                | set ~ snmp ~ community ) ~ "? (?P<community> {byte}{3,128}? )
        )
        (?: ~ (?: address | authorization | encrypted | hostname | level | pbkdf2 | privilege | R[OW] | r[ow] | role | view | \d+ )
            (?: ~ [^\n]* )? )?
        [;"'`,\])]* (?: \s+ \#[^\n]* )? \s* \z"#;
    let value = |name: &str| format!(r#"(?: "? (?P<{name}> {{byte}}{{4,256}}? ) )"#);
    let values = ["user", "line", "key", "digest", "peer", "server", "wireless", "auth", "priv"];
    let pattern = values
        .into_iter()
        .fold(pattern.to_owned(), |pattern, name| pattern.replace(&format!("{{value:{name}}}"), &value(name)))
        .replace(
            "{kind}",
            "(?: [0-9] | ascii-text | cipher | hexadecimal | irreversible-cipher | local | remote | simple )",
        )
        .replace("{words}", r"(?: [\w./:-]+ ~ ){0,12}")
        .replace("{byte}", r"[!\x23-\x26\x28-\x5f\x61-\x7e]")
        .replace('~', r"[\x20\t]+");
    Regex::new(&pattern).expect("a test compiles this pattern")
});

/// Adds the passwords in device commands.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    let mut searched = 0;
    for word in FINDER.find_iter(text).map(|word| word.start()) {
        if word < searched {
            continue;
        }
        let from = searched.max(word.saturating_sub(MAX_BYTES));
        let start = memrchr(b'\n', &text[from..word]).map_or(from, |line| from + line + 1);
        let to = text.len().min(word + MAX_BYTES);
        searched = memchr(b'\n', &text[word..to]).map_or(to, |line| word + line);
        let line = &text[start..searched];
        let Some(groups) = COMMAND.captures(line) else { continue };
        for (name, value) in COMMAND.capture_names().zip(groups.iter()).skip(1) {
            let Some(value) = value else { continue };
            let is_secret = match name {
                Some("community") => is_community(value.as_bytes()),
                _ => is_plausible(value.as_bytes(), &line[..value.start()]),
            };
            if is_secret {
                let span = start + value.start()..start + value.end();
                found.push(Secret { rule: "device-password", span, continues: false });
            }
        }
    }
}

/// Whether an SNMP community is a secret. A word in capital letters is a placeholder in documentation.
fn is_community(value: &[u8]) -> bool {
    let is_known = COMMUNITIES.iter().any(|known| value.eq_ignore_ascii_case(known.as_bytes()));
    !is_known && !value.iter().all(u8::is_ascii_uppercase) && is_real_password(value)
}

/// Whether a value looks like a password or an encoded password, and not like a word of a sentence. `before` is the
/// text before the value on its line.
fn is_plausible(value: &[u8], before: &[u8]) -> bool {
    let is_encoded = before.trim_ascii_end().ends_with(b" 7")
        && value.len() >= MIN_ENCODED_BYTES
        && value.len().is_multiple_of(2)
        && value.iter().all(u8::is_ascii_hexdigit);
    let is_variable = value.contains(&b'_') && value.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_sentence = [&b" and "[..], b" or "].iter().any(|word| memmem::find(before, word).is_some());
    let looks_secret = is_encoded || is_password(value) || !is_variable && (is_marked(value) || is_mixed(value));
    is_real_password(value) && !is_sentence && looks_secret
}
