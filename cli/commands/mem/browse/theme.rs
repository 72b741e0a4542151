//! Styles of what is on the screen: those of the other commands, or none but bold and reversed.

use ratatui::style::{Modifier, Style};

use crate::output::style::{Painter, Role};

/// Styles of what is on the screen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    has_colours: bool,
}

impl Theme {
    pub(super) fn new(painter: Painter) -> Self {
        Self { has_colours: painter.is_enabled() }
    }

    pub(super) fn of(self, role: Role) -> Style {
        if self.has_colours {
            return role.style().into();
        }
        match role {
            Role::Heading | Role::Error => Modifier::BOLD.into(),
            Role::Match => (Modifier::BOLD | Modifier::UNDERLINED).into(),
            _ => Style::new(),
        }
    }

    /// Something that has the focus.
    pub(super) fn selected(self) -> Style {
        Modifier::REVERSED.into()
    }
}
