//! Splits text into tokens of a static model: first into pieces of identifiers, then by WordPiece.
//!
//! The model was trained with these rules, so they are part of its file format. They deliberately differ from the rules
//! of the analyzer: pieces with non-ASCII characters are dropped, because the vocabulary contains no such pieces.

/// Maximum length of a piece in bytes. Longer pieces are skipped.
const MAX_PIECE_BYTES: usize = 64;

/// Non-ASCII code points that separate words. All other non-ASCII code points belong to words.
const SEPARATORS: [(u32, u32); 8] = [
    (0x80, 0xbf),
    (0xd7, 0xd7),
    (0xf7, 0xf7),
    (0x2000, 0x2bff),
    (0x3000, 0x303f),
    (0xfe00, 0xfe6f),
    (0xff00, 0xff20),
    (0x1f000, 0x1ffff),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceClass {
    Separator,
    Upper,
    /// `a-z`, and every word character outside ASCII.
    Lower,
    Digit,
}

/// Calls `out` with every lower-cased piece of `text`, in order, until it returns `false`.
///
/// A run of word characters is split between a digit and a letter, and before an upper-case letter that follows a
/// lower-case letter. It is also split before the last upper-case letter of a run that is followed by lower-case
/// letters (`HTTPServer`), unless these letters are only an `s` (`URLs`).
pub(super) fn pieces(text: &str, out: &mut impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0u8; MAX_PIECE_BYTES];
    let mut at = 0;
    while at < text.len() {
        let (first, width) = class_at(text, at);
        let start = at;
        at += width;
        match first {
            PieceClass::Separator => continue,
            PieceClass::Digit | PieceClass::Lower => at = end_of_run(text, at, first),
            PieceClass::Upper => {
                at = end_of_run(text, at, PieceClass::Upper);
                let uppers = at - start;
                let end = end_of_run(text, at, PieceClass::Lower);
                if uppers == 1 || &text[at..end] == "s" {
                    at = end;
                } else if end > at {
                    at -= 1;
                }
            }
        }
        let piece = &text.as_bytes()[start..at];
        if let Some(lower) = buffer.get_mut(..piece.len()) {
            lower.copy_from_slice(piece);
            lower.make_ascii_lowercase();
            if lower.is_ascii() && !out(lower) {
                return;
            }
        }
    }
}

#[inline]
fn end_of_run(text: &str, mut at: usize, run: PieceClass) -> usize {
    while let (class, width) = class_at(text, at)
        && class == run
    {
        at += width;
    }
    at
}

/// Class of each byte, or `None` for a byte outside ASCII.
const CLASSES: [Option<PieceClass>; 256] = {
    let mut classes = [None; 256];
    let mut byte = 0;
    while byte < 0x80 {
        classes[byte] = Some(match byte as u8 {
            b'a'..=b'z' => PieceClass::Lower,
            b'A'..=b'Z' => PieceClass::Upper,
            b'0'..=b'9' => PieceClass::Digit,
            _ => PieceClass::Separator,
        });
        byte += 1;
    }
    classes
};

/// Returns class and width of the character that starts at byte `at`. The end of the text counts as a separator.
#[inline]
fn class_at(text: &str, at: usize) -> (PieceClass, usize) {
    match text.as_bytes().get(at) {
        None => (PieceClass::Separator, 1),
        Some(&byte) => match CLASSES[usize::from(byte)] {
            Some(class) => (class, 1),
            None => class_outside_ascii(&text[at..]),
        },
    }
}

fn class_outside_ascii(text: &str) -> (PieceClass, usize) {
    text.chars().next().map_or((PieceClass::Separator, 1), |c| {
        let separates = SEPARATORS.iter().any(|&(from, to)| (from..=to).contains(&u32::from(c)));
        (if separates { PieceClass::Separator } else { PieceClass::Lower }, c.len_utf8())
    })
}

