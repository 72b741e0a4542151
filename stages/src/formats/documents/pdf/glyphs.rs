//! Encodings and glyph names, which determine the text of codes in fonts without a map to Unicode.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Names of the characters from U+0020 to U+0040. The name of an ASCII letter is the letter itself.
const ASCII: &str = "space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus \
                     comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less equal \
                     greater question at";
/// Names of the characters from U+00A1 on.
const LATIN: &str = "exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft \
                     logicalnot sfthyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph \
                     periodcentered cedilla onesuperior ordmasculine guillemotright onequarter onehalf threequarters \
                     questiondown Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex \
                     Edieresis Igrave Iacute Icircumflex Idieresis Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis \
                     multiply Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls agrave aacute acircumflex \
                     atilde adieresis aring ae ccedilla egrave eacute ecircumflex edieresis igrave iacute icircumflex \
                     idieresis eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ugrave uacute ucircumflex \
                     udieresis yacute thorn ydieresis";
/// Names of the characters from U+03B1 on.
const GREEK: &str = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma1 sigma tau \
                     upsilon phi chi psi omega";
/// Names of the characters from U+0391 on. U+03A2 is not assigned.
const CAPITAL_GREEK: &str = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma \
                             Tau Upsilon Phi Chi Psi Omega";
/// Additional names, each followed by its text.
const ADDITIONAL: &str = "bracketleft [ backslash \\ bracketright ] asciicircum ^ underscore _ grave ` braceleft { bar | braceright } \
                       asciitilde ~ quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „ \
                       endash – emdash — bullet • ellipsis … dagger † daggerdbl ‡ perthousand ‰ guilsinglleft ‹ guilsinglright › \
                       fraction / minus − florin ƒ trademark ™ Euro € ff ff fi fi fl fl ffi ffi ffl ffl dotlessi ı dotlessj ȷ \
                       Lslash Ł lslash ł OE Œ oe œ Scaron Š scaron š Zcaron Ž zcaron ž Ydieresis Ÿ Ccaron Č ccaron č \
                       Cacute Ć cacute ć Rcaron Ř rcaron ř Ecaron Ě ecaron ě Nacute Ń nacute ń Sacute Ś sacute ś Aogonek Ą \
                       aogonek ą Eogonek Ę eogonek ę Zdotaccent Ż zdotaccent ż Zacute Ź zacute ź Gbreve Ğ gbreve ğ \
                       Idotaccent İ Scedilla Ş scedilla ş Ohungarumlaut Ő ohungarumlaut ő Uhungarumlaut Ű uhungarumlaut ű \
                       Dcroat Đ dcroat đ asteriskmath * arrowright → arrowleft ← arrowup ↑ arrowdown ↓ arrowdblright ⇒ \
                       arrowboth ↔ lessequal ≤ greaterequal ≥ notequal ≠ equivalence ≡ approxequal ≈ infinity ∞ element ∈ \
                       union ∪ intersection ∩ similar ∼ partialdiff ∂ summation ∑ product ∏ integral ∫ radical √ \
                       periodmath . commamath , angbracketleft ⟨ angbracketright ⟩ visiblespace ␣ circumflex ˆ tilde ˜ caron ˇ \
                       breve ˘ dotaccent ˙ ring ˚ hungarumlaut ˝ ogonek ˛ epsilon1 ϵ phi1 ϕ theta1 ϑ";

/// The codes of StandardEncoding that differ from WinAnsiEncoding.
const STANDARD: &[(u8, char)] = &[
    (0x27, '’'),
    (0x60, '‘'),
    (0xa4, '/'),
    (0xa8, '¤'),
    (0xa9, '\''),
    (0xaa, '“'),
    (0xac, '‹'),
    (0xad, '›'),
    (0xb1, '–'),
    (0xb2, '†'),
    (0xb3, '‡'),
    (0xb4, '·'),
    (0xb7, '•'),
    (0xb8, '‚'),
    (0xb9, '„'),
    (0xba, '”'),
    (0xbc, '…'),
    (0xbd, '‰'),
    (0xd0, '—'),
    (0xe1, 'Æ'),
    (0xe8, 'Ł'),
    (0xe9, 'Ø'),
    (0xea, 'Œ'),
    (0xf1, 'æ'),
    (0xf5, 'ı'),
    (0xf8, 'ł'),
    (0xf9, 'ø'),
    (0xfa, 'œ'),
    (0xfb, 'ß'),
];
/// The characters of Windows-1252 for the codes from 0x80 to 0x9f.
const WINDOWS: &str = "€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ";
/// The characters of MacRoman for the codes from 0x80.
const MAC: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨\
                   ≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»… ÀÃÕŒœ–—“”‘’÷◊ÿŸ/€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// Returns the character of a code in a named encoding. Uses WinAnsiEncoding if the name is unknown.
pub(super) fn encoded(encoding: &[u8], code: u8) -> Option<char> {
    match encoding {
        b"MacRomanEncoding" if code >= 0x80 => return MAC.chars().nth(usize::from(code - 0x80)),
        b"StandardEncoding" => {
            if let Some(&(_, character)) = STANDARD.iter().find(|(from, _)| *from == code) {
                return Some(character);
            }
            if code == 0xae || code == 0xaf {
                return Some(if code == 0xae { 'ﬁ' } else { 'ﬂ' });
            }
        }
        _ => {}
    }
    match code {
        0x20..=0x7e | 0xa0.. => Some(char::from(code)),
        0x80..=0x9f => WINDOWS.chars().nth(usize::from(code - 0x80)),
        _ => None,
    }
}

/// Returns the text of a glyph, given by its name.
pub(super) fn glyph_text(name: &str) -> Option<String> {
    static NAMES: LazyLock<HashMap<&'static str, String>> = LazyLock::new(names);
    let name = name.split('.').next().unwrap_or_default();
    if let Some(text) = NAMES.get(name) {
        return Some(text.clone());
    }
    if name.len() == 1 && name.is_ascii() {
        return Some(name.to_owned());
    }
    let hexadecimal = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).map(String::from);
    if let Some(text) = name.strip_prefix("uni").and_then(|digits| hexadecimal(digits.get(..4)?)) {
        return Some(text);
    }
    if let Some(text) = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len())).and_then(hexadecimal) {
        return Some(text);
    }
    // The name of a ligature consists of the names of its parts.
    let parts: Option<Vec<&String>> = name.split('_').map(|part| NAMES.get(part)).collect();
    parts.map(|parts| parts.into_iter().map(String::as_str).collect()).or_else(|| {
        let letters = name.split('_').filter(|part| part.len() == 1);
        Some(letters.collect::<String>()).filter(|text| !text.is_empty())
    })
}

fn names() -> HashMap<&'static str, String> {
    let mut names = HashMap::new();
    for (list, first) in [(CAPITAL_GREEK, 0x391), (GREEK, 0x3b1), (LATIN, 0xa1), (ASCII, 0x20)] {
        let characters = (first..).filter_map(char::from_u32).map(String::from);
        names.extend(list.split_ascii_whitespace().zip(characters));
    }
    let mut additional = ADDITIONAL.split_ascii_whitespace();
    while let (Some(name), Some(text)) = (additional.next(), additional.next()) {
        names.insert(name, text.to_owned());
    }
    names
}
