//! Whether a name, or a key, is that of a secret.

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
    "passphrase",
    "passw",
    "privatekey",
    "pwd",
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

/// Ends of the names of secrets.
const SECRET_ENDS: &[&str] = &["auth", "authorization"];

/// Parts of the names of what everybody may know.
const PUBLIC: &[&str] = &["author", "csrf", "keyfactory", "public", "tokeniz", "xsrf"];

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

/// Whether a value with this name is a secret if it looks like one.
pub(crate) fn is_of_secret(name: &[u8]) -> bool {
    let mut plain = [0; LONGEST];
    let mut length = 0;
    for byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        let Some(place) = plain.get_mut(length) else { return false };
        *place = byte.to_ascii_lowercase();
        length += 1;
    }
    let Ok(plain) = std::str::from_utf8(&plain[..length]) else { return false };
    let plain = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_secret =
        SECRET.iter().any(|part| plain.contains(part)) || SECRET_ENDS.iter().any(|end| plain.ends_with(end));
    let is_public = PUBLIC.iter().any(|part| plain.contains(part)) && !plain.ends_with("authorization");
    is_secret && !is_public && !ABOUT.iter().any(|end| plain.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_their_values_are() {
        for name in ["password", "DB_PASSWD", "aws_secret_access_key", "apiKey", "X-Api-Key", "Authorization", "token2"]
        {
            assert!(is_of_secret(name.as_bytes()), "{name}");
        }
        for name in
            ["key", "author", "publicKeyToken", "token_url", "passwordHash", "secretName", "primaryKey", "csrf-token"]
        {
            assert!(!is_of_secret(name.as_bytes()), "{name}");
        }
        assert!(!is_of_secret("token".repeat(50).as_bytes()));
    }
}
