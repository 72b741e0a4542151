//! CMaps, which map the codes of a font to Unicode.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::object::{Lexer, Object};

/// Maximum number of operands of one section. The specification allows 100.
const MAX_OPERANDS: usize = 1 << 12;
/// Maximum length of the text of a code, in UTF-16 units.
const MAX_UNITS: usize = 32;

/// A map from codes to text.
#[derive(Debug, Default)]
pub(super) struct CMap {
    texts: HashMap<u32, String>,
    /// Ranges of codes: the first code, the last code, and the text of the first code in UTF-16 units.
    ranges: Vec<(u32, u32, Vec<u16>)>,
}

impl CMap {
    /// Parses a `ToUnicode` CMap. Ignores damaged entries.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let (mut map, mut lexer, mut operands) = (Self::default(), Lexer::new(bytes), Vec::new());
        while let Some(object) = lexer.next() {
            match object {
                Object::Operator(b"endbfchar") => {
                    for pair in operands.chunks_exact(2) {
                        if let [Object::String(code), Object::String(text)] = pair {
                            map.texts.insert(code_of(code), text_of(&units(text)));
                        }
                    }
                    operands.clear();
                }
                Object::Operator(b"endbfrange") => {
                    operands.chunks_exact(3).for_each(|range| map.add_range(range));
                    operands.clear();
                }
                Object::Operator(_) => operands.clear(),
                operand if operands.len() < MAX_OPERANDS => operands.push(operand),
                _ => {}
            }
        }
        map.ranges.sort_by_key(|(first, ..)| *first);
        map
    }

    /// Returns the text of a code.
    pub(super) fn text(&self, code: u32) -> Option<Cow<'_, str>> {
        if let Some(text) = self.texts.get(&code) {
            return Some(text.into());
        }
        let at = self.ranges.partition_point(|(first, ..)| *first <= code).checked_sub(1)?;
        let (first, _, units) = self.ranges.get(at).filter(|(_, last, _)| code <= *last)?;
        let mut units = units.clone();
        let last = units.last_mut()?;
        *last = last.wrapping_add((code - first) as u16);
        Some(text_of(&units).into())
    }

    fn add_range(&mut self, range: &[Object<'_>]) {
        match range {
            [Object::String(first), Object::String(last), Object::String(text)] => {
                self.ranges.push((code_of(first), code_of(last), units(text)));
            }
            [Object::String(first), Object::String(_), Object::Array(texts)] => {
                for (code, text) in (code_of(first)..=u32::MAX).zip(texts.iter()) {
                    if let Object::String(text) = text {
                        self.texts.insert(code, text_of(&units(text)));
                    }
                }
            }
            _ => {}
        }
    }
}

fn code_of(bytes: &Rc<[u8]>) -> u32 {
    bytes.iter().fold(0, |code, &byte| code << 8 | u32::from(byte))
}

fn units(bytes: &Rc<[u8]>) -> Vec<u16> {
    match **bytes {
        [single] => vec![single.into()],
        _ => bytes.chunks_exact(2).take(MAX_UNITS).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
    }
}

fn text_of(units: &[u16]) -> String {
    char::decode_utf16(units.iter().copied()).filter_map(Result::ok).collect()
}
