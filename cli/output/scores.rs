//! The box that explains the score of a result.

use crate::output::{Painter, Role, sanitize, width};

/// Width of a box without a terminal, in columns.
const DEFAULT_COLUMNS: usize = 80;
/// Maximum width of a box in columns.
const MAX_COLUMNS: usize = 120;
/// Minimum width of a box in columns.
const MIN_COLUMNS: usize = 40;
/// Symbol for an exact match, which is two columns wide.
const STAR: &str = "⭐";

/// Width of an amount such as `+0.285` and the space before it, in columns.
const AMOUNT_COLUMNS: usize = 7;
/// Minimum width of a reason next to its score, in columns. With less room, the reason goes below the score.
const MIN_REASON_COLUMNS: usize = 24;

/// The score of a result and its components.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScoreCard {
    /// Path relative to the root.
    pub(crate) file: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    /// First and last line, if the chunk has lines.
    pub(crate) lines: Option<(u32, u32)>,
    /// Score that the results are sorted by; `None` without a ranking.
    pub(crate) final_score: Option<f64>,
    /// Components of the score: the BM25, semantic and activation signals, then the rules that changed the score.
    pub(crate) parts: Vec<ScorePart>,
    /// Additional facts, as label and text.
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// A component of the final score.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScorePart {
    pub(crate) label: String,
    /// Normalised score from 0 to 1; `None` for rules and for signals that did not contribute.
    pub(crate) score: Option<f64>,
    /// Whether the component is a signal, which shows a score or a dash.
    pub(crate) is_signal: bool,
    /// Explanation of the score.
    pub(crate) reason: String,
    /// Whether the component is marked with a star, as an exact match.
    pub(crate) star: bool,
    /// Contribution to the final score.
    pub(crate) amount: f64,
}

/// Draws the box. `columns` is the width of the terminal; `None` without a terminal.
///
/// The amounts at the right border are rounded so that they add up to the displayed final score.
pub(crate) fn render(card: &ScoreCard, columns: Option<usize>, paint: Painter) -> String {
    let columns = columns.unwrap_or(DEFAULT_COLUMNS).clamp(MIN_COLUMNS, MAX_COLUMNS);
    // The content is between "│ " and " │".
    let inner = columns - 4;
    let mut out = String::new();
    let title = title(card, inner - 2);
    let rule = "─".repeat(inner - 1 - width::measure(&title));
    out.push_str(&format!("┌─ {} {rule}┐\n", paint.paint(Role::Heading, &title)));
    for line in lines(card, inner) {
        let padding = " ".repeat(inner.saturating_sub(width::measure(&line)));
        out.push_str(&format!("│ {line}{padding} │\n"));
    }
    out.push_str(&format!("└{}┘\n", "─".repeat(columns - 2)));
    out
}

/// Returns the content of the box, in lines of at most `inner` columns.
pub(crate) fn lines(card: &ScoreCard, inner: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(score) = card.final_score {
        lines.push(format!("Final Score: {score:.3}"));
        let amounts: Vec<f64> = card.parts.iter().map(|part| part.amount).collect();
        let amounts = thousandths(score, &amounts);
        for (at, (part, amount)) in card.parts.iter().zip(amounts).enumerate() {
            part_lines(&mut lines, at + 1 == card.parts.len(), part, amount, inner);
        }
    }
    for (label, text) in &card.facts {
        lines.extend(width::wrap(&format!("{label}: {}", sanitize::line(text)), inner));
    }
    lines
}

/// Returns the amounts in thousandths, rounded so that they add up to `total`. The amounts with the largest rounding
/// errors are rounded the other way. The sum only differs from the total if the sum of the exact amounts differs too.
fn thousandths(total: f64, amounts: &[f64]) -> Vec<i64> {
    let scaled: Vec<f64> = amounts.iter().map(|amount| amount * 1e3).collect();
    let mut rounded: Vec<i64> = scaled.iter().map(|amount| amount.round() as i64).collect();
    let mut missing = (total * 1e3).round() as i64 - rounded.iter().sum::<i64>();
    let mut order: Vec<usize> = (0..amounts.len()).collect();
    let error = |at: usize| scaled[at] - scaled[at].round();
    order.sort_by(|&a, &b| error(b).total_cmp(&error(a)).then(a.cmp(&b)));
    if missing < 0 {
        order.reverse();
    }
    for at in order {
        if missing == 0 {
            break;
        }
        rounded[at] += missing.signum();
        missing -= missing.signum();
    }
    rounded
}

/// Formats the title as `path | type | name (Lines a-b)`, and shortens the path and the name to fit.
fn title(card: &ScoreCard, columns: usize) -> String {
    let (file, name) = (sanitize::line(&card.file), sanitize::line(&card.name));
    let lines = match card.lines {
        Some((first, last)) => format!(" (Lines {first}-{last})"),
        None => String::new(),
    };
    let compose = |file: &str, name: &str| format!("{file} | {} | {name}{lines}", card.kind);
    let fixed = width::measure(&compose("", ""));
    let room = columns.saturating_sub(fixed);
    let for_name = width::measure(&name).min((room / 2).max(room.saturating_sub(width::measure(&file))));
    let name = width::elide_middle(&name, for_name);
    let file = width::elide_path(&file, room.saturating_sub(width::measure(&name)));
    width::elide_end(&compose(&file, &name), columns)
}

