//! Derives texts from real sources by the kinds of damage that editors, merges and attackers cause.

use super::random::Random;

/// Maximum size of a text in bytes.
const MAX_TEXT_BYTES: usize = 256 << 10;
/// Maximum number of changes to a text.
const MAX_CHANGES: usize = 8;
/// Maximum number of repetitions of a token or line.
const MAX_REPETITIONS: usize = 32 << 10;
/// Maximum number of lines that a change affects.
const MAX_LINES: usize = 64;

/// Texts that open a construct which other text has to close, in various languages.
const OPENERS: &[&str] = &[
    "(",
    "[",
    "{",
    "<",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "'''",
    "```",
    "~~~\n",
    "/*",
    "<!--",
    "--[[",
    "--[==[",
    "{-",
    "#|",
    "(*",
    "=begin\n",
    "=pod\n",
    "<<EOF\n",
    "<<-'E'\n",
    "<<~E\n",
    "@\"",
    "$\"{",
    "${",
    "$(",
    "#{",
    "\\(",
    "r#\"",
    "R\"x(",
    "#[[",
    "[==[",
    "%q{",
    "%w[",
    "q{",
    "s{",
    "m/",
    "/",
    "\\",
    "<![CDATA[",
    "<?",
    "<?php ",
    "<%",
    "{{",
    "{%",
    "<script>",
    "<style>",
    "<a ",
    "---\n",
    "#if X\n",
    "#define X \\\n",
    "begin\n",
    "do\n",
    "if ",
    "case ",
    "function f(",
    "class A ",
    "def f(",
    "fn f<",
    "a: |\n ",
    "- ",
    "? ",
    "&a ",
    "*a",
    "!!",
    "[[",
    "]]>",
    "*/",
    "-->",
    "\"#",
];

/// Characters that programs tend to handle wrongly.
const CHARACTERS: &[&str] = &[
    "\u{feff}",
    "\0",
    "\r",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{a0}",
    "\u{200b}",
    "\u{200d}",
    "\u{202e}",
    "\u{301}",
    "e\u{301}",
    "\u{1f600}",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{e9}",
    "\u{df}",
    "\u{130}",
    "\u{3000}",
    "\t",
    "\u{1b}",
    "\u{7f}",
    "\u{661}",
    "\u{ff41}",
];

/// The sources that texts are derived from.
pub(crate) struct Sources {
    /// Sources in the language.
    pub(crate) own: Vec<String>,
    /// Sources in other languages.
    pub(crate) others: Vec<String>,
}

impl Sources {
    /// Returns a text that depends only on the sources and the random numbers.
    pub(crate) fn text(&self, random: &mut Random) -> String {
        let mut text = self.beginning(random);
        for _ in 0..=random.small(MAX_CHANGES) {
            text = self.changed(&text, random);
            text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        }
        text
    }

    /// Returns a source, or only some lines of a source, since small texts are checked faster.
    fn beginning(&self, random: &mut Random) -> String {
        let source = source_of(&self.own, random);
        if random.one_in(3) {
            return source.to_owned();
        }
        lines_of(source, random, 200).to_owned()
    }

    fn changed(&self, text: &str, random: &mut Random) -> String {
        match random.below(19) {
            0 => delete(&lines(text), random, MAX_LINES),
            1 => duplicate(&lines(text), random, MAX_LINES),
            2 => swap(&lines(text), random),
            3 => delete(&tokens(text), random, 8),
            4 => duplicate(&tokens(text), random, 8),
            5 => swap(&tokens(text), random),
            6 => self.replace_token(text, random),
            7 => self.splice(text, random),
            8 => self.insert_part(text, random),
            9 => flip_bytes(text, random),
            10 => repeat_token(text, random),
            11 => repeat_opener(text, random),
            12 => text[..place(text, random)].to_owned(),
            13 => insert(text, random.choose(CHARACTERS), random),
            14 => replace_feeds(text, random),
            15 => join_lines(text, random),
            16 => insert(text, random.choose(OPENERS), random),
            17 => indent(text, random),
            _ => repeat_line(text, random),
        }
    }

