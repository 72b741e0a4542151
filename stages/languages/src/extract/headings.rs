//! Finds the headings of plain text.

use crate::outline::Heading;

/// Maximum length of a heading.
const MAX_HEADING_CHARS: usize = 80;

/// Returns the headings of plain text. A heading follows a blank line and has one of these forms:
///
/// * A line underlined with a run of one punctuation character. The order in which the characters first appear
///   determines the level.
/// * A numbered line before a blank line, such as `2.1 Scope`. The number determines the level.
/// * A line in capitals before a blank line.
///
/// In text that was extracted from other formats, `#` marks headings. Such a heading needs no blank line before it.
pub(crate) fn plain_headings(text: &str) -> Vec<Heading> {
    let mut underlines: Vec<u8> = Vec::new();
    let mut found: Vec<Heading> = Vec::new();
    let mut after_blank = true;
    let mut lines = text.split_inclusive('\n').peekable();
    let mut at = 0;
    while let Some(line) = lines.next() {
        let title = line.trim();
        let below = lines.peek().map_or("", |next| next.trim());
        if let Some(level) = hash_level(title) {
            found.push(Heading { at, level, title: title.trim_start_matches('#').trim().to_owned() });
        } else if let Some(character) = underline(title, below).filter(|_| after_blank) {
            let order = underlines.iter().position(|seen| *seen == character).unwrap_or_else(|| {
                underlines.push(character);
                underlines.len() - 1
            });
            found.push(Heading { at, level: (order + 1).min(6) as u8, title: title.to_owned() });
        } else if let Some(level) = unmarked_level(title).filter(|_| after_blank && below.is_empty()) {
            found.push(Heading { at, level, title: title.to_owned() });
        }
        after_blank = title.is_empty();
        at += line.len() as u32;
    }
    found
}

fn hash_level(title: &str) -> Option<u8> {
    let hashes = title.bytes().take_while(|b| *b == b'#').count();
    ((1..=6).contains(&hashes) && title.as_bytes().get(hashes) == Some(&b' ')).then_some(hashes as u8)
}

/// Returns the character with which the line `below` underlines a title; `None` if the title is not underlined.
fn underline(title: &str, below: &str) -> Option<u8> {
    let character = *below.as_bytes().first()?;
    let is_rule = below.len() >= 3 && b"=-~^\"*+#".contains(&character) && below.bytes().all(|b| b == character);
    let fits = title.chars().count() <= MAX_HEADING_CHARS && below.len() + 2 >= title.chars().count();
    (is_rule && fits && title.chars().any(char::is_alphanumeric)).then_some(character)
}

/// Returns the level of a numbered heading or of a heading in capitals.
fn unmarked_level(title: &str) -> Option<u8> {
    if title.chars().count() > MAX_HEADING_CHARS || title.ends_with(['.', ',', ';']) {
        return None;
    }
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let (number, rest) = title.split_once(' ').unwrap_or((title, ""));
    let number = number.trim_end_matches(['.', ')']);
    let is_number = !number.is_empty()
        && number.len() <= 8
        && number.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    if is_number && rest.trim_start().starts_with(char::is_uppercase) {
        return Some((number.split('.').count() + 1).min(6) as u8);
    }
    (letters >= 4 && title.chars().all(|c| !c.is_lowercase())).then_some(2)
}
