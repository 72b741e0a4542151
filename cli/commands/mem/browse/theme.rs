//! Styles of the screen: the colours of the other commands, or bold, underlined and reversed text without colours.

use ratatui::style::{Modifier, Style};

use crate::output::{Painter, Role};

/// Styles of the screen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    has_colours: bool,
}

impl Theme {
    pub(super) fn new(painter: Painter) -> Self {
        Self { has_colours: painter.is_enabled() }
    }

    pub(super) fn style(self, role: Role) -> Style {
        if self.has_colours {
            return role.style().into();
        }
        match role {
            Role::Heading | Role::Error => Modifier::BOLD.into(),
            Role::Match => (Modifier::BOLD | Modifier::UNDERLINED).into(),
            _ => Style::new(),
        }
    }

    /// Style of a focused element.
    pub(super) fn selected(self) -> Style {
        Modifier::REVERSED.into()
    }
}