    /// Replaces a token by a token of another source.
    fn replace_token(&self, text: &str, random: &mut Random) -> String {
        let part = lines_of(source_of(&self.own, random), random, 20);
        let (mut tokens, others) = (tokens(text), tokens(part));
        if tokens.is_empty() || others.is_empty() {
            return text.to_owned();
        }
        let at = random.below(tokens.len());
        tokens[at] = random.choose(&others);
        tokens.concat()
    }

    /// Returns the beginning of a text, followed by the end of a source of the same language.
    fn splice(&self, text: &str, random: &mut Random) -> String {
        let other = source_of(&self.own, random);
        format!("{}{}", &text[..place(text, random)], &other[place(other, random)..])
    }

    /// Inserts some lines of a source, often in another language, into a text.
    fn insert_part(&self, text: &str, random: &mut Random) -> String {
        let from = if self.others.is_empty() || random.one_in(3) { &self.own } else { &self.others };
        let part = lines_of(source_of(from, random), random, MAX_LINES);
        insert(text, part, random)
    }
}

fn source_of<'t>(sources: &'t [String], random: &mut Random) -> &'t str {
    &sources[random.below(sources.len())]
}

/// Deletes a run of parts.
fn delete(parts: &[&str], random: &mut Random, max: usize) -> String {
    let from = random.below(parts.len());
    let to = (from + 1 + random.small(max)).min(parts.len());
    parts[..from].concat() + &parts[to..].concat()
}

/// Duplicates a run of parts at another position.
fn duplicate(parts: &[&str], random: &mut Random, max: usize) -> String {
    let from = random.below(parts.len());
    let to = (from + 1 + random.small(max)).min(parts.len());
    let at = random.below(parts.len() + 1);
    [&parts[..at], &parts[from..to], &parts[at..]].concat().concat()
}

fn swap(parts: &[&str], random: &mut Random) -> String {
    let mut parts = parts.to_vec();
    if !parts.is_empty() {
        let (one, other) = (random.below(parts.len()), random.below(parts.len()));
        parts.swap(one, other);
    }
    parts.concat()
}

