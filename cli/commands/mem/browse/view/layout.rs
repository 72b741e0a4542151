//! The layout of the screen at any size.

use ratatui::layout::Rect;

use crate::commands::mem::browse::app::{App, Focus, Prompt};

/// Minimum width of an area that has a pane next to the results, in columns.
const MIN_SIDE_COLUMNS: u16 = 90;
/// Minimum height of an area that has a pane below the results, in rows.
const MIN_STACKED_ROWS: u16 = 12;
/// Minimum and maximum width of a list of results next to a pane, in columns.
const LIST_COLUMNS: (u16, u16) = (40, 70);

/// The areas of the elements of the screen. An element that does not fit is `None`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScreenLayout {
    pub(super) query: Option<Rect>,
    pub(super) filter: Option<Rect>,
    /// The error in the filters.
    pub(super) problem: Option<Rect>,
    pub(super) list: Option<Rect>,
    /// The line between the results and a pane next to them.
    pub(super) rule: Option<Rect>,
    pub(super) pane: Option<Rect>,
    pub(super) status: Option<Rect>,
}

impl ScreenLayout {
    pub(super) fn new(screen: Rect, app: &App) -> Self {
        let is_filtering = app.prompt != Prompt::Query;
        let has_filter = is_filtering || !app.filter.is_empty();
        let mut rest = screen;
        let mut layout = Self::default();
        // On a small screen, the edited line has the highest priority, followed by the results.
        if !is_filtering || screen.height > 2 {
            layout.query = first_line(&mut rest);
        }
        if has_filter && (is_filtering || screen.height > 3) {
            layout.filter = first_line(&mut rest);
        }
        if app.filter_error.is_some() && screen.height > 5 {
            layout.problem = first_line(&mut rest);
        }
        if screen.height > 4 {
            rest.height -= 1;
            layout.status = Some(Rect { y: rest.bottom(), height: 1, ..rest });
        }
        let rest = Some(rest).filter(|rest| !rest.is_empty());
        match rest {
            Some(rest) if rest.width >= MIN_SIDE_COLUMNS => {
                let list = (rest.width * 9 / 20).clamp(LIST_COLUMNS.0, LIST_COLUMNS.1);
                layout.list = Some(Rect { width: list - 1, ..rest });
                layout.rule = Some(Rect { x: rest.x + list, width: 1, ..rest });
                layout.pane = Some(Rect { x: rest.x + list + 2, width: rest.width - list - 2, ..rest });
            }
            Some(rest) if rest.height >= MIN_STACKED_ROWS => {
                let list = rest.height * 2 / 5;
                layout.list = Some(Rect { height: list, ..rest });
                layout.pane = Some(Rect { y: rest.y + list, height: rest.height - list, ..rest });
            }
            rest if app.focus == Focus::Pane => layout.pane = rest,
            rest => layout.list = rest,
        }
        layout
    }
}

fn first_line(rest: &mut Rect) -> Option<Rect> {
    let line = Rect { height: rest.height.min(1), ..*rest };
    rest.y += line.height;
    rest.height -= line.height;
    (!line.is_empty()).then_some(line)
}