/// A cache of the token rows of pieces. The cache saves time, because most words of a source file occur more than once.
pub(super) struct KnownPieces(Vec<KnownPiece>);

#[derive(Clone, Copy, Default)]
struct KnownPiece {
    /// The piece, padded with zeros. A free entry contains only zeros.
    piece: [u64; 2],
    rows: [u16; MAX_KNOWN_ROWS],
    count: u8,
}

/// Maximum number of rows of a cached piece.
const MAX_KNOWN_ROWS: usize = 7;
/// Number of cache entries, which take 128 KiB in total. A new piece replaces the previous piece in its entry.
const KNOWN_PIECES: usize = 4096;

impl Default for KnownPieces {
    fn default() -> Self {
        Self(vec![KnownPiece::default(); KNOWN_PIECES])
    }
}

impl KnownPieces {
    /// Like [`Vocabulary::word_piece`], but uses the cache.
    #[inline]
    pub(super) fn word_piece(&mut self, vocabulary: &Vocabulary, bytes: &[u8], piece: &[u8], rows: &mut Vec<u32>) {
        let Some(words) = padded(piece) else { return vocabulary.word_piece(bytes, piece, rows) };
        let entry = (fold(fold(0, words[0]), words[1]) as usize) % KNOWN_PIECES;
        let known = &mut self.0[entry];
        if known.piece == words {
            rows.extend(known.rows[..usize::from(known.count)].iter().map(|&row| u32::from(row)));
            return;
        }
        let before = rows.len();
        vocabulary.word_piece(bytes, piece, rows);
        let found = &rows[before..];
        if found.len() <= MAX_KNOWN_ROWS {
            *known = KnownPiece { piece: words, rows: [0; MAX_KNOWN_ROWS], count: found.len() as u8 };
            known.rows.iter_mut().zip(found).for_each(|(known, &row)| *known = row as u16);
        }
    }
}

/// Returns a piece padded with zeros, or `None` if the piece is too long for the cache.
#[inline]
fn padded(piece: &[u8]) -> Option<[u64; 2]> {
    let mut bytes = [0; 16];
    bytes.get_mut(..piece.len())?.copy_from_slice(piece);
    let word = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
    Some([word(0), word(8)])
}

/// The token strings of a model, with lookup by text.
///
/// The lookup table is built when the model is loaded, in less than a millisecond for 30,000 tokens. It is an
/// open-addressing hash table of hash tags and rows, at most half full. Most lookups of a longest-match search miss,
/// and with tags a miss seldom compares strings.
pub(super) struct Vocabulary {
    slots: Vec<Slot>,
    spans: Vec<TokenSpan>,
    longest: usize,
}

/// Range of a token's text, without the prefix `##`, in the bytes of the model.
#[derive(Clone, Copy)]
struct TokenSpan {
    start: u32,
    length: u16,
    continues: bool,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    tag: u32,
    /// Row + 1, or 0 for an empty slot.
    row: u32,
}

const CONTINUATION: &[u8] = b"##";

impl Vocabulary {
    /// Reads `rows` token strings (`u16` length, then UTF-8) from offset `at` of `bytes`. Returns the vocabulary and
    /// the offset after its last string.
    pub(super) fn read(bytes: &[u8], mut at: usize, rows: usize) -> Result<(Self, usize), String> {
        let mut vocabulary = Self {
            slots: vec![Slot::default(); (rows * 2).next_power_of_two()],
            spans: Vec::with_capacity(rows),
            longest: 0,
        };
        for row in 0..rows {
            let cut = || format!("it ends inside token {row} of {rows}");
            let length = bytes.get(at..at + 2).ok_or_else(cut)?;
            let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
            let token = bytes.get(at + 2..at + 2 + length).ok_or_else(cut)?;
            let continues = token.starts_with(CONTINUATION);
            let text = if continues { &token[CONTINUATION.len()..] } else { token };
            at += 2 + length;
            let start = u32::try_from(at - text.len()).map_err(|_| "it is larger than 4 GiB".to_owned())?;
            vocabulary.spans.push(TokenSpan { start, length: text.len() as u16, continues });
            vocabulary.longest = vocabulary.longest.max(text.len());
            vocabulary.insert(bytes, text, continues, row as u32)?;
        }
        Ok((vocabulary, at))
    }