/// Changes some bytes, then decodes the text as a file is decoded: invalid UTF-8 is replaced.
fn flip_bytes(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.small(8) {
        if !bytes.is_empty() {
            let at = random.below(bytes.len());
            bytes[at] = if random.one_in(2) { bytes[at] ^ (1 << random.below(8)) } else { random.next() as u8 };
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Repeats a token of the text many times.
fn repeat_token(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    if tokens.is_empty() {
        return String::new();
    }
    let at = random.below(tokens.len());
    let separator = random.choose(&["", "", " ", "\n"]);
    let repeated = [tokens[at], separator].concat().repeat(1 + random.small(MAX_REPETITIONS));
    tokens[at] = &repeated;
    tokens.concat()
}

/// Repeats an opening token many times, alone or together with another opening token. Sometimes adds as many closing
/// tokens.
fn repeat_opener(text: &str, random: &mut Random) -> String {
    let count = 1 + random.small(MAX_REPETITIONS);
    let mut opener = random.choose(OPENERS).to_owned();
    if random.one_in(3) {
        opener += random.choose(&[" ", "\n", "a", "a ", ", ", "0"]);
    }
    if random.one_in(4) {
        opener += random.choose(OPENERS);
    }
    let closer = match opener.as_bytes()[0] {
        b'(' => ")",
        b'[' => "]",
        b'{' => "}",
        b'<' => ">",
        _ => "",
    };
    let closers = if random.one_in(2) { closer.repeat(count) } else { String::new() };
    insert(text, &format!("{}{closers}", opener.repeat(count)), random)
}

fn repeat_line(text: &str, random: &mut Random) -> String {
    let mut lines = lines(text);
    if lines.is_empty() {
        return String::new();
    }
    let at = random.below(lines.len());
    let repeated = lines[at].repeat(1 + random.small(4_096));
    lines[at] = &repeated;
    lines.concat()
}

/// Replaces line feeds by other line ends, everywhere or in some places.
fn replace_feeds(text: &str, random: &mut Random) -> String {
    let feed = random.choose(&["\r\n", "\r", "\u{2028}", "\n\n", "\u{c}\n", " \n", "\\\n", ";\n"]);
    let share = random.choose(&[1, 1, 4, 16]);
    let mut lines = lines(text).into_iter();
    let mut changed = String::new();
    for line in lines.by_ref() {
        match line.strip_suffix('\n') {
            Some(line) if random.one_in(share) => changed.extend([line, feed]),
            _ => changed.push_str(line),
        }
    }
    changed
}

/// Joins some or all lines.
fn join_lines(text: &str, random: &mut Random) -> String {
    let lines = lines(text);
    let from = random.below(lines.len());
    let to = if random.one_in(3) { lines.len() } else { (from + 2 + random.small(MAX_LINES)).min(lines.len()) };
    let separator = random.choose(&["", " ", "\r"]);
    let joined = lines[from..to].concat().replace('\n', separator);
    lines[..from].concat() + &joined + &lines[to..].concat()
}

/// Indents some lines with other white space.
fn indent(text: &str, random: &mut Random) -> String {
    let lines = lines(text);
    let from = random.below(lines.len());
    let to = from + 1 + random.small(MAX_LINES);
    let white_space = random.choose(&["", " ", "    ", "\t", " \t", "\u{a0}"]).repeat(1 + random.small(40));
    let indented = |(row, line): (usize, &&str)| match (from..to).contains(&row) {
        true => format!("{white_space}{}", line.trim_start_matches([' ', '\t'])),
        false => (*line).to_owned(),
    };
    lines.iter().enumerate().map(indented).collect()
}

fn insert(text: &str, part: &str, random: &mut Random) -> String {
    let at = place(text, random);
    [&text[..at], part, &text[at..]].concat()
}

/// Returns a position between characters. Often the position is between lines, which preserves more of the syntax.
fn place(text: &str, random: &mut Random) -> usize {
    let at = text.floor_char_boundary(random.below(text.len() + 1));
    if random.one_in(2) { text[..at].rfind('\n').map_or(0, |feed| feed + 1) } else { at }
}

/// Returns up to `max` consecutive lines of a source.
fn lines_of<'t>(source: &'t str, random: &mut Random, max: usize) -> &'t str {
    let start = source[..place(source, random)].rfind('\n').map_or(0, |feed| feed + 1);
    let length = source[start..].split_inclusive('\n').take(1 + random.below(max)).map(str::len).sum::<usize>();
    &source[start..start + length]
}

/// Returns the lines of a text, including their line feeds.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Splits a text into words, runs of white space, and other characters.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| (c.is_alphanumeric() || c == '_', c.is_whitespace());
    let mut found = Vec::new();
    let (mut start, mut last) = (0, None);
    for (at, character) in text.char_indices() {
        let kind = kind(character);
        if last.is_some_and(|last| last != kind || kind == (false, false)) {
            found.push(&text[start..at]);
            start = at;
        }
        last = Some(kind);
    }
    found.extend((start < text.len()).then(|| &text[start..]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_determined_by_its_seed_and_bounded() {
        let sources = Sources {
            own: vec!["fn a() {\n    b(\"é\");\n}\n".to_owned(), "x".to_owned()],
            others: vec!["<a>\r\n</a>".to_owned()],
        };
        let text = |case| sources.text(&mut Random::for_case(1, "rust", case));
        let mut changed = 0;
        for case in 0..2_000 {
            let one = text(case);
            assert_eq!(one, text(case));
            assert!(one.len() <= MAX_TEXT_BYTES);
            changed += usize::from(!sources.own.contains(&one));
        }
        assert!(changed > 1_500, "{changed}");
    }

    #[test]
    fn every_change_handles_an_empty_text() {
        let sources = Sources { own: vec![String::new()], others: Vec::new() };
        for case in 0..2_000 {
            sources.text(&mut Random::for_case(2, "c", case));
        }
    }

    #[test]
    fn tokens_are_words_white_space_and_single_characters() {
        assert_eq!(tokens("a_1 +=\n\t(é)"), ["a_1", " ", "+", "=", "\n\t", "(", "é", ")"]);
        assert!(tokens("").is_empty());
    }
}
