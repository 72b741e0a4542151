//! Names, or keys, of secrets.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// The kind of secret that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// A token or a key, which looks random.
    Secret,
    /// A password, which people choose.
    Password,
    /// The password of a known program: whatever is assigned to the key.
    Certain,
}

/// Parts of the names of secrets, in lower case and without separators.
const SECRET: &[&str] = &[
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

/// Parts of the names of passwords; a letter that is not ASCII is left out.
const PASSWORD: &[&str] = &["contrasea", "contrasena", "motdepasse", "passphrase", "passw", "pwd"];

/// Ends of the names of passwords, and those that are words of their own.
const PASSWORD_ENDS: &[&str] = &["bindpw", "pass", "rootpw"];
const PASSWORD_WORDS: &[&[u8]] = &[b"psk", b"Psk", b"PSK"];

/// Words that end with `pass`, and the steps of an algorithm.
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

/// Beginning and ends of the variables in which Ansible keeps passwords.
const ANSIBLE: (&str, &[&str]) = ("ansible", &["pass", "password"]);

/// Ends of the names of secrets.
const SECRET_ENDS: &[&str] = &["auth", "authorization"];

/// Parts of the names of what everybody may know.
const PUBLIC: &[&str] = &["author", "csrf", "keyfactory", "public", "pwdn", "pwdown", "tokeniz", "xsrf"];

/// Ends of names of something about a secret.
const ABOUT: &[&str] = &[
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

/// Most bytes of a name.
const LONGEST: usize = 96;

/// Finds the parts of the names of secrets and passwords.
static PARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let parts = SECRET.iter().chain(PASSWORD);
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(parts).expect("a few short parts")
});

/// Returns the kind of secret that a value with this name has; `None` if the name is of no secret.
pub(crate) fn named(name: &[u8]) -> Option<Named> {
    let mut plain = [0; LONGEST];
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
    let is_public = || contains(PUBLIC) && !plain.ends_with("authorization");
    if !may_be_secret || ends(ABOUT) || ends(PASSES) || is_public() {
        return None;
    }
    if is_certain || plain.starts_with(ANSIBLE.0) && ends(ANSIBLE.1) {
        Some(Named::Certain)
    } else if contains(PASSWORD) || ends(PASSWORD_ENDS) || ends_with_word(name) {
        Some(Named::Password)
    } else {
        Some(Named::Secret)
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
    fn names_say_what_their_values_are() {
        use Named::{Certain, Password, Secret};
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
            assert_eq!(named(name.as_bytes()), expected, "{name}");
        }
        assert_eq!(named("token".repeat(50).as_bytes()), None);
    }
}
