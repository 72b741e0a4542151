//! The table of results, fitted to the width of the terminal.

use aurora_query::Source;

use crate::output::{Links, Painter, Role, sanitize, width};

/// A result as formatted cells of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Path relative to the root.
    pub(crate) file: String,
    pub(crate) source: Source,
    /// Line of the result, shown after the path in the form that editors and terminals recognise.
    pub(crate) line: Option<u32>,
    /// Abbreviated chunk type.
    pub(crate) kind: String,
    /// Name, qualified if the simple name is ambiguous.
    pub(crate) name: String,
    /// Line range such as `45-67`, or `-`.
    pub(crate) lines: String,
    pub(crate) score: String,
    /// Number of commits, or the reason why there is none.
    pub(crate) commits: String,
    /// Time of the last change, or the reason why it is unknown.
    pub(crate) modified: String,
    /// Lines to print below the row, unchanged.
    pub(crate) below: Vec<String>,
}

/// Separator of columns.
const SEPARATOR: &str = " | ";
/// Separator of columns in a table that would be too wide with the normal separator.
const NARROW_SEPARATOR: &str = "  ";
const HEADINGS: [&str; 7] = ["File", "Type", "Name", "Lines", "Score", "Commits", "Last Modified"];
/// Index of the column of paths.
const FILE: usize = 0;
/// Index of the column of names.
const NAME: usize = 2;
/// Index of the column of scores.
const SCORE: usize = 4;
/// Indexes of the columns that are dropped on a narrow terminal, in this order. The line numbers are dropped early,
/// because the path includes the first line.
const DROPPED: [usize; 4] = [5, 3, 6, 1];
/// Minimum width of a path in columns, below which it is no longer readable.
const MIN_FILE_COLUMNS: usize = 20;
/// Minimum width of a name in columns, below which it is no longer readable.
const MIN_NAME_COLUMNS: usize = 10;

