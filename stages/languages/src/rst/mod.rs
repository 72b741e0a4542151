//! Support for reStructuredText. Titles with adornments begin sections, as in docutils. Internal targets and the
//! definitions in code blocks become names of their section.

#![cfg(feature = "rst")]

use crate::highlight::TokenClass;
use crate::language::Language;
use crate::outline::{Line, Outline, joined_words, lines_of, title_source};

#[cfg(test)]
mod tests;

/// reStructuredText with the directives of docutils and Sphinx.
pub(crate) static RST: Language = Language {
    aliases: &["restructuredtext"],
    line_class: Some(class_of_line),
    ..Language::document("rst", &["rst", "rest"], outline, |text| outline(text).code)
};

/// Minimum length of an adornment that may be shorter than its title.
const MIN_SHORT_ADORNMENT: usize = 4;

/// Directives whose content is code in the language that the argument names.
const CODE_DIRECTIVES: &[&str] = &["code-block", "code", "sourcecode"];

fn outline(text: &str) -> Outline<'_> {
    let lines = lines_of(text);
    let tables = SimpleTables::new(&lines);
    let (mut found, mut styles) = (Outline::default(), Vec::new());
    // Whether the line may begin a block: it follows a blank line, a title or indented text.
    let mut begins_block = true;
    // Start of the labels directly before the line.
    let mut labels_at = None;
    let mut ends_in_double_colon = false;
    let mut row = 0;
    while let Some(line) = lines.get(row) {
        if line.is_blank() {
            begins_block = true;
            row += 1;
            continue;
        }
        let is_literal = begins_block && std::mem::take(&mut ends_in_double_colon);
        if let Some(language) = code_directive(line.text) {
            let end = indented_end(&lines, row);
            found.push_code(language, code_start(&lines, row, end)..lines[end - 1].end);
            (begins_block, labels_at, row) = (true, None, end);
            continue;
        }
        if line.indent() > 0 {
            (begins_block, labels_at) = (true, None);
            row += 1;
            continue;
        }
        if let Some(label) = label(line.text).filter(|_| begins_block) {
            labels_at.get_or_insert(line.at);
            found.push_label(line.at, label);
            row += 1;
            continue;
        }
        if begins_block {
            if let Some(end) = tables.end(&lines, row) {
                (labels_at, row) = (None, end + 1);
                continue;
            }
            if is_literal && line.text.starts_with(|first: char| first.is_ascii_punctuation()) {
                let first = &line.text[..1];
                row += lines[row..].iter().take_while(|line| line.text.starts_with(first)).count();
                labels_at = None;
                continue;
            }
            if let Some(title) = Title::at(&lines, row) {
                let level = styles.iter().position(|style| *style == title.style).unwrap_or_else(|| {
                    styles.push(title.style);
                    styles.len() - 1
                });
                found.push_heading(labels_at.take().unwrap_or(line.at), level + 1, plain_title(title.text));
                row += title.lines;
                continue;
            }
        }
        ends_in_double_colon = line.text.ends_with("::") && !line.text.starts_with(".. ");
        (begins_block, labels_at) = (line.text.starts_with("..") && adornment(line.text) != Some('.'), None);
        row += 1;
    }
    found
}

/// The character of an adornment, and whether it is also above the title.
type Style = (char, bool);

struct Title<'t> {
    text: &'t str,
    style: Style,
    /// Number of lines, including adornments.
    lines: usize,
}

