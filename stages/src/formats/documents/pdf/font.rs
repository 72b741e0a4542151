//! Fonts: the text and the width of the codes in a string.

use super::super::error::ExtractError;
use super::cmap::CMap;
use super::file::PdfFile;
use super::glyphs;
use super::object::{Dict, Lexer, Object};

/// Width of a character for which the font defines no width, in thousandths of the font size.
const DEFAULT_WIDTH: f64 = 500.0;

/// Approximate memory use of a font in bytes, regardless of the size of its dictionary.
const FONT_BYTES: usize = 16 << 10;

/// A font.
#[derive(Debug)]
pub(super) struct Font {
    /// Whether codes have two bytes.
    is_composite: bool,
    to_unicode: CMap,
    /// Whether codes are UCS-2.
    is_unicode: bool,
    /// Text of each single-byte code. Used for codes that `to_unicode` does not contain.
    encoding: Vec<Option<String>>,
    /// Ranges of codes: the first code, the last code, and the width of each code in multiples of the font size.
    widths: Vec<(u32, u32, f64)>,
    default_width: f64,
    /// Height of the glyphs in multiples of the font size. The value is 1 unless the glyphs are drawings.
    height: f64,
}

/// A character of a string.
#[derive(Debug)]
pub(super) struct Glyph<'t> {
    pub(super) text: &'t str,
    /// Width in multiples of the font size.
    pub(super) width: f64,
    pub(super) is_space: bool,
}

impl Font {
    /// Reads a font from its dictionary.
    ///
    /// # Errors
    /// Fails if the file unpacks to too much data.
    pub(super) fn read<'f>(file: &'f PdfFile<'_>, dict: &Dict<'f>) -> Result<Self, ExtractError> {
        file.spend(FONT_BYTES)?;
        let to_unicode = CMap::parse(&file.data(&file.get(dict, b"ToUnicode")?)?);
        let encoding = file.get(dict, b"Encoding")?;
        if file.get(dict, b"Subtype")?.name() == Some(b"Type0") {
            let name = encoding.name().unwrap_or_default();
            let is_unicode = name.starts_with(b"Uni") && memchr::memmem::find(name, b"UCS2").is_some();
            let descendants = file.get(dict, b"DescendantFonts")?;
            let descendant = descendants.array().and_then(|fonts| fonts.first()).map(|font| file.resolve(font));
            let descendant = descendant.transpose()?.unwrap_or(Object::Null);
            let (widths, default_width) = match descendant.dict() {
                Some(dict) => (composite_widths(file, dict)?, file.get(dict, b"DW")?.number().unwrap_or(1000.0)),
                None => (Vec::new(), DEFAULT_WIDTH),
            };
            let default_width = default_width / 1000.0;
            return Ok(Self {
                is_composite: true,
                to_unicode,
                is_unicode,
                encoding: Vec::new(),
                widths,
                default_width,
                height: 1.0,
            });
        }
        let (scale, height) = glyph_space(file, dict)?;
        let widths = simple_widths(file, dict, scale)?;
        let encoding = simple_encoding(file, dict, &encoding)?;
        let default_width = DEFAULT_WIDTH / 1000.0;
        Ok(Self { is_composite: false, to_unicode, is_unicode: false, encoding, widths, default_width, height })
    }

    /// Returns the height of the glyphs in multiples of the font size.
    pub(super) fn height(&self) -> f64 {
        self.height
    }

    /// Calls `each` for every character of a string, until a call fails.
    ///
    /// # Errors
    /// Returns the error of `each`.
    pub(super) fn glyphs(
        &self,
        string: &[u8],
        mut each: impl FnMut(Glyph<'_>) -> Result<(), ExtractError>,
    ) -> Result<(), ExtractError> {
        let mut buffer = [0; 4];
        for code in string.chunks(if self.is_composite { 2 } else { 1 }) {
            let code = code.iter().fold(0, |code, &byte| code << 8 | u32::from(byte));
            let known = || self.encoding.get(code as usize).and_then(Option::as_deref);
            let text = match self.to_unicode.text(code).or_else(|| known().map(Into::into)) {
                Some(text) => text,
                None if self.is_unicode => {
                    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                    (&*character.encode_utf8(&mut buffer)).into()
                }
                None => "".into(),
            };
            each(Glyph { text: &text, width: self.width(code), is_space: !self.is_composite && code == 32 })?;
        }
        Ok(())
    }

    fn width(&self, code: u32) -> f64 {
        let at = self.widths.partition_point(|(first, ..)| *first <= code);
        let range = at.checked_sub(1).and_then(|at| self.widths.get(at));
        range.filter(|(_, last, _)| code <= *last).map_or(self.default_width, |(.., width)| *width)
    }
}

