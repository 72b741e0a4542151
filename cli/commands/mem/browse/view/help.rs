//! The help screen with all keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::commands::mem::browse::command::KEYS;
use crate::commands::mem::browse::theme::Theme;
use crate::commands::mem::browse::view::line::text;
use crate::output::{Role, width};

/// Width of the column of keys.
const KEY_COLUMNS: u16 = 26;

pub(super) fn draw(buffer: &mut Buffer, theme: Theme) {
    let screen = buffer.area;
    let mut lines = (screen.y..screen.bottom()).map(|y| Rect { y, height: 1, ..screen });
    if let Some(line) = lines.next() {
        text(buffer, line, "Keys (press any key to close the help)", theme.style(Role::Heading));
    }
    let key_columns = KEY_COLUMNS.min(screen.width / 2);
    for (key, meaning) in KEYS {
        let columns = usize::from(screen.width - key_columns);
        for (at, words) in width::wrap(meaning, columns).iter().enumerate() {
            let Some(line) = lines.next() else { return };
            if at == 0 {
                text(buffer, Rect { width: key_columns.saturating_sub(1), ..line }, key, theme.style(Role::Path));
            }
            let rest = Rect { x: line.x + key_columns, width: line.width - key_columns, ..line };
            text(buffer, rest, words, Style::new());
        }
    }
}
