//! The list of results, with two lines per result.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::commands::mem::browse::app::{App, Focus};
use crate::commands::mem::browse::row::Row;
use crate::commands::mem::browse::theme::Theme;
use crate::commands::mem::browse::view::line::text;
use crate::output::{Role, sanitize, units, width};

/// Number of lines per result.
const LINES: u16 = 2;
/// Width of the score bar in columns.
const BAR: u16 = 5;
/// Characters that fill from 0 to 8 eighths of a column.
const PARTS: [&str; 9] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
/// Minimum width of a list that shows score bars, in columns.
const BAR_COLUMNS: u16 = 30;
/// Minimum width of a list that shows chunk types, in columns.
const KIND_COLUMNS: u16 = 36;

pub(super) fn draw(buffer: &mut Buffer, area: Rect, app: &mut App, theme: Theme) {
    if app.found.rows.is_empty() {
        draw_empty(buffer, area, app, theme);
        return;
    }
    let room = usize::from((area.height / LINES).max(1));
    let first = app.drawn.first.min(app.selected).max((app.selected + 1).saturating_sub(room));
    (app.drawn.first, app.drawn.results) = (first, room);
    let places = (area.y..area.bottom()).step_by(usize::from(LINES));
    for ((at, row), y) in app.found.rows.iter().enumerate().skip(first).zip(places) {
        let item = Rect { y, height: LINES.min(area.bottom() - y), ..area };
        let is_selected = at == app.selected;
        result(buffer, item, row, is_selected, theme);
        if is_selected {
            let style = match app.focus {
                Focus::Results => theme.selected(),
                Focus::Pane => Modifier::BOLD.into(),
            };
            buffer.set_style(Rect { height: 1, ..item }, style);
        }
    }
}

fn result(buffer: &mut Buffer, area: Rect, row: &Row, is_selected: bool, theme: Theme) {
    let indent = 2.min(area.width);
    if is_selected {
        for y in area.y..area.bottom() {
            buffer.set_stringn(area.x, y, "▌", usize::from(area.width), theme.style(Role::Path));
        }
    }
    let mut line = Rect { x: area.x + indent, width: area.width - indent, height: 1, ..area };
    if let Some(score) = row.card.final_score {
        if area.width >= BAR_COLUMNS {
            text(buffer, line, &bar(score as f32), theme.style(Role::Good));
            line = after(line, BAR + 1);
        }
        let score = format!("{score:.3}");
        text(buffer, line, &score, Style::new());
        line = after(line, width::measure(&score) as u16 + 1);
    }
    if area.width >= KIND_COLUMNS {
        let kind = sanitize::line(&row.card.kind);
        let columns = (width::measure(&kind) as u16).min(line.width);
        text(buffer, after(line, line.width - columns), &kind, theme.style(Role::Faint));
        line.width = line.width.saturating_sub(columns + 1);
    }
    let name = width::elide_middle(&sanitize::line(&row.card.name), usize::from(line.width));
    text(buffer, line, &name, theme.style(Role::Heading));
    if area.height > 1 {
        let line = Rect { x: area.x + indent, y: area.y + 1, width: area.width - indent, height: 1 };
        text(buffer, line, &location(row, usize::from(line.width)), theme.style(Role::Path));
    }
}

/// Formats the location of a result, such as `src/…/cache.py:12`. The directories are shortened first.
fn location(row: &Row, columns: usize) -> String {
    let line = row.card.lines.map_or_else(String::new, |(first, _)| format!(":{first}"));
    let file = width::elide_path(&sanitize::line(&row.file), columns.saturating_sub(width::measure(&line)));
    file + &line
}

fn bar(score: f32) -> String {
    let eighths = (score.clamp(0.0, 1.0) * f32::from(BAR) * 8.0).round() as usize;
    (0..usize::from(BAR)).map(|column| PARTS[eighths.saturating_sub(column * 8).min(8)]).collect()
}

/// Returns the area without its first columns.
fn after(area: Rect, columns: u16) -> Rect {
    let columns = columns.min(area.width);
    Rect { x: area.x + columns, width: area.width - columns, ..area }
}

/// Explains why the list is empty.
fn draw_empty(buffer: &mut Buffer, area: Rect, app: &App, theme: Theme) {
    let (words, role) = match &app.error {
        Some(error) => (sanitize::line(error), Role::Error),
        None if app.is_pending() => return,
        None if app.query.text().trim().is_empty() && app.applied.is_empty() => {
            (format!("Type to search {}", units::counted(app.found.indexed, "chunk")), Role::Faint)
        }
        None => ("No results".to_owned(), Role::Faint),
    };
    let lines = width::wrap(&words, usize::from(area.width));
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        text(buffer, Rect { y, height: 1, ..area }, line, theme.style(role));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_grows_with_the_score() {
        assert_eq!([0.0, 0.1, 0.5, 1.0, 1.2, -1.0].map(bar), ["     ", "▌    ", "██▌  ", "█████", "█████", "     "]);
    }
}
