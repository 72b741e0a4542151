//! Checks the properties that the libraries guarantee for their results on every text.

use std::collections::HashSet;
use std::ops::Range;

use aurora_languages::{FileSymbols, Highlight, ParseLimits, Symbol};
use aurora_redact::{MASK, Secret};
use aurora_stages::chunk::FileChunks;

/// Maximum length of names, qualified names and paths of imports, in bytes. Longer names and paths are truncated.
const MAX_NAME_BYTES: usize = 1_024;

/// Checks that highlights are disjoint spans of their lines, in order.
pub(crate) fn highlights(text: &str, found: &[Vec<Highlight>]) -> Result<(), String> {
    let lines: Vec<&str> = text.lines().collect();
    ensure(found.len() == lines.len(), || format!("{} lines have highlights instead of {}", found.len(), lines.len()))?;
    for (row, (line, found)) in lines.iter().zip(found).enumerate() {
        let is_inside = |highlight: &Highlight| line.get(highlight.bytes.clone()).is_some();
        ensure(found.iter().all(is_inside), || format!("a highlight is outside of line {}", row + 1))?;
        let is_ordered = found.windows(2).all(|pair| pair[0].bytes.end <= pair[1].bytes.start);
        ensure(is_ordered, || format!("highlights of line {} overlap", row + 1))?;
    }
    Ok(())
}

/// Checks that secrets are disjoint non-empty spans, in order.
pub(crate) fn secrets(text: &str, found: &[Secret]) -> Result<(), String> {
    let has_text = |secret: &Secret| text.get(secret.span.clone()).is_some_and(|part| !part.is_empty());
    ensure(found.iter().all(has_text), || "a secret is not a span of the text".to_owned())?;
    let is_ordered = found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start);
    ensure(is_ordered, || "secrets overlap".to_owned())
}

/// Checks that masking the secrets changes no other byte and no offset, and that masking again changes nothing.
pub(crate) fn masks(text: &str, masked: &str, secrets: &[Secret]) -> Result<(), String> {
    ensure(masked.len() == text.len(), || "a mask changes the length of the text".to_owned())?;
    let mut at = 0;
    let mut is_kept = true;
    for secret in secrets {
        is_kept &= masked.as_bytes()[at..secret.span.start] == text.as_bytes()[at..secret.span.start];
        let before = &text.as_bytes()[secret.span.clone()];
        let after = &masked.as_bytes()[secret.span.clone()];
        is_kept &= !before.contains(&b'\n') && after.iter().all(|byte| *byte == MASK as u8);
        at = secret.span.end;
    }
    ensure(is_kept && masked.as_bytes()[at..] == text.as_bytes()[at..], || "a mask is misplaced".to_owned())?;
    let again = aurora_redact::mask(masked.to_owned(), &aurora_redact::find(masked));
    ensure(again == masked, || "masking a masked text changes it".to_owned())
}

/// Checks that symbols and all other parts of a parse are in the text, on character boundaries, in order, nested and
/// within limits.
pub(crate) fn symbols(text: &str, found: &FileSymbols, limits: &ParseLimits) -> Result<(), String> {
    let lines = Lines::new(text);
    ensure(found.lines == lines.count(), || format!("{} lines instead of {}", found.lines, lines.count()))?;
    let counts = [found.symbols.len(), found.imports.len()];
    ensure(counts.iter().all(|count| *count <= limits.symbols), || {
        format!("more symbols or imports than the limit: {counts:?}")
    })?;
    for (index, symbol) in found.symbols.iter().enumerate() {
        let parent = symbol.parent.map(|parent| {
            let before = found.symbols[..index].get(parent as usize);
            before.ok_or_else(|| "the parent does not precede its member".to_owned())
        });
        let checked = parent.transpose().and_then(|parent| check_symbol(text, symbol, parent, &lines));
        checked
            .map_err(|wrong| format!("{wrong}: {} `{}`", symbol.kind.as_str(), truncated(&symbol.qualified_name)))?;
    }
    let is_ordered = found.symbols.windows(2).all(|pair| pair[0].bytes.start <= pair[1].bytes.start);
    ensure(is_ordered, || "symbols are out of order".to_owned())?;
    let is_boundary = |at: u32| text.is_char_boundary(at as usize);
    for (what, offsets) in [
        ("imports", found.imports.iter().map(|import| import.at).collect::<Vec<_>>()),
        ("constants", found.constants.iter().map(|constant| constant.at).collect()),
        ("boundaries", found.boundaries.iter().map(|boundary| boundary.at).collect()),
    ] {
        ensure(offsets.iter().all(|at| is_boundary(*at)), || {
            format!("{what} are outside of the text or inside of a character")
        })?;
        ensure(offsets.is_sorted(), || format!("{what} are out of order"))?;
    }
    let is_short = found.imports.iter().all(|import| import.path.len() <= MAX_NAME_BYTES);
    ensure(is_short, || "the path of an import is too long".to_owned())
}

