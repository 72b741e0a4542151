//! Finds passwords in PostgreSQL password files: `host:port:database:user:password`.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr, memmem, memrchr};
use regex::bytes::Regex;

use crate::secret::Secret;
use crate::url::is_real_password;

/// The default port. An entry with the default port is recognised in any text.
const PORT: &[u8] = b":5432:";
/// Maximum number of bytes that are examined on each side of a port number.
const MAX_BYTES: usize = 512;

static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?-u)(?:\A|[\s\x22'`])[\w.*/-]+:(?:\d{1,5}|\*):[^:\s]+:[^:\s]+:((?:\\[:\\]|[^\s\x22'`\\:])+)(?:[\s\x22'`\\]|\z)";
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Adds the passwords of entries with the default port.
pub(crate) fn find(text: &[u8], found: &mut Vec<Secret>) {
    let mut searched = 0;
    for port in memmem::find_iter(text, PORT) {
        if port >= searched {
            let from = searched.max(port.saturating_sub(MAX_BYTES));
            let start = memrchr(b'\n', &text[from..port]).map_or(from, |line| from + line + 1);
            let to = text.len().min(port + MAX_BYTES);
            searched = memchr(b'\n', &text[port..to]).map_or(to, |line| port + line);
            add(text, start..searched, found);
        }
    }
}

/// Adds the passwords of entries with any port. Called only if the text mentions a password file.
pub(crate) fn find_all(text: &[u8], found: &mut Vec<Secret>) {
    add(text, 0..text.len(), found);
}

fn add(text: &[u8], within: Range<usize>, found: &mut Vec<Secret>) {
    let secrets = ENTRY.captures_iter(&text[within.clone()]).filter_map(|groups| groups.get(1));
    let secrets = secrets.filter(|password| is_real_password(password.as_bytes()));
    found.extend(secrets.map(|password| {
        let span = within.start + password.start()..within.start + password.end();
        Secret { rule: "pgpass-password", span, continues: false }
    }));
}
