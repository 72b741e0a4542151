//! Finds passwords in command lines: `sshpass -p PASSWORD`, `curl --user NAME:PASSWORD`, `echo NAME:PASSWORD |
//! chpasswd`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::entropy::is_random;
use crate::formats::pair_index;
use crate::secret::Secret;
use crate::url::is_real_password;

/// Maximum number of bytes of a command that are examined.
const MAX_BYTES: usize = 1024;

/// Programs that accept the same options.
struct Client {
    /// Names of the programs. A name includes the subcommand if only that subcommand accepts a password.
    names: &'static [&'static str],
    /// Options whose value is the next word, or follows `=` in the same word.
    separate: &'static [&'static str],
    /// Options whose value follows directly in the same word.
    attached: &'static [&'static str],
    /// Options whose value is a user and a password, and the byte that separates the two.
    credentials: Option<(&'static [&'static str], u8)>,
}

const fn client(names: &'static [&'static str], separate: &'static [&'static str]) -> Client {
    Client { names, separate, attached: &[], credentials: None }
}

impl Client {
    const fn attached(self, attached: &'static [&'static str]) -> Self {
        Self { attached, ..self }
    }

    const fn credentials(self, options: &'static [&'static str], separator: u8) -> Self {
        Self { credentials: Some((options, separator)), ..self }
    }
}

#[rustfmt::skip]
const CLIENTS: &[Client] = &[
    client(&["curl"], &["--pass", "--proxy-pass"]).credentials(&["-u", "--user", "-U", "--proxy-user"], b':'),
    client(&["wget", "svn", "clickhouse-client", "kubectl"], &["--password", "--http-password", "--ftp-password", "--proxy-password", "--docker-password"]),
    client(&["sshpass"], &["-p"]).attached(&["-p"]),
    client(&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mysqlsh", "mariadb", "mariadb-dump", "mariadb-admin"], &["--password"]).attached(&["-p"]),
    client(&["docker login", "podman login", "buildah login", "skopeo login", "nerdctl login", "helm registry login", "oc login", "az login", "cqlsh"], &["-p", "--password"]),
    client(&["redis-cli"], &["-a", "--pass"]),
    client(&["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"], &["-p", "--password"]).attached(&["-p"]),
    client(&["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami", "ldapcompare"], &["-w"]),
    client(&["smbclient", "smbget", "smbmap", "rpcclient"], &["--password"]).credentials(&["-U", "--user"], b'%'),
    client(&["openssl"], &["-k"]).attached(&["pass:"]),
    client(&["7z", "7za", "7zr", "7zz"], &[]).attached(&["-p"]),
    client(&["unzip", "zip"], &["-P", "--password"]).attached(&["-P"]),
    client(&["unrar", "rar"], &[]).attached(&["-p", "-hp"]),
    client(&["gpg", "gpg2"], &["--passphrase"]),
    client(&["keytool", "jarsigner"], &["-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass"]),
    client(&["sqlcmd", "bcp", "ipmitool", "mosquitto_pub", "mosquitto_sub"], &["-P"]).attached(&["-P"]),
    client(&["snmpget", "snmpwalk", "snmpset", "snmpbulkwalk"], &["-A", "-X"]),
    client(&["twine upload", "rdesktop"], &["-p", "--password"]),
    client(&["http", "https"], &[]).credentials(&["-a", "--auth"], b':'),
    client(&["az keyvault secret set"], &["--value"]),
    client(&["gh secret set"], &["--body"]),
    client(&["ssh-keygen"], &["-N", "-P"]),
    client(&["lftp"], &["--password"]).credentials(&["-u", "--user"], b','),
];

/// Name of a program that reads user names and passwords from its standard input.
const CHPASSWD: &str = "chpasswd";
/// Commands that write their arguments to the standard input of the next command in a pipe.
const WRITERS: &[&[u8]] = &[b"echo", b"printf"];
/// Programs that do not take the password from an option with a dash. They read it from standard input, or from another
/// argument.
const OTHER_PROGRAMS: &[&str] =
    &["sudo -S", "passwd --stdin", "xfreerdp", "sqlplus", "rabbitmqctl", "setapikey", "etApiKey"];
/// Subcommands whose arguments are a user and a password.
const USER_COMMANDS: &[&str] = &["add_user", "change_password"];
static XFREERDP: Client = client(&["xfreerdp"], &[]).attached(&["/p:"]);

/// Finds the programs in [`OTHER_PROGRAMS`] in a text.
static OTHER_NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(OTHER_PROGRAMS)
        .expect("the automaton of a few short strings is small")
});

