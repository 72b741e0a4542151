//! Finds identifiers in text, and splits identifiers into parts. The analyzer converts identifiers and parts to terms.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

/// Character class of the splitting rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// Ends an identifier.
    Separator,
    /// `.` or `-`: joins two identifiers if it is the only character between them.
    Joint,
    Underscore,
    /// Lower-case letters, letters without case, and combining marks.
    Lower,
    Upper,
    Digit,
    /// Scripts written without spaces between words, and Hangul.
    Unspaced,
}

/// The set of character classes that occur in a text. Also records whether the whole text is ASCII.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Classes(u8);

impl Classes {
    const NOT_ASCII: u8 = 1 << 7;
    /// The set of an ASCII identifier that has one part and is already in lower case.
    pub(crate) const LOWER: Self = Self(1 << Class::Lower as u8);
    pub(crate) const UPPER: Self = Self(1 << Class::Upper as u8);
    pub(crate) const DIGITS: Self = Self(1 << Class::Digit as u8);

    pub(crate) fn from_text(text: &str) -> Self {
        let mut classes = Self::default();
        if text.is_ascii() {
            text.bytes().for_each(|byte| classes.insert(ascii_class(byte)));
        } else {
            classes.0 = Self::NOT_ASCII;
            text.chars().for_each(|c| classes.insert(class(c)));
        }
        classes
    }

    #[inline]
    fn insert(&mut self, class: Class) {
        self.0 |= 1 << class as u8;
    }

    #[inline]
    pub(crate) fn has(self, class: Class) -> bool {
        self.0 & (1 << class as u8) != 0
    }

    pub(crate) fn is_ascii(self) -> bool {
        self.0 & Self::NOT_ASCII == 0
    }

    /// Whether the text contains a letter or a digit, and not only underscores and joints.
    pub(crate) fn is_word(self) -> bool {
        self.0 & !(Self::NOT_ASCII | 1 << Class::Underscore as u8 | 1 << Class::Joint as u8) != 0
    }
}

/// Calls `out` with every maximal sequence of identifiers that are joined by a single `.` or `-`, in order.
#[inline]
pub(crate) fn compounds(text: &str, out: &mut impl FnMut(&str, Classes)) {
    let mut at = 0;
    while at < text.len() {
        let (first, width) = class_at(text, at);
        if matches!(first, Class::Separator | Class::Joint) {
            at += width;
            continue;
        }
        let start = at;
        let mut classes = Classes::default();
        loop {
            let (class, width) = class_at(text, at);
            match class {
                Class::Separator => break,
                Class::Joint if matches!(class_at(text, at + 1).0, Class::Separator | Class::Joint) => break,
                _ => {}
            }
            classes.insert(class);
            if width > 1 {
                classes.0 |= Classes::NOT_ASCII;
            }
            at += width;
        }
        out(&text[start..at], classes);
    }
}

/// Calls `out` with every part of an identifier, in order: `getHTTP2Server_x` has `get`, `HTTP`, `2`, `Server`, `x`.
///
/// A part ends at an underscore, between a letter and a digit, and before an upper-case letter that follows a
/// lower-case letter. It also ends before the last of several upper-case letters if a lower-case letter follows
/// (`HTTPSConnection`). An exception is the `s` of a plural (`parseURLs` has `parse`, `URLs`).
#[inline]
pub(crate) fn parts(identifier: &str, out: &mut impl FnMut(Range<usize>, Class)) {
    let mut at = 0;
    while at < identifier.len() {
        let (first, width) = class_at(identifier, at);
        let start = at;
        at += width;
        match first {
            Class::Separator | Class::Joint | Class::Underscore => continue,
            Class::Lower | Class::Digit | Class::Unspaced => at = end_of_run(identifier, at, first),
            Class::Upper => {
                let mut last = start;
                while let (Class::Upper, width) = class_at(identifier, at) {
                    last = at;
                    at += width;
                }
                let end = end_of_run(identifier, at, Class::Lower);
                if last == start || end == at || &identifier[at..end] == "s" {
                    at = end;
                } else {
                    at = last;
                }
            }
        }
        out(start..at, first);
    }
}

