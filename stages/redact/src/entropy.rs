//! Whether a value was drawn at random or written by a person.

use crate::letter_pairs;
use crate::reference;
use crate::secret::MASK;

/// Shorter values are not judged.
pub(crate) const SHORTEST: usize = 8;
/// Values of at least this length have had room for [`LONG_ENTROPY`].
const LONG: usize = 16;
/// Least entropy of a long value, and of a shorter one, bits per character.
const LONG_ENTROPY: f64 = 3.0;
const SHORT_ENTROPY: f64 = 2.5;
/// Shorter values without digits are taken for names.
const SHORTEST_LETTERS: usize = 12;
/// A hexadecimal number of at least so many digits is a key, but for an address of Ethereum, which `token` often names.
const MIN_KEY_DIGITS: usize = 32;
const ADDRESS_DIGITS: usize = 40;
/// Most characters of a piece, on average. A piece is a word of camel case, a run of capitals or a number: those of names are as
/// long as words, those of random values have about two characters.
const LONGEST_PIECE: f64 = 3.0;
/// Fewer pairs of letters tell nothing.
const FEW_PAIRS: usize = 6;
/// Share of rare pairs that a random value has at least, and the share that only random values have: nearly half of the
/// pairs of random letters are rare, and 99 of 100 names have at most [`MANY_RARE`].
const SOME_RARE: f64 = 0.1;
const MANY_RARE: f64 = 0.25;
/// As many equal characters in a row are a placeholder.
const REPEATED: usize = 4;
/// They fill a value if they are at least one of so many of its characters.
const FILLED: usize = 4;

/// A sequence has at least so many of so many characters that follow each other.
const IN_SEQUENCE: (usize, usize) = (3, 4);

/// Words that stand in the place of a secret, in lower case.
const PLACEHOLDERS: &[&str] =
    &["change", "dummy", "example", "fake", "foobar", "insert", "null", "placeholder", "redacted", "sample", "your"];

/// A value is a reference if at least one of so many of its bytes belongs to references.
const REFERENCES: usize = 2;
/// Values with less entropy are filler, bits per byte.
const FILLER_ENTROPY: f64 = 1.9;
/// Symbols that passwords have and that neither join words nor occur in base64.
const SYMBOLS: &[u8] = b"!#$%&*?^~|<>;()[]{}";

/// Symbols that people put into short passwords, and bytes that may be adjacent to them.
const MARKS: &[u8] = b"!@#$%^&*?~";
const BESIDE_MARKS: &[u8] = b"_+-";
/// Minimum length of a password with a symbol between its other characters, and of one with letters, digits and a symbol, in bytes.
const MIN_MARKED: usize = 4;
const MIN_MIXED: usize = 6;

/// Shannon entropy of the bytes, bits per byte.
pub(crate) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    value.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = value.len() as f64;
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

/// Whether a value looks random: enough entropy, letters together with digits (or capitals among small letters), and
/// neither the pieces nor the pairs of letters of a name.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let value = key_digits(value).unwrap_or(value);
    if value.len() < SHORTEST || is_placeholder(value) {
        return false;
    }
    let is = |test: fn(&u8) -> bool| value.iter().any(test);
    let is_mixed = is(u8::is_ascii_lowercase) && is(u8::is_ascii_uppercase) && value.len() >= SHORTEST_LETTERS;
    let has_classes = is(u8::is_ascii_alphabetic) && (is(u8::is_ascii_digit) || is_mixed);
    // Sixteen hexadecimal digits have little more than three bits each.
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    let least = if value.len() < LONG || is_hex { SHORT_ENTROPY } else { LONG_ENTROPY };
    has_classes && entropy(value) >= least && !is_name(value)
}

/// The digits of a key that is written as a hexadecimal number, `0x…`.
pub(crate) fn key_digits(value: &[u8]) -> Option<&[u8]> {
    let digits = value.strip_prefix(b"0x").or_else(|| value.strip_prefix(b"0X"))?;
    let is_key = digits.len() >= MIN_KEY_DIGITS && digits.len() != ADDRESS_DIGITS;
    (is_key && digits.iter().all(u8::is_ascii_hexdigit)).then_some(digits)
}

/// Whether a value with the name of a password looks like one: it is random, or mixes letters, digits and symbols.
pub(crate) fn is_password(value: &[u8]) -> bool {
    let is = |test: fn(&u8) -> bool| value.iter().any(test);
    let has = |bytes: &[u8]| value.iter().any(|byte| bytes.contains(byte));
    // `name@1.2.3` is no password.
    let has_symbol = || has(SYMBOLS) || has(b"@") && !has(b"-./");
    let has_cases = is(u8::is_ascii_lowercase) && is(u8::is_ascii_uppercase) && value.len() >= SHORTEST_LETTERS;
    let is_mixed =
        value.len() >= SHORTEST && is(u8::is_ascii_alphabetic) && (is(u8::is_ascii_digit) || has_cases) && has_symbol();
    is_random(value) || is_mixed && !is_placeholder(value)
}

