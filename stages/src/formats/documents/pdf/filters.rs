//! Stream filters, except those for images.

use std::io::Read;

use weezl::decode::Decoder;
use weezl::{BitOrder, BufferResult, LzwStatus};

use super::object::{from_hex, is_space};

/// Decodes data with the named filter. Returns `None` if the filter is unknown. Filters that expand data return at most
/// `limit` bytes. Damaged data is decoded up to the damage.
pub(super) fn decode(filter: &[u8], data: &[u8], limit: usize) -> Option<Vec<u8>> {
    match filter {
        b"FlateDecode" | b"Fl" => Some(inflated(data, limit)),
        b"LZWDecode" | b"LZW" => Some(lzw(data, limit)),
        b"ASCIIHexDecode" | b"AHx" => Some(from_hex(data.split(|&byte| byte == b'>').next().unwrap_or_default())),
        b"ASCII85Decode" | b"A85" => Some(ascii85(data)),
        b"RunLengthDecode" | b"RL" => Some(run_lengths(data, limit)),
        _ => None,
    }
}

fn inflated(data: &[u8], limit: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Ignore errors, because the data before the damage is still useful.
    let _ = flate2::read::ZlibDecoder::new(data).take(limit as u64).read_to_end(&mut bytes);
    bytes
}

/// Decodes LZW data whose code length grows one code early, which is the default in PDF.
fn lzw(data: &[u8], limit: usize) -> Vec<u8> {
    let mut decoder = Decoder::with_tiff_size_switch(BitOrder::Msb, 8);
    let (mut bytes, mut rest, mut part) = (Vec::new(), data, [0; 4096]);
    while bytes.len() < limit {
        let BufferResult { consumed_in, consumed_out, status } = decoder.decode_bytes(rest, &mut part);
        bytes.extend_from_slice(&part[..consumed_out]);
        rest = &rest[consumed_in..];
        if !matches!(status, Ok(LzwStatus::Ok)) {
            break;
        }
    }
    bytes.truncate(limit);
    bytes
}

fn ascii85(data: &[u8]) -> Vec<u8> {
    let (mut bytes, mut group) = (Vec::new(), Vec::with_capacity(5));
    let value =
        |group: &[u8]| group.iter().fold(0u32, |sum, &digit| sum.wrapping_mul(85).wrapping_add(u32::from(digit)));
    for &byte in data {
        match byte {
            b'!'..=b'u' => group.push(byte - b'!'),
            b'z' if group.is_empty() => bytes.extend([0; 4]),
            b'~' => break,
            _ => continue,
        }
        if group.len() == 5 {
            bytes.extend(value(&group).to_be_bytes());
            group.clear();
        }
    }
    if group.len() > 1 {
        let length = group.len() - 1;
        group.resize(5, 84);
        bytes.extend(&value(&group).to_be_bytes()[..length]);
    }
    bytes
}

fn run_lengths(data: &[u8], limit: usize) -> Vec<u8> {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(&length) = data.get(at)
        && length != 128
        && bytes.len() < limit
    {
        let length = usize::from(length);
        if length < 128 {
            let end = (at + 2 + length).min(data.len());
            bytes.extend(&data[at + 1..end]);
            at = end;
        } else {
            let byte = data.get(at + 1).copied().unwrap_or_default();
            bytes.resize(bytes.len() + 257 - length, byte);
            at += 2;
        }
    }
    bytes.truncate(limit);
    bytes
}

/// Returns the encoded data of a stream, or `None` if `rest` does not begin with the keyword `stream`.
pub(super) fn stream_data(rest: &[u8]) -> Option<&[u8]> {
    let start = rest.iter().position(|&byte| !is_space(byte))?;
    let data = rest[start..].strip_prefix(b"stream")?;
    let data = data.strip_prefix(b"\r\n").or(data.strip_prefix(b"\n")).or(data.strip_prefix(b"\r")).unwrap_or(data);
    Some(&data[..memchr::memmem::rfind(data, b"endstream").unwrap_or(data.len())])
}
