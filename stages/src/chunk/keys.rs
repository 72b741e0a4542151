//! Stable ids of chunks.

use rustc_hash::FxHashSet;

/// Names longer than this many bytes are cut in keys and told apart by a digest.
const LONGEST_NAME: usize = 160;

/// Hands out the keys of one file, each once.
#[derive(Default)]
pub(crate) struct Keys {
    used: FxHashSet<String>,
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
        let mut key = base.to_owned();
        let mut n = 1;
        while !self.used.insert(key.clone()) {
            n += 1;
            key = format!("{base}{mark}{n}");
        }
        key
    }
}

fn shortened(name: &str) -> String {
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let cut = (0..=LONGEST_NAME).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…{}", &name[..cut], &blake3::hash(name.as_bytes()).to_hex()[..8])
}