/// Whether a value with the name of a password is a short one with symbols: `p@ss`, `abc12!`. A symbol at an end alone does not
/// suffice: `String!` is a type, `&name` and `*name` are references of YAML.
pub(crate) fn is_marked(value: &[u8]) -> bool {
    let is_mark = |byte: &u8| MARKS.contains(byte);
    let is_text = |byte: &u8| byte.is_ascii_alphanumeric() || is_mark(byte) || BESIDE_MARKS.contains(byte);
    let has_mark_inside = value.len() >= MIN_MARKED && value[1..value.len() - 1].iter().any(is_mark);
    let is_mixed = || value.len() >= MIN_MIXED && value.iter().any(is_mark) && value.iter().any(u8::is_ascii_digit);
    value.iter().all(is_text)
        && value.iter().any(u8::is_ascii_alphabetic)
        && (has_mark_inside || is_mixed())
        && !is_placeholder(value)
}

/// Whether a value consists of words and numbers.
fn is_name(value: &[u8]) -> bool {
    let is_long = value.len() >= LONG;
    if is_long && value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
        return false;
    }
    if is_joined(value) {
        return true;
    }
    let is_jagged = mean_piece(value) <= LONGEST_PIECE;
    let (pairs, rare) = letter_pairs::count(value);
    let share = rare as f64 / pairs.max(1) as f64;
    if pairs < FEW_PAIRS { !is_jagged } else { !(is_jagged && share >= SOME_RARE || is_long && share >= MANY_RARE) }
}

/// Whether a value joins words and numbers: `us-east-1`, a version, a time.
fn is_joined(value: &[u8]) -> bool {
    if value.iter().any(|byte| SYMBOLS.contains(byte)) && !value.contains(&b'/') {
        return false;
    }
    let parts = || value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let letters = |part: &[u8]| part.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    parts().count() > 1 && parts().all(|part| letters(part) <= 1 || letters(part) == part.len())
}

/// Whether a value only shows where a secret belongs: it consists of references to variables or formats, is a
/// link, has a word for it, or repeats a character.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    reference::covered(value) * REFERENCES >= value.len()
        || contains(value, b"://")
        || repeats(value)
        || is_sequence(value)
        || PLACEHOLDERS.iter().any(|word| contains_ignoring_case(value, word.as_bytes()))
}

/// Whether a token with a public prefix is filler: `xxxx`, `________`, `12121212`. Documentation has real-looking tokens too,
/// which are masked.
pub(crate) fn is_filler(value: &[u8]) -> bool {
    let longest = value.chunk_by(|first, second| first == second).map(<[u8]>::len).max();
    longest.unwrap_or(0) * 2 >= value.len() || entropy(value) < FILLER_ENTROPY
}

/// Whether a value is filled up with one character, or was masked.
pub(crate) fn repeats(value: &[u8]) -> bool {
    let runs = || value.chunk_by(|first, second| first == second);
    let is_filler = |run: &[u8]| run.len() >= REPEATED && (run[0] == MASK as u8 || run.len() * FILLED >= value.len());
    runs().count() == 1 || runs().any(is_filler)
}

/// Whether most characters follow the one before them, as in an alphabet.
fn is_sequence(value: &[u8]) -> bool {
    let following = value.windows(2).filter(|pair| pair[0] < u8::MAX && pair[0] + 1 == pair[1]).count();
    following * IN_SEQUENCE.1 >= value.len() * IN_SEQUENCE.0
}

fn contains(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window == part)
}

fn contains_ignoring_case(value: &[u8], part: &[u8]) -> bool {
    value.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

fn class_of(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Digit,
        _ => Class::Other,
    }
}

/// The mean length of the pieces of a value, in characters; what is neither letter nor digit separates pieces.
fn mean_piece(value: &[u8]) -> f64 {
    let (mut pieces, mut characters) = (0u32, 0u32);
    let mut last = Class::Other;
    let mut is_capital = false;
    for byte in value {
        let class = class_of(*byte);
        if class != Class::Other {
            characters += 1;
            // `Word` is one piece: a single capital, then small letters.
            let goes_on = class == last || (last == Class::Upper && class == Class::Lower && is_capital);
            pieces += u32::from(!goes_on);
            is_capital = class == Class::Upper && last != Class::Upper;
        }
        last = class;
    }
    if pieces == 0 { f64::INFINITY } else { f64::from(characters) / f64::from(pieces) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_values_have_short_pieces() {
        for (value, expected) in [
            ("Tr0ub4dor&3", true),
            ("k3Jd82mXq0PzL5vR", true),
            ("0afae57f3ccfd9d7f5767067bc48b30f", true),
            ("0736f5ef-7e88-499a-80cc-90c85d2a5180", true),
            ("hQwXbTzRkMnPvLsD", true),
            ("swordfish", false),
            ("base64EncodedToken2", false),
            ("nextTokenFromInputStream", false),
            ("sha256WithRSAEncryption", false),
            ("abcdefghijklmnop0123456789", false),
            ("${DB_PASSW0RD_9x}", false),
            ("<t0k3n-h3r3-x1>", false),
            ("xxxxxxxxxxxxx1A", false),
            ("1234567890", false),
            ("us-east-1", false),
            ("v57.0.0-beta", false),
            ("2016-11-06T15:32:17", false),
        ] {
            assert_eq!(is_random(value.as_bytes()), expected, "{value} {}", mean_piece(value.as_bytes()));
        }
    }

    #[test]
    fn entropy_counts_bits_per_byte() {
        assert_eq!(entropy(b"aaaa"), 0.0);
        assert_eq!(entropy(b"abab"), 1.0);
        assert_eq!(entropy(b"abcd"), 2.0);
    }
}
