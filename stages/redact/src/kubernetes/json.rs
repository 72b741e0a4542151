//! Finds the values of secrets in JSON manifests. A text may contain several manifests, and a manifest may be an item
//! of a list.

use std::ops::Range;

use memchr::{memchr3, memmem};

use super::keys::holds_values;

/// Maximum depth of the objects and arrays that are examined.
const MAX_DEPTH: usize = 32;

/// Calls `out` with every value below `data` or `stringData` of an object whose `kind` is `Secret`.
pub(super) fn find(text: &str, out: &mut impl FnMut(Range<usize>)) {
    let has = |word: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    if has("\"kind\"") && has("\"Secret\"") {
        Reader::default().read(text, out);
    }
}

/// An open object or array.
#[derive(Default)]
struct Open {
    /// The most recent key.
    key: Range<usize>,
    /// Whether the next string is a value and not a key.
    is_value_next: bool,
    /// Whether the `kind` of the object is `Secret`.
    is_secret: bool,
    /// Whether this is the value of a key for which [`holds_values`] is true.
    is_data: bool,
    values: Vec<Range<usize>>,
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    /// Number of open objects and arrays beyond [`MAX_DEPTH`].
    deeper: usize,
}

impl Reader {
    fn read(&mut self, text: &str, out: &mut impl FnMut(Range<usize>)) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'"' => {
                    let end = end_of_string(bytes, at);
                    self.string(text, at..end);
                    at = end + usize::from(bytes.get(end) == Some(&b'"'));
                }
                b'{' | b'[' => self.begin(text),
                b'}' | b']' => self.end(out),
                b':' => self.set_value_next(true),
                b',' => self.set_value_next(false),
                _ => {}
            }
        }
        // Objects are still open if the text was truncated or is not JSON. Close them to report their values.
        self.deeper = 0;
        while !self.open.is_empty() {
            self.end(out);
        }
    }

    fn set_value_next(&mut self, is_value_next: bool) {
        if let Some(open) = self.open.last_mut().filter(|_| self.deeper == 0) {
            open.is_value_next = is_value_next;
        }
    }

    /// Records a string, which is a key, the kind of a manifest, or a value.
    fn string(&mut self, text: &str, span: Range<usize>) {
        let Some(open) = self.open.last_mut().filter(|_| self.deeper == 0) else { return };
        if !open.is_value_next {
            open.key = span;
        } else if open.is_data {
            open.values.push(span);
        } else if &text[open.key.clone()] == "kind" {
            open.is_secret = &text[span] == "Secret";
        }
    }

    fn begin(&mut self, text: &str) {
        if self.open.len() == MAX_DEPTH {
            self.deeper += 1;
            return;
        }
        let is_data = self.open.last().is_some_and(|open| open.is_value_next && holds_values(&text[open.key.clone()]));
        self.open.push(Open { is_data, ..Open::default() });
    }

    /// Closes an object or an array. If it is a secret, passes its values to `out`. If it is the data of an enclosing
    /// object, adds its values to that object.
    fn end(&mut self, out: &mut impl FnMut(Range<usize>)) {
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(mut closed) = self.open.pop() else { return };
        if closed.is_secret {
            closed.values.into_iter().for_each(out);
        } else if let Some(outer) = self.open.last_mut().filter(|_| closed.is_data) {
            outer.values.append(&mut closed.values);
        }
    }
}

/// Returns the offset of the closing quote of a string, or of the end of the line if the quote is missing. `at` is the
/// offset after the opening quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr3(b'"', b'\\', b'\n', &bytes[at..]) {
        at += found;
        if bytes[at] != b'\\' {
            return at;
        }
        at = (at + 2).min(bytes.len());
    }
    bytes.len()
}