/// Formats a component such as `  ├─ BM25:       0.950 ⭐ (reason)     +0.285`. A long reason continues on the following
/// lines.
fn part_lines(lines: &mut Vec<String>, is_last: bool, part: &ScorePart, amount: i64, inner: usize) {
    let branch = if is_last { "└─" } else { "├─" };
    let trunk = if is_last { "   " } else { "  │" };
    let label = sanitize::line(&part.label);
    let head = if part.is_signal {
        let score = part.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}"));
        let mark = if part.star { STAR } else { "  " };
        format!("  {branch} {label:<11} {score:>5} {mark} ")
    } else {
        format!("  {branch} {label:<20} ")
    };
    let amount =
        if part.is_signal && part.score.is_none() { String::new() } else { format!("{:+.3}", amount as f64 / 1e3) };
    let reason = if part.reason.is_empty() { String::new() } else { format!("({})", sanitize::line(&part.reason)) };
    let reason_columns = inner.saturating_sub(width::measure(&head) + AMOUNT_COLUMNS);
    let (first, rest) = if reason_columns >= MIN_REASON_COLUMNS {
        let mut reason = width::wrap(&reason, reason_columns).into_iter();
        (head.clone() + &reason.next().unwrap_or_default(), reason.map(|text| (width::measure(&head), text)).collect())
    } else {
        let indent = width::measure(trunk) + 2;
        let reason = width::wrap(&reason, inner.saturating_sub(indent));
        (head, reason.into_iter().map(|text| (indent, text)).collect::<Vec<_>>())
    };
    let room = inner.saturating_sub(width::measure(&amount));
    let first = width::elide_end(first.trim_end(), room.saturating_sub(1));
    lines.push((width::pad(&first, room) + &amount).trim_end().to_owned());
    let rest = rest.into_iter().filter(|(_, text)| !text.is_empty());
    lines.extend(rest.map(|(indent, text)| width::pad(trunk, indent) + &text));
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    fn signal(label: &str, score: Option<f64>, reason: &str, star: bool, amount: f64) -> ScorePart {
        ScorePart { label: label.to_owned(), score, is_signal: true, reason: reason.to_owned(), star, amount }
    }

    fn rule(label: &str, reason: &str, amount: f64) -> ScorePart {
        ScorePart { label: label.to_owned(), reason: reason.to_owned(), amount, ..ScorePart::default() }
    }

    fn card() -> ScoreCard {
        ScoreCard {
            file: "auth_manager.py".to_owned(),
            kind: "function".to_owned(),
            name: "authenticate_user".to_owned(),
            lines: Some((45, 67)),
            final_score: Some(0.856),
            parts: vec![
                signal("BM25:", Some(0.95), "exact keyword match on \"authenticate\"", true, 0.2854),
                signal("Semantic:", Some(0.82), "high conceptual relevance", false, 0.4924),
                signal("Activation:", Some(0.65), "accessed 3x, 23 commits, last used 2 days ago", false, 0.0654),
                rule("name_words", "its name has words of the query", 0.1201),
                rule("tests", "test code, not asked for by the query", -0.1073),
            ],
            facts: vec![
                ("Raw", "BM25 21.070, cosine 0.412, activation -1.204".to_owned()),
                ("Git", "23 commits, last modified 2 days ago".to_owned()),
                ("File", "changed since it was indexed".to_owned()),
            ],
        }
    }

    #[test]
    fn eighty_columns() {
        assert_snapshot!(render(&card(), None, Painter::PLAIN), @r#"
        ┌─ auth_manager.py | function | authenticate_user (Lines 45-67) ───────────────┐
        │ Final Score: 0.856                                                           │
        │   ├─ BM25:       0.950 ⭐ (exact keyword match on "authenticate")     +0.285 │
        │   ├─ Semantic:   0.820    (high conceptual relevance)                 +0.492 │
        │   ├─ Activation: 0.650    (accessed 3x, 23 commits, last used 2 days  +0.066 │
        │   │                       ago)                                               │
        │   ├─ name_words           (its name has words of the query)           +0.120 │
        │   └─ tests                (test code, not asked for by the query)     -0.107 │
        │ Raw: BM25 21.070, cosine 0.412, activation -1.204                            │
        │ Git: 23 commits, last modified 2 days ago                                    │
        │ File: changed since it was indexed                                           │
        └──────────────────────────────────────────────────────────────────────────────┘
        "#);
    }

    #[test]
    fn a_hundred_and_twenty_columns() {
        assert_snapshot!(render(&card(), Some(300), Painter::PLAIN), @r#"
        ┌─ auth_manager.py | function | authenticate_user (Lines 45-67) ───────────────────────────────────────────────────────┐
        │ Final Score: 0.856                                                                                                   │
        │   ├─ BM25:       0.950 ⭐ (exact keyword match on "authenticate")                                             +0.285 │
        │   ├─ Semantic:   0.820    (high conceptual relevance)                                                         +0.492 │
        │   ├─ Activation: 0.650    (accessed 3x, 23 commits, last used 2 days ago)                                     +0.066 │
        │   ├─ name_words           (its name has words of the query)                                                   +0.120 │
        │   └─ tests                (test code, not asked for by the query)                                             -0.107 │
        │ Raw: BM25 21.070, cosine 0.412, activation -1.204                                                                    │
        │ Git: 23 commits, last modified 2 days ago                                                                            │
        │ File: changed since it was indexed                                                                                   │
        └──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
        "#);
    }

    #[test]
    fn narrow_boxes_wrap_their_reasons() {
        let mut card = card();
        card.file = "services/auth/internal/日本/auth_manager.py".to_owned();
        assert_snapshot!(render(&card, Some(40), Painter::PLAIN), @r#"
        ┌─ a…y | function | a…r (Lines 45-67) ─┐
        │ Final Score: 0.856                   │
        │   ├─ BM25:       0.950 ⭐     +0.285 │
        │   │  (exact keyword match on         │
        │   │  "authenticate")                 │
        │   ├─ Semantic:   0.820        +0.492 │
        │   │  (high conceptual relevance)     │
        │   ├─ Activation: 0.650        +0.066 │
        │   │  (accessed 3x, 23 commits, last  │
        │   │  used 2 days ago)                │
        │   ├─ name_words               +0.120 │
        │   │  (its name has words of the      │
        │   │  query)                          │
        │   └─ tests                    -0.107 │
        │      (test code, not asked for by    │
        │      the query)                      │
        │ Raw: BM25 21.070, cosine 0.412,      │
        │ activation -1.204                    │
        │ Git: 23 commits, last modified 2     │
        │ days ago                             │
        │ File: changed since it was indexed   │
        └──────────────────────────────────────┘
        "#);
    }

    #[test]
    fn a_signal_that_did_not_contribute_has_no_amount() {
        let mut card = card();
        card.parts.truncate(3);
        card.parts[1] = signal("Semantic:", None, "no embedding", false, 0.0);
        card.lines = None;
        card.final_score = Some(0.351);
        card.facts.clear();
        assert_snapshot!(render(&card, Some(80), Painter::PLAIN), @r#"
        ┌─ auth_manager.py | function | authenticate_user ─────────────────────────────┐
        │ Final Score: 0.351                                                           │
        │   ├─ BM25:       0.950 ⭐ (exact keyword match on "authenticate")     +0.285 │
        │   ├─ Semantic:       -    (no embedding)                                     │
        │   └─ Activation: 0.650    (accessed 3x, 23 commits, last used 2 days  +0.066 │
        │                           ago)                                               │
        └──────────────────────────────────────────────────────────────────────────────┘
        "#);
    }

    #[test]
    fn without_a_ranking_there_are_only_facts() {
        let card = ScoreCard { final_score: None, parts: Vec::new(), ..card() };
        assert_snapshot!(render(&card, Some(60), Painter::PLAIN), @r"
        ┌─ auth_m…ger.py | function | authen…e_user (Lines 45-67) ─┐
        │ Raw: BM25 21.070, cosine 0.412, activation -1.204        │
        │ Git: 23 commits, last modified 2 days ago                │
        │ File: changed since it was indexed                       │
        └──────────────────────────────────────────────────────────┘
        ");
    }

    proptest! {
        #[test]
        fn the_right_border_is_straight(
            file in any::<String>(), name in any::<String>(), reason in any::<String>(), label in any::<String>(), columns in 0_usize..200,
        ) {
            let mut card = card();
            card.file = file;
            card.name = name;
            card.parts[0].reason = reason.clone();
            card.parts[3].label = label;
            card.facts[0].1 = reason;
            let drawn = render(&card, Some(columns), Painter::PLAIN);
            let expected = columns.clamp(MIN_COLUMNS, MAX_COLUMNS);
            for line in drawn.lines() {
                prop_assert_eq!(width::measure(line), expected, "{}", line);
            }
        }

        #[test]
        fn shown_amounts_add_up_to_the_shown_score(amounts in prop::collection::vec(-0.4_f64..0.6, 1..12)) {
            let total: f64 = amounts.iter().sum();
            let shown = thousandths(total, &amounts);
            prop_assert_eq!(shown.iter().sum::<i64>(), (total * 1e3).round() as i64);
            for (shown, amount) in shown.iter().zip(&amounts) {
                prop_assert!((*shown as f64 - amount * 1e3).abs() <= 1.0);
            }
        }
    }
}
