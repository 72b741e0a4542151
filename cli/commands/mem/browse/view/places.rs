//! What stands where, on a screen of any size.

use ratatui::layout::Rect;

use crate::commands::mem::browse::app::{App, Focus, Prompt};

/// Columns from which on the pane stands beside the results, and lines from which on it stands below them.
const BESIDE: u16 = 90;
const BELOW: u16 = 12;
/// Columns of the results beside a pane.
const LIST: (u16, u16) = (40, 70);

/// What stands where; what there is no room for has no place.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) query: Option<Rect>,
    pub(super) filter: Option<Rect>,
    /// What is wrong with the filters.
    pub(super) problem: Option<Rect>,
    pub(super) list: Option<Rect>,
    /// Between the results and a pane beside them.
    pub(super) rule: Option<Rect>,
    pub(super) pane: Option<Rect>,
    pub(super) status: Option<Rect>,
}

impl Places {
    pub(super) fn of(screen: Rect, app: &App) -> Self {
        let is_filtering = app.prompt != Prompt::Query;
        let has_filter = is_filtering || !app.filter.is_empty();
        let mut rest = screen;
        let mut places = Self::default();
        // With little room, the line that is edited comes first, then the results.
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
            Some(rest) if rest.width >= BESIDE => {
                let list = (rest.width * 9 / 20).clamp(LIST.0, LIST.1);
                places.list = Some(Rect { width: list - 1, ..rest });
                places.rule = Some(Rect { x: rest.x + list, width: 1, ..rest });
                places.pane = Some(Rect { x: rest.x + list + 2, width: rest.width - list - 2, ..rest });
            }
            Some(rest) if rest.height >= BELOW => {
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
