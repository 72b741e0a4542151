//! The layout and drawing of the screen.

mod help;
mod layout;
mod line;
mod pane;
mod results;

use layout::ScreenLayout;
use line::text;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::commands::mem::browse::app::{App, Prompt};
use crate::commands::mem::browse::line_edit::LineEdit;
use crate::commands::mem::browse::theme::Theme;
use crate::output::{Role, sanitize, units, width};

const HINTS: &str = "Enter edit · Tab pane · Ctrl-F filter · Ctrl-Y copy · F1 help · Esc quit";
/// Minimum width of a screen that shows the number of results next to the query, in columns.
const COUNT_COLUMNS: u16 = 50;

/// Draws the screen. Returns the position of the cursor.
pub(super) fn draw(buffer: &mut Buffer, app: &mut App, theme: Theme) -> Option<Position> {
    if app.shows_help {
        help::draw(buffer, theme);
        return None;
    }
    let layout = ScreenLayout::new(buffer.area, app);
    let mut cursor = None;
    if let Some(area) = layout.query {
        cursor = query(buffer, area, app, theme);
    }
    if let Some(area) = layout.filter {
        let is_edited = app.prompt != Prompt::Query;
        let label = if app.filter_error.is_some() { "Filter! " } else { "Filter: " };
        let shown = prompt(buffer, area, label, &app.filter, is_edited, theme);
        cursor = if is_edited { shown } else { cursor };
    }
    if let (Some(area), Some(error)) = (layout.problem, &app.filter_error) {
        text(buffer, area, error, theme.style(Role::Error));
    }
    if let Some(area) = layout.list {
        results::draw(buffer, area, app, theme);
    }
    if let Some(area) = layout.pane {
        pane::draw(buffer, area, app, theme);
    }
    for y in layout.rule.into_iter().flat_map(|rule| rule.y..rule.bottom()) {
        let rule = layout.rule.map_or(0, |rule| rule.x);
        buffer.set_string(rule, y, "│", theme.style(Role::Faint));
    }
    if let Some(area) = layout.status {
        let problem = app.filter_error.as_deref().filter(|_| layout.problem.is_none());
        status(buffer, area, app, problem, theme);
    }
    cursor
}

fn query(buffer: &mut Buffer, area: Rect, app: &App, theme: Theme) -> Option<Position> {
    let is_edited = app.prompt == Prompt::Query;
    let count = count(app);
    let columns = width::measure(&count) as u16;
    if area.width < COUNT_COLUMNS {
        return prompt(buffer, area, "> ", &app.query, is_edited, theme);
    }
    buffer.set_string(area.right() - columns, area.y, &count, theme.style(Role::Faint));
    let left = Rect { width: area.width - columns - 1, ..area };
    prompt(buffer, left, "> ", &app.query, is_edited, theme)
}

/// Formats the result count and the time, such as `24 results · 12 ms`.
fn count(app: &App) -> String {
    if app.is_pending() {
        return "searching …".to_owned();
    }
    match app.found.rows.len() {
        0 => String::new(),
        count => format!("{} · {}", units::counted(count as u64, "result"), units::duration(app.found.took)),
    }
}

/// Draws a line that can be edited. Returns the position of its cursor while it is edited.
fn prompt(
    buffer: &mut Buffer,
    area: Rect,
    label: &str,
    line: &LineEdit,
    is_edited: bool,
    theme: Theme,
) -> Option<Position> {
    let style = if is_edited { theme.style(Role::Heading) } else { theme.style(Role::Faint) };
    text(buffer, area, label, style);
    let columns = (width::measure(label) as u16).min(area.width);
    let rest = Rect { x: area.x + columns, width: area.width - columns, ..area };
    let (shown, cursor) = line.window(usize::from(rest.width));
    text(buffer, rest, shown, Style::new());
    is_edited.then(|| Position::new((rest.x + cursor as u16).min(area.right() - 1), area.y))
}

/// Draws a message for the user, or the most important keys.
fn status(buffer: &mut Buffer, area: Rect, app: &App, problem: Option<&str>, theme: Theme) {
    match (&app.message, problem) {
        (Some(message), _) => {
            let style = if message.is_error { theme.style(Role::Error) } else { theme.style(Role::Good) };
            text(buffer, area, &message.text, style);
        }
        (None, Some(problem)) => text(buffer, area, problem, theme.style(Role::Error)),
        (None, None) if !app.found.notes.is_empty() => {
            text(buffer, area, &sanitize::line(&app.found.notes.join(" · ")), theme.style(Role::Warning));
        }
        (None, None) => text(buffer, area, HINTS, theme.style(Role::Faint)),
    }
}

#[cfg(test)]
mod tests;
