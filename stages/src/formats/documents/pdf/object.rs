//! PDF objects, and the lexer that reads them from files, object streams, content streams and CMaps.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

/// Maximum nesting depth of arrays and dictionaries. Real files stay below ten.
const MAX_DEPTH: usize = 64;
/// Maximum number of objects in one array or dictionary, including nested objects. An object needs more memory than its
/// bytes in the file, so the number of objects must be bounded.
const MAX_ITEMS: usize = 1 << 20;

/// A dictionary. Its keys are names without the slash.
pub(super) type Dict<'a> = Rc<HashMap<Cow<'a, [u8]>, Object<'a>>>;

/// An object, or an operator of a content stream.
#[derive(Debug, Clone)]
pub(super) enum Object<'a> {
    Null,
    Number(f64),
    Name(Cow<'a, [u8]>),
    String(Rc<[u8]>),
    Array(Rc<[Object<'a>]>),
    Dict(Dict<'a>),
    /// The number of an indirect object.
    Reference(u32),
    /// The dictionary of a stream, and its data before decoding.
    Stream(Dict<'a>, &'a [u8]),
    /// An operator, a keyword, or a stray delimiter.
    Operator(&'a [u8]),
}

impl<'a> Object<'a> {
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }

    /// Returns the dictionary, which may belong to a stream.
    pub(super) fn dict(&self) -> Option<&Dict<'a>> {
        if let Self::Dict(dict) | Self::Stream(dict, _) = self { Some(dict) } else { None }
    }

    pub(super) fn array(&self) -> Option<&Rc<[Object<'a>]>> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(super) fn reference(&self) -> Option<u32> {
        if let Self::Reference(number) = self { Some(*number) } else { None }
    }
}

/// Reads objects from bytes.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of objects in the current array or dictionary.
    items: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, items: 0 }
    }

    /// Returns the number of bytes that were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns the bytes that are not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Returns the next object. Returns `None` at the end of the bytes, or if the object exceeds [`MAX_DEPTH`] or
    /// [`MAX_ITEMS`].
    pub(super) fn next(&mut self) -> Option<Object<'a>> {
        self.items = 0;
        self.object(0)
    }

    /// Skips the data of an inline image after its `BI` operator.
    pub(super) fn skip_inline_image(&mut self) {
        let is_space = |at: usize| self.bytes.get(at).is_none_or(|&byte| is_space(byte));
        let end = memchr::memmem::find_iter(self.rest(), b"EI")
            .map(|found| self.at + found)
            .find(|&found| is_space(found - 1) && is_space(found + 2));
        self.at = end.map_or(self.bytes.len(), |end| end + 2);
    }

    fn object(&mut self, depth: usize) -> Option<Object<'a>> {
        self.skip_space();
        self.items += 1;
        if depth > MAX_DEPTH || self.items > MAX_ITEMS {
            return None;
        }
        let start = self.at;
        match *self.bytes.get(start)? {
            b'/' => {
                self.at += 1;
                Some(Object::Name(unescaped(self.regular())))
            }
            b'(' => Some(self.literal_string()),
            b'<' if self.bytes.get(start + 1) == Some(&b'<') => {
                self.at += 2;
                self.items_until(b">>", depth).map(dict)
            }
            b'<' => Some(self.hex_string()),
            b'[' => {
                self.at += 1;
                self.items_until(b"]", depth).map(|items| Object::Array(items.into()))
            }
            b'+' | b'-' | b'.' | b'0'..=b'9' => Some(number(self.regular())),
            byte if is_delimiter(byte) => {
                self.at += 1;
                Some(Object::Operator(&self.bytes[start..self.at]))
            }
            _ => Some(Object::Operator(self.regular())),
        }
    }

    fn skip_space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'%' {
                self.at = memchr::memchr2(b'\n', b'\r', self.rest()).map_or(self.bytes.len(), |end| self.at + end);
            } else if is_space(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// Returns the bytes up to the next space or delimiter.
    fn regular(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|&byte| is_space(byte) || is_delimiter(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn items_until(&mut self, end: &[u8], depth: usize) -> Option<Vec<Object<'a>>> {
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.rest().starts_with(end) {
                self.at += end.len();
                return Some(items);
            }
            if self.at == self.bytes.len() {
                return Some(items);
            }
            match self.object(depth + 1)? {
                Object::Operator(b"R") => {
                    let number = items.len().checked_sub(2).and_then(|at| items[at].number());
                    if let Some(number) = number {
                        items.truncate(items.len() - 2);
                        items.push(Object::Reference(number as u32));
                    }
                }
                Object::Operator(_) => items.push(Object::Null),
                item => items.push(item),
            }
        }
    }

    fn literal_string(&mut self) -> Object<'a> {
        let (mut string, mut depth) = (Vec::new(), 0);
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.escape(&mut string),
                b'(' => {
                    depth += 1;
                    if depth > 1 {
                        string.push(byte);
                    }
                }
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                    string.push(byte);
                }
                _ => string.push(byte),
            }
        }
        Object::String(string.into())
    }

    fn escape(&mut self, string: &mut Vec<u8>) {
        let Some(&byte) = self.bytes.get(self.at) else { return };
        self.at += 1;
        match byte {
            b'n' => string.push(b'\n'),
            b'r' => string.push(b'\r'),
            b't' => string.push(b'\t'),
            b'b' | b'f' => string.push(b' '),
            b'\r' if self.bytes.get(self.at) == Some(&b'\n') => self.at += 1,
            b'\r' | b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(&digit @ b'0'..=b'7') = self.bytes.get(self.at) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                string.push(code as u8);
            }
            other => string.push(other),
        }
    }

    fn hex_string(&mut self) -> Object<'a> {
        let rest = &self.rest()[1..];
        let length = memchr::memchr(b'>', rest).unwrap_or(rest.len());
        self.at = (self.at + length + 2).min(self.bytes.len());
        Object::String(from_hex(&rest[..length]).into())
    }
}

/// Decodes hexadecimal digits and ignores all other bytes.
pub(super) fn from_hex(digits: &[u8]) -> Vec<u8> {
    let mut digits = digits.iter().filter_map(|&byte| char::from(byte).to_digit(16));
    let mut bytes = Vec::new();
    while let Some(high) = digits.next() {
        bytes.push((high * 16 + digits.next().unwrap_or(0)) as u8);
    }
    bytes
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

fn number(digits: &[u8]) -> Object<'static> {
    Object::Number(str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0.0))
}

/// Decodes the escapes of a name, such as `#41` for `A`.
fn unescaped(name: &[u8]) -> Cow<'_, [u8]> {
    if !name.contains(&b'#') {
        return Cow::Borrowed(name);
    }
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(&byte) = name.get(at) {
        match name.get(at + 1..at + 3) {
            Some(digits) if byte == b'#' && digits.iter().all(u8::is_ascii_hexdigit) => {
                bytes.extend(from_hex(digits));
                at += 3;
            }
            _ => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    Cow::Owned(bytes)
}

fn dict(items: Vec<Object<'_>>) -> Object<'_> {
    let (mut entries, mut items) = (HashMap::new(), items.into_iter());
    while let Some(key) = items.next() {
        if let Object::Name(key) = key {
            entries.insert(key, items.next().unwrap_or(Object::Null));
        }
    }
    Object::Dict(Rc::new(entries))
}
