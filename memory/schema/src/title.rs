//! Titles that a text gives itself.

/// Most characters of a line that serves as a title.
const LINE_CHARACTERS: usize = 80;

/// Most characters of a heading.
const HEADING_CHARACTERS: usize = 200;

/// The title of a Markdown or plain text: its first heading, or else its first line that is not blank.
pub(crate) fn of_text(text: &str) -> String {
    heading(text).unwrap_or_else(|| of_line(text.trim_start().lines().next().unwrap_or_default()))
}

/// A line as a title: at most 80 characters, cut between words where that is possible.
pub(crate) fn of_line(line: &str) -> String {
    cut(line, LINE_CHARACTERS)
}

/// The first heading outside fenced code, with `#` before it or a line of `=` or `-` below.
fn heading(text: &str) -> Option<String> {
    let mut fence: Option<&str> = None;
    // A line that a following `===` makes a heading.
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
            return Some(cut(heading, HEADING_CHARACTERS));
        }
        let is_underline = |mark: char| content.len() > 1 && content.trim_end_matches(mark).is_empty();
        if !above.is_empty() && (is_underline('=') || is_underline('-')) {
            return Some(cut(above, HEADING_CHARACTERS));
        }
        above = if is_code || is_quote_or_item(content) { "" } else { content };
    }
    None
}

/// The marks that open fenced code.
fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    (length >= 3).then(|| &line[..length])
}

/// The text behind one to six `#` and a space.
fn hash_heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    if !(1..=6).contains(&level) || !text.starts_with([' ', '\t']) {
        return None;
    }
    let text = text.trim();
    // `#` at the end belongs to the heading only where no space stands before it: `# C#`.
    let open = text.trim_end_matches('#');
    let text = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { text };
    (!text.is_empty()).then_some(text)
}

/// Below them, `---` is a thematic break.
fn is_quote_or_item(line: &str) -> bool {
    line.starts_with(['>', '|']) || ["- ", "* ", "+ "].iter().any(|marker| line.starts_with(marker))
}

/// A text in one line, cut with `…` behind a word where it is longer than `most` characters.
fn cut(text: &str, most: usize) -> String {
    let mut title = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let space = usize::from(length > 0);
        // What lies beyond the bound need not be counted.
        let word_length = word.chars().take(most + 1).count();
        if length + space + word_length > most {
            return shortened(title, length, word, most);
        }
        if space > 0 {
            title.push(' ');
        }
        title.push_str(word);
        length += space + word_length;
    }
    title
}

fn shortened(mut title: String, length: usize, next: &str, most: usize) -> String {
    if title.is_empty() {
        title.extend(next.chars().take(most - 1));
    } else if length == most {
        // The last word makes room for the mark.
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
        let check = |text: &str, expected: &str| assert_eq!(of_text(text), expected, "{text}");
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
    fn lines_are_cut_between_words() {
        let line = "word ".repeat(40);
        let title = of_line(&line);
        assert_eq!(title, format!("{}…", "word ".repeat(15) + "word"));
        assert_eq!(of_line(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(of_line(&"ü".repeat(81)), format!("{}…", "ü".repeat(79)));
    }

    proptest! {
        #[test]
        fn titles_are_bounded_and_in_one_line(text in "[#=`~ a-zé\n-]{0,300}") {
            let title = of_text(&text);
            prop_assert!(title.chars().count() <= HEADING_CHARACTERS);
            prop_assert!(!title.contains('\n') && title.trim() == title);
            prop_assert!(of_line(&text).chars().count() <= LINE_CHARACTERS);
            prop_assert_eq!(title.is_empty(), text.trim().is_empty());
        }
    }
}