/// Returns the unit of the font's widths and the height of its glyphs, both in multiples of the font size. Only fonts
/// whose glyphs are drawings have a `FontMatrix`.
fn glyph_space<'f>(file: &'f PdfFile<'_>, dict: &Dict<'f>) -> Result<(f64, f64), ExtractError> {
    let (matrix, bounds) = (file.get(dict, b"FontMatrix")?, file.get(dict, b"FontBBox")?);
    let Some([x, _, _, y, ..]) = matrix.array().map(|items| &items[..]) else { return Ok((0.001, 1.0)) };
    let scale = |number: &Object<'_>| number.number().unwrap_or(0.001);
    let height = match bounds.array().map(|items| &items[..]) {
        Some([_, bottom, _, top, ..]) => top.number().unwrap_or_default() - bottom.number().unwrap_or_default(),
        _ => 0.0,
    };
    let height = (height * scale(y)).abs();
    Ok((scale(x), if height > 0.0 { height } else { 1.0 }))
}

fn simple_widths<'f>(file: &'f PdfFile<'_>, dict: &Dict<'f>, scale: f64) -> Result<Vec<(u32, u32, f64)>, ExtractError> {
    let first = file.get(dict, b"FirstChar")?.number().unwrap_or_default() as u32;
    let mut widths = Vec::new();
    if let Some(items) = file.get(dict, b"Widths")?.array() {
        for (code, width) in (first..=u32::MAX).zip(items.iter().take(256)) {
            widths.push((code, code, file.resolve(width)?.number().unwrap_or_default() * scale));
        }
    }
    Ok(widths)
}

/// Reads the widths of a composite font. Each entry is a first code followed by a list of widths, or a first and a last
/// code followed by one width.
fn composite_widths<'f>(file: &'f PdfFile<'_>, dict: &Dict<'f>) -> Result<Vec<(u32, u32, f64)>, ExtractError> {
    let list = file.get(dict, b"W")?;
    let items = list.array().map(|items| &items[..]).unwrap_or_default();
    let (mut widths, mut at) = (Vec::new(), 0);
    while let [first, second, ..] = items.get(at..).unwrap_or_default() {
        let first = first.number().unwrap_or_default() as u32;
        match file.resolve(second)? {
            Object::Array(each) => {
                let codes = (first..=u32::MAX).zip(each.iter());
                widths.extend(codes.map(|(code, width)| (code, code, width.number().unwrap_or_default() / 1000.0)));
                at += 2;
            }
            last => {
                let width = items.get(at + 2).and_then(Object::number).unwrap_or_default();
                widths.push((first, last.number().unwrap_or_default() as u32, width / 1000.0));
                at += 3;
            }
        }
    }
    widths.sort_by_key(|(first, ..)| *first);
    Ok(widths)
}

fn simple_encoding<'f>(
    file: &'f PdfFile<'_>,
    dict: &Dict<'f>,
    encoding: &Object<'f>,
) -> Result<Vec<Option<String>>, ExtractError> {
    let (mut base, mut differences) = (encoding.clone(), Object::Null);
    if let Some(dict) = encoding.dict() {
        base = file.get(dict, b"BaseEncoding")?;
        differences = file.get(dict, b"Differences")?;
    }
    let mut texts: Vec<Option<String>> = match base.name() {
        Some(name) => (0..=255).map(|code| glyphs::encoded(name, code).map(String::from)).collect(),
        None => match built_in_encoding(file, dict)? {
            Some(texts) => texts,
            None => (0..=255).map(|code| glyphs::encoded(b"StandardEncoding", code).map(String::from)).collect(),
        },
    };
    let mut code = 0;
    for item in differences.array().map(|items| &items[..]).unwrap_or_default() {
        match file.resolve(item)? {
            Object::Number(number) => code = number as usize,
            Object::Name(name) => {
                if let Some(text) = texts.get_mut(code) {
                    *text = str::from_utf8(&name).ok().and_then(glyphs::glyph_text);
                }
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    Ok(texts)
}

/// Reads the encoding from the unencrypted part of a Type 1 font program, which has entries such as `dup 65 /A put`.
fn built_in_encoding<'f>(file: &'f PdfFile<'_>, dict: &Dict<'f>) -> Result<Option<Vec<Option<String>>>, ExtractError> {
    let descriptor = file.get(dict, b"FontDescriptor")?;
    let Some(descriptor) = descriptor.dict() else { return Ok(None) };
    let program = file.data(&file.get(descriptor, b"FontFile")?)?;
    let readable = &program[..memchr::memmem::find(&program, b"eexec").unwrap_or(0)];
    let Some(start) = memchr::memmem::find(readable, b"/Encoding") else { return Ok(None) };
    let mut texts = vec![None; 256];
    let mut lexer = Lexer::new(&readable[start + b"/Encoding".len()..]);
    if let Some(Object::Operator(b"StandardEncoding")) = lexer.next() {
        return Ok(None);
    }
    let mut code = 0;
    while let Some(object) = lexer.next() {
        match object {
            Object::Number(number) => code = number as usize,
            Object::Name(name) => {
                if let Some(text) = texts.get_mut(code) {
                    *text = str::from_utf8(&name).ok().and_then(glyphs::glyph_text);
                }
            }
            Object::Operator(b"def" | b"readonly") => break,
            _ => {}
        }
    }
    Ok(Some(texts))
}
