//! Colours of the output.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use clap::ColorChoice;

/// The meaning of a piece of text, which determines its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Heading,
    Path,
    Good,
    Warning,
    Error,
    Faint,
    /// A match of the search.
    Match,
    Keyword,
    Text,
    Comment,
    Number,
}

impl Role {
    /// Returns the style of the role on a stream with colours.
    pub(crate) fn style(self) -> Style {
        match self {
            Self::Heading => Style::new().bold(),
            Self::Path => AnsiColor::Cyan.on_default(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Error => AnsiColor::Red.on_default().bold(),
            Self::Faint | Self::Comment => Style::new().dimmed(),
            Self::Match => AnsiColor::Red.on_default().bold(),
            Self::Keyword => AnsiColor::Magenta.on_default(),
            Self::Text => AnsiColor::Green.on_default(),
            Self::Number => AnsiColor::Blue.on_default(),
        }
    }
}

/// Paints text, or leaves it unchanged if colours are off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painter {
    enabled: bool,
}

impl Painter {
    /// A painter without colours.
    pub(crate) const PLAIN: Self = Self { enabled: false };

    /// A painter with colours on every stream.
    #[cfg(test)]
    pub(crate) const COLOURED: Self = Self { enabled: true };

    /// Decides whether to use colours on a stream: `auto` enables them on a terminal that supports them, unless
    /// `NO_COLOR` is set.
    pub(crate) fn new(when: ColorChoice, stream: &impl IsTerminal) -> Self {
        let enabled = match when {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                stream.is_terminal() && !anstyle_query::no_color() && anstyle_query::term_supports_ansi_color()
            }
        };
        if enabled {
            // Old Windows consoles need this call; elsewhere it does nothing.
            anstyle_query::windows::enable_ansi_colors();
        }
        Self { enabled }
    }

    pub(crate) fn is_enabled(self) -> bool {
        self.enabled
    }

    pub(crate) fn paint(self, role: Role, text: &str) -> String {
        if !self.enabled || text.is_empty() {
            return text.to_owned();
        }
        let style = role.style();
        format!("{style}{text}{style:#}")
    }
}
