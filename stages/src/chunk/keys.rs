//! Stable ids of chunks.

use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum length of a name in a key, in bytes. Longer names are truncated and distinguished by a digest.
const MAX_NAME_BYTES: usize = 160;

/// Generates the unique keys of one file.
#[derive(Default)]
pub(crate) struct Keys {
    used: FxHashSet<String>,
    /// Next number to try for each base key and separator. All lower numbers are in use. Without this table, many
    /// chunks with the same name would take quadratic time.
    next: FxHashMap<String, usize>,
}

impl Keys {
    /// Returns `<prefix>:<path>:<name>`, followed by `#2`, `#3`, … for later chunks with the same name.
    pub(crate) fn next(&mut self, prefix: &str, path: &str, name: &str) -> String {
        let base = format!("{prefix}:{path}:{}", shortened(name));
        self.claim(&base, '#')
    }

    /// Returns the key of a later piece of the chunk `first`: `~2`, `~3`, ….
    pub(crate) fn piece(&mut self, first: &str) -> String {
        self.claim(first, '~')
    }

    fn claim(&mut self, base: &str, separator: char) -> String {
        if self.used.insert(base.to_owned()) {
            return base.to_owned();
        }
        let next = self.next.entry(format!("{base}{separator}")).or_insert(2);
        loop {
            let key = format!("{base}{separator}{next}");
            *next += 1;
            if self.used.insert(key.clone()) {
                return key;
            }
        }
    }
}

fn shortened(name: &str) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    format!("{}…{}", &name[..name.floor_char_boundary(MAX_NAME_BYTES)], &blake3::hash(name.as_bytes()).to_hex()[..8])
}
