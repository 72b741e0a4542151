//! The encoding of diffs and rename sources in the diff cache.

use aurora_codec::{ByteReader, put_varint};
use gix::ObjectId;

use crate::line_diff::Hunk;

/// Appends hunks. Each hunk consists of three varints: the numbers of unchanged lines since the previous hunk, of
/// removed lines and of added lines.
pub(crate) fn put_hunks(out: &mut Vec<u8>, hunks: &[Hunk]) {
    let mut end = 0;
    for hunk in hunks {
        let numbers = [hunk.before.start - end, hunk.before.len() as u32, hunk.after.len() as u32];
        numbers.into_iter().for_each(|number| put_varint(out, number.into()));
        end = hunk.before.end;
    }
}

/// Decodes the hunks that [`put_hunks`] encoded. Returns `None` if `bytes` is malformed.
pub(crate) fn get_hunks(bytes: &[u8]) -> Option<Vec<Hunk>> {
    let mut reader = ByteReader::new(bytes);
    let mut hunks = Vec::new();
    let (mut before, mut after) = (0, 0);
    while !reader.is_empty() {
        let mut number = || reader.varint32();
        let (gap, removed, added) = (number()?, number()?, number()?);
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

/// Appends a rename source: the blob, followed by the path. Appends nothing if there is no source.
pub(crate) fn put_source(out: &mut Vec<u8>, source: Option<(&[u8], ObjectId)>) {
    if let Some((path, blob)) = source {
        out.extend_from_slice(blob.as_slice());
        out.extend_from_slice(path);
    }
}

/// Decodes the rename source that [`put_source`] encoded. Returns `None` if `bytes` is malformed. `hash` is the hash
/// function of object ids.
pub(crate) fn get_source(bytes: &[u8], hash: gix::hash::Kind) -> Option<Option<(&[u8], ObjectId)>> {
    if bytes.is_empty() {
        return Some(None);
    }
    let (blob, path) = bytes.split_at_checked(hash.len_in_bytes())?;
    Some(Some((path, ObjectId::try_from(blob).ok()?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Hunk, get_hunks, get_source, put_hunks, put_source};

    /// Generates random hunks of a diff. Between two hunks, both versions have the same number of lines.
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
        fn hunks_round_trip(hunks in hunks()) {
            let mut out = Vec::new();
            put_hunks(&mut out, &hunks);
            prop_assert_eq!(get_hunks(&out), Some(hunks));
        }

        #[test]
        fn decoding_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            get_hunks(&bytes);
            get_source(&bytes, gix::hash::Kind::Sha1);
        }
    }

    #[test]
    fn rename_sources_round_trip() {
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
