//! Tests for values that are assigned to the names of secrets, for private keys, and for values in several parts.

use super::{masked, random};
use crate::{MASK, find};

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
fn keys_in_hexadecimal_are_masked() {
    let key = "3fa91c07".repeat(8);
    let mask = MASK.to_string().repeat(key.len() + 2);
    for notation in ["private_key = \"{}\"", "API_SECRET={}\n", "privateKey: {}\n", "uint256 privateKey = {};"] {
        assert_eq!(masked(&notation.replace("{}", &format!("0x{key}"))), notation.replace("{}", &mask));
    }
    for text in ["token = 0x1f4a9c3b;", "block_hash = \"0x3fa91c073fa91c073fa91c073fa91c07\""] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn concatenated_strings_are_one_value() {
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
fn ordinary_code_is_not_masked() {
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
fn all_lines_of_private_keys_are_masked() {
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
fn a_key_without_an_end_line_is_masked() {
    let line = random(64);
    let text = format!("-----BEGIN EC {}-----\n{line}\nand so on", ["PRIVATE", " KEY"].concat());
    let found = masked(&text);
    assert!(!found.contains(&line) && found.ends_with("\nand so on"), "{found}");
}

#[test]
fn passwords_in_parts_and_on_other_lines_are_masked() {
    let value = random(24);
    let (first, second) = value.split_at(9);
    let mask = |length: usize| MASK.to_string().repeat(length);
    for notation in [
        "password = \\\n    {}\n",
        "db.password=\\\r\n  {}\r\n",
        "DB_PASSWORD = \\\n    \"{}\"\n",
        "password: >-\n  {}\nuser: bob\n",
        "a:\n                        password: |\n                          {}\n",
        "{\n  \"password\":\n    \"{}\"\n}",
        "{\n                      \"password\":\n                        \"{}\"\n}",
        "passwords:\n  - {}\n  - 'two words'\n  - \"{}\" # new\n",
        "\"passwords\": [\"bob\", \"{}\", '{}']",
        "PASSWORDS = [\n    'bob',\n    '{}',\n]",
        "char *passwords[] = { \"{}\", NULL };",
        "USER, PASSWORD = \"bob\", \"{}\"",
        "host, user, password := getenv(1), \"bob\", \"{}\"",
        "let (user, password) = (\"bob\", \"{}\");",
        "($user, $password) = ('bob', '{}');",
        "password, user = '{}', 'bob'",
        "  storePassword \"{}\"\n",
        "auth\n  password {}\n",
        "password = isTest(x) ? \"{}\" : other;",
        "password = is_test ? other : '{}';",
        "val password = System.getenv(\"P\") ?: \"{}\"",
    ] {
        let text = |value: &str| notation.replace("{}", value);
        assert_eq!(masked(&text(&value)), text(&mask(value.len())));
    }
    for notation in [
        "password = \"{1}\" + \"{2}\";",
        "password = '{1}' .\n    '{2}';",
        "char *password = \"{1}\" \"{2}\";",
        "static const char password[] = \"{1}\"\n    \"{2}\";",
        "PASSWORD = (\n    \"{1}\"\n    \"{2}\"\n)",
        "String password = \"{1}\"\n    + \"{2}\";",
    ] {
        let text = |first: &str, second: &str| notation.replace("{1}", first).replace("{2}", second);
        assert_eq!(masked(&text(first, second)), text(&mask(first.len()), &mask(second.len())));
    }
    for text in [
        "password = \\\n    getPassword2(realm3)\n",
        "TOKENS = \\\n    tokenizer2.c \\\n    parser_v3.c\n",
        "password: >-\n  The password of the user2, if there is one.\n",
        "password: |\n  ${DB_PASSWORD}\n",
        "secrets:\n  - db_password_2\n  - source: app-v2-secret-x1\n",
        "passwords:\n  - ${PASSWORD_1a2B}\n  - changeme123\n",
        "\"passwords\": [\"correct\", \"<your-password>\", \"changeme1\"]",
        "tokens = [\"k3Jd82mXq0PzL5vR\", \"(\", \")\"]",
        "AUTH_PASSWORD_VALIDATORS = [{\"NAME\": \"django.contrib.auth.MinimumLengthValidator2\"}]",
        "user, password = args[0], args[1]",
        "user, password = \"bob\", \"password\"",
        "def login(user, password=\"correct\", realm=\"realm2\"):",
        "password = \"pass\" + \"word\";",
        "password = \"my\" + name2 + \"x\";",
        "password = \"user\" + \"$suffix2\";",
        "mysql --password=\"$P\" \"db2\"",
        "password: \"correct\"\n  \"user2x\": \"k3\"",
        "  password hashes\n",
        "the user's\npassword SHA256withRSA\n",
        "password = is_test ? \"correct horse\" : \"battery\";",
        "password?: string | undefined;",
    ] {
        assert_eq!(masked(text), text);
    }
}
