//! Prints findings about a configuration: drawn with the source line on a terminal, and elsewhere in lines that editors
//! and CI systems can parse.

use aurora_diagnostics::{Diagnostic, Place, Severity};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report, ThemeCharacters,
    ThemeStyles,
};

use crate::output::{Painter, sanitize};

/// Renders findings. `columns` is the width of the terminal; `None` without a terminal.
pub(crate) fn render<'a>(
    findings: impl IntoIterator<Item = &'a Diagnostic>,
    columns: Option<usize>,
    paint: Painter,
) -> String {
    let rendered = findings.into_iter().map(|finding| match columns {
        Some(columns) => draw(finding, columns, paint),
        None => format!("{}\n", sanitize::block(&finding.to_string())),
    });
    rendered.collect::<Vec<_>>().join("\n")
}

fn draw(finding: &Diagnostic, columns: usize, paint: Painter) -> String {
    let theme = GraphicalTheme {
        characters: ThemeCharacters::unicode(),
        styles: if paint.is_enabled() { ThemeStyles::ansi() } else { ThemeStyles::none() },
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_context_lines(0)
        .with_links(false)
        .with_width(columns.clamp(40, 120));
    let (report, mut drawn) = (report(finding), String::new());
    match handler.render_report(&mut drawn, report.as_ref()) {
        Ok(()) => drawn,
        Err(_) => format!("{report}\n"),
    }
}

/// Converts a finding to a report that miette can render. A finding contains only one line of its file. The source of
/// the report is this line, after as many empty lines as the file has lines before it.
fn report(finding: &Diagnostic) -> Report {
    let message = match &finding.location {
        Some(place @ (Place::Environment(_) | Place::Flag(_))) => format!("{} ({place})", finding.message),
        Some(Place::File(_)) | None => finding.message.clone(),
    };
    let mut diagnostic =
        MietteDiagnostic::new(sanitize::line(&message)).with_code(finding.code).with_severity(match finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        });
    diagnostic.help = finding.help.as_deref().map(sanitize::line);
    let Some(location) = finding.location.as_ref().and_then(|place| place.location()) else { return diagnostic.into() };
    let before = location.line.saturating_sub(1);
    let line = sanitize::line(&location.excerpt);
    let column: usize = line.chars().take(location.column.saturating_sub(1)).map(char::len_utf8).sum();
    let length = location.span.len().clamp(1, line.len().saturating_sub(column).max(1));
    let source = NamedSource::new(sanitize::line(&location.file), "\n".repeat(before) + &line);
    let label = LabeledSpan::new(None, before + column, length);
    Report::from(diagnostic.with_label(label)).with_source_code(source)
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
    fn findings_are_drawn_on_a_terminal() {
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
    fn findings_are_plain_lines_without_a_terminal() {
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