/// Renders the table. `columns` is the width of the terminal; `None` for an unlimited width. `legacy` leaves out the
/// git columns.
pub(crate) fn render(rows: &[Row], legacy: bool, columns: Option<usize>, paint: Painter, links: &Links) -> String {
    let cells: Vec<[String; 7]> = rows.iter().map(cells).collect();
    let mut shown: Vec<usize> = (0..if legacy { 5 } else { 7 }).collect();
    let natural: Vec<usize> = (0..7)
        .map(|column| {
            let widest = cells.iter().map(|row| width::measure(&row[column])).max();
            widest.unwrap_or(0).max(width::measure(HEADINGS[column]))
        })
        .collect();
    let mut widths = natural.clone();
    let mut separator = SEPARATOR;
    if let Some(columns) = columns {
        let needed = natural[FILE] + natural[NAME];
        if flexible(&shown, &natural, separator, columns) < needed {
            separator = NARROW_SEPARATOR;
        }
        for dropped in DROPPED {
            if flexible(&shown, &natural, separator, columns) >= needed.min(MIN_FILE_COLUMNS + MIN_NAME_COLUMNS) {
                break;
            }
            shown.retain(|column| *column != dropped);
        }
        let room = flexible(&shown, &natural, separator, columns).max(MIN_FILE_COLUMNS + MIN_NAME_COLUMNS);
        (widths[FILE], widths[NAME]) = share(natural[FILE], natural[NAME], room);
    }
    let layout = TableLayout { shown, widths, separator };
    let mut out = String::new();
    let headings = HEADINGS.map(str::to_owned);
    push_line(&mut out, &headings, &layout, |_, cell| paint.paint(Role::Heading, cell));
    for (row, cells) in rows.iter().zip(&cells) {
        push_line(&mut out, cells, &layout, |column, cell| match column {
            FILE => links.link_to(row.source, &row.file, row.line, &paint.paint(Role::Path, cell)),
            SCORE => paint.paint(Role::Good, cell),
            _ => cell.to_owned(),
        });
        for line in &row.below {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

fn cells(row: &Row) -> [String; 7] {
    let file = match row.line {
        Some(line) => format!("{}:{line}", row.file),
        None => row.file.clone(),
    };
    [&file, &row.kind, &row.name, &row.lines, &row.score, &row.commits, &row.modified].map(|cell| sanitize::line(cell))
}

/// Returns the width that remains for the path and the name together.
fn flexible(shown: &[usize], natural: &[usize], separator: &str, columns: usize) -> usize {
    let fixed: usize =
        shown.iter().filter(|column| ![FILE, NAME].contains(column)).map(|column| natural[*column]).sum();
    columns.saturating_sub(fixed + separator.len() * (shown.len() - 1))
}

/// Divides the room between path and name. If only one of them is too wide, the other gets the width that it needs. If
/// both are too wide, three fifths go to the path.
fn share(file: usize, name: usize, room: usize) -> (usize, usize) {
    if file + name <= room {
        return (file, name);
    }
    let for_file = room * 3 / 5;
    let for_name = room - for_file;
    if file <= for_file {
        (file, room - file)
    } else if name <= for_name {
        (room - name, name)
    } else {
        (for_file, for_name)
    }
}

/// Shortens `path:line` to at most `columns`. The line number stays.
fn elide_location(location: &str, columns: usize) -> String {
    let is_number = |line: &str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    match location.rsplit_once(':').filter(|(_, line)| is_number(line) && line.len() + 2 < columns) {
        Some((path, line)) => format!("{}:{line}", width::elide_path(path, columns - line.len() - 1)),
        None => width::elide_path(location, columns),
    }
}

/// The visible columns, their widths, and the separator between them.
struct TableLayout {
    shown: Vec<usize>,
    widths: Vec<usize>,
    separator: &'static str,
}

fn push_line(out: &mut String, cells: &[String; 7], layout: &TableLayout, paint: impl Fn(usize, &str) -> String) {
    for (at, &column) in layout.shown.iter().enumerate() {
        let columns = layout.widths[column];
        let cell = match column {
            FILE => elide_location(&cells[column], columns),
            _ => width::elide_middle(&cells[column], columns),
        };
        out.push_str(&paint(column, &cell));
        if at + 1 < layout.shown.len() {
            out.push_str(&width::pad("", columns.saturating_sub(width::measure(&cell))));
            out.push_str(layout.separator);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    fn row(cells: [&str; 7]) -> Row {
        let [file, kind, name, lines, score, commits, modified] = cells.map(str::to_owned);
        let line = lines.split('-').next().and_then(|line| line.parse().ok());
        Row { file, source: Source::Code, line, kind, name, lines, score, commits, modified, below: Vec::new() }
    }

    fn rows() -> Vec<Row> {
        vec![
            row([
                "services/auth/internal/auth_manager.py",
                "function",
                "authenticate_user",
                "45-67",
                "0.856",
                "23",
                "2 days ago",
            ]),
            row(["docs/oauth.md", "know", "OAuth Setup", "-", "0.654", "-", "2025-12-15"]),
            row([
                "new.py",
                "method",
                "SessionManager.refresh_if_expired",
                "1-3",
                "0.621",
                "- (untracked)",
                "- (untracked)",
            ]),
        ]
    }

    fn rendered(columns: Option<usize>, legacy: bool) -> String {
        render(&rows(), legacy, columns, Painter::PLAIN, &Links::default())
    }

    #[test]
    fn without_a_width_nothing_is_shortened() {
        assert_snapshot!(rendered(None, false), @r"
        File                                      | Type     | Name                              | Lines | Score | Commits       | Last Modified
        services/auth/internal/auth_manager.py:45 | function | authenticate_user                 | 45-67 | 0.856 | 23            | 2 days ago
        docs/oauth.md                             | know     | OAuth Setup                       | -     | 0.654 | -             | 2025-12-15
        new.py:1                                  | method   | SessionManager.refresh_if_expired | 1-3   | 0.621 | - (untracked) | - (untracked)
        ");
    }

    #[test]
    fn eighty_columns() {
        assert_snapshot!(rendered(Some(80), false), @r"
        File                     Type      Name              Lines  Score  Last Modified
        …/auth_manager.py:45     function  authent…ate_user  45-67  0.856  2 days ago
        docs/oauth.md            know      OAuth Setup       -      0.654  2025-12-15
        new.py:1                 method    Session…_expired  1-3    0.621  - (untracked)
        ");
    }

    #[test]
    fn legacy_tables_have_no_git_columns() {
        assert_snapshot!(rendered(Some(80), true), @r"
        File                              Type      Name                    Lines  Score
        services/…/auth_manager.py:45     function  authenticate_user       45-67  0.856
        docs/oauth.md                     know      OAuth Setup             -      0.654
        new.py:1                          method    SessionMan…_if_expired  1-3    0.621
        ");
    }

    #[test]
    fn narrow_tables_drop_columns() {
        assert_snapshot!(rendered(Some(40), false), @r"
        File                Name           Score
        auth_manager.py:45  authen…e_user  0.856
        docs/oauth.md       OAuth Setup    0.654
        new.py:1            Sessio…xpired  0.621
        ");
    }

    #[test]
    fn a_hundred_and_twenty_columns() {
        assert_snapshot!(rendered(Some(120), false), @r"
        File                                    Type      Name                        Lines  Score  Commits        Last Modified
        services/…/internal/auth_manager.py:45  function  authenticate_user           45-67  0.856  23             2 days ago
        docs/oauth.md                           know      OAuth Setup                 -      0.654  -              2025-12-15
        new.py:1                                method    SessionManag…sh_if_expired  1-3    0.621  - (untracked)  - (untracked)
        ");
    }

    #[test]
    fn colours_and_links() {
        let rows = [row(["a b.py", "function", "f", "3-4", "0.5", "1", "now"])];
        let links = Links::below(std::path::Path::new("/srv"), true);
        let table = render(&rows, true, Some(60), Painter::COLOURED, &links).replace('\x1b', "␛");
        assert_snapshot!(table, @r"
        ␛[1mFile␛[0m     | ␛[1mType␛[0m     | ␛[1mName␛[0m | ␛[1mLines␛[0m | ␛[1mScore␛[0m
        ␛]8;;file:///srv/a%20b.py#3␛\␛[36ma b.py:3␛[0m␛]8;;␛\ | function | f    | 3-4   | ␛[32m0.5␛[0m
        ");
    }

    #[test]
    fn control_characters_are_escaped() {
        let rows = [row(["a\x1b]0;x\x07.py", "function", "f\n", "1-2", "0.5", "1", "now"])];
        let table = render(&rows, false, None, Painter::PLAIN, &Links::default());
        assert!(!table.replace('\n', "").contains(sanitize::is_unsafe));
        assert_eq!(table.lines().count(), 2);
    }

    proptest! {
        #[test]
        fn tables_never_exceed_the_terminal_width(
            columns in 40_usize..200,
            cells in proptest::collection::vec(("[a-z/日]{1,90}", "[A-Za-z.日]{1,60}"), 1..5),
        ) {
            let rows: Vec<Row> = cells
                .iter()
                .map(|(file, name)| row([file, "function", name, "1000-1200", "0.999", "12", "11 months ago"]))
                .collect();
            for legacy in [false, true] {
                let table = render(&rows, legacy, Some(columns), Painter::PLAIN, &Links::default());
                prop_assert_eq!(table.lines().count(), rows.len() + 1);
                for line in table.lines() {
                    prop_assert!(width::measure(line) <= columns, "{} > {columns}: {line}", width::measure(line));
                }
            }
        }
    }
}