/// Describes `chpasswd <<< STRING`, a redirection of a string to standard input that is parsed like an option.
static HERE_STRING: Client = client(&[CHPASSWD], &[]).credentials(&["<<<"], b':');

/// Finds the names of the programs in [`CLIENTS`] in a text. The index of a name is the index of its client.
static NAMES: LazyLock<(AhoCorasick, Vec<&'static Client>)> = LazyLock::new(|| {
    let of_client = |client: &'static Client| client.names.iter().map(move |name| (*name, client));
    let (names, clients): (Vec<&str>, Vec<&Client>) = CLIENTS.iter().flat_map(of_client).unzip();
    let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(names);
    (finder.expect("the automaton of a few short strings is small"), clients)
});

/// For each pair of bytes, whether an option can have these bytes after its dash. The index is [`pair_index`].
static OPTIONS: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let mut begins = vec![false; 1 << 16];
    let mut add = |option: &'static str, after: fn(u8) -> bool| match *option.as_bytes() {
        [_, letter] => {
            (0..=u8::MAX).filter(|next| after(*next)).for_each(|next| begins[pair_index(letter, next)] = true)
        }
        [_, first, second, ..] => begins[pair_index(first, second)] = true,
        _ => {}
    };
    for client in CLIENTS {
        client.separate.iter().for_each(|option| add(option, |next| b" \t\"'=\\\n".contains(&next)));
        client.attached.iter().for_each(|option| add(option, |next| next > b' '));
        let credentials = client.credentials.iter().flat_map(|(options, _)| *options);
        credentials.for_each(|option| add(option, |next| next != b'\r'));
    }
    add("-passin", |_| false);
    begins
});

/// Adds the passwords in the arguments of commands. To save time, most commands are searched for program names only if
/// they contain an option of a known program.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    let begins = &*OPTIONS;
    let mut searched = 0;
    for dash in memchr::memchr_iter(b'-', text) {
        let is_option = dash >= searched
            && text.get(dash + 2).is_some_and(|second| begins[pair_index(text[dash + 1], *second)])
            && dash.checked_sub(1).is_some_and(|before| b" \t\"'".contains(&text[before]));
        if is_option {
            let command = command_around(text, dash, searched);
            searched = command.end;
            find_in_command(text, command, found);
        }
    }
    for name in memchr::memmem::find_iter(text, CHPASSWD) {
        let command = command_around(text, name, 0);
        found.extend(piped_passwords(text, command.start..name));
        found.extend(HERE_STRING.passwords(text, Words::after(text, name + CHPASSWD.len())));
    }
    for name in OTHER_NAMES.find_iter(text) {
        let mut words = Words::after(text, name.end());
        match OTHER_PROGRAMS[name.pattern().as_usize()] {
            "xfreerdp" => found.extend(XFREERDP.passwords(text, words)),
            "sqlplus" => {
                let login = words.find(|word| !text[word.bare.clone()].starts_with(b"-"));
                found.extend(login.and_then(|word| oracle_password(text, word.content())));
            }
            "rabbitmqctl" => {
                let has_user = words.any(|word| USER_COMMANDS.iter().any(|name| word.is(text, name)));
                let password = if has_user { words.nth(1) } else { None };
                found.extend(password.and_then(|word| secret(text, word.content())));
            }
            "setapikey" | "etApiKey" => {
                let key = words.next().map(|word| word.content()).filter(|key| is_random(&text[key.clone()]));
                found.extend(key.and_then(|key| secret(text, key)));
            }
            _ => {
                let command = command_around(text, name.start(), 0);
                let password = piped_arguments(text, command.start..name.start()).and_then(|words| words.last());
                found.extend(password.and_then(|word| secret(text, word.content())));
            }
        }
    }
}

