//! A line of text on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::commands::mem::browse::theme::Theme;
use crate::output::{Role, width};

/// Draws a line of text in at most the width of an area; `…` replaces the text that does not fit.
pub(super) fn text(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    if !area.is_empty() {
        let shown = width::elide_end(text, usize::from(area.width));
        buffer.set_stringn(area.x, area.y, shown, usize::from(area.width), style);
    }
}

/// Draws the title of a list or a pane. Highlights the title if the list or pane has the focus.
pub(super) fn title(buffer: &mut Buffer, area: Rect, shown: &str, has_focus: bool, theme: Theme) {
    text(buffer, area, shown, theme.style(Role::Heading));
    if has_focus {
        buffer.set_style(Rect { height: area.height.min(1), ..area }, theme.selected());
    }
}
