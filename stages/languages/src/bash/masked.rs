//! Masks text that the grammar cannot read, or that would crash its scanner.

use std::ops::Range;

use crate::mask::Mask;

/// Maximum length in bytes of an expansion that is masked.
const MAX_EXPANSION_BYTES: usize = 256;

/// Returns the masked text, or `None` if nothing is masked.
pub(super) fn masked(text: &str) -> Option<String> {
    let mut mask: Option<Mask> = None;
    for brace in memchr::memchr_iter(b'{', text.as_bytes()) {
        for character in non_ascii_in_range(text, brace) {
            mask.get_or_insert_with(|| Mask::new(text)).blank(character);
        }
        if let Some(expansion) = misread_expansion(text, brace) {
            mask.get_or_insert_with(|| Mask::new(text)).replace(expansion.clone(), &"a".repeat(expansion.len()));
        }
    }
    for end in memchr::memmem::find_iter(text.as_bytes(), b"\\\n") {
        // A backslash at the end of a comment does not continue a command. Comments after it may belong to the same
        // documentation.
        if !is_comment(&text[text[..end].rfind('\n').map_or(0, |feed| feed + 1)..end]) {
            for comment in comments(text, end + 2) {
                mask.get_or_insert_with(|| Mask::new(text)).blank(comment);
            }
        }
    }
    mask.and_then(|mask| mask.text())
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Returns the comment lines from `at` on, which the grammar does not expect inside a continued command.
fn comments(text: &str, at: usize) -> impl Iterator<Item = Range<usize>> {
    let lines = text[at..].split_inclusive('\n').take_while(|line| is_comment(line));
    lines.scan(at, |end, line| {
        let start = *end;
        *end += line.len();
        Some(start..*end)
    })
}

/// Returns the non-ASCII characters directly after a number of a range such as `{1..2`, or in place of a number. The
/// scanner of the grammar passes these characters to `isdigit` of C, which uses them as an index of a table with 256
/// entries. Some of these characters make the process crash.
fn non_ascii_in_range(text: &str, brace: usize) -> impl Iterator<Item = Range<usize>> {
    let after_digits =
        |from: usize| text[from..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |digits| from + digits);
    let first = after_digits(brace + 1);
    let second = text[first..].starts_with("..").then(|| after_digits(first + 2));
    [Some(first), second].into_iter().flatten().filter_map(|at| {
        let character = text[at..].chars().next().filter(|character| !character.is_ascii())?;
        Some(at..at + character.len_utf8())
    })
}

/// Returns the braces of an expansion and their content if the content has shell operators, as in `${a:+$b;}`. The
/// grammar would read these operators as part of a command. Returns `None` if quotes, command substitutions or line
/// feeds occur before the closing brace.
fn misread_expansion(text: &str, brace: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if brace == 0 || bytes[brace - 1] != b'$' {
        return None;
    }
    let mut depth = 0usize;
    let mut has_operator = false;
    for (at, byte) in bytes.iter().enumerate().skip(brace).take(MAX_EXPANSION_BYTES) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return has_operator.then_some(brace..at + 1),
            b'}' => depth -= 1,
            b';' | b'&' | b'|' | b'<' | b'>' => has_operator = true,
            b'\'' | b'"' | b'`' | b'(' | b'\\' | b'\n' => return None,
            _ => {}
        }
    }
    None
}
