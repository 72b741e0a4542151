//! Tests with texts in every encoding, and with bytes that are not text.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::{Text, decode};

const RUSSIAN: &str = "# Привет, мир\ndef привет():\n    return \"Доброе утро, коллеги\"\n";
const JAPANESE: &str = "// これは日本語の注釈です。\nint f(void); /* 値を返す関数 */\n";
const CHINESE: &str = "// 这个函数返回用户的名字\nint f(void); /* 计算订单的总价 */\n";
const TRADITIONAL: &str = "// 這個函數會傳回使用者的名稱\nint f(void); /* 計算訂單的總價 */\n";
const KOREAN: &str = "// 이 함수는 사용자의 이름을 반환한다\nint f(void); /* 주문의 총액을 계산한다 */\n";
const FRENCH: &str = "# Crée une référence à l'élément désigné\ndef créer():\n    pass\n";

fn encoded(text: &str, label: &str) -> Vec<u8> {
    let (bytes, encoding, has_errors) =
        Encoding::for_label(label.as_bytes()).expect("the label names an encoding").encode(text);
    assert!(!has_errors && encoding.name() != "UTF-8", "{label}");
    bytes.into_owned()
}

fn utf_16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

fn utf_32(text: &str, unit: fn(u32) -> [u8; 4]) -> Vec<u8> {
    text.chars().flat_map(|c| unit(c.into())).collect()
}

fn check(bytes: Vec<u8>, expected: &str, encoding: &str) {
    let decoded = decode(bytes.clone()).unwrap_or_else(|| panic!("{encoding}: binary"));
    assert_eq!((decoded.text.as_str(), decoded.encoding), (expected, encoding));
    assert!(!decoded.is_repaired, "{encoding}");
    assert_eq!(decoded.original, Some(bytes), "{encoding}");
    let lines = expected.matches('\n').count();
    let units = decoded.original.iter().flat_map(|bytes| bytes.chunks(decoded.newline.len()));
    assert_eq!(units.filter(|unit| *unit == decoded.newline).count(), lines, "{encoding}");
}

