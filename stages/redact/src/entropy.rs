//! Distinguishes randomly generated values from values that a person wrote.

use crate::letter_pairs;
use crate::reference;
use crate::secret::MASK;

/// Minimum length in bytes of a value that may look random.
pub(crate) const MIN_VALUE_BYTES: usize = 8;
/// Length in bytes from which a value counts as long. The entropy of a long random value is at least [`LONG_ENTROPY`],
/// unless the value is hexadecimal.
const LONG_VALUE_BYTES: usize = 16;
/// Minimum entropy of a long random value, in bits per byte.
const LONG_ENTROPY: f64 = 3.0;
/// Minimum entropy of a shorter or hexadecimal random value, in bits per byte.
const SHORT_ENTROPY: f64 = 2.5;
/// Minimum length of a random value without digits, in bytes. Shorter values are treated as names.
const MIN_LETTERS_BYTES: usize = 12;
/// Minimum number of digits of a hexadecimal key.
const MIN_KEY_DIGITS: usize = 32;
/// Number of digits of an Ethereum address. Such addresses are not keys, although their names often contain `token`.
const ADDRESS_DIGITS: usize = 40;
/// Maximum mean length of the pieces of a random value, in characters. A piece is a word in camel case, a run of
/// capital letters or a number. Pieces of names are as long as words. Pieces of random values have about two
/// characters.
const MAX_MEAN_PIECE: f64 = 3.0;
/// Minimum number of letter pairs for which the share of rare pairs is meaningful.
const MIN_PAIRS: usize = 6;
/// Minimum share of rare letter pairs in a random value. Nearly half of the pairs of random letters are rare.
const MIN_RARE_SHARE: f64 = 0.1;
/// Share of rare letter pairs from which a long value looks random, even if its pieces are long. 99 of 100 names have a
/// lower share.
const HIGH_RARE_SHARE: f64 = 0.25;
/// Minimum length of a run of equal characters that can indicate a placeholder.
const MIN_REPEATED: usize = 4;
/// A run of equal characters indicates a placeholder if it covers at least 1/`FILLED_FRACTION` of the value.
const FILLED_FRACTION: usize = 4;

/// Minimum share of characters in a sequence that are the successor of the previous character, as numerator and
/// denominator.
const SEQUENCE_SHARE: (usize, usize) = (3, 4);

/// Words that documentation uses instead of a secret, in lower case.
const PLACEHOLDERS: &[&str] =
    &["change", "dummy", "example", "fake", "foobar", "insert", "null", "placeholder", "redacted", "sample", "your"];

/// A value is a reference if at least 1/`REFERENCE_FRACTION` of its bytes belongs to references.
const REFERENCE_FRACTION: usize = 2;
/// Minimum entropy of a token in bits per byte. Tokens with less entropy are filler.
const MIN_TOKEN_ENTROPY: f64 = 1.9;
/// Symbols that occur in passwords, do not join words and do not occur in base64.
const SYMBOLS: &[u8] = b"!#$%&*?^~|<>;()[]{}";

/// Symbols that suggest a password even in a short value.
const MARKS: &[u8] = b"!@#$%^&*?~";
/// Other symbols that may occur in a short password but do not suggest a password.
const OTHER_MARKED_BYTES: &[u8] = b"_+-";
/// Minimum length in bytes of a short password with a symbol between other characters.
const MIN_MARKED_BYTES: usize = 4;
/// Minimum length in bytes of a short password with letters, digits and a symbol in any position.
const MIN_MIXED_BYTES: usize = 6;

/// Returns the Shannon entropy of the bytes, in bits per byte.
pub(crate) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    value.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = value.len() as f64;
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

/// Whether a value looks random. A random value has enough entropy, mixes letters with digits or upper case with lower
/// case, and does not look like a name.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let value = key_digits(value).unwrap_or(value);
    if value.len() < MIN_VALUE_BYTES || is_placeholder(value) {
        return false;
    }
    let is = |test: fn(&u8) -> bool| value.iter().any(test);
    let is_mixed = is(u8::is_ascii_lowercase) && is(u8::is_ascii_uppercase) && value.len() >= MIN_LETTERS_BYTES;
    let has_classes = is(u8::is_ascii_alphabetic) && (is(u8::is_ascii_digit) || is_mixed);
    // The entropy of sixteen random hexadecimal digits is only a little more than three bits per digit.
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    let min_entropy = if value.len() < LONG_VALUE_BYTES || is_hex { SHORT_ENTROPY } else { LONG_ENTROPY };
    has_classes && entropy(value) >= min_entropy && !is_name(value)
}

/// Returns the digits of a key in the form of a hexadecimal number, `0x…`. Returns `None` for shorter numbers and for
/// Ethereum addresses.
pub(crate) fn key_digits(value: &[u8]) -> Option<&[u8]> {
    let digits = value.strip_prefix(b"0x").or_else(|| value.strip_prefix(b"0X"))?;
    let is_key = digits.len() >= MIN_KEY_DIGITS && digits.len() != ADDRESS_DIGITS;
    (is_key && digits.iter().all(u8::is_ascii_hexdigit)).then_some(digits)
}

