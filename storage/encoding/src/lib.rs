//! Decodes the bytes of a file to text, or recognises that they are no text.
//!
//! In this order, the first that fits decides:
//! 1. a byte order mark: UTF-8, UTF-16 or UTF-32;
//! 2. zero bytes: UTF-16 without a mark, or no text;
//! 3. UTF-8, which most files are and which costs one check;
//! 4. an encoding that the file declares and that all of its bytes are valid in;
//! 5. UTF-8 with a few faults;
//! 6. the most probable of the legacy encodings of the web.
//!
//! Equal bytes give an equal text, so whoever reads an indexed file again sees what was indexed.
//!
//! What is absent: encodings that browsers do not know (DOS code pages but 866, EBCDIC, UTF-7), and files in several encodings.
//!
//! ```
//! let text = aurora_encoding::decode(b"caf\xe9 au lait".to_vec()).expect("a text");
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
