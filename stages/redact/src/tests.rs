//! Every rule on what it must find, and on what it must leave. Tokens are put together while the tests run, so that no scanner
//! takes them for leaked ones.

use proptest::prelude::*;
use regex_syntax::hir::{Class, Hir, HirKind};

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

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    /// A number below a limit.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// A text that matches a pattern of ASCII characters, each character of a class as likely as any other.
    fn matching(&mut self, pattern: &Hir) -> String {
        match pattern.kind() {
            HirKind::Empty | HirKind::Look(_) => String::new(),
            HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).expect("ASCII"),
            HirKind::Class(class) => {
                let ranges: Vec<_> = match class {
                    Class::Bytes(class) => class.ranges().iter().map(|range| range.start()..=range.end()).collect(),
                    Class::Unicode(class) => {
                        let byte = |character: char| u8::try_from(character).expect("ASCII");
                        class.ranges().iter().map(|range| byte(range.start())..=byte(range.end())).collect()
                    }
                };
                let bytes: Vec<u8> = ranges.into_iter().flatten().collect();
                char::from(bytes[self.below(bytes.len())]).into()
            }
            HirKind::Repetition(repetition) => {
                let least = repetition.min as usize;
                let most = repetition.max.map_or(least + 20, |most| most as usize);
                (0..least + self.below(most - least + 1)).map(|_| self.matching(&repetition.sub)).collect()
            }
            HirKind::Capture(capture) => self.matching(&capture.sub),
            HirKind::Concat(parts) => parts.iter().map(|part| self.matching(part)).collect(),
            HirKind::Alternation(parts) => {
                let part = self.below(parts.len());
                self.matching(&parts[part])
            }
        }
    }
}

/// Random tokens of each format.
const TOKENS: usize = 2000;
/// Maximum number of them that may look like names, if the format is [`Least::Random`].
const MAX_NAMES: usize = TOKENS / 200;

