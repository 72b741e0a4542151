//! The box that explains one result's score.

use super::style::{Painter, Role};
use super::{sanitize, width};

/// Width without a terminal, and the widest a box gets.
const DEFAULT_COLUMNS: usize = 80;
const MOST_COLUMNS: usize = 120;
const LEAST_COLUMNS: usize = 40;
/// Marks an exact match; it takes two columns.
const STAR: &str = "⭐";

/// One result's score and where it comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScoreCard {
    /// Path relative to the root.
    pub(crate) file: String,
    /// Chunk type.
    pub(crate) kind: String,
    /// Name of the chunk.
    pub(crate) name: String,
    /// First and last line, where the chunk has lines.
    pub(crate) lines: Option<(u32, u32)>,
    /// What the results are ordered by.
    pub(crate) final_score: f64,
    /// Keyword score.
    pub(crate) bm25: Part,
    /// Cosine of query and chunk.
    pub(crate) semantic: Part,
    /// How present the chunk is in memory.
    pub(crate) activation: Part,
    /// What the ranking rules did, `None` where they did nothing.
    pub(crate) rules: Option<String>,
    /// The git line, `None` where there is nothing to say.
    pub(crate) git: Option<String>,
}

/// One of the scores that the final one is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    /// `None` where this signal had no say.
    pub(crate) score: Option<f64>,
    /// Why the score is what it is.
    pub(crate) reason: String,
    /// Whether to mark it.
    pub(crate) star: bool,
}

/// Draws the box; `columns` is the terminal's width, `None` where there is no terminal.
pub(crate) fn render(card: &ScoreCard, columns: Option<usize>, paint: Painter) -> String {
    let columns = columns.unwrap_or(DEFAULT_COLUMNS).clamp(LEAST_COLUMNS, MOST_COLUMNS);
    // "│ " and " │" around the content.
    let inner = columns - 4;
    let mut out = String::new();
    let title = title(card, inner - 2);
    let rule = "─".repeat(inner - 1 - width::of(&title));
    out.push_str(&format!("┌─ {} {rule}┐\n", paint.paint(Role::Heading, &title)));
    let mut lines = vec![format!("Final Score: {:.3}", card.final_score)];
    for (branch, label, part) in
        [("├─", "BM25:", &card.bm25), ("├─", "Semantic:", &card.semantic), ("└─", "Activation:", &card.activation)]
    {
        part_lines(&mut lines, branch, label, part, inner);
    }
    for (label, text) in [("Rules", &card.rules), ("Git", &card.git)] {
        if let Some(text) = text {
            lines.extend(width::wrap(&format!("{label}: {}", sanitize::line(text)), inner));
        }
    }
    for line in lines {
        let padding = " ".repeat(inner.saturating_sub(width::of(&line)));
        out.push_str(&format!("│ {line}{padding} │\n"));
    }
    out.push_str(&format!("└{}┘\n", "─".repeat(columns - 2)));
    out
}

/// `path | type | name (Lines a-b)`, the path and then the name shortened to fit.
fn title(card: &ScoreCard, columns: usize) -> String {
    let (file, name) = (sanitize::line(&card.file), sanitize::line(&card.name));
    let lines = match card.lines {
        Some((first, last)) => format!(" (Lines {first}-{last})"),
        None => String::new(),
    };
    let compose = |file: &str, name: &str| format!("{file} | {} | {name}{lines}", card.kind);
    let fixed = width::of(&compose("", ""));
    let room = columns.saturating_sub(fixed);
    let for_name = width::of(&name).min((room / 2).max(room.saturating_sub(width::of(&file))));
    let name = width::elide_middle(&name, for_name);
    let file = width::elide_path(&file, room.saturating_sub(width::of(&name)));
    width::elide_end(&compose(&file, &name), columns)
}

