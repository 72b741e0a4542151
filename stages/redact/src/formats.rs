//! Tokens in known formats.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::Regex;

use crate::entropy::{entropy, is_filler, is_placeholder, is_random, repeats};
use crate::runs::runs;
use crate::secret::Secret;
use crate::token_format::{Before, FORMATS, Least, TokenFormat};

/// How far before a run of token characters an anchor may begin: `Bearer `, `1234567890:AA`.
const BEFORE_RUN: usize = 24;
/// Maximum length of the parts of a token before a run, in bytes. Each part ends with a dot.
const MAX_PARTS: usize = 128;
/// Tokens of so many characters may consist of letters only, with an anchor in their middle.
const LETTERS: usize = 34;
/// Most bytes of a token from its anchor on.
const LONGEST: usize = 4096;
/// First byte of an escape sequence of a terminal.
const ESCAPE: u8 = 0x1b;
/// Maximum length of an escape sequence that sets a colour, in bytes.
const COLOUR: usize = 12;
/// Maximum number of bytes from the name of a header to its value.
const BEFORE_HEADER: usize = 32;

static ANCHORS: LazyLock<Anchors> = LazyLock::new(Anchors::new);

/// The formats, with what finds them.
struct Anchors {
    automaton: AhoCorasick,
    /// The format of each anchor.
    formats: Vec<usize>,
    /// The anchors of tokens that may have no long run, and the format of each.
    in_any_run: (AhoCorasick, Vec<usize>),
    /// The compiled pattern of each format whose anchor has occurred.
    patterns: Vec<OnceLock<Regex>>,
    /// The anchors with each pair of first bytes, by [`place`].
    beginning: Vec<Vec<&'static [u8]>>,
}

impl Anchors {
    fn new() -> Self {
        let anchors_of =
            |(index, format): (usize, &'static TokenFormat)| format.anchors.iter().map(move |text| (index, *text));
        let anchors_where = |in_any_run: bool| -> (Vec<usize>, Vec<&'static str>) {
            let formats = FORMATS.iter().enumerate().filter(|(_, format)| format.in_any_run == in_any_run);
            formats.flat_map(anchors_of).unzip()
        };
        let (formats, anchors) = anchors_where(false);
        let (formats_in_any_run, in_any_run) = anchors_where(true);
        // The search for leftmost matches uses vector instructions, where the other kinds do not.
        let in_any_run = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(in_any_run);
        let mut beginning = vec![Vec::new(); 1 << 16];
        for anchor in anchors.iter().map(|anchor| anchor.as_bytes()) {
            beginning[place(anchor[0], anchor[1])].push(anchor);
        }
        Self {
            automaton: AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .build(anchors)
                .expect("a few short anchors"),
            formats,
            patterns: FORMATS.iter().map(|_| OnceLock::new()).collect(),
            beginning,
            in_any_run: (in_any_run.expect("a few short anchors"), formats_in_any_run),
        }
    }
}

impl Anchors {
    fn pattern(&self, format: usize) -> &Regex {
        self.patterns[format]
            .get_or_init(|| Regex::new(&format!(r"\A(?-u:{})", FORMATS[format].pattern)).expect("checked by a test"))
    }

