//! The pane with the code of the selected result, or the explanation of its score.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::commands::mem::browse::app::{App, Focus, Pane};
use crate::commands::mem::browse::preview::{Preview, PreviewLine};
use crate::commands::mem::browse::row::Row;
use crate::commands::mem::browse::theme::Theme;
use crate::commands::mem::browse::view::line::{text, title};
use crate::output::{Role, sanitize, scores, width};

pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &mut App, theme: Theme) {
    let heading = Rect { height: 1, ..area };
    let body = Rect { y: area.y + 1, height: area.height - 1, ..area };
    app.drawn.height = usize::from(body.height);
    let has_focus = app.focus == Focus::Pane;
    let Some(row) = app.selection().cloned() else {
        (app.drawn.lines, app.drawn.top) = (0, 0);
        title(buffer, heading, "", has_focus, theme);
        return;
    };
    match app.pane {
        Pane::Score => {
            title(buffer, heading, &format!("Score of {}", sanitize::line(&row.card.name)), has_focus, theme);
            let lines = scores::lines(&row.card, usize::from(body.width));
            let top = first_visible_line(app, lines.len(), 0);
            for (line, y) in lines.iter().skip(top).zip(body.y..body.bottom()) {
                text(buffer, Rect { y, height: 1, ..body }, line, Style::new());
            }
        }
        Pane::Code => {
            let preview = app.preview.take().filter(|preview| preview.key == row.key).unwrap_or_default();
            title(buffer, heading, &code_title(&row, &preview, body.width), has_focus, theme);
            let top = first_visible_line(app, preview.lines.len(), preview.top(app.drawn.height));
            code(buffer, body, &preview, top, theme);
            app.preview = Some(preview);
        }
    }
}

/// Returns the index of the first line to show: the scroll position of the user, or `first`. Stores this index and the
/// number of lines in `app.drawn`.
fn first_visible_line(app: &mut App, lines: usize, first: usize) -> usize {
    let top = app.scroll.unwrap_or(first).min(lines.saturating_sub(app.drawn.height));
    (app.drawn.lines, app.drawn.top) = (lines, top);
    top
}

/// Formats the title, such as `src/cache.py:12-40 · changed since it was indexed`.
fn code_title(row: &Row, preview: &Preview, columns: u16) -> String {
    let lines = row.card.lines.map_or_else(String::new, |(first, last)| format!(":{first}-{last}"));
    let note = if preview.note.is_empty() { String::new() } else { format!(" · {}", preview.note) };
    let room = usize::from(columns).saturating_sub(width::measure(&lines) + width::measure(&note));
    format!("{}{lines}{note}", width::elide_path(&sanitize::line(&row.file), room))
}

fn code(buffer: &mut Buffer, area: Rect, preview: &Preview, top: usize, theme: Theme) {
    let digits = preview.lines.iter().rev().find_map(|line| line.number).map_or(0, |last| last.to_string().len());
    for ((at, line), y) in preview.lines.iter().enumerate().skip(top).zip(area.y..area.bottom()) {
        let area = Rect { y, height: 1, ..area };
        code_line(buffer, area, line, digits, preview.chunk.contains(&at), theme);
    }
}

/// Draws the number, a vertical rule that is bold for lines of the result, and the code.
fn code_line(buffer: &mut Buffer, area: Rect, line: &PreviewLine, digits: usize, is_found: bool, theme: Theme) {
    let number = line.number.map_or_else(String::new, |number| number.to_string());
    let (rule, role) = if is_found { ("┃", None) } else { ("│", Some(Role::Faint)) };
    let style = |role: Option<Role>| role.map_or_else(Style::new, |role| theme.style(role));
    let gutter = format!("{number:>digits$} {rule} ");
    let columns = (width::measure(&gutter) as u16).min(area.width);
    text(buffer, area, &gutter, style(role));
    let (mut x, room) = (area.x + columns, area.width - columns);
    for (role, piece) in line.runs(usize::from(room)) {
        let left = usize::from(area.right() - x);
        (x, _) = buffer.set_stringn(x, area.y, piece, left, style(role));
    }
}
