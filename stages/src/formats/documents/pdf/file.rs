//! The indirect objects of a PDF file.
//!
//! The objects are found by a scan of the file and not through the cross-reference table. A damaged table therefore has
//! no effect, and the work is linear in the size of the file. If several objects have the same number, the last object
//! is used, because updates are appended.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use super::super::error::{ExtractError, MAX_MARKUP_BYTES};
use super::filters;
use super::object::{Dict, Lexer, Object, is_space};

/// Maximum number of bytes that are unpacked and parsed, summed over all uses of all objects.
const MAX_WORK_BYTES: u64 = 2 * MAX_MARKUP_BYTES;
/// Maximum length of a chain of references to references.
const MAX_REFERENCES: usize = 8;
/// Maximum number of objects. Each object needs about 80 bytes of memory.
const MAX_OBJECTS: usize = 1 << 20;
/// Maximum length of a trailer, in bytes.
const MAX_TRAILER_BYTES: usize = 4096;

/// A PDF file.
#[derive(Debug)]
pub(super) struct PdfFile<'a> {
    bytes: &'a [u8],
    /// Location of each object, by object number.
    locations: HashMap<u32, Location>,
    unpacked: Vec<Vec<u8>>,
    root: Option<u32>,
    work: Cell<u64>,
}

#[derive(Debug, Clone)]
enum Location {
    File(Range<usize>),
    /// A range within an unpacked object stream.
    Unpacked(usize, Range<usize>),
}

impl<'a> PdfFile<'a> {
    /// Finds the objects of a file.
    ///
    /// # Errors
    /// Fails if the file is encrypted or unpacks to too much data.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        let mut file = Self { bytes, locations: HashMap::new(), unpacked: Vec::new(), root: None, work: Cell::new(0) };
        let mut catalog = None;
        for (number, range) in objects(bytes) {
            file.note(number, Location::File(range.clone()))?;
            let object = indirect(&bytes[range]);
            let Some(dict) = object.dict() else { continue };
            match dict.get(&b"Type"[..]).and_then(Object::name) {
                Some(b"ObjStm") => file.unpack(&object)?,
                Some(b"XRef") => file.read_trailer(dict)?,
                Some(b"Catalog") => catalog = Some(number),
                _ => {}
            }
        }
        let mut rest = bytes;
        while let Some(found) = memchr::memmem::find(rest, b"trailer") {
            rest = &rest[found + b"trailer".len()..];
            let mut lexer = Lexer::new(&rest[..rest.len().min(MAX_TRAILER_BYTES)]);
            if let Some(Object::Dict(dict)) = lexer.next() {
                file.read_trailer(&dict)?;
            }
            rest = &rest[lexer.position()..];
        }
        file.root = file.root.or(catalog);
        Ok(file)
    }

    /// Returns the catalog, or null if the file has none.
    pub(super) fn catalog(&self) -> Result<Object<'_>, ExtractError> {
        self.root.map_or(Ok(Object::Null), |root| self.object(root))
    }

    /// Returns an entry of a dictionary, following references. Returns null if the entry is missing.
    pub(super) fn get<'f>(&'f self, dict: &Dict<'f>, key: &[u8]) -> Result<Object<'f>, ExtractError> {
        dict.get(key).map_or(Ok(Object::Null), |object| self.resolve(object))
    }

    /// Returns the object, or the referenced object if it is a reference. Returns null if the chain of references is
    /// too long.
    pub(super) fn resolve<'f>(&'f self, object: &Object<'f>) -> Result<Object<'f>, ExtractError> {
        let mut object = object.clone();
        for _ in 0..MAX_REFERENCES {
            let Object::Reference(number) = object else { return Ok(object) };
            object = self.object(number)?;
        }
        Ok(Object::Null)
    }

    /// Returns the decoded data of a stream. The data is empty if the object is not a stream, or if the stream has an
    /// unknown filter such as an image filter.
    pub(super) fn data<'f>(&'f self, stream: &Object<'f>) -> Result<Vec<u8>, ExtractError> {
        let Object::Stream(dict, data) = stream else { return Ok(Vec::new()) };
        let filters = match self.get(dict, b"Filter")? {
            Object::Array(filters) => filters.iter().map(|filter| self.resolve(filter)).collect::<Result<_, _>>()?,
            Object::Null => Vec::new(),
            filter => vec![filter],
        };
        self.spend(data.len())?;
        let mut bytes = data.to_vec();
        for filter in filters {
            // Decode at most one byte more than the remaining budget, which is enough to detect that the data exceeds
            // it.
            let limit = (MAX_WORK_BYTES - self.work.get()) as usize + 1;
            match filters::decode(filter.name().unwrap_or_default(), &bytes, limit) {
                Some(decoded) => bytes = decoded,
                None => return Ok(Vec::new()),
            }
            self.spend(bytes.len())?;
        }
        Ok(bytes)
    }

    /// Returns the object with a number, or null if the object is missing.
    fn object(&self, number: u32) -> Result<Object<'_>, ExtractError> {
        let bytes = match self.locations.get(&number) {
            Some(Location::File(range)) => self.bytes.get(range.clone()),
            Some(Location::Unpacked(stream, range)) => {
                self.unpacked.get(*stream).and_then(|bytes| bytes.get(range.clone()))
            }
            None => None,
        };
        let Some(bytes) = bytes else { return Ok(Object::Null) };
        self.spend(bytes.len() + 1)?;
        Ok(indirect(bytes))
    }

    /// Charges work or memory to the budget of the file, in bytes. Fails if the budget is exceeded.
    pub(super) fn spend(&self, bytes: usize) -> Result<(), ExtractError> {
        let work = self.work.get() + bytes as u64;
        self.work.set(work.min(MAX_WORK_BYTES));
        if work > MAX_WORK_BYTES { Err(ExtractError::TooLarge) } else { Ok(()) }
    }

    /// Records the objects of an object stream.
    fn unpack(&mut self, stream: &Object<'a>) -> Result<(), ExtractError> {
        let Object::Stream(dict, _) = stream else { return Ok(()) };
        let number = |key: &[u8]| dict.get(key).and_then(Object::number).map_or(0, |number| number as usize);
        let (first, count) = (number(b"First"), number(b"N"));
        let bytes = self.data(stream)?;
        let mut heads = Vec::new();
        let mut lexer = Lexer::new(bytes.get(..first).unwrap_or_default());
        while heads.len() < count.min(MAX_OBJECTS)
            && let (Some(number), Some(offset)) = (lexer.next(), lexer.next())
            && let (Some(number), Some(offset)) = (number.number(), offset.number())
        {
            heads.push((number as u32, first.saturating_add(offset as usize)));
        }
        let index = self.unpacked.len();
        for (at, &(number, start)) in heads.iter().enumerate() {
            // Objects whose offsets do not increase would overlap, so they are dropped.
            let end = heads.get(at + 1).map_or(bytes.len(), |next| next.1).min(bytes.len());
            if start < end {
                self.note(number, Location::Unpacked(index, start..end))?;
            }
        }
        self.unpacked.push(bytes);
        Ok(())
    }

    fn note(&mut self, number: u32, location: Location) -> Result<(), ExtractError> {
        self.locations.insert(number, location);
        if self.locations.len() > MAX_OBJECTS { Err(ExtractError::TooLarge) } else { Ok(()) }
    }

    fn read_trailer(&mut self, dict: &Dict<'_>) -> Result<(), ExtractError> {
        if dict.get(&b"Encrypt"[..]).is_some_and(|encrypt| !matches!(encrypt, Object::Null)) {
            return Err(ExtractError::Encrypted);
        }
        self.root = dict.get(&b"Root"[..]).and_then(Object::reference).or(self.root);
        Ok(())
    }
}