/// Returns the password in `user/password@database`.
fn oracle_password(text: &[u8], login: Range<usize>) -> Option<Secret> {
    let slash = memchr::memchr(b'/', &text[login.clone()]).filter(|user| *user > 0)?;
    let password = login.start + slash + 1..login.end;
    let at = memchr::memchr(b'@', &text[password.clone()]).map_or(password.end, |at| password.start + at);
    secret(text, password.start..at)
}

/// Returns the arguments of the last command before a pipe, if that command writes its arguments to standard output, as
/// in `echo NAME:PASSWORD |`.
fn piped_arguments(text: &[u8], before: Range<usize>) -> Option<Words<'_>> {
    let pipe = memchr::memrchr2(b'|', b';', &text[before.clone()]).map(|at| before.start + at);
    let text = &text[..pipe.filter(|at| text[*at] == b'|')?];
    let ends = WRITERS
        .iter()
        .filter_map(|writer| Some(before.start + memchr::memmem::rfind(&text[before.start..], writer)? + writer.len()));
    ends.max().map(|end| Words::after(text, end))
}

/// Returns the passwords that the last command before a pipe writes in the form `user:password`.
fn piped_passwords(text: &[u8], before: Range<usize>) -> Vec<Secret> {
    let passwords =
        piped_arguments(text, before).into_iter().flatten().filter_map(|word| password_of(text, word.content(), b':'));
    passwords.filter_map(|span| secret(text, span)).collect()
}

/// Returns the range of the command around an offset, which does not start before `searched`. A backslash at the end of
/// a line continues the command on the next line.
fn command_around(text: &[u8], at: usize, searched: usize) -> Range<usize> {
    let from = searched.max(at.saturating_sub(MAX_BYTES));
    let is_continued = |end: usize| text[..end].ends_with(b"\\") || text[..end].ends_with(b"\\\r");
    let start = memchr::memrchr_iter(b'\n', &text[from..at])
        .find(|line| !is_continued(from + line))
        .map_or(from, |line| from + line + 1);
    let to = text.len().min(at + MAX_BYTES);
    let end =
        memchr::memchr_iter(b'\n', &text[at..to]).find(|line| !is_continued(at + line)).map_or(to, |line| at + line);
    start..end
}

/// Adds the passwords in the arguments of the known programs that a command runs.
fn find_in_command(text: &[u8], command: Range<usize>, found: &mut Vec<Secret>) {
    let (finder, clients) = &*NAMES;
    for name in finder.find_iter(&text[command.clone()]) {
        let (start, end) = (command.start + name.start(), command.start + name.end());
        if start.checked_sub(1).is_some_and(|at| is_in_name(text[at])) {
            continue;
        }
        found.extend(clients[name.pattern().as_usize()].passwords(text, Words::after(text, end)));
    }
}

/// Returns the password at a span, unless the text is a placeholder.
fn secret(text: &[u8], span: Range<usize>) -> Option<Secret> {
    is_real_password(&text[span.clone()]).then_some(Secret { rule: "command-password", span, continues: false })
}

impl Client {
    /// Returns the passwords among the arguments of the program.
    fn passwords(&self, text: &[u8], mut words: Words<'_>) -> impl Iterator<Item = Secret> {
        std::iter::from_fn(move || words.next().map(|word| self.password(text, &word, &mut words)))
            .flatten()
            .filter_map(|span| secret(text, span))
    }

    /// Returns the password that a word contains, or the next word if it is the password.
    fn password(&self, text: &[u8], word: &Word, words: &mut Words<'_>) -> Option<Range<usize>> {
        let is = |options: &[&str]| word.joined.is_none() && options.iter().any(|option| word.is(text, option));
        let after = |options: &[&str], separator: fn(&str) -> &[u8]| {
            options.iter().find_map(|option| word.value_after(text, option, separator(option)))
        };
        if is(self.separate) {
            return words.next().map(|word| word.content());
        }
        let value = after(self.separate, |_| b"=").or_else(|| after(self.attached, |_| b""));
        let Some((options, separator)) = self.credentials.filter(|_| value.is_none()) else { return value };
        let credentials = if is(options) {
            words.next().map(|word| word.content())
        } else {
            after(options, |option| if option.starts_with("--") { b"=" } else { b"" })
        };
        credentials.and_then(|span| password_of(text, span, separator))
    }
}

