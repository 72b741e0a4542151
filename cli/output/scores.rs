//! The box that explains one result's score.

use crate::output::style::{Painter, Role};
use crate::output::{sanitize, width};

/// Width without a terminal, and the widest a box gets.
const DEFAULT_COLUMNS: usize = 80;
const MOST_COLUMNS: usize = 120;
const LEAST_COLUMNS: usize = 40;
/// Marks an exact match; it takes two columns.
const STAR: &str = "⭐";

/// Columns of `+0.285` and the space before it.
const AMOUNT: usize = 7;
/// A reason with less room than this goes below its score.
const LEAST_REASON: usize = 24;

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
    /// What the results are ordered by; `None` where nothing was ranked.
    pub(crate) final_score: Option<f64>,
    /// What it is made of: keyword score, meaning, activation, then the rules that changed it.
    pub(crate) parts: Vec<ScorePart>,
    /// Further facts beside the score, as label and text.
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// One of the things that the final score is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScorePart {
    /// What it is.
    pub(crate) label: String,
    /// Normalised to 0..1; `None` for a signal that had no say, and for rules.
    pub(crate) score: Option<f64>,
    /// Whether it has a score to show, or a dash in its place.
    pub(crate) is_signal: bool,
    /// Why the score is what it is.
    pub(crate) reason: String,
    /// Whether to mark it.
    pub(crate) star: bool,
    /// What it brought to the final score.
    pub(crate) amount: f64,
}

/// Draws the box; `columns` is the terminal's width, `None` where there is no terminal.
///
/// The amounts at the right border are rounded so that they add up to the final score as it is shown.
pub(crate) fn render(card: &ScoreCard, columns: Option<usize>, paint: Painter) -> String {
    let columns = columns.unwrap_or(DEFAULT_COLUMNS).clamp(LEAST_COLUMNS, MOST_COLUMNS);
    // "│ " and " │" around the content.
    let inner = columns - 4;
    let mut out = String::new();
    let title = title(card, inner - 2);
    let rule = "─".repeat(inner - 1 - width::of(&title));
    out.push_str(&format!("┌─ {} {rule}┐\n", paint.paint(Role::Heading, &title)));
    for line in lines(card, inner) {
        let padding = " ".repeat(inner.saturating_sub(width::of(&line)));
        out.push_str(&format!("│ {line}{padding} │\n"));
    }
    out.push_str(&format!("└{}┘\n", "─".repeat(columns - 2)));
    out
}

/// What stands in the box, in lines of at most `inner` columns.
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

/// The amounts in thousandths, rounded so that they add up to `total`: those that lose most by rounding are rounded the
/// other way. Only where the amounts do not add up to the total to begin with do the rounded ones not either.
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

/// `  ├─ BM25:       0.950 ⭐ (reason)     +0.285`; a long reason continues below its beginning.
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
    let beside = inner.saturating_sub(width::of(&head) + AMOUNT);
    let (first, rest) = if beside >= LEAST_REASON {
        let mut reason = width::wrap(&reason, beside).into_iter();
        (head.clone() + &reason.next().unwrap_or_default(), reason.map(|text| (width::of(&head), text)).collect())
    } else {
        let indent = width::of(trunk) + 2;
        let reason = width::wrap(&reason, inner.saturating_sub(indent));
        (head, reason.into_iter().map(|text| (indent, text)).collect::<Vec<_>>())
    };
    let room = inner.saturating_sub(width::of(&amount));
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
    fn a_part_without_a_say() {
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
            let expected = columns.clamp(LEAST_COLUMNS, MOST_COLUMNS);
            for line in drawn.lines() {
                prop_assert_eq!(width::of(line), expected, "{}", line);
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
