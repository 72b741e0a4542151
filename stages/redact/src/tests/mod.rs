//! Tests of the secrets that the rules must find, and of the texts that they must not change. Tokens are assembled at
//! run time, so that no scanner reports them as leaked.

mod commands;
mod devices;
mod formats;
mod personal;
mod properties;
mod values;

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::{find, mask};

/// Returns a text with its secrets masked.
fn masked(text: &str) -> String {
    mask(text.to_owned(), &find(text))
}

/// Returns a value that looks random but is the same in every run.
fn random(length: usize) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = 0x2545_f491_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(ALPHABET[(state >> 16) as usize % ALPHABET.len()])
    };
    (0..length).map(|_| next()).collect()
}

/// A pseudorandom number generator with the same sequence in every run.
struct Random(u64);

impl Random {
    /// Returns a number below a limit.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Returns a text that matches a pattern of ASCII characters. All characters of a class are equally likely.
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
                let min = repetition.min as usize;
                let max = repetition.max.map_or(min + 20, |max| max as usize);
                (0..min + self.below(max - min + 1)).map(|_| self.matching(&repetition.sub)).collect()
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