    /// Whether a run may have a token. Names of programs are long runs too, most of them without digits. A short token without
    /// digits begins with its anchor.
    fn may_have_token(&self, text: &[u8], run: &Range<usize>) -> bool {
        if run.len() >= LETTERS || text[run.clone()].iter().any(u8::is_ascii_digit) {
            return true;
        }
        let before = &text[..run.start];
        let from = match before {
            // The two parts of a token of Tableau.
            [.., b'=', b'=', b':'] => return true,
            [.., b'.'] => start_of_parts(text, run.start),
            [.., b':' | b'!'] => run.start.saturating_sub(BEFORE_RUN),
            [.., b' '] if before.ends_with(b"asic ") || before.ends_with(b"earer ") => return true,
            _ => run.start,
        };
        let mut is_boundary = !from.checked_sub(1).is_some_and(|at| text[at].is_ascii_alphanumeric());
        for at in from..run.end - 1 {
            // An escape such as `\n` ends with a letter and separates the token from the text before it.
            let is_escaped = at >= 2 && (text[at - 2] == b'\\' || text[at - 1] == b'm' && ends_escape(&text[..at]));
            let begins = is_boundary || is_escaped;
            let anchors = || &self.beginning[place(text[at], text[at + 1])];
            if begins && anchors().iter().any(|anchor| text[at..].starts_with(anchor)) {
                return true;
            }
            is_boundary = !text[at].is_ascii_alphanumeric();
        }
        false
    }
}

/// The place of a pair of bytes in a table.
fn place(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

/// Adds the tokens in known formats. Nearly all contain long runs of token characters, so only those are searched for anchors.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    // For each format, where the last match ends: no byte is matched twice by one format.
    let mut ends = [0; FORMATS.len()];
    for run in runs(text).filter(|run| ANCHORS.may_have_token(text, run)) {
        let from = start_of_parts(text, run.start).min(run.start.saturating_sub(BEFORE_RUN));
        for anchor in ANCHORS.automaton.find_overlapping_iter(&text[from..run.end]) {
            let format = ANCHORS.formats[anchor.pattern().as_usize()];
            found.extend(token_at(text, from + anchor.start(), format, &mut ends[format]));
        }
    }
    let (anchors, formats) = &ANCHORS.in_any_run;
    for anchor in anchors.find_iter(text) {
        let format = formats[anchor.pattern().as_usize()];
        found.extend(token_at(text, anchor.start(), format, &mut ends[format]));
    }
}

/// The offset of the parts before a run: characters of tokens and dots. The start of the run if no dot precedes it.
fn start_of_parts(text: &[u8], run: usize) -> usize {
    let before = &text[run.saturating_sub(MAX_PARTS)..run];
    let is_in_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b".!_-+/=~%".contains(byte);
    let length = if before.ends_with(b".") { before.iter().rev().take_while(is_in_part).count() } else { 0 };
    run - length
}

/// The token of a format around an anchor. `end` is where its last match ends.
fn token_at(text: &[u8], anchor: usize, index: usize, end: &mut usize) -> Option<Secret> {
    let format = &FORMATS[index];
    let start = anchor.checked_sub(format.offset)?;
    if start < *end || !is_boundary(text, start, format) {
        return None;
    }
    let window = &text[start..text.len().min(start + LONGEST)];
    let groups = ANCHORS.pattern(index).captures(window)?;
    *end = start + groups.get(0).map_or(0, |whole| whole.end());
    let secret = groups.get(1)?;
    let is_proven = matches!(format.least, Least::Prefix);
    let ends_token = text.get(*end).is_none_or(|next| !next.is_ascii_alphanumeric() && (is_proven || *next != b'_'));
    let value = secret.as_bytes();
    let is_secret = match format.least {
        Least::Prefix => !is_filler(value),
        Least::Entropy(least) => entropy(value) >= least && !repeats(value),
        Least::Header if follows_header(&text[..start]) => !is_filler(value) && !is_placeholder(value),
        Least::Header | Least::Random => is_random(value),
    };
    let span = start + secret.start()..start + secret.end();
    (ends_token && is_secret).then_some(Secret { rule: format.name, span, continues: false })
}

/// Whether a token of a format may begin at an offset.
fn is_boundary(text: &[u8], start: usize, format: &TokenFormat) -> bool {
    let Some(previous) = start.checked_sub(1).map(|at| text[at]) else { return format.before == Before::Other };
    match format.before {
        Before::Digit => previous.is_ascii_digit(),
        Before::Word => previous.is_ascii_alphanumeric(),
        Before::Other if previous.is_ascii_alphanumeric() => ends_escape(&text[..start]),
        Before::Other => matches!(format.least, Least::Prefix) || !b"_-".contains(&previous),
    }
}

/// Whether a text ends with the name of a header of credentials and what separates it from its value.
fn follows_header(text: &[u8]) -> bool {
    let before = &text[text.len().saturating_sub(BEFORE_HEADER)..];
    let name = before.len() - before.iter().rev().take_while(|byte| !byte.is_ascii_alphabetic()).count();
    before[..name].to_ascii_lowercase().ends_with(b"authorization")
}

/// Whether a text ends with an escape of a string, a URL or a terminal: `\n`, `%3D`, `\x3d`, `\u003d`, `ESC[31m`.
fn ends_escape(text: &[u8]) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match text {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', first, second] | [.., b'\\', b'x', first, second] => is_hex(&[*first, *second]),
        [.., b'\\', b'u', first, second, third, fourth] => is_hex(&[*first, *second, *third, *fourth]),
        [.., b'm'] => text[text.len().saturating_sub(COLOUR)..].contains(&ESCAPE),
        _ => false,
    }
}
