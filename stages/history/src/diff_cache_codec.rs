//! How comparisons are written: numbers as varints, in 7-bit groups, lowest first.

use gix::ObjectId;

use crate::line_diff::Hunk;

/// Appends changes: for each the lines since the last one, which are as many on both sides, then those that it removes and
/// those that it adds.
pub(crate) fn put_hunks(out: &mut Vec<u8>, hunks: &[Hunk]) {
    let mut end = 0;
    for hunk in hunks {
        let numbers = [hunk.before.start - end, hunk.before.len() as u32, hunk.after.len() as u32];
        numbers.into_iter().for_each(|number| put_varint(out, number.into()));
        end = hunk.before.end;
    }
}

/// What [`put_hunks`] has written; `None` if it has not written this.
pub(crate) fn get_hunks(mut bytes: &[u8]) -> Option<Vec<Hunk>> {
    let mut hunks = Vec::new();
    let (mut before, mut after) = (0, 0);
    while !bytes.is_empty() {
        let mut number = || varint(&mut bytes)?.try_into().ok();
        let (gap, removed, added): (u32, u32, u32) = (number()?, number()?, number()?);
        let range = |end: u32, len: u32| {
            let start = end.checked_add(gap)?;
            Some(start..start.checked_add(len)?)
        };
        let hunk = Hunk { before: range(before, removed)?, after: range(after, added)? };
        (before, after) = (hunk.before.end, hunk.after.end);
        hunks.push(hunk);
    }
    Some(hunks)
}

/// Appends the path and the content of a source; nothing if there is none.
pub(crate) fn put_source(out: &mut Vec<u8>, source: Option<(&[u8], ObjectId)>) {
    if let Some((path, blob)) = source {
        out.extend_from_slice(blob.as_slice());
        out.extend_from_slice(path);
    }
}

/// What [`put_source`] has written in a repository of that hash; `None` if it has not written this.
pub(crate) fn get_source(bytes: &[u8], hash: gix::hash::Kind) -> Option<Option<(&[u8], ObjectId)>> {
    if bytes.is_empty() {
        return Some(None);
    }
    let (blob, path) = bytes.split_at_checked(hash.len_in_bytes())?;
    Some(Some((path, ObjectId::try_from(blob).ok()?)))
}

/// Appends a number.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front of `bytes`; `None` if there is none.
pub(crate) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Hunk, get_hunks, get_source, put_hunks, put_source, put_varint, varint};

    /// Changes as a diff has them: the same number of lines lies between two of them on both sides.
    fn hunks() -> impl Strategy<Value = Vec<Hunk>> {
        prop::collection::vec((0..300_u32, 0..300_u32, 0..300_u32), 0..20).prop_map(|changes| {
            let (mut before, mut after) = (0, 0);
            let mut hunk = |(gap, removed, added)| {
                let hunk =
                    Hunk { before: before + gap..before + gap + removed, after: after + gap..after + gap + added };
                (before, after) = (hunk.before.end, hunk.after.end);
                hunk
            };
            changes.into_iter().map(&mut hunk).collect()
        })
    }

    proptest! {
        #[test]
        fn hunks_are_read_as_they_were_written(hunks in hunks()) {
            let mut out = Vec::new();
            put_hunks(&mut out, &hunks);
            prop_assert_eq!(get_hunks(&out), Some(hunks));
        }

        #[test]
        fn what_was_not_written_is_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            get_hunks(&bytes);
            get_source(&bytes, gix::hash::Kind::Sha1);
        }

        #[test]
        fn numbers_are_read_as_they_were_written(number in any::<u64>()) {
            let mut out = Vec::new();
            put_varint(&mut out, number);
            prop_assert_eq!(varint(&mut out.as_slice()), Some(number));
        }
    }

    #[test]
    fn that_there_is_no_source_is_an_answer() {
        let hash = gix::hash::Kind::Sha256;
        let source = (b"x/a.rs".as_slice(), gix::ObjectId::empty_blob(hash));
        for source in [None, Some(source)] {
            let mut out = Vec::new();
            put_source(&mut out, source);
            assert_eq!(get_source(&out, hash), Some(source));
        }
        assert_eq!(get_source(b"short", hash), None);
    }
}