/// Returns the number and the byte range of every object. The range extends from the end of the object's head, such as
/// `1 0 obj`, to the start of the next head.
fn objects(bytes: &[u8]) -> impl Iterator<Item = (u32, Range<usize>)> {
    let mut heads =
        memchr::memmem::find_iter(bytes, b"obj").filter_map(|at| Some((head(&bytes[..at])?, at))).peekable();
    std::iter::from_fn(move || {
        let ((number, _), at) = heads.next()?;
        let end = heads.peek().map_or(bytes.len(), |((_, start), _)| *start);
        Some((number, at + b"obj".len()..end))
    })
}

/// Parses the head of an object without `obj`, such as `1 0 `, at the end of the bytes. Returns the object number, and
/// the offset at which the head starts.
fn head(bytes: &[u8]) -> Option<(u32, usize)> {
    let (_, bytes) = last_digits(bytes)?;
    let (number, bytes) = last_digits(bytes)?;
    Some((number, bytes.len()))
}

/// Parses a number that is followed by one white-space character or CRLF at the end of the bytes. Returns the number
/// and the bytes before it.
fn last_digits(bytes: &[u8]) -> Option<(u32, &[u8])> {
    const MAX_DIGITS: usize = 10;
    let bytes = bytes
        .strip_suffix(b"\r\n")
        .or(bytes.split_last().filter(|(last, _)| is_space(**last)).map(|(_, rest)| rest))?;
    let digits = bytes.iter().rev().take(MAX_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let (rest, digits) = bytes.split_at(bytes.len() - digits);
    Some((str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

/// Parses the object at the start of the bytes, with its data if it is a stream.
fn indirect(bytes: &[u8]) -> Object<'_> {
    let mut lexer = Lexer::new(bytes);
    match lexer.next() {
        Some(Object::Dict(dict)) => match filters::stream_data(lexer.rest()) {
            Some(data) => Object::Stream(dict, data),
            None => Object::Dict(dict),
        },
        Some(Object::Number(number)) => match (lexer.next(), lexer.next()) {
            (Some(Object::Number(_)), Some(Object::Operator(b"R"))) => Object::Reference(number as u32),
            _ => Object::Number(number),
        },
        Some(object) => object,
        None => Object::Null,
    }
}
