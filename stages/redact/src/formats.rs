//! Finds tokens in known formats.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::Regex;

use crate::entropy::{entropy, is_filler, is_placeholder, is_random, is_repetitive};
use crate::runs::runs;
use crate::secret::Secret;
use crate::token_format::{Before, Criterion, FORMATS, TokenFormat};

/// Maximum number of bytes from the start of an anchor, such as `Bearer ` or `:AA`, to the run of token characters
/// after it.
const MAX_BEFORE_RUN_BYTES: usize = 24;
/// Maximum length in bytes of the dot-separated parts of a token before a run.
const MAX_PARTS_BYTES: usize = 128;
/// Minimum length in bytes of a run that is searched even if it has no digits and does not begin with an anchor.
const MIN_LETTERS_BYTES: usize = 34;
/// Maximum length of a token in bytes.
const MAX_TOKEN_BYTES: usize = 4096;
/// First byte of a terminal escape sequence.
const ESCAPE: u8 = 0x1b;
/// Maximum length in bytes of a terminal escape sequence that sets a colour.
const MAX_COLOUR_BYTES: usize = 12;
/// Maximum number of bytes from the name of a header to its value.
const MAX_HEADER_GAP_BYTES: usize = 32;

static ANCHORS: LazyLock<Anchors> = LazyLock::new(Anchors::new);

/// The token formats and the automata that find their anchors.
struct Anchors {
    automaton: AhoCorasick,
    /// Index of the format of each anchor.
    formats: Vec<usize>,
    /// The automaton for the anchors of formats with `TokenFormat::in_any_run`, and the format index of each anchor.
    in_any_run: (AhoCorasick, Vec<usize>),
    /// The pattern of each format, compiled when an anchor of the format occurs for the first time.
    patterns: Vec<OnceLock<Regex>>,
    /// The anchors by their first two bytes. The index is [`pair_index`].
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
        // `aho_corasick` uses vector instructions only if it searches for leftmost matches.
        let in_any_run = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(in_any_run);
        let mut beginning = vec![Vec::new(); 1 << 16];
        for anchor in anchors.iter().map(|anchor| anchor.as_bytes()) {
            beginning[pair_index(anchor[0], anchor[1])].push(anchor);
        }
        Self {
            automaton: AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .build(anchors)
                .expect("the automaton of a few short strings is small"),
            formats,
            patterns: FORMATS.iter().map(|_| OnceLock::new()).collect(),
            beginning,
            in_any_run: (in_any_run.expect("the automaton of a few short strings is small"), formats_in_any_run),
        }
    }
}

impl Anchors {
    fn pattern(&self, format: usize) -> &Regex {
        self.patterns[format].get_or_init(|| {
            Regex::new(&format!(r"\A(?-u:{})", FORMATS[format].pattern)).expect("a test compiles all patterns")
        })
    }

    /// Whether a run may contain a token. Excludes most identifiers of programs, which also form long runs. A short run
    /// without digits can contain a token only if it begins with an anchor or contains an anchor at a word boundary.
    fn may_have_token(&self, text: &[u8], run: &Range<usize>) -> bool {
        if run.len() >= MIN_LETTERS_BYTES || text[run.clone()].iter().any(u8::is_ascii_digit) {
            return true;
        }
        let before = &text[..run.start];
        let from = match before {
            // `==:` separates the two parts of a Tableau token.
            [.., b'=', b'=', b':'] => return true,
            [.., b'.'] => start_of_parts(text, run.start),
            [.., b':' | b'!'] => run.start.saturating_sub(MAX_BEFORE_RUN_BYTES),
            [.., b' '] if before.ends_with(b"asic ") || before.ends_with(b"earer ") => return true,
            _ => run.start,
        };
        let mut is_boundary = !from.checked_sub(1).is_some_and(|at| text[at].is_ascii_alphanumeric());
        for at in from..run.end - 1 {
            // An escape such as `\n` ends with a letter and separates the token from the text before it.
            let is_escaped = at >= 2 && (text[at - 2] == b'\\' || text[at - 1] == b'm' && ends_escape(&text[..at]));
            let begins = is_boundary || is_escaped;
            let anchors = || &self.beginning[pair_index(text[at], text[at + 1])];
            if begins && anchors().iter().any(|anchor| text[at..].starts_with(anchor)) {
                return true;
            }
            is_boundary = !text[at].is_ascii_alphanumeric();
        }
        false
    }
}

