//! The table of results, fitted to the terminal.

use super::style::{Painter, Role};
use super::{sanitize, width};

/// One result, in the words of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Path relative to the root.
    pub(crate) file: String,
    /// Chunk type, abbreviated.
    pub(crate) kind: String,
    /// Name, qualified where the bare one says little.
    pub(crate) name: String,
    /// `45-67`, or `-`.
    pub(crate) lines: String,
    /// Final score.
    pub(crate) score: String,
    /// Number of commits, or why there is none.
    pub(crate) commits: String,
    /// When the chunk last changed, or why that is unknown.
    pub(crate) modified: String,
}

/// Between columns, and the narrower one for tables that would not fit otherwise.
const SEPARATOR: &str = " | ";
const NARROW_SEPARATOR: &str = "  ";
const HEADINGS: [&str; 7] = ["File", "Type", "Name", "Lines", "Score", "Commits", "Last Modified"];
const FILE: usize = 0;
const NAME: usize = 2;
const SCORE: usize = 4;
/// In which order columns go when the terminal is too narrow for all of them.
const DROPPED: [usize; 3] = [5, 6, 3];
/// Below these widths a path and a name say nothing any more.
const LEAST_FILE: usize = 16;
const LEAST_NAME: usize = 12;

/// Renders the table. `columns` is the terminal's width, `None` where nothing needs to be
/// cut; `legacy` leaves out the git columns.
pub(crate) fn render(rows: &[Row], legacy: bool, columns: Option<usize>, paint: Painter) -> String {
    let cells: Vec<[String; 7]> = rows.iter().map(cells).collect();
    let mut shown: Vec<usize> = (0..if legacy { 5 } else { 7 }).collect();
    let natural: Vec<usize> = (0..7)
        .map(|column| {
            let widest = cells.iter().map(|row| width::of(&row[column])).max();
            widest.unwrap_or(0).max(width::of(HEADINGS[column]))
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
            if flexible(&shown, &natural, separator, columns) >= needed.min(LEAST_FILE + LEAST_NAME) {
                break;
            }
            shown.retain(|column| *column != dropped);
        }
        let room = flexible(&shown, &natural, separator, columns).max(LEAST_FILE + LEAST_NAME);
        (widths[FILE], widths[NAME]) = share(natural[FILE], natural[NAME], room);
    }
    let layout = Layout { shown, widths, separator };
    let mut out = String::new();
    let headings = HEADINGS.map(str::to_owned);
    push_line(&mut out, &headings, &layout, |_, cell| paint.paint(Role::Heading, cell));
    for row in &cells {
        push_line(&mut out, row, &layout, |column, cell| match column {
            FILE => paint.paint(Role::Path, cell),
            SCORE => paint.paint(Role::Good, cell),
            _ => cell.to_owned(),
        });
    }
    out
}

fn cells(row: &Row) -> [String; 7] {
    [&row.file, &row.kind, &row.name, &row.lines, &row.score, &row.commits, &row.modified]
        .map(|cell| sanitize::line(cell))
}

/// Columns left for the path and the name together.
fn flexible(shown: &[usize], natural: &[usize], separator: &str, columns: usize) -> usize {
    let fixed: usize =
        shown.iter().filter(|column| ![FILE, NAME].contains(column)).map(|column| natural[*column]).sum();
    columns.saturating_sub(fixed + separator.len() * (shown.len() - 1))
}

/// Divides the room between path and name: each gets what it needs while the other one
/// leaves that much, and three fifths go to the path when both want more.
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

/// Which columns there are, how wide each is, and what stands between them.
struct Layout {
    shown: Vec<usize>,
    widths: Vec<usize>,
    separator: &'static str,
}

fn push_line(out: &mut String, cells: &[String; 7], layout: &Layout, paint: impl Fn(usize, &str) -> String) {
    for (at, &column) in layout.shown.iter().enumerate() {
        let columns = layout.widths[column];
        let cell = match column {
            FILE => width::elide_path(&cells[column], columns),
            _ => width::elide_middle(&cells[column], columns),
        };
        out.push_str(&paint(column, &cell));
        if at + 1 < layout.shown.len() {
            out.push_str(&width::pad("", columns.saturating_sub(width::of(&cell))));
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
        Row { file, kind, name, lines, score, commits, modified }
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
        render(&rows(), legacy, columns, Painter::PLAIN)
    }

    #[test]
    fn as_wide_as_it_wants() {
        assert_snapshot!(rendered(None, false), @r"
        File                                   | Type     | Name                              | Lines | Score | Commits       | Last Modified
        services/auth/internal/auth_manager.py | function | authenticate_user                 | 45-67 | 0.856 | 23            | 2 days ago
        docs/oauth.md                          | know     | OAuth Setup                       | -     | 0.654 | -             | 2025-12-15
        new.py                                 | method   | SessionManager.refresh_if_expired | 1-3   | 0.621 | - (untracked) | - (untracked)
        ");
    }

    #[test]
    fn eighty_columns() {
        assert_snapshot!(rendered(Some(80), false), @r"
        File                     Type      Name              Lines  Score  Last Modified
        …/auth_manager.py        function  authent…ate_user  45-67  0.856  2 days ago
        docs/oauth.md            know      OAuth Setup       -      0.654  2025-12-15
        new.py                   method    Session…_expired  1-3    0.621  - (untracked)
        ");
    }

    #[test]
    fn legacy() {
        assert_snapshot!(rendered(Some(80), true), @r"
        File                              Type      Name                    Lines  Score
        services/…/auth_manager.py        function  authenticate_user       45-67  0.856
        docs/oauth.md                     know      OAuth Setup             -      0.654
        new.py                            method    SessionMan…_if_expired  1-3    0.621
        ");
    }

    #[test]
    fn narrow() {
        assert_snapshot!(rendered(Some(50), false), @r"
        File                Type      Name           Score
        …/auth_manager.py   function  authen…e_user  0.856
        docs/oauth.md       know      OAuth Setup    0.654
        new.py              method    Sessio…xpired  0.621
        ");
    }

    #[test]
    fn control_characters_do_not_get_through() {
        let rows = [row(["a\x1b]0;x\x07.py", "function", "f\n", "1-2", "0.5", "1", "now"])];
        let table = render(&rows, false, None, Painter::PLAIN);
        assert!(!table.replace('\n', "").contains(sanitize::is_unsafe));
        assert_eq!(table.lines().count(), 2);
    }

    proptest! {
        #[test]
        fn never_wider_than_the_terminal(
            columns in 60_usize..200,
            cells in proptest::collection::vec(("[a-z/日]{1,90}", "[A-Za-z.日]{1,60}"), 1..5),
        ) {
            let rows: Vec<Row> = cells
                .iter()
                .map(|(file, name)| row([file, "function", name, "1000-1200", "0.999", "12", "11 months ago"]))
                .collect();
            for legacy in [false, true] {
                let table = render(&rows, legacy, Some(columns), Painter::PLAIN);
                prop_assert_eq!(table.lines().count(), rows.len() + 1);
                for line in table.lines() {
                    prop_assert!(width::of(line) <= columns, "{} > {columns}: {line}", width::of(line));
                }
            }
        }
    }
}
