//! Stable ids of chunks.

use rustc_hash::{FxHashMap, FxHashSet};

/// Names of more bytes than this are truncated in keys and distinguished by a digest.
const LONGEST_NAME: usize = 160;

/// Generates the keys of one file, all different.
#[derive(Default)]
pub(crate) struct Keys {
    used: FxHashSet<String>,
    /// The first number to try for the next key of a base and mark. All lower ones are in use, so many chunks of one name take
    /// linear time.
    next: FxHashMap<String, usize>,
}

impl Keys {
    /// `<prefix>:<path>:<name>`, with `#2`, `#3`, … for further ones of the same name.
    pub(crate) fn next(&mut self, prefix: &str, path: &str, name: &str) -> String {
        let base = format!("{prefix}:{path}:{}", shortened(name));
        self.claim(&base, '#')
    }

    /// The key of a later piece of the chunk `first`: `~2`, `~3`, ….
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
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let cut = (0..=LONGEST_NAME).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…{}", &name[..cut], &blake3::hash(name.as_bytes()).to_hex()[..8])
}