fn end_of_run(text: &str, mut at: usize, run: Class) -> usize {
    loop {
        let (class, width) = class_at(text, at);
        if class != run {
            return at;
        }
        at += width;
    }
}

/// Returns class and width in bytes of the character at a character boundary. The end of the text counts as a
/// separator.
#[inline]
fn class_at(text: &str, at: usize) -> (Class, usize) {
    match text.as_bytes().get(at) {
        None => (Class::Separator, 0),
        Some(&byte) if byte < 0x80 => (ascii_class(byte), 1),
        Some(_) => text[at..].chars().next().map_or((Class::Separator, 1), |c| (class(c), c.len_utf8())),
    }
}

#[inline]
fn ascii_class(byte: u8) -> Class {
    ASCII[usize::from(byte & 0x7f)]
}

const ASCII: [Class; 128] = {
    let mut table = [Class::Separator; 128];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Underscore,
            b'.' | b'-' => Class::Joint,
            _ => Class::Separator,
        };
        byte += 1;
    }
    table
};

fn class(c: char) -> Class {
    if c.is_ascii() {
        ascii_class(c as u8)
    } else if is_unspaced(c) {
        Class::Unspaced
    } else if c == '\u{ff3f}' {
        Class::Underscore
    } else if c.is_uppercase() || matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ') {
        Class::Upper
    } else if c.is_alphabetic() || is_combining_mark(c) {
        Class::Lower
    } else if c.is_numeric() {
        Class::Digit
    } else {
        Class::Separator
    }
}

/// Whether a character is a letter, a mark, a digit or an underscore.
pub(crate) fn is_word_character(c: char) -> bool {
    !matches!(class(c), Class::Separator | Class::Joint)
}

/// Whether a character is a letter or mark of a script without spaces between words, or of Hangul: Hiragana, Katakana,
/// Bopomofo, Han, Hangul syllables, Thai, Lao, Burmese and Khmer.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e01}'..='\u{0e4e}' | '\u{0e81}'..='\u{0ece}' | '\u{0edc}'..='\u{0edf}' | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}'
        | '\u{1780}'..='\u{17d3}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{3105}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
        && (c.is_alphabetic() || is_combining_mark(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(identifier: &str, expected: &[&str]) {
        let mut found = Vec::new();
        parts(identifier, &mut |range, _| found.push(&identifier[range]));
        assert_eq!(found, expected, "{identifier}");
    }

    #[test]
    fn parts_end_at_changes_of_case_digits_and_underscores() {
        check("getUserData", &["get", "User", "Data"]);
        check("HTTPSConnection", &["HTTPS", "Connection"]);
        check("__init__", &["init"]);
        check("utf8", &["utf", "8"]);
        check("HTTP2Server", &["HTTP", "2", "Server"]);
        check("XMLHttpRequest", &["XML", "Http", "Request"]);
        check("parseURLs", &["parse", "URLs"]);
        check("IDsOf", &["IDs", "Of"]);
        check("USER_ID", &["USER", "ID"]);
        check("A", &["A"]);
        check("aB", &["a", "B"]);
        check("größeÄndern", &["größe", "Ändern"]);
        check("API仕様書v2", &["API", "仕様書", "v", "2"]);
        check("___", &[]);
    }

    #[test]
    fn compounds_are_joined_by_single_dots_and_hyphens() {
        let check = |text: &str, expected: &[&str]| {
            let mut found = Vec::new();
            compounds(text, &mut |compound, classes| {
                assert_eq!(classes, Classes::from_text(compound), "{compound}");
                found.push(compound.to_owned());
            });
            assert_eq!(found, expected, "{text}");
        };
        check("auth.oauth.client(x)", &["auth.oauth.client", "x"]);
        check("--dry-run=1", &["dry-run", "1"]);
        check("end. Start a..b c->d", &["end", "Start", "a", "b", "c", "d"]);
        check("“größe—α”…", &["größe", "α"]);
        check("", &[]);
    }
}
