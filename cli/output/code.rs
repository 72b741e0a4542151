//! Renders lines of source code: sanitised, fitted to a width, with syntax highlighting and highlighted matches.

use aurora_languages::{Highlight, TokenClass, by_name};

use crate::output::{Painter, Role, sanitize, width};

/// Width of a tab in columns.
const TAB_COLUMNS: usize = 4;

/// Returns the syntax highlights of every line of `text`. If the language is unknown, no line has highlights.
pub(crate) fn highlight(text: &str, language: &str) -> Vec<Vec<Highlight>> {
    match by_name(language) {
        Some(language) => language.highlight(text),
        None => text.lines().map(|_| Vec::new()).collect(),
    }
}

/// A line with its syntax highlights and matches, as byte ranges of the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeLine<'a> {
    pub(crate) text: &'a str,
    pub(crate) highlights: &'a [Highlight],
    pub(crate) matches: &'a [(usize, usize)],
}

/// A visible character and its style.
struct StyledChar {
    c: char,
    role: Option<Role>,
}

impl CodeLine<'_> {
    /// Returns the line without its first `skip` columns and trailing white space. If the line is wider than `columns`,
    /// only the part around the first match remains, with `…` in place of the rest.
    pub(crate) fn render(&self, skip: usize, columns: Option<usize>, paint: Painter) -> String {
        let painted = |(role, text): (Option<Role>, String)| match role {
            Some(role) => paint.paint(role, &text),
            None => text,
        };
        self.runs(skip, columns).into_iter().map(painted).collect()
    }

    /// Returns the rendered line as pieces of one style each.
    pub(crate) fn runs(&self, skip: usize, columns: Option<usize>) -> Vec<(Option<Role>, String)> {
        let mut cells = self.cells();
        cells.drain(..skip.min(cells.len()));
        let (from, to) = match columns {
            Some(columns) => window(&cells, columns),
            None => (0, cells.len()),
        };
        let more = |is_cut: bool| is_cut.then(|| (Some(Role::Faint), "…".to_owned()));
        let shown = cells[from..to].chunk_by(|a, b| a.role == b.role);
        let shown = shown.map(|run| (run[0].role, run.iter().map(|cell| cell.c).collect()));
        more(from > 0).into_iter().chain(shown).chain(more(to < cells.len())).collect()
    }

    /// Returns the width of the leading white space; `None` for a blank line.
    pub(crate) fn indentation(&self) -> Option<usize> {
        let cells = self.cells();
        cells.iter().position(|cell| cell.c != ' ')
    }

    fn cells(&self) -> Vec<StyledChar> {
        let mut cells = Vec::with_capacity(self.text.len());
        for (at, c) in self.text.trim_end().char_indices() {
            let is_match = self.matches.iter().any(|&(start, end)| (start..end).contains(&at));
            let highlight = self.highlights.iter().find(|highlight| highlight.bytes.contains(&at));
            let role = if is_match { Some(Role::Match) } else { highlight.map(|highlight| role(highlight.class)) };
            match c {
                '\t' => cells.extend((0..TAB_COLUMNS).map(|_| StyledChar { c: ' ', role: None })),
                c => cells.push(StyledChar { c: sanitize::visible(c), role }),
            }
        }
        cells
    }
}

fn role(class: TokenClass) -> Role {
    match class {
        TokenClass::Keyword => Role::Keyword,
        TokenClass::String => Role::Text,
        TokenClass::Comment => Role::Comment,
        TokenClass::Number => Role::Number,
        TokenClass::Heading => Role::Heading,
    }
}

/// Returns the range of cells to show: all cells if they fit, or else as many cells around the first match as fit next
/// to the `…`.
fn window(cells: &[StyledChar], columns: usize) -> (usize, usize) {
    let cell_columns = |cell: &StyledChar| width::measure(cell.c.encode_utf8(&mut [0; 4]));
    let fits = |from: usize, room: usize| {
        let mut used = 0;
        let ends = cells[from..].iter().position(|cell| {
            used += cell_columns(cell);
            used > room
        });
        ends.map_or(cells.len(), |end| from + end)
    };
    let all = fits(0, columns);
    if all == cells.len() {
        return (0, all);
    }
    let is_match = |cell: &StyledChar| cell.role == Some(Role::Match);
    let first = cells.iter().position(is_match).unwrap_or(0);
    let past = first + cells[first..].iter().take_while(|cell| is_match(cell)).count();
    let head = fits(0, columns.saturating_sub(1));
    if past <= head {
        return (0, head);
    }
    // Show a third of the columns before the match, or more if the line ends soon after the match.
    let reach_back = |mut from: usize, room: usize| {
        let mut used = 0;
        while from > 0 && used + cell_columns(&cells[from - 1]) <= room {
            from -= 1;
            used += cell_columns(&cells[from]);
        }
        from
    };
    let from = reach_back(first, columns / 3);
    if fits(from, columns.saturating_sub(1)) == cells.len() {
        return (reach_back(cells.len(), columns.saturating_sub(1)), cells.len());
    }
    (from, fits(from, columns.saturating_sub(2)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str, matches: &[(usize, usize)], columns: usize) -> String {
        CodeLine { text, highlights: &[], matches }.render(0, Some(columns), Painter::PLAIN)
    }

    #[test]
    fn the_match_is_in_view() {
        let text = "let value = compute(first_argument, second_argument, third_argument);";
        assert_eq!(plain(text, &[], 20), "let value = compute…");
        assert_eq!(plain(text, &[(4, 9)], 20), "let value = compute…");
        assert_eq!(plain(text, &[(36, 42)], 20), "…ment, second_argum…");
        assert_eq!(plain(text, &[(53, 58)], 30), "…nd_argument, third_argument);");
        assert_eq!(plain("\tif x:\x1b", &[], 20), "    if x:␛");
    }

    #[test]
    fn tokens_and_matches_are_coloured() {
        let text = "def rotate(token):  # now";
        let highlights = highlight(text, "python");
        let line = CodeLine { text, highlights: &highlights[0], matches: &[(4, 10)] };
        let coloured = line.render(0, None, Painter::COLOURED).replace('\x1b', "␛");
        insta::assert_snapshot!(coloured, @"␛[35mdef␛[0m ␛[1m␛[31mrotate␛[0m(token):  ␛[2m# now␛[0m");
        assert_eq!(line.render(4, None, Painter::PLAIN), "rotate(token):  # now");
    }

    proptest! {
        #[test]
        fn rendered_lines_never_exceed_the_width(text in "[a-c 日é\t\u{301}]{0,80}", at in 0_usize..60, columns in 4_usize..50) {
            let start = text.floor_char_boundary(at.min(text.len()));
            let end = text.floor_char_boundary((at + 6).min(text.len()));
            let shown = plain(&text, &[(start, end)], columns);
            prop_assert!(width::measure(&shown) <= columns, "{shown}");
        }
    }
}