/// `  ├─ BM25:       0.950 ⭐ (reason)`; a long reason goes on below its beginning.
fn part_lines(lines: &mut Vec<String>, branch: &str, label: &str, part: &Part, inner: usize) {
    let score = match part.score {
        Some(score) => format!("{score:.3}"),
        None => "-".to_owned(),
    };
    let mark = if part.star { STAR } else { "  " };
    let head = format!("  {branch} {label:<11} {score:>5} {mark} ");
    let indent = width::of(&head);
    if part.reason.is_empty() {
        lines.push(head.trim_end().to_owned());
        return;
    }
    let reason = format!("({})", sanitize::line(&part.reason));
    let trunk = if branch == "├─" { "  │" } else { "   " };
    let mut head = Some(head);
    for text in width::wrap(&reason, inner.saturating_sub(indent)) {
        let start = head.take().unwrap_or_else(|| width::pad(trunk, indent));
        lines.push(format!("{start}{text}"));
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    fn part(score: Option<f64>, reason: &str, star: bool) -> Part {
        Part { score, reason: reason.to_owned(), star }
    }

    fn card() -> ScoreCard {
        ScoreCard {
            file: "auth_manager.py".to_owned(),
            kind: "function".to_owned(),
            name: "authenticate_user".to_owned(),
            lines: Some((45, 67)),
            final_score: 0.856,
            bm25: part(Some(0.95), "exact keyword match on \"authenticate\"", true),
            semantic: part(Some(0.82), "high conceptual relevance", false),
            activation: part(Some(0.65), "accessed 3x, 23 commits, last used 2 days ago", false),
            rules: Some("definition +0.120".to_owned()),
            git: Some("23 commits, last modified 2 days ago".to_owned()),
        }
    }

    #[test]
    fn eighty_columns() {
        assert_snapshot!(render(&card(), None, Painter::PLAIN), @r#"
        ┌─ auth_manager.py | function | authenticate_user (Lines 45-67) ───────────────┐
        │ Final Score: 0.856                                                           │
        │   ├─ BM25:       0.950 ⭐ (exact keyword match on "authenticate")            │
        │   ├─ Semantic:   0.820    (high conceptual relevance)                        │
        │   └─ Activation: 0.650    (accessed 3x, 23 commits, last used 2 days ago)    │
        │ Rules: definition +0.120                                                     │
        │ Git: 23 commits, last modified 2 days ago                                    │
        └──────────────────────────────────────────────────────────────────────────────┘
        "#);
    }

    #[test]
    fn narrow_boxes_wrap_their_reasons() {
        let mut card = card();
        card.file = "services/auth/internal/日本/auth_manager.py".to_owned();
        assert_snapshot!(render(&card, Some(56), Painter::PLAIN), @r#"
        ┌─ auth_…er.py | function | authe…_user (Lines 45-67) ─┐
        │ Final Score: 0.856                                   │
        │   ├─ BM25:       0.950 ⭐ (exact keyword match on    │
        │   │                       "authenticate")            │
        │   ├─ Semantic:   0.820    (high conceptual           │
        │   │                       relevance)                 │
        │   └─ Activation: 0.650    (accessed 3x, 23 commits,  │
        │                           last used 2 days ago)      │
        │ Rules: definition +0.120                             │
        │ Git: 23 commits, last modified 2 days ago            │
        └──────────────────────────────────────────────────────┘
        "#);
    }

    #[test]
    fn a_part_without_a_say() {
        let mut card = card();
        card.semantic = part(None, "no embedding", false);
        card.lines = None;
        card.rules = None;
        card.git = None;
        assert_snapshot!(render(&card, Some(300), Painter::PLAIN), @r#"
        ┌─ auth_manager.py | function | authenticate_user ─────────────────────────────────────────────────────────────────────┐
        │ Final Score: 0.856                                                                                                   │
        │   ├─ BM25:       0.950 ⭐ (exact keyword match on "authenticate")                                                    │
        │   ├─ Semantic:       -    (no embedding)                                                                             │
        │   └─ Activation: 0.650    (accessed 3x, 23 commits, last used 2 days ago)                                            │
        └──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
        "#);
    }

    proptest! {
        #[test]
        fn the_right_border_is_straight(
            file in any::<String>(), name in any::<String>(), reason in any::<String>(), columns in 0_usize..200,
        ) {
            let mut card = card();
            card.file = file;
            card.name = name;
            card.bm25.reason = reason.clone();
            card.git = Some(reason);
            let drawn = render(&card, Some(columns), Painter::PLAIN);
            let expected = columns.clamp(LEAST_COLUMNS, MOST_COLUMNS);
            for line in drawn.lines() {
                prop_assert_eq!(width::of(line), expected, "{}", line);
            }
        }
    }
}