impl<'t> Title<'t> {
    /// Returns the title that begins at the first line of a block, or `None` if the block is no title.
    fn at(lines: &[Line<'t>], row: usize) -> Option<Self> {
        let (first, second) = (lines.get(row)?, lines.get(row + 1)?);
        if let Some(character) = adornment(first.text) {
            let is_title = second.text.chars().any(|c| c.is_alphanumeric());
            let fits = is_title && first.text == lines.get(row + 2)?.text && fits(first.text, second.text.trim());
            return fits.then(|| Self { text: second.text.trim(), style: (character, true), lines: 3 });
        }
        let character = adornment(second.text)?;
        let fits = second.text != "::" && fits(second.text, first.text) && !begins_other_block(first.text);
        fits.then_some(Self { text: first.text, style: (character, false), lines: 2 })
    }
}

/// Returns the character of a line that consists of one repeated punctuation character.
fn adornment(line: &str) -> Option<char> {
    let first = line.chars().next().filter(char::is_ascii_punctuation)?;
    line.chars().all(|c| c == first).then_some(first)
}

/// Whether an adornment is long enough for a title. As in docutils, a longer adornment may be shorter than its title.
fn fits(adornment: &str, title: &str) -> bool {
    adornment.len() >= MIN_SHORT_ADORNMENT || adornment.len() >= title.chars().count()
}

/// Whether a line begins a list, a field, a directive or another block that cannot be a title.
fn begins_other_block(line: &str) -> bool {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let is_field = line.starts_with(':') && line[1..].contains(": ") || (word.ends_with(':') && word.starts_with(':'));
    matches!(word, "-" | "+" | "*" | "•" | "‣" | "⁃" | "|" | ".." | "__" | ">>>")
        || (is_field && !line.contains('`'))
        || (line.starts_with("+-") && rest.is_empty())
}

/// Returns the name of the internal target that a line defines. Targets that refer to another place have no name.
fn label(line: &str) -> Option<&str> {
    let name = line.strip_prefix(".. _")?.strip_suffix(':')?;
    match name.strip_prefix('`') {
        Some(quoted) => quoted.strip_suffix('`'),
        None => (!name.starts_with('_') && !name.contains(": ")).then_some(name),
    }
}

/// Returns the language of the code in a directive, or `None` if the line begins no code.
fn code_directive(line: &str) -> Option<&str> {
    let (name, language) = line.trim_start().strip_prefix(".. ")?.split_once("::")?;
    CODE_DIRECTIVES.contains(&name.trim()).then(|| language.trim())
}

/// Returns the line after the indented content of the directive in line `row`.
fn indented_end(lines: &[Line<'_>], row: usize) -> usize {
    let indent = lines[row].indent();
    let is_content = |line: &&Line<'_>| line.is_blank() || line.indent() > indent;
    row + 1 + lines[row + 1..].iter().take_while(is_content).count()
}

/// Returns the start of the code in a directive, after the options of the directive.
fn code_start(lines: &[Line<'_>], row: usize, end: usize) -> usize {
    let options = lines[row + 1..end].iter().take_while(|line| line.text.trim_start().starts_with(':'));
    lines[row + options.count()].end
}

/// Returns the text of a title without roles, link targets, emphasis and escapes.
fn plain_title(source: &str) -> String {
    let mut title = String::new();
    let mut rest = title_source(source);
    while let Some(at) = rest.find(['`', '*', '\\', '|']) {
        title.push_str(&rest[..at]);
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b'`' => {
                rest = rest.trim_start_matches('`');
                let Some(end) = rest.find('`') else { break };
                let has_role = remove_role(&mut title);
                title.push_str(interpreted_text(&rest[..end], has_role));
                rest = rest[end..].trim_start_matches('`').trim_start_matches('_');
            }
            b'\\' => {
                let escaped = rest.chars().next().map_or(0, char::len_utf8);
                title.push_str(&rest[..escaped]);
                rest = &rest[escaped..];
            }
            _ => {}
        }
    }
    title.push_str(rest);
    joined_words(&title)
}

/// Removes a role at the end of a text, such as `:py:func:`. Returns whether there was a role.
fn remove_role(text: &mut String) -> bool {
    let is_role = |c: char| c.is_ascii_alphanumeric() || ":-_.+".contains(c);
    let start = text.trim_end_matches(is_role).len();
    let has_role = text[start..].len() > 2 && text[start..].starts_with(':') && text.ends_with(':');
    if has_role {
        text.truncate(start);
    }
    has_role
}

/// Returns the visible text of interpreted text: `x` in `x <target>`, and `Flask` in `~flask.Flask` if it has a role.
fn interpreted_text(text: &str, has_role: bool) -> &str {
    let text = match text.split_once(" <") {
        Some((shown, target)) if target.ends_with('>') => shown,
        _ => text,
    };
    match text.strip_prefix('~') {
        Some(path) if has_role => path.rsplit('.').next().unwrap_or(path),
        _ => text,
    }
}

/// The tables whose columns are marked by `====  ====`. They may contain blank lines.
struct SimpleTables {
    /// The lines that are borders.
    borders: Vec<usize>,
}

impl SimpleTables {
    fn new(lines: &[Line<'_>]) -> Self {
        Self { borders: (0..lines.len()).filter(|row| is_border(lines[*row].text)).collect() }
    }

    /// Returns the last line of the table that begins at line `row`. As in docutils, a table ends at its third border,
    /// or at its second border if a blank line follows.
    fn end(&self, lines: &[Line<'_>], row: usize) -> Option<usize> {
        let first = self.borders.binary_search(&row).ok()?;
        let second = *self.borders.get(first + 1)?;
        match lines.get(second + 1) {
            Some(line) if !line.is_blank() => self.borders.get(first + 2).copied().or(Some(second)),
            _ => Some(second),
        }
    }
}

/// Whether a line marks at least two columns with `=`.
fn is_border(line: &str) -> bool {
    line.starts_with('=') && line.contains(' ') && line.bytes().all(|byte| matches!(byte, b'=' | b' '))
}

fn class_of_line(line: &str) -> Option<TokenClass> {
    let line = line.trim_end();
    match adornment(line) {
        Some(_) if line.len() >= MIN_SHORT_ADORNMENT => Some(TokenClass::Heading),
        _ => line.trim_start().starts_with(".. ").then_some(TokenClass::Comment),
    }
}