    fn insert(&mut self, bytes: &[u8], text: &[u8], continues: bool, row: u32) -> Result<(), String> {
        let hash = hash(text, continues);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot].row != 0 {
            let other = self.slots[slot];
            if other.tag == tag(hash) && self.matches(bytes, other.row - 1, text, continues) {
                return Err(format!("token {row} and token {} are the same", other.row - 1));
            }
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = Slot { tag: tag(hash), row: row + 1 };
        Ok(())
    }

    #[inline]
    fn find(&self, bytes: &[u8], text: &[u8], continues: bool) -> Option<u32> {
        let hash = hash(text, continues);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let Slot { tag: found, row } = self.slots[slot];
            if row == 0 {
                return None;
            }
            if found == tag(hash) && self.matches(bytes, row - 1, text, continues) {
                return Some(row - 1);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn matches(&self, bytes: &[u8], row: u32, text: &[u8], continues: bool) -> bool {
        let span = self.spans[row as usize];
        let start = span.start as usize;
        span.continues == continues && bytes[start..start + usize::from(span.length)] == *text
    }

    /// Returns the number of tokens.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns the token of a row as stored in the file, including a prefix `##`.
    pub(super) fn token<'a>(&self, bytes: &'a [u8], row: u32) -> &'a [u8] {
        let span = self.spans[row as usize];
        let start = span.start as usize;
        &bytes[start - if span.continues { CONTINUATION.len() } else { 0 }..start + usize::from(span.length)]
    }

    /// Appends the tokens of a lower-cased piece to `rows`. Appends nothing if the piece cannot be split into tokens.
    ///
    /// Each token is the longest token after which the rest of the piece can still be split. WordPiece always takes the
    /// longest token, and produces no tokens if the rest then cannot be split. The two algorithms differ only for
    /// vocabularies that do not contain all single characters.
    #[inline]
    pub(super) fn word_piece(&self, bytes: &[u8], piece: &[u8], rows: &mut Vec<u32>) {
        let before = rows.len();
        let mut at = 0;
        // Bit `n` is set if the rest from byte `n` on cannot be split. Each bit is set once, which limits the work.
        let mut unsplittable = 0u64;
        while at < piece.len() {
            let longest = piece.len().min(at + self.longest);
            let found = (at + 1..=longest).rev().find_map(|end| {
                let row = self.find(bytes, &piece[at..end], at > 0)?;
                (end == piece.len() || unsplittable >> end & 1 == 0).then_some((row, end))
            });
            if let Some((row, end)) = found {
                rows.push(row);
                at = end;
            } else if rows.len() > before {
                unsplittable |= 1 << at;
                let last = rows.pop().map_or(0, |row| usize::from(self.spans[row as usize].length));
                at -= last;
            } else {
                return;
            }
        }
    }
}

fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

const MULTIPLIER: u64 = 0xa076_1d64_78bd_642f;

#[inline]
fn fold(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(MULTIPLIER);
    (product as u64) ^ (product >> 64) as u64
}

/// Multiply-and-fold hash over words of eight bytes. The initial value includes the length, so that texts that differ
/// only in zero padding do not collide.
#[inline]
fn hash(text: &[u8], continues: bool) -> u64 {
    let mut hash = u64::from(continues) << 32 ^ text.len() as u64 ^ MULTIPLIER.rotate_left(17);
    let mut words = text.chunks_exact(8);
    for word in &mut words {
        hash = fold(hash, word.try_into().map_or(0, u64::from_le_bytes));
    }
    let rest = words.remainder().iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    fold(fold(hash, rest), MULTIPLIER)
}
