//! A line of text on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::commands::mem::browse::theme::Theme;
use crate::output::style::Role;
use crate::output::width;

/// A line of text in at most the columns of an area; `…` stands for what does not fit.
pub(super) fn text(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    if !area.is_empty() {
        let shown = width::elide_end(text, usize::from(area.width));
        buffer.set_stringn(area.x, area.y, shown, usize::from(area.width), style);
    }
}

/// The title of a list or a pane, which shows where the focus is.
pub(super) fn title(buffer: &mut Buffer, area: Rect, shown: &str, has_focus: bool, theme: Theme) {
    text(buffer, area, shown, theme.of(Role::Heading));
    if has_focus {
        buffer.set_style(Rect { height: area.height.min(1), ..area }, theme.selected());
    }
}