fn check_symbol(text: &str, symbol: &Symbol, parent: Option<&Symbol>, lines: &Lines) -> Result<(), String> {
    let span = span(text, &symbol.bytes).ok_or_else(|| format!("{:?} is not a span of the text", symbol.bytes))?;
    let Range { start, end } = symbol.bytes;
    let last = start + span.trim_end_matches('\n').len() as u32;
    let (first_line, last_line) = symbol.lines;
    ensure(
        first_line == lines.line_number(start)
            && (lines.line_number(last)..=lines.line_number(end)).contains(&last_line),
        || {
            let expected = (lines.line_number(start), lines.line_number(last));
            format!("the lines are {:?} instead of {expected:?}", symbol.lines)
        },
    )?;
    let is_body = symbol.body.is_none_or(|body| (start..=end).contains(&body) && text.is_char_boundary(body as usize));
    ensure(is_body, || format!("the body at {:?} is not in {start}..{end}", symbol.body))?;
    let is_doc = symbol.doc_bytes.as_ref().is_none_or(|doc| text.get(doc.start as usize..doc.end as usize).is_some());
    ensure(is_doc, || format!("the documentation at {:?} is not a span of the text", symbol.doc_bytes))?;
    let is_nested = parent.is_none_or(|parent| parent.bytes.start <= start && end <= parent.bytes.end);
    ensure(is_nested, || format!("{start}..{end} is not in its parent, {:?}", parent.map(|parent| &parent.bytes)))?;
    let is_short = symbol.name.len() <= MAX_NAME_BYTES && symbol.qualified_name.len() <= MAX_NAME_BYTES;
    ensure(is_short, || "the name is too long".to_owned())?;
    ensure(symbol.heading_level <= 6, || format!("the heading level is {}", symbol.heading_level))
}

/// Checks that chunks have unique keys, are in the text at their lines, and cover every line that is not blank.
pub(crate) fn chunks(text: &str, found: &FileChunks) -> Result<(), String> {
    let lines = Lines::new(text);
    let mut covered = vec![found.cut.is_some(); text.split('\n').count() + 1];
    let mut keys = HashSet::new();
    for chunk in &found.chunks {
        let key = truncated(&chunk.key);
        ensure(keys.insert(&chunk.key), || format!("two chunks have the key `{key}`"))?;
        let bytes = chunk.byte_start..chunk.byte_end;
        let span = span(text, &bytes).ok_or_else(|| format!("chunk `{key}` at {bytes:?} is not a span of the text"))?;
        ensure(!span.trim().is_empty() && !chunk.text.trim().is_empty(), || format!("chunk `{key}` is empty"))?;
        let last = bytes.start + span.trim_end_matches('\n').len() as u32;
        let expected = (lines.line_number(bytes.start), lines.line_number(last));
        let given = (chunk.line_start, chunk.line_end);
        ensure(given == expected, || format!("chunk `{key}` is in lines {given:?} instead of {expected:?}"))?;
        covered[chunk.line_start as usize..=chunk.line_end as usize].fill(true);
    }
    for chunk in &found.chunks {
        let missing = chunk.dependencies.iter().chain(&chunk.parent).find(|key| !keys.contains(key));
        ensure(missing.is_none(), || format!("`{}` refers to `{missing:?}`", truncated(&chunk.key)))?;
    }
    let missing =
        text.split('\n').zip(&covered[1..]).position(|(line, is_covered)| !is_covered && !line.trim().is_empty());
    ensure(missing.is_none(), || format!("line {} is in no chunk", missing.unwrap_or_default() + 1))
}

/// Returns the text of a span that begins and ends at character boundaries.
fn span<'t>(text: &'t str, bytes: &Range<u32>) -> Option<&'t str> {
    text.get(bytes.start as usize..bytes.end as usize)
}

/// Returns the beginning of a name.
fn truncated(name: &str) -> &str {
    &name[..name.floor_char_boundary(60)]
}

fn ensure(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// The lines of a text.
struct Lines {
    feeds: Vec<u32>,
    count: u32,
}

impl Lines {
    fn new(text: &str) -> Self {
        let feeds: Vec<u32> = text.match_indices('\n').map(|(at, _)| at as u32).collect();
        let count = feeds.len() as u32 + u32::from(!text.is_empty() && !text.ends_with('\n'));
        Self { feeds, count }
    }

    fn count(&self) -> u32 {
        self.count
    }

    /// Returns the line of an offset, counted from 1.
    fn line_number(&self, at: u32) -> u32 {
        self.feeds.partition_point(|feed| *feed < at) as u32 + 1
    }
}
