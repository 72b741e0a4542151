//! Derives titles from texts.

/// Maximum length in characters of a title from the first line of a text.
const MAX_LINE_CHARS: usize = 80;

/// Maximum length in characters of a title from a heading.
const MAX_HEADING_CHARS: usize = 200;

/// Returns the title of a Markdown or plain text. It is the first heading, or the first line that is not blank.
pub(crate) fn from_text(text: &str) -> String {
    heading(text).unwrap_or_else(|| from_line(text.trim_start().lines().next().unwrap_or_default()))
}

/// Shortens a line to a title of at most 80 characters. It is shortened between words if possible.
pub(crate) fn from_line(line: &str) -> String {
    shorten_to(line, MAX_LINE_CHARS)
}

/// Returns the first heading outside code. A heading begins with `#`, or is underlined with `=` or `-`.
fn heading(text: &str) -> Option<String> {
    let mut fence: Option<&str> = None;
    // The previous line, which is a heading if the current line is an underline.
    let mut above = "";
    for line in text.lines() {
        let content = line.trim();
        let is_code = line.starts_with("    ") || line.starts_with('\t');
        if let Some(open) = fence {
            if content.starts_with(open) && content.trim_start_matches(&open[..1]).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(open) = fence_of(content).filter(|_| !is_code) {
            fence = Some(open);
            above = "";
            continue;
        }
        if let Some(heading) = hash_heading(content).filter(|_| !is_code) {
            return Some(shorten_to(heading, MAX_HEADING_CHARS));
        }
        let is_underline = |mark: char| content.len() > 1 && content.trim_end_matches(mark).is_empty();
        if !above.is_empty() && (is_underline('=') || is_underline('-')) {
            return Some(shorten_to(above, MAX_HEADING_CHARS));
        }
        above = if is_code || is_quote_or_item(content) { "" } else { content };
    }
    None
}

/// Returns the characters that open a fenced code block; `None` if the line does not open one.
fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| &line[..length])
}

/// Returns the text of a heading that begins with one to six `#` and a space; `None` if the line is not such a heading.
fn hash_heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    if !(1..=6).contains(&level) || !text.starts_with([' ', '\t']) {
        return None;
    }
    let text = text.trim();
    // A trailing `#` belongs to the heading only if no space precedes it, as in `# C#`.
    let open = text.trim_end_matches('#');
    let text = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { text };
    (!text.is_empty()).then_some(text)
}

/// Returns `true` if a line is a quote, a table row or a list item. After such a line, `---` is a thematic break and
/// not an underline.
fn is_quote_or_item(line: &str) -> bool {
    line.starts_with(['>', '|']) || ["- ", "* ", "+ "].iter().any(|marker| line.starts_with(marker))
}

/// Joins a text into one line. A text longer than `max` characters is shortened between words if possible, and ends
/// with `…`.
fn shorten_to(text: &str, max: usize) -> String {
    let mut title = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let space = usize::from(length > 0);
        // Counting stops after the limit, because a longer word does not fit anyway.
        let word_length = word.chars().take(max + 1).count();
        if length + space + word_length > max {
            return shorten(title, length, word, max);
        }
        if space > 0 {
            title.push(' ');
        }
        title.push_str(word);
        length += space + word_length;
    }
    title
}

fn shorten(mut title: String, length: usize, next: &str, max: usize) -> String {
    if title.is_empty() {
        title.extend(next.chars().take(max - 1));
    } else if length == max {
        // Removes the last word, or the last character of the only word, to make room for `…`.
        match title.rfind(' ') {
            Some(end) => title.truncate(end),
            None => drop(title.pop()),
        }
    }
    title.push('…');
    title
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_heading_is_the_title() {
        let check = |text: &str, expected: &str| assert_eq!(from_text(text), expected, "{text}");
        check("intro\n\n## Rotate *keys* ##\ntext", "Rotate *keys*");
        check("Key rotation\n============\ntext", "Key rotation");
        check("Key rotation\n---\ntext", "Key rotation");
        check("```sh\n# not this\n```\n# This", "This");
        check("    # code\n# This", "This");
        check("- item\n---\n# This", "This");
        check("# C#\n", "C#");
        check("#hashtag\n", "#hashtag");
        check("#\nplain", "#");
        check("\n\n  first line \nsecond", "first line");
        check("", "");
    }

    #[test]
    fn lines_are_shortened_between_words() {
        let line = "word ".repeat(40);
        let title = from_line(&line);
        assert_eq!(title, format!("{}…", "word ".repeat(15) + "word"));
        assert_eq!(from_line(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(from_line(&"ü".repeat(81)), format!("{}…", "ü".repeat(79)));
    }

    proptest! {
        #[test]
        fn titles_are_bounded_and_on_one_line(text in "[#=`~ a-zé\n-]{0,300}") {
            let title = from_text(&text);
            prop_assert!(title.chars().count() <= MAX_HEADING_CHARS);
            prop_assert!(!title.contains('\n') && title.trim() == title);
            prop_assert!(from_line(&text).chars().count() <= MAX_LINE_CHARS);
            prop_assert_eq!(title.is_empty(), text.trim().is_empty());
        }
    }
}