#[test]
fn legacy_encodings_are_guessed() {
    for (text, label, encoding) in [
        (FRENCH, "latin1", "windows-1252"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-U"),
        (JAPANESE, "shift_jis", "Shift_JIS"),
        (JAPANESE, "euc-jp", "EUC-JP"),
        (JAPANESE, "iso-2022-jp", "ISO-2022-JP"),
        (CHINESE, "gb18030", "GBK"),
        (TRADITIONAL, "big5", "Big5"),
        (KOREAN, "euc-kr", "EUC-KR"),
    ] {
        check(encoded(text, label), text, encoding);
    }
}

#[test]
fn a_short_text_in_a_legacy_encoding_is_guessed() {
    for (text, label) in [("café\n", "latin1"), ("# naïve façade\n", "latin1"), ("// Привет\n", "cp1251")] {
        assert_eq!(decode(encoded(text, label)).map(|text| text.text).as_deref(), Some(text));
    }
}

#[test]
fn a_declared_encoding_wins_over_a_guess() {
    let declared = "# -*- coding: iso-8859-5 -*-\nname = 'имя'\n";
    check(encoded(declared, "iso-8859-5"), declared, "ISO-8859-5");
    // If the text is not valid in the declared encoding, the encoding is guessed.
    let wrong = "# -*- coding: shift_jis -*-\n# Привет, мир: доброе утро, коллеги\n";
    check(encoded(wrong, "cp1251"), wrong, "windows-1251");
}

#[test]
fn utf_16_and_utf_32_are_recognised_with_and_without_a_mark() {
    for text in [RUSSIAN, JAPANESE, FRENCH, "def f():\r\n    return 'plain'\r\n", "x = '𝒳 😀'\n\u{a0a}Ċ\n"] {
        let marked = format!("\u{feff}{text}");
        check(utf_16(&marked, u16::to_le_bytes), text, "UTF-16LE");
        check(utf_16(&marked, u16::to_be_bytes), text, "UTF-16BE");
        check(utf_32(&marked, u32::to_le_bytes), text, "UTF-32LE");
        check(utf_32(&marked, u32::to_be_bytes), text, "UTF-32BE");
    }
    for text in [RUSSIAN, JAPANESE, CHINESE, KOREAN, FRENCH, "def f():\r\n    return 'plain'\r\n"] {
        check(utf_16(text, u16::to_le_bytes), text, "UTF-16LE");
        check(utf_16(text, u16::to_be_bytes), text, "UTF-16BE");
    }
}

#[test]
fn decoding_valid_utf_8_only_removes_the_mark() {
    for text in [RUSSIAN, JAPANESE, FRENCH, "plain", "\x1b[31mred\x1b[0m", "\x1b$B is an escape; ü\n", "a\u{feff}b"] {
        let plain =
            Text { text: text.to_owned(), encoding: "UTF-8", newline: b"\n", is_repaired: false, original: None };
        assert_eq!(decode(text.as_bytes().to_vec()), Some(plain));
        check(format!("\u{feff}{text}").into_bytes(), text, "UTF-8");
    }
}

#[test]
fn invalid_utf_8_is_repaired() {
    let text = [RUSSIAN.as_bytes(), b"\xff\n"].concat();
    let decoded = decode(text).expect("the bytes are text");
    assert_eq!((decoded.encoding, decoded.is_repaired), ("UTF-8", true));
    assert_eq!(decoded.text, format!("{RUSSIAN}\u{fffd}\n"));
    // UTF-16 with an odd byte at the end.
    let odd = [utf_16("\u{feff}some text that is long enough for one fault\n", u16::to_le_bytes), vec![b'x']].concat();
    let decoded = decode(odd).expect("the bytes are text");
    assert_eq!((decoded.encoding, decoded.is_repaired), ("UTF-16LE", true));
}

#[test]
fn binary_content_is_not_text() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as u8
    };
    let mut noise = |length: usize| -> Vec<u8> { (0..length).map(|_| next()).collect() };
    for length in [1_000, 3_000, 10_000, 100_000] {
        for start in [&b""[..], b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b\x08", b"\xff\xd8\xff\xe0"] {
            let bytes = [start, &noise(length)].concat();
            assert_eq!(decode(bytes), None, "{start:x?} and {length} bytes");
        }
    }
    // Binary data does not always contain a zero byte. A short archive, for example, may have none.
    let compressed: Vec<u8> = noise(2_000).into_iter().filter(|byte| *byte != 0).collect();
    assert_eq!(decode(compressed), None);
    let samples: Vec<u8> = (0..2_000_u16).flat_map(|at| (at.wrapping_mul(37) % 4_096).to_le_bytes()).collect();
    assert_eq!(decode(samples), None, "audio samples");
    let table: Vec<u8> = (1..2_000_u16).flat_map(|at| (at * 8).to_be_bytes()).collect();
    assert_eq!(decode(table), None, "offsets");
    for bytes in
        [&b"\x7fELF\x02\x01\x01\0\0\0\0\0"[..], b"a\0", b"\0\0\0\0\0\0\0\0", b"PK\x03\x04\x14\0\0\0", b"key\0value\0"]
    {
        assert_eq!(decode(bytes.to_vec()), None, "{bytes:x?}");
    }
    assert_eq!(UTF_16LE.name(), decode(utf_16("a b c d\n", u16::to_le_bytes)).expect("the bytes are text").encoding);
    assert_eq!(UTF_16BE.name(), decode(utf_16("a b c d\n", u16::to_be_bytes)).expect("the bytes are text").encoding);
}

#[test]
fn a_script_with_an_archive_at_its_end_is_text() {
    let script = [b"echo some line of a script\n".repeat(400), vec![0xff, 0, 1, 2, 0xfe]].concat();
    let decoded = decode(script).expect("the bytes are text");
    assert_eq!((decoded.encoding, decoded.is_repaired), ("UTF-8", true));
}