/// Returns the index of a pair of bytes in a table.
pub(crate) fn pair_index(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

/// Adds the tokens in known formats. The tokens of most formats contain a long run of token characters, so for these
/// formats only long runs are searched for anchors.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    // The end of the last match of each format, so that the matches of a format do not overlap.
    let mut ends = [0; FORMATS.len()];
    for run in runs(text).filter(|run| ANCHORS.may_have_token(text, run)) {
        let from = start_of_parts(text, run.start).min(run.start.saturating_sub(MAX_BEFORE_RUN_BYTES));
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

/// Returns the start of the dot-separated parts directly before a run, or the start of the run if no dot precedes it.
fn start_of_parts(text: &[u8], run: usize) -> usize {
    let before = &text[run.saturating_sub(MAX_PARTS_BYTES)..run];
    let is_in_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b".!_-+/=~%".contains(byte);
    let length = if before.ends_with(b".") { before.iter().rev().take_while(is_in_part).count() } else { 0 };
    run - length
}

/// Returns the token around an anchor, for the format at `index`. `end` is the end of the last match of the format,
/// which the function updates.
fn token_at(text: &[u8], anchor: usize, index: usize, end: &mut usize) -> Option<Secret> {
    let format = &FORMATS[index];
    let start = anchor.checked_sub(format.offset)?;
    if start < *end || !is_boundary(text, start, format) {
        return None;
    }
    let window = &text[start..text.len().min(start + MAX_TOKEN_BYTES)];
    let groups = ANCHORS.pattern(index).captures(window)?;
    *end = start + groups.get(0).map_or(0, |whole| whole.end());
    let secret = groups.get(1)?;
    let is_proven = matches!(format.criterion, Criterion::Prefix);
    let ends_token = text.get(*end).is_none_or(|next| !next.is_ascii_alphanumeric() && (is_proven || *next != b'_'));
    let value = secret.as_bytes();
    let is_secret = match format.criterion {
        Criterion::Prefix => !is_filler(value),
        Criterion::Entropy(least) => entropy(value) >= least && !is_repetitive(value),
        Criterion::Header if follows_header(&text[..start]) => !is_filler(value) && !is_placeholder(value),
        Criterion::Header | Criterion::Random => is_random(value),
    };
    let span = start + secret.start()..start + secret.end();
    (ends_token && is_secret).then_some(Secret { rule: format.name, span, continues: false })
}

/// Whether the byte before an offset allows a token of the format to begin at the offset.
fn is_boundary(text: &[u8], start: usize, format: &TokenFormat) -> bool {
    let Some(previous) = start.checked_sub(1).map(|at| text[at]) else { return format.before == Before::Other };
    match format.before {
        Before::Digit => previous.is_ascii_digit(),
        Before::Word => previous.is_ascii_alphanumeric(),
        Before::Other if previous.is_ascii_alphanumeric() => ends_escape(&text[..start]),
        Before::Other => matches!(format.criterion, Criterion::Prefix) || !b"_-".contains(&previous),
    }
}

/// Whether a text ends with the name of an authorization header and the separator before the value.
fn follows_header(text: &[u8]) -> bool {
    let before = &text[text.len().saturating_sub(MAX_HEADER_GAP_BYTES)..];
    let name = before.len() - before.iter().rev().take_while(|byte| !byte.is_ascii_alphabetic()).count();
    before[..name].to_ascii_lowercase().ends_with(b"authorization")
}

/// Whether a text ends with an escape sequence of a string, a URL or a terminal: `%3D`, `\x3d`, `\u003d`, `ESC[31m`.
fn ends_escape(text: &[u8]) -> bool {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match text {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', first, second] | [.., b'\\', b'x', first, second] => is_hex(&[*first, *second]),
        [.., b'\\', b'u', first, second, third, fourth] => is_hex(&[*first, *second, *third, *fourth]),
        [.., b'm'] => text[text.len().saturating_sub(MAX_COLOUR_BYTES)..].contains(&ESCAPE),
        _ => false,
    }
}
