//! Stable ids of chunks.

use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum length of a name in a key, in bytes. Longer names are truncated and distinguished by a digest.
const MAX_NAME_BYTES: usize = 160;

/// Generates the unique keys of one file.
#[derive(Default)]
pub(crate) struct Keys {
    used: FxHashSet<String>,
    /// The first number to try for the next key of a base and mark. All lower numbers are in use, so many chunks with
    /// the same name take linear time.
    next: FxHashMap<String, usize>,
}

impl Keys {
    /// Returns `<prefix>:<path>:<name>`, followed by `#2`, `#3`, … for further chunks with the same name.
    pub(crate) fn next(&mut self, prefix: &str, path: &str, name: &str) -> String {
        let base = format!("{prefix}:{path}:{}", shortened(name));
        self.claim(&base, '#')
    }

    /// Returns the key of a later piece of the chunk `first`: `~2`, `~3`, ….
    pub(crate) fn piece(&mut self, first: &str) -> String {
        self.claim(first, '~')
    }

    fn claim(&mut self, base: &str, mark: char) -> String {
        if self.used.insert(base.to_owned()) {
            return base.to_owned();
        }
        let next = self.next.entry(format!("{base}{mark}")).or_insert(2);
        loop {
            let key = format!("{base}{mark}{next}");
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
