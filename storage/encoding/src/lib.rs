//! Decodes the bytes of a file to text, and recognises bytes that are not text.
//!
//! The first rule that applies decides:
//! 1. a byte order mark: UTF-8, UTF-16 or UTF-32;
//! 2. zero bytes: UTF-16 without a mark, or not text;
//! 3. UTF-8, the most common encoding, which is cheap to check (or ISO-2022-JP, if its escape sequences occur);
//! 4. an encoding that the file declares and in which all bytes are valid;
//! 5. UTF-8 with a few invalid bytes;
//! 6. the most probable legacy encoding that browsers support.
//!
//! Decoding is deterministic, so reading an indexed file again gives the indexed text.
//!
//! Not supported: encodings that browsers do not know (DOS code pages except 866, EBCDIC, UTF-7), and files that mix
//! encodings.
//!
//! ```
//! let text = aurora_encoding::decode(b"caf\xe9 au lait".to_vec()).expect("the bytes are text");
//! assert_eq!((text.text.as_str(), text.encoding), ("café au lait", "windows-1252"));
//! assert_eq!(aurora_encoding::decode(b"\x7fELF\0\0".to_vec()), None);
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod declared;
mod decode;
mod legacy;
mod plausible;
#[cfg(test)]
mod tests;
mod text;
mod wide;

pub use decode::decode;
pub use text::Text;
