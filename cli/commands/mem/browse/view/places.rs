//! The layout of the screen at any size.

use ratatui::layout::Rect;

use crate::commands::mem::browse::app::{App, Focus, Prompt};

/// Minimum width for a pane next to the results, in columns, and minimum height for a pane below them, in rows.
const MIN_SIDE_COLUMNS: u16 = 90;
const MIN_STACKED_ROWS: u16 = 12;
/// Minimum and maximum width of the results next to a pane, in columns.
const LIST_COLUMNS: (u16, u16) = (40, 70);

/// Layout of the screen. Elements that do not fit are `None`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
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

impl Places {
    pub(super) fn new(screen: Rect, app: &App) -> Self {
        let is_filtering = app.prompt != Prompt::Query;
        let has_filter = is_filtering || !app.filter.is_empty();
        let mut rest = screen;
        let mut places = Self::default();
        // On a small screen, the edited line comes first, then the results.
        if !is_filtering || screen.height > 2 {
            places.query = first_line(&mut rest);
        }
        if has_filter && (is_filtering || screen.height > 3) {
            places.filter = first_line(&mut rest);
        }
        if app.filter_error.is_some() && screen.height > 5 {
            places.problem = first_line(&mut rest);
        }
        if screen.height > 4 {
            rest.height -= 1;
            places.status = Some(Rect { y: rest.bottom(), height: 1, ..rest });
        }
        let rest = Some(rest).filter(|rest| !rest.is_empty());
        match rest {
            Some(rest) if rest.width >= MIN_SIDE_COLUMNS => {
                let list = (rest.width * 9 / 20).clamp(LIST_COLUMNS.0, LIST_COLUMNS.1);
                places.list = Some(Rect { width: list - 1, ..rest });
                places.rule = Some(Rect { x: rest.x + list, width: 1, ..rest });
                places.pane = Some(Rect { x: rest.x + list + 2, width: rest.width - list - 2, ..rest });
            }
            Some(rest) if rest.height >= MIN_STACKED_ROWS => {
                let list = rest.height * 2 / 5;
                places.list = Some(Rect { height: list, ..rest });
                places.pane = Some(Rect { y: rest.y + list, height: rest.height - list, ..rest });
            }
            rest if app.focus == Focus::Pane => places.pane = rest,
            rest => places.list = rest,
        }
        places
    }
}

fn first_line(rest: &mut Rect) -> Option<Rect> {
    let line = Rect { height: rest.height.min(1), ..*rest };
    rest.y += line.height;
    rest.height -= line.height;
    (!line.is_empty()).then_some(line)
}