/// Places in which a token stands, from the start of a text to its end.
const PLACES: &[&str] = &[
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
fn every_random_token_of_every_format_is_masked_wherever_it_stands() {
    let (mut random, mut unmasked) = (Random(1), Vec::new());
    for format in FORMATS {
        let pattern = regex_syntax::parse(&format!("(?-u:{})", format.pattern)).expect("a regular expression");
        let whole = regex::bytes::Regex::new(&format!(r"\A(?-u:{})\z", format.pattern)).expect("a regular expression");
        let before = match (&format.least, format.before) {
            (Least::Header, _) => "Authorization: ",
            (_, Before::Other) => "",
            (_, Before::Digit) => "1234567890",
            (_, Before::Word) => "https://example.org/api",
        };
        let before_format = unmasked.len();
        for drawn in 0..TOKENS {
            let token = random.matching(&pattern);
            let secret = whole.captures(token.as_bytes()).and_then(|groups| groups.get(1)).expect("a group");
            let secret = &token[secret.range()];
            let place = |at: usize| PLACES[at % PLACES.len()].replace("{}", &format!("{before}{token}"));
            let text = [place(drawn), place(drawn / PLACES.len()), place(PLACES.len() - 1)].join("\n");
            let masked = masked(&text);
            if let Some(at) = masked.find(secret) {
                let before = text[..at].lines().last().unwrap_or_default();
                unmasked.push(format!("{}: {token} after {before}", format.name));
            }
        }
        if matches!(format.least, Least::Random) && unmasked.len() - before_format <= MAX_NAMES {
            unmasked.truncate(before_format);
        }
    }
    assert!(unmasked.is_empty(), "{} tokens: {unmasked:#?}", unmasked.len());
}

#[test]
fn prefixes_of_formats_stay() {
    let token = ["gh", "p_", &random(36)].concat();
    assert_eq!(masked(&format!("push {token} now")), format!("push ghp_{} now", "_".repeat(36)));
    assert_eq!(masked(&format!("push ghp_{} now", "x".repeat(36))), format!("push ghp_{} now", "x".repeat(36)));
    assert_eq!(find(&format!("ghp_{}", random(20))), []);
}

#[test]
fn hashes_of_passwords_are_masked_after_their_prefix() {
    let (hash, masked_hash) = (random(53), "_".repeat(53));
    assert_eq!(masked(&format!("bob:$2y$10${hash}\n")), format!("bob:$2y$10${masked_hash}\n"));
    assert_eq!(masked(&format!("- bob:$$2y$$10$${hash}\n")), format!("- bob:$$2y$$10$${masked_hash}\n"));
    for text in ["awk '{print $1$2, $5$6$7}'", "echo $1$salt$2", "sed 's/$6$/x/'", "$2y$10$short"] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn legacy_tokens_of_vault_are_told_from_members() {
    let token = random(24);
    assert_eq!(masked(&format!("vault login s.{token}")), format!("vault login s.{}", MASK.to_string().repeat(24)));
    for text in ["s.handleConnectionRequests(c)", "s.base64EncodedCertificate", &format!("keys.{token}")] {
        assert_eq!(masked(text), text);
    }
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
    let token = "3fa91c07d2".repeat(4);
    let mask = "_".repeat(token.len());
    assert_eq!(masked(&format!("https://{token}@host/x.git")), format!("https://{mask}@host/x.git"));
    assert_eq!(masked(&format!("https://{token}:x@host")), format!("https://{mask}:x@host"));
    for text in ["https://continuous-integration-service-account@host", &format!("https://host/{token}@v1")] {
        assert_eq!(find(text), []);
    }
}

#[test]
fn sessions_in_cookies_are_masked() {
    let (session, mask) = (random(32), "_".repeat(32));
    let request = |value: &str| format!("Cookie: theme=dark2x9Q; session={value}; lang=en\r\nHost: h\r\n");
    assert_eq!(masked(&request(&session)), request(&mask));
    let response = |value: &str| format!("curl -H 'Set-Cookie: JSESSIONID={value}; Path=/; HttpOnly'");
    assert_eq!(masked(&response(&session)), response(&mask));
    for text in ["Set-Cookie: session=; Max-Age=0", "Cookie: session=${SESSION}", "Cookie: session=<session-id>"] {
        assert_eq!(masked(text), text);
    }
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

#[test]
fn passwords_are_masked_where_programs_expect_them() {
    for (text, password) in [
        ("DB_PASS=hunter2x\n", "hunter2x"),
        ("DB_PASS=S3cr3t!Pass$word(9)\n", "S3cr3t!Pass$word(9)"),
        ("export MYSQL_PASS='S3c$r3t!x'", "S3c$r3t!x"),
        ("ENV DB_PASSWORD hunter2x\n", "hunter2x"),
        ("- MYSQL_ROOT_PASSWORD=hunter2x", "hunter2x"),
        ("ansible_become_pass: swordfish\n", "swordfish"),
        ("ansible_ssh_pass: \"Sup3r$ecret\"", "Sup3r$ecret"),
        ("spring.datasource.password=Sup3r$ecret\n", "Sup3r$ecret"),
        ("\"password\": \"Sup3r$ecret!\",", "Sup3r$ecret!"),
        ("password = \"a'B3$x\\\"k9!z\"", "a'B3$x\\\"k9!z"),
        ("<password>Sup3r-Secr3t!x</password>", "Sup3r-Secr3t!x"),
        ("jdbc:mysql://h/db?user=u&password=hunter22\n", "hunter22"),
        ("Server=h;User Id=sa;Password=Sw0rdfish;", "Sw0rdfish"),
        ("machine h login bob password swordfish", "swordfish"),
        ("machine h\n  login bob\n  password swordfish\n", "swordfish"),
        ("default login anonymous password joe@site", "joe@site"),
        ("localhost:5432:mydb:myuser:swordfish", "swordfish"),
        ("# ~/.pgpass\n*:*:*:app:swordfish\n", "swordfish"),
        ("psk=\"my wifi password\"", "my wifi password"),
        ("requirepass swordfish\n", "swordfish"),
        ("PGPASSWORD=swordfish psql -h x", "swordfish"),
        ("sshpass -p swordfish ssh root@host", "swordfish"),
        ("sshpass -p 'two words' ssh root@host", "two words"),
        ("[\"sshpass\", \"-p\", \"swordfish\", \"ssh\"]", "swordfish"),
        ("mysql -u root -pswordfish db", "swordfish"),
        ("docker login -u me -p swordfish registry", "swordfish"),
        ("redis-cli -h h -a swordfish ping", "swordfish"),
        ("mongo -u admin -p swordfish", "swordfish"),
        ("ldapsearch -x -D cn=a -w swordfish -b dc=x", "swordfish"),
        ("smbclient //h/s -U bob%swordfish", "swordfish"),
        ("openssl rsa -in k -passin pass:swordfish", "swordfish"),
        ("7z a -pswordfish x.7z f", "swordfish"),
        ("gpg --batch --passphrase swordfish -c f", "swordfish"),
        ("wget --http-password swordfish \\\n  http://x", "swordfish"),
        ("curl -ubob:swordfish http://x", "swordfish"),
        ("PASSWORD=p@ss\n", "p@ss"),
        ("export DB_PASSWORD='p@ss'\n", "p@ss"),
        ("db.password=a!bc\n", "a!bc"),
        ("db:\n  password: p@ss\n", "p@ss"),
        ("password: \"V@ulzvsV\"\n", "V@ulzvsV"),
        ("password: '1#*ijh_92x7d'\n", "1#*ijh_92x7d"),
        ("POSTGRES_PASSWORD: abc12!\n", "abc12!"),
        ("POSTGRES_PASSWORD: *x7%K2m\n", "*x7%K2m"),
        ("POSTGRES_PASSWORD: z_SbkW26PrjcfdJ1\n", "z_SbkW26PrjcfdJ1"),
        ("nmcli dev wifi connect net password swordfish", "swordfish"),
        ("echo 'bob:swordfish' | sudo chpasswd", "swordfish"),
        ("RUN useradd bob && echo bob:swordfish|chpasswd", "swordfish"),
        ("printf \"%s\\n\" \"bob:two words\" | /usr/sbin/chpasswd -c SHA512", "two words"),
        ("[\"sh\", \"-c\", \"echo bob:swordfish | chpasswd\"]", "swordfish"),
        ("chpasswd <<< \"bob:swordfish\"", "swordfish"),
        ("chpasswd <<<bob:swordfish", "swordfish"),
        ("Authorization: Basic Ym9iOnN3b3Jk", "Ym9iOnN3b3Jk"),
        ("CREATE USER 'bob'@'%' IDENTIFIED BY 'swordfish';", "swordfish"),
        ("GRANT ALL ON shop.* TO 'bob'@'%' IDENTIFIED BY 'swordfish';", "swordfish"),
        ("create user bob identified with caching_sha2_password by 'swordfish'", "swordfish"),
        ("ALTER USER bob WITH PASSWORD 'swordfish';", "swordfish"),
        ("CREATE ROLE bob\n  LOGIN PASSWORD 'swordfish';", "swordfish"),
        ("\"host=db user=u password=swordf1sh dbname=x\"", "swordf1sh"),
        ("vault kv put secret/app password=swordf1sh", "swordf1sh"),
        ("password: process.env.P || \"Sw0rdfish!x\",", "Sw0rdfish!x"),
        ("const pw = process.env.DB_PASSWORD ?? 'Sw0rdfish!x';", "Sw0rdfish!x"),
        ("pw = os.environ.get(\"DB_PASSWORD\") or \"Sw0rdfish!x\"", "Sw0rdfish!x"),
        ("password = ENV['P'] || 'Sw0rdfish!x'", "Sw0rdfish!x"),
        ("ENV.fetch(\"DB_PASSWORD\") { \"Sw0rdfish!x\" }", "Sw0rdfish!x"),
        ("contraseña = \"Sw0rdfish!x\"", "Sw0rdfish!x"),
        ("ConvertTo-SecureString \"Sw0rdfish!x\" -AsPlainText -Force", "Sw0rdfish!x"),
        ("new NetworkCredential(\"bob\", \"Sw0rdfish!x\")", "Sw0rdfish!x"),
        ("requests.get(u, auth=('bob', 'Sw0rdfish!x'))", "Sw0rdfish!x"),
        ("twine upload -u u -p swordfish dist/*", "swordfish"),
        ("http -a bob:swordfish example.org", "swordfish"),
        ("rdesktop -u bob -p swordfish host", "swordfish"),
        ("xfreerdp /u:bob /p:swordfish /v:host", "swordfish"),
        ("ssh-keygen -t rsa -N swordfish -f key", "swordfish"),
        ("sqlplus bob/swordfish@db", "swordfish"),
        ("jdbc:oracle:thin:bob/swordfish@//db:1521/x", "swordfish"),
        ("az keyvault secret set --name n --value swordfish", "swordfish"),
        ("gh secret set NAME --body swordfish", "swordfish"),
        ("nuget setapikey oy2k3Jd82mXq0PzL5vRt7NcY1 -Source x", "oy2k3Jd82mXq0PzL5vRt7NcY1"),
        ("DriverManager.getConnection(url, \"bob\", \"Sw0rdfish!x\")", "Sw0rdfish!x"),
        ("smtp.login(\"bob\", \"Sw0rdfish!x\")", "Sw0rdfish!x"),
        ("new PasswordAuthentication(\"bob\", \"Sw0rdfish!x\".toCharArray())", "Sw0rdfish!x"),
        ("new NetworkCredential(\"bob\", \"Sw0rdfish!x\", \"domain\")", "Sw0rdfish!x"),
        ("rabbitmqctl add_user bob swordfish", "swordfish"),
        ("echo swordfish | sudo -S apt update", "swordfish"),
        ("echo 'two words' | passwd --stdin bob", "two words"),
    ] {
        let expected = text.replace(password, &MASK.to_string().repeat(password.len()));
        assert_eq!(masked(text), expected);
    }
    for text in [
        "password = os.environ[\"DB_PASS1\"]",
        "password: ${DB_PASSWORD}",
        "DB_PASS=$1\n",
        "DB_PASS=changeme\n",
        "DB_PASS=<password>\n",
        "DB_PASS=xxxxxxxx\n",
        "PASS=${PASS:-x1y2z3}\n",
        "psk = params->psk;\n",
        "echo \"$NAME:$PASSWORD\" | chpasswd",
        "echo name:password | chpasswd",
        "printf 'root:%s\\n' \"$1\" | chpasswd",
        "echo a:b1c2d3 | cat; chpasswd < file",
        "chpasswd --help",
        "ConvertTo-SecureString \"$env:PASSWORD\" -AsPlainText",
        "new NetworkCredential(user2, password2)",
        "requests.get(u, auth=('bob', 'password'))",
        "ALTER USER bob WITH PASSWORD '$1';",
        "a special subtag sequence identified by \"lvariant\" will be removed",
        "obj-$(CONFIG_DVB_USB_GP8PSK) += dvb-usb-gp8psk.o\n",
        "db.exec(\"CREATE USER x IDENTIFIED BY '\" + pw + \"'\")",
        "error: the password 'must be longer'",
        "password = process.env.PASSWORD || null;",
        "token = next_token || \"end_of_file2\"",
        "if password or \"nothing here\":",
        "connect(host=h1, user=u2, password=secret_of(user))",
        "http -a \"$AUTH\" example.org",
        "curl http://h -o f && http -a name h",
        "ssh-keygen -t rsa -N '' -f key",
        "sqlplus /nolog",
        "jdbc:oracle:thin:@//db:1521/x",
        "jdbc:oracle:thin:${user}/${password}@db",
        "az keyvault secret set --value \"$VALUE\"",
        "client.setApiKey key2;",
        "DriverManager.getConnection(\"jdbc:derby:memory:x1;create=true\")",
        "DriverManager.getConnection(StubDriverURL, \"userid\", \"password\")",
        "session.login(\"k3Jd82mXq0PzL5vR\", password)",
        "new PasswordAuthentication(\"user\", \"passwordNotCheckedAnyway\".toCharArray())",
        "sqlplus $USER/$PASS@db",
        "rabbitmqctl add_user \"$USER\" \"$PASS\"",
        "echo \"$PASS\" | sudo -S ls",
        "echo done; sudo -S ls",
        "password: String!\n",
        "password: \"Required!\"\n",
        "password: joe@site.org\n",
        "password: &anchor2\n",
        "password: *alias2\n",
        "password: !secret broker\n",
        "password: a!=b\n",
        "base.pass(\"g?y#s\", 1)",
        "mysql -u root -p db",
        "mysql -u root -p$PASS db",
        "sshpass -p \"$PASS\" ssh host",
        "docker run -p 8080:80 x",
        "password=getPassword(user2,realm3)\n",
        "password = user2.password3\n",
        "for(pass=0;pass<2;pass++)\n",
        "render_pass: forward_pass2\n",
        "expectPass(\"Main-Class=Test1\")",
        "MODULE_ALIAS(\"dmi:*:svnA:pnB:pvr*:rvnC:*\");",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn passwords_of_devices_are_masked() {
    let random = random(24);
    let table: &[(&str, &[&str])] = &[
        (
            "0822455D0A16",
            &[" password 7 {}", "enable password level 15 7 {}", " neighbor 10.0.0.1 password 7 {}", " key 7 {}"],
        ),
        (
            "0822455D0A16",
            &["  key-string 7 {}", " ip ospf message-digest-key 1 md5 7 {}", "tacacs-server host h key 7 {}"],
        ),
        ("070529184637", &["username bob privilege 15 password 7 {}"]),
        ("$9$nhEmQVczB7dqsO$X.HsgL6x1il0RxkOSSvy", &["enable secret 9 {}", "R1(config)#username bob secret 9 {}"]),
        (
            "$9$Qz8xK2mWp4cSe",
            &["  secret \"{}\"; ## SECRET-DATA", "set security ike policy p pre-shared-key ascii-text \"{}\""],
        ),
        (
            "swordfish",
            &["snmp-server community {} RO", "snmp-server community {}\r", "snmp-server community {} view all RW 10"],
        ),
        ("swordfish", &["set snmp community {} authorization read-only", "snmp-agent community read {}"]),
        ("%^%#Qz8x;K2mWp4,x%^%#", &[" local-user bob password cipher {}", "snmp-agent community write cipher {}"]),
        ("$1c$Qz8xK2mWp4$x,y;z$", &[" local-user bob password irreversible-cipher {}"]),
        (
            random.as_str(),
            &[
                "enable password {}",
                "username bob secret 0 {}",
                "    - \"enable secret {}\",",
                "super password level 3 cipher {}",
            ],
        ),
        (
            random.as_str(),
            &["  key-string {}", " ikev1 pre-shared-key {}", "  pre-shared-key address 0.0.0.0 0.0.0.0 key {}"],
        ),
        (random.as_str(), &["crypto isakmp key {} address 10.0.0.1", "crypto isakmp key 6 {} address 10.0.0.1"]),
        (
            random.as_str(),
            &["radius-server key {}", "radius-server shared-key cipher {}", " ip ospf authentication-key {}"],
        ),
        (
            random.as_str(),
            &["snmp-server user u g v3 auth sha {} priv aes 128 {}", "set authentication password simple {}"],
        ),
    ];
    for (value, commands) in table {
        let mask = MASK.to_string().repeat(value.len());
        for command in *commands {
            let text = |value: &str| format!("interface x\n{}\nend\n", command.replace("{}", value));
            assert_eq!(masked(&text(value)), text(&mask));
        }
    }
    for text in [
        "snmp-server community public RO",
        "snmp-server community STRING RO",
        "snmp-server community <string>",
        "snmp-server community $COMMUNITY RW",
        "enable secret <password>",
        "enable password protection",
        "username and password oauth2",
        "password 7 characters long",
        " * password 8 or 9 times",
        "the secret 5 of 12",
        " pre-shared-key {{ vpn_psk }}",
        " pre-shared-key vpn_psk_2",
        "the key 7 of deadbeef",
        "commands.add(\"enable secret \" + secret2);",
        "radius-server key is required",
        "  key-string: string",
    ] {
        assert_eq!(masked(text), text);
    }
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

/// The page that compares the formats with those of other scanners has a row for each, in their order.
#[test]
fn the_page_of_formats_has_every_format() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/secret-formats.md"));
    let page = page.expect("the page is there");
    let rows = page.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| !line.is_empty());
    let begins: Vec<String> = FORMATS
        .iter()
        .map(|format| {
            let judged = match format.least {
                Least::Prefix => "prefix".to_owned(),
                Least::Entropy(least) => format!("entropy {least:.1}"),
                Least::Header => "header".to_owned(),
                Least::Random => "random".to_owned(),
            };
            format!("| {} | `{}` | {judged} | ", format.name, format.pattern.replace('|', "\\|"))
        })
        .collect();
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), begins.len());
    for (row, begin) in rows.into_iter().zip(begins) {
        assert!(row.starts_with(&begin), "expected {begin} and not {row}");
    }
}