/// Returns the password in `user:password`. If the password is empty, returns the user, because it may be a token.
fn password_of(text: &[u8], span: Range<usize>, separator: u8) -> Option<Range<usize>> {
    let credentials = &text[span.clone()];
    let at = memchr::memchr(separator, credentials)?;
    let password =
        if at + 1 == credentials.len() { span.start..span.start + at } else { span.start + at + 1..span.end };
    (!credentials.starts_with(b"<")).then_some(password)
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// A word of a command: bare, quoted, or a bare part followed directly by a quoted part (`--password="a b"`).
struct Word {
    bare: Range<usize>,
    joined: Option<Range<usize>>,
}

impl Word {
    fn is(&self, text: &[u8], option: &str) -> bool {
        &text[self.bare.clone()] == option.as_bytes()
    }

    fn content(&self) -> Range<usize> {
        self.joined.clone().unwrap_or(self.bare.clone())
    }

    /// Returns the value that follows an option and a separator in the same word.
    fn value_after(&self, text: &[u8], option: &str, separator: &[u8]) -> Option<Range<usize>> {
        let rest = text[self.bare.clone()].strip_prefix(option.as_bytes())?.strip_prefix(separator)?;
        if rest.is_empty() { self.joined.clone() } else { Some(self.bare.end - rest.len()..self.bare.end) }
    }
}

/// Iterator over the words of a command line or of an array of arguments.
struct Words<'t> {
    text: &'t [u8],
    at: usize,
    end: usize,
}

impl<'t> Words<'t> {
    /// Returns the words after the name of a program, which ends at `name`. Returns no words if neither white space nor
    /// the closing quote of an array element follows, because the text may then be the name of another program.
    fn after(text: &'t [u8], name: usize) -> Self {
        let end = text.len().min(name + MAX_BYTES);
        // In an array such as `["program", "-p"]`, a quote ends the name.
        let is_array = text.get(name).is_some_and(|byte| b"\"'".contains(byte)) && text.get(name + 1) == Some(&b',');
        let is_continued = text.get(name).is_none_or(|byte| !byte.is_ascii_whitespace());
        let at = if is_array {
            name + 1
        } else if is_continued {
            end
        } else {
            name
        };
        Self { text, at, end }
    }

    /// Skips the space between words. Returns false at the end of the command.
    fn skip_space(&mut self) -> bool {
        while self.at < self.end {
            match self.text[self.at] {
                b' ' | b'\t' | b',' => self.at += 1,
                b'\\' if self.text[self.at..self.end].starts_with(b"\\\r\n") => self.at += 3,
                b'\\' if self.text[self.at..self.end].starts_with(b"\\\n") => self.at += 2,
                b'\n' | b'\r' | b';' | b'|' | b']' | b'`' | b')' => return false,
                _ => return true,
            }
        }
        false
    }

    /// Returns the span inside quotes, given the offset of the opening quote. Returns `None` if the closing quote is
    /// missing.
    fn quoted(&self, from: usize) -> Option<Range<usize>> {
        let quote = self.text[from];
        let length = self.text[from + 1..self.end].iter().position(|byte| *byte == quote || *byte == b'\n')?;
        let end = from + 1 + length;
        (self.text[end] == quote).then_some(from + 1..end)
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        if !self.skip_space() {
            return None;
        }
        let start = self.at;
        if b"\"'".contains(&self.text[start]) {
            let Some(span) = self.quoted(start) else {
                // The command contains no other quote of this kind, so this quote ends a quoted command.
                self.at = self.end;
                return None;
            };
            self.at = span.end + 1;
            return Some(Word { bare: span, joined: None });
        }
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\\".contains(byte);
        let length = self.text[start..self.end].iter().position(ends);
        // If a word reaches the end of the examined bytes, its end is unknown.
        let Some(length) = length.or((self.end == self.text.len()).then_some(self.end - start)) else {
            self.at = self.end;
            return None;
        };
        let bare = start..start + length;
        self.at = bare.end;
        let joins = bare.end < self.end && b"\"'".contains(&self.text[bare.end]);
        let joined = if joins { self.quoted(bare.end) } else { None };
        if joins {
            self.at = joined.as_ref().map_or(self.end, |span| span.end + 1);
        } else if length == 0 {
            self.at += 1;
        }
        Some(Word { bare, joined })
    }
}
