//! Tokens in known formats.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::Regex;

use crate::entropy::{entropy, is_random, repeats};
use crate::runs::runs;
use crate::secret::Secret;
use crate::token_format::{Before, FORMATS, Least, TokenFormat};

/// How far before a run of token characters an anchor may begin: `hooks.slack.com/` has a dot.
pub(crate) const BEFORE_RUN: usize = 24;
/// Tokens of so many characters may consist of letters of both cases only.
const LETTERS: usize = 34;
/// Most bytes of a token from its anchor on.
const LONGEST: usize = 4096;

static ANCHORS: LazyLock<Anchors> = LazyLock::new(Anchors::new);

/// The formats, with what finds them.
struct Anchors {
    automaton: AhoCorasick,
    /// The format of each anchor.
    formats: Vec<usize>,
    patterns: Vec<Regex>,
}

impl Anchors {
    fn new() -> Self {
        let anchors_of =
            |(index, format): (usize, &'static TokenFormat)| format.anchors.iter().map(move |text| (index, *text));
        let (formats, anchors): (Vec<usize>, Vec<&str>) = FORMATS.iter().enumerate().flat_map(anchors_of).unzip();
        let pattern =
            |format: &TokenFormat| Regex::new(&format!(r"\A(?-u:{})", format.pattern)).expect("checked by a test");
        Self {
            automaton: AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .build(anchors)
                .expect("a few short anchors"),
            formats,
            patterns: FORMATS.iter().map(pattern).collect(),
        }
    }
}

/// Adds the tokens in known formats. They contain long runs of token characters, so only those are searched for anchors.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    // For each format, where the last match ends: no byte is matched twice by one format.
    let mut ends = [0; FORMATS.len()];
    let mut searched = 0;
    for run in runs(text).filter(|run| may_hold_token(&text[run.clone()])) {
        let from = run.start.saturating_sub(BEFORE_RUN).max(searched);
        for anchor in ANCHORS.automaton.find_overlapping_iter(&text[from..run.end]) {
            let index = ANCHORS.formats[anchor.pattern().as_usize()];
            let format = &FORMATS[index];
            let Some(start) = (from + anchor.start()).checked_sub(format.offset) else { continue };
            if start < ends[index] || !is_boundary(text, start, format.before) {
                continue;
            }
            let window = &text[start..text.len().min(start + LONGEST)];
            let Some(groups) = ANCHORS.patterns[index].captures(window) else { continue };
            let (whole, secret) = (groups.get(0).map_or(0, |whole| whole.end()), groups.get(1));
            ends[index] = start + whole;
            let Some(secret) = secret else { continue };
            let ends_token = text.get(start + whole).is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'_');
            let value = secret.as_bytes();
            let is_secret = match format.least {
                Least::Entropy(least) => entropy(value) >= least && !repeats(value),
                Least::Random => is_random(value),
            };
            if ends_token && is_secret {
                let span = start + secret.start()..start + secret.end();
                found.push(Secret { rule: format.name, span, continues: false });
            }
        }
        searched = run.end;
    }
}

/// Names of programs are long runs too, most of them without digits. Tokens have digits, are all capitals, or are longer.
fn may_hold_token(run: &[u8]) -> bool {
    run.len() >= LETTERS || run.iter().any(u8::is_ascii_digit) || run.iter().all(u8::is_ascii_uppercase)
}

/// Whether a token may begin at an offset.
fn is_boundary(text: &[u8], start: usize, before: Before) -> bool {
    let Some(previous) = start.checked_sub(1).map(|at| text[at]) else { return before == Before::Other };
    match before {
        Before::Digit => previous.is_ascii_digit(),
        Before::Word => previous.is_ascii_alphanumeric(),
        Before::Other => !previous.is_ascii_alphanumeric() && !b"_-".contains(&previous) || ends_escape(&text[..start]),
    }
}

/// Whether a text ends with an escape of a string or a URL: `\n`, `%3D`.
fn ends_escape(text: &[u8]) -> bool {
    matches!(text, [.., b'\\', b'n' | b'r' | b't'])
        || matches!(text, [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}
