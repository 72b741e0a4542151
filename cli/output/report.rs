//! Prints findings about a configuration: drawn with the source line on a terminal, and elsewhere in lines that editors
//! and CI systems can parse.

use std::fmt;

use aurora_diagnostics::{Diagnostic, Place, Severity};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode, ThemeCharacters, ThemeStyles,
};

use crate::output::sanitize;
use crate::output::style::Painter;

/// Renders findings. `columns` is the width of the terminal; `None` without a terminal.
pub(crate) fn render<'a>(
    findings: impl IntoIterator<Item = &'a Diagnostic>,
    columns: Option<usize>,
    paint: Painter,
) -> String {
    let mut out = String::new();
    for finding in findings {
        if !out.is_empty() {
            out.push('\n');
        }
        match columns {
            Some(columns) => draw(&mut out, &RenderedFinding::new(finding), columns, paint),
            None => out.push_str(&format!("{}\n", sanitize::block(&finding.to_string()))),
        }
    }
    out
}

fn draw(out: &mut String, finding: &RenderedFinding, columns: usize, paint: Painter) {
    let theme = GraphicalTheme {
        characters: ThemeCharacters::unicode(),
        styles: if paint.is_enabled() { ThemeStyles::ansi() } else { ThemeStyles::none() },
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_context_lines(0)
        .with_links(false)
        .with_width(columns.clamp(40, 120));
    let mut drawn = String::new();
    match handler.render_report(&mut drawn, finding) {
        Ok(()) => out.push_str(&drawn),
        Err(_) => out.push_str(&format!("{finding}\n")),
    }
}

/// A finding in the form that miette renders. Only one line of the file is known, so the source consists of this line
/// after as many empty lines as precede it in the file.
#[derive(Debug)]
struct RenderedFinding {
    code: &'static str,
    severity: Severity,
    message: String,
    help: Option<String>,
    place: Option<Excerpt>,
}

#[derive(Debug)]
struct Excerpt {
    source: NamedSource<String>,
    start: usize,
    length: usize,
}

impl RenderedFinding {
    fn new(finding: &Diagnostic) -> Self {
        let place = finding.location.as_ref().and_then(|place| place.location()).map(|location| {
            let before = location.line.saturating_sub(1);
            let line = sanitize::line(&location.excerpt);
            let column: usize = line.chars().take(location.column.saturating_sub(1)).map(char::len_utf8).sum();
            Excerpt {
                start: before + column,
                length: location.span.len().clamp(1, line.len().saturating_sub(column).max(1)),
                source: NamedSource::new(sanitize::line(&location.file), "\n".repeat(before) + &line),
            }
        });
        let message = match &finding.location {
            Some(place @ (Place::Environment(_) | Place::Flag(_))) => format!("{} ({place})", finding.message),
            Some(Place::File(_)) | None => finding.message.clone(),
        };
        Self {
            code: finding.code,
            severity: finding.severity,
            message: sanitize::line(&message),
            help: finding.help.as_deref().map(sanitize::line),
            place,
        }
    }
}

impl fmt::Display for RenderedFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RenderedFinding {}

impl miette::Diagnostic for RenderedFinding {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| &place.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_ref()?;
        let label = LabeledSpan::new(None, place.start, place.length);
        Some(Box::new(std::iter::once(label)))
    }
}

#[cfg(test)]
mod tests {
    use aurora_diagnostics::Location;
    use insta::assert_snapshot;

    use super::super::width;
    use super::*;

    fn finding() -> Diagnostic {
        Diagnostic {
            code: "A0104",
            severity: Severity::Error,
            message: "stage `embed` reads column `chunk.text`, which no earlier stage writes".to_owned(),
            location: Some(Place::File(Location {
                file: ".aurora/pipeline.toml".to_owned(),
                span: 400..413,
                line: 31,
                column: 1,
                excerpt: "[stage.embed]".to_owned(),
            })),
            help: Some("`chunk` writes it; add it before `embed`".to_owned()),
        }
    }

    #[test]
    fn drawn_on_a_terminal() {
        assert_snapshot!(render([&finding()], Some(80), Painter::PLAIN), @r"
        A0104

          × stage `embed` reads column `chunk.text`, which no earlier stage writes
            ╭─[.aurora/pipeline.toml:31:1]
         31 │ [stage.embed]
            · ─────────────
            ╰────
          help: `chunk` writes it; add it before `embed`
        ");
    }

    #[test]
    fn a_flag_has_no_line() {
        let finding = Diagnostic { help: None, ..finding() }.at(Place::Flag("--weights".to_owned()));
        assert_snapshot!(render([&finding], Some(80), Painter::PLAIN), @r"
        A0104

          × stage `embed` reads column `chunk.text`, which no earlier stage writes
          │ (flag --weights)
        ");
        assert_snapshot!(render([&finding], None, Painter::PLAIN), @r"
        error[A0104]: stage `embed` reads column `chunk.text`, which no earlier stage writes
         --> flag --weights
        ");
    }

    #[test]
    fn plain_elsewhere() {
        assert_snapshot!(render([&finding(), &finding()], None, Painter::PLAIN), @r"
        error[A0104]: stage `embed` reads column `chunk.text`, which no earlier stage writes
          --> .aurora/pipeline.toml:31:1
        31 | [stage.embed]
           = help: `chunk` writes it; add it before `embed`

        error[A0104]: stage `embed` reads column `chunk.text`, which no earlier stage writes
          --> .aurora/pipeline.toml:31:1
        31 | [stage.embed]
           = help: `chunk` writes it; add it before `embed`
        ");
    }

    #[test]
    fn control_characters_are_escaped() {
        let mut finding = finding();
        finding.message.push_str("\x1b[2J");
        if let Some(Place::File(location)) = &mut finding.location {
            location.excerpt.push('\x1b');
            location.file.push('\x07');
        }
        for columns in [None, Some(80)] {
            let text = render([&finding], columns, Painter::PLAIN);
            assert!(!text.replace('\n', "").contains(sanitize::is_unsafe));
            assert!(text.lines().all(|line| width::measure(line) <= 100));
        }
    }
}
