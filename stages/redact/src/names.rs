//! Classifies the names to which values are assigned: whether a value may be a secret depends on its name.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// The kind of secret that a name indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// A token or a key, whose value looks random.
    Secret,
    /// A password, which a person may have chosen.
    Password,
    /// The password of a known program. Any value that is assigned to the name is a secret.
    Certain,
}

/// Parts of the names of secrets, in lower case and without separators.
const SECRET_PARTS: &[&str] = &[
    "accesskey",
    "accountkey",
    "apikey",
    "appkey",
    "authkey",
    "clientkey",
    "credential",
    "creds",
    "deploykey",
    "encryptionkey",
    "hmackey",
    "licensekey",
    "masterkey",
    "privatekey",
    "secret",
    "servicekey",
    "sharedkey",
    "signingkey",
    "sshkey",
    "storagekey",
    "subscriptionkey",
    "token",
    "webhookkey",
];

/// Parts of the names of passwords, in lower case and without separators. Letters outside ASCII are omitted, so
/// `contraseña` is `contrasea`.
const PASSWORD_PARTS: &[&str] = &["contrasea", "contrasena", "motdepasse", "passphrase", "passw", "pwd"];

/// Endings of the names of passwords.
const PASSWORD_ENDS: &[&str] = &["bindpw", "pass", "rootpw"];
/// Endings of the names of passwords that must be whole words, in the letter cases that occur.
const PASSWORD_WORDS: &[&[u8]] = &[b"psk", b"Psk", b"PSK"];

/// Endings in `pass` that do not indicate a password, for example because the word means a pass of an algorithm.
const PASSES: &[&str] =
    &["allpass", "bandpass", "bypass", "compass", "firstpass", "highpass", "lowpass", "multipass", "secondpass"];

/// Keys of known programs whose value is a password: wpa_supplicant, hostapd, Redis, OpenLDAP, PostgreSQL, MySQL.
const CERTAIN: &[&str] = &[
    "bindpw",
    "masterauth",
    "mysqlpwd",
    "pgpassword",
    "psk",
    "rediscliauth",
    "requirepass",
    "rootpw",
    "saepassword",
    "sshpass",
    "wpapassphrase",
    "wpapsk",
];

/// Prefix and endings of the names of Ansible's variables for passwords.
const ANSIBLE: (&str, &[&str]) = ("ansible", &["pass", "password"]);

/// Endings of the names of secrets.
const SECRET_ENDS: &[&str] = &["auth", "authorization"];

/// Parts of the names of public values.
const PUBLIC_PARTS: &[&str] = &["author", "csrf", "keyfactory", "public", "pwdn", "pwdown", "tokeniz", "xsrf"];

/// Endings of names that describe a property of a secret instead of the secret itself.
const ATTRIBUTE_ENDS: &[&str] = &[
    "algorithm",
    "callback",
    "checksum",
    "class",
    "count",
    "digest",
    "dir",
    "endpoint",
    "field",
    "file",
    "fingerprint",
    "format",
    "hash",
    "id",
    "ids",
    "label",
    "length",
    "limit",
    "name",
    "names",
    "path",
    "pattern",
    "policy",
    "prefix",
    "regex",
    "size",
    "suffix",
    "type",
    "types",
    "uri",
    "url",
    "vault",
    "version",
];

/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 96;

/// Finds the items of [`SECRET_PARTS`] and [`PASSWORD_PARTS`] in a name.
static PARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let parts = SECRET_PARTS.iter().chain(PASSWORD_PARTS);
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(parts)
        .expect("the automaton of a few short strings is small")
});

/// Returns the kind of secret that a name indicates, or `None` if the name does not indicate a secret.
pub(crate) fn classify_name(name: &[u8]) -> Option<NameKind> {
    let mut plain = [0; MAX_NAME_BYTES];
    let mut length = 0;
    for byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *plain.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let plain = std::str::from_utf8(&plain[..length]).ok()?.trim_end_matches(|c: char| c.is_ascii_digit());
    let contains = |parts: &[&str]| parts.iter().any(|part| plain.contains(part));
    let ends = |ends: &[&str]| ends.iter().any(|end| plain.ends_with(end));
    let is_certain = CERTAIN.contains(&plain);
    let may_be_secret =
        is_certain || PARTS.is_match(plain) || ends(SECRET_ENDS) || ends(PASSWORD_ENDS) || ends_with_word(name);
    let is_public = || contains(PUBLIC_PARTS) && !plain.ends_with("authorization");
    if !may_be_secret || ends(ATTRIBUTE_ENDS) || ends(PASSES) || is_public() {
        return None;
    }
    if is_certain || plain.starts_with(ANSIBLE.0) && ends(ANSIBLE.1) {
        Some(NameKind::Certain)
    } else if contains(PASSWORD_PARTS) || ends(PASSWORD_ENDS) || ends_with_word(name) {
        Some(NameKind::Password)
    } else {
        Some(NameKind::Secret)
    }
}

fn ends_with_word(name: &[u8]) -> bool {
    let before = PASSWORD_WORDS.iter().find_map(|word| name.strip_suffix(*word));
    before
        .is_some_and(|before| before.last().is_none_or(|last| !last.is_ascii_alphanumeric() || name.ends_with(b"Psk")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_classified() {
        use NameKind::{Certain, Password, Secret};
        for (name, expected) in [
            ("password", Some(Password)),
            ("DB_PASSWD", Some(Password)),
            ("DB_PASS", Some(Password)),
            ("smtpPass2", Some(Password)),
            ("mot_de_passe", Some(Password)),
            ("contraseña", Some(Password)),
            ("ansible_become_pass", Some(Certain)),
            ("PGPASSWORD", Some(Certain)),
            ("aws_secret_access_key", Some(Secret)),
            ("apiKey", Some(Secret)),
            ("X-Api-Key", Some(Secret)),
            ("Authorization", Some(Secret)),
            ("token2", Some(Secret)),
            ("wifi_psk", Some(Password)),
            ("key", None),
            ("CONFIG_DVB_GP8PSK_FE", None),
            ("author", None),
            ("bypass", None),
            ("publicKeyToken", None),
            ("token_url", None),
            ("passwordHash", None),
            ("secretName", None),
            ("primaryKey", None),
            ("csrf-token", None),
        ] {
            assert_eq!(classify_name(name.as_bytes()), expected, "{name}");
        }
        assert_eq!(classify_name("token".repeat(50).as_bytes()), None);
    }
}