/// Whether a value that is assigned to the name of a password looks like a password. Such a value looks random, or
/// mixes letters, digits and symbols.
pub(crate) fn is_password(value: &[u8]) -> bool {
    let is = |test: fn(&u8) -> bool| value.iter().any(test);
    let has = |bytes: &[u8]| value.iter().any(|byte| bytes.contains(byte));
    // A value such as `name@1.2.3` is not a password.
    let has_symbol = || has(SYMBOLS) || has(b"@") && !has(b"-./");
    let has_cases = is(u8::is_ascii_lowercase) && is(u8::is_ascii_uppercase) && value.len() >= MIN_LETTERS_BYTES;
    let is_mixed = value.len() >= MIN_VALUE_BYTES
        && is(u8::is_ascii_alphabetic)
        && (is(u8::is_ascii_digit) || has_cases)
        && has_symbol();
    is_random(value) || is_mixed && !is_placeholder(value)
}

/// Whether a value that is assigned to the name of a password is a short password with symbols: `p@ss`, `abc12!`. If
/// the symbols are only at the ends, a digit is required, because `String!` is a type, and `&name` and `*name` are YAML
/// references.
pub(crate) fn is_marked(value: &[u8]) -> bool {
    let is_mark = |byte: &u8| MARKS.contains(byte);
    let is_text = |byte: &u8| byte.is_ascii_alphanumeric() || is_mark(byte) || OTHER_MARKED_BYTES.contains(byte);
    let has_mark_inside = value.len() >= MIN_MARKED_BYTES && value[1..value.len() - 1].iter().any(is_mark);
    let is_mixed =
        || value.len() >= MIN_MIXED_BYTES && value.iter().any(is_mark) && value.iter().any(u8::is_ascii_digit);
    value.iter().all(is_text)
        && value.iter().any(u8::is_ascii_alphabetic)
        && (has_mark_inside || is_mixed())
        && !is_placeholder(value)
}

/// Whether a value looks like a name, which consists of words and numbers.
fn is_name(value: &[u8]) -> bool {
    let is_long = value.len() >= LONG_VALUE_BYTES;
    if is_long && value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
        return false;
    }
    if is_joined(value) {
        return true;
    }
    let is_jagged = mean_piece(value) <= MAX_MEAN_PIECE;
    let (pairs, rare) = letter_pairs::count(value);
    let share = rare as f64 / pairs.max(1) as f64;
    if pairs < MIN_PAIRS {
        !is_jagged
    } else {
        !(is_jagged && share >= MIN_RARE_SHARE || is_long && share >= HIGH_RARE_SHARE)
    }
}

/// Whether a value consists of words and numbers that are joined by other characters: `us-east-1`, a version, a time.
fn is_joined(value: &[u8]) -> bool {
    if value.iter().any(|byte| SYMBOLS.contains(byte)) && !value.contains(&b'/') {
        return false;
    }
    let parts = || value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let letters = |part: &[u8]| part.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    parts().count() > 1 && parts().all(|part| letters(part) <= 1 || letters(part) == part.len())
}

/// Whether a value is a placeholder for a secret: at least half of it consists of references to variables or formats,
/// or it contains a link or a placeholder word, repeats a character, or is a sequence such as `abcdef`.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    reference::covered_bytes(value) * REFERENCE_FRACTION >= value.len()
        || contains(value, b"://")
        || is_repetitive(value)
        || is_sequence(value)
        || PLACEHOLDERS.iter().any(|word| contains_ignoring_case(value, word.as_bytes()))
}

/// Whether the secret part of a token is filler, such as `xxxx`, `________` or `12121212`. Realistic tokens in
/// documentation are not filler, so they are masked.
pub(crate) fn is_filler(value: &[u8]) -> bool {
    let longest = value.chunk_by(|first, second| first == second).map(<[u8]>::len).max();
    longest.unwrap_or(0) * 2 >= value.len() || entropy(value) < MIN_TOKEN_ENTROPY
}

/// Whether a value contains a long run of one character or an existing mask.
pub(crate) fn is_repetitive(value: &[u8]) -> bool {
    let runs = || value.chunk_by(|first, second| first == second);
    let is_filler =
        |run: &[u8]| run.len() >= MIN_REPEATED && (run[0] == MASK as u8 || run.len() * FILLED_FRACTION >= value.len());
    runs().count() == 1 || runs().any(is_filler)
}

/// Whether most characters are the successor of the character before them, as in an alphabet.
fn is_sequence(value: &[u8]) -> bool {
    let following = value.windows(2).filter(|pair| pair[0] < u8::MAX && pair[0] + 1 == pair[1]).count();
    following * SEQUENCE_SHARE.1 >= value.len() * SEQUENCE_SHARE.0
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

/// Returns the mean length of the pieces of a value, in characters. Characters other than letters and digits separate
/// pieces.
fn mean_piece(value: &[u8]) -> f64 {
    let (mut pieces, mut characters) = (0u32, 0u32);
    let mut last = Class::Other;
    let mut is_capital = false;
    for byte in value {
        let class = class_of(*byte);
        if class != Class::Other {
            characters += 1;
            // A single capital letter and the lower-case letters after it are one piece: `Word`.
            let continues = class == last || (last == Class::Upper && class == Class::Lower && is_capital);
            pieces += u32::from(!continues);
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
