//! Blame rows as values of the `blames` table.
//!
//! Layout: flags · length of an object id · authors · commits · runs · touches · runs of the indexed copy, if it
//! differs from the committed file. Numbers are variable-length integers. Each list starts with its length. Times are
//! zigzag-coded. A committer time is stored as the difference from the author time, and the start of a touched range as
//! the difference from the previous start.

use aurora_codec::{ByteReader, put, put_list};

use super::record::{Blame, BlamedCommit, BlamedRun, CopiedRun, TouchedLines};

/// Flag: see [`Blame::incomplete`].
const INCOMPLETE: u64 = 1;
/// Flag: the blame has runs of the indexed copy.
const HAS_COPY: u64 = 2;

/// Serialises the blame of a file.
pub(crate) fn encode(blame: &Blame) -> Vec<u8> {
    let id_len = blame.commits.first().map_or(0, |commit| commit.id.len());
    let mut out = Vec::with_capacity(16 + (id_len + 12) * blame.commits.len() + 3 * blame.runs.len());
    let flags = if blame.incomplete { INCOMPLETE } else { 0 } | if blame.copy.is_some() { HAS_COPY } else { 0 };
    put(&mut out, &(flags, id_len, &blame.authors));
    put_list(&mut out, &blame.commits, |out, commit| {
        out.extend_from_slice(&commit.id);
        put(out, &(commit.author, commit.author_time, commit.committer_time.wrapping_sub(commit.author_time)));
    });
    put_list(&mut out, &blame.runs, |out, run| put(out, &(run.len, run.commit)));
    put(&mut out, &blame.touches.len());
    let mut start = 0;
    for touched in &blame.touches {
        put(&mut out, &(touched.start.wrapping_sub(start), touched.len, touched.commits));
        start = touched.start;
    }
    if let Some(copy) = &blame.copy {
        put_list(&mut out, copy, |out, run| put(out, &(run.len, run.committed.map_or(0, |line| u64::from(line) + 1))));
    }
    out
}

/// Reads the blame of a file. Returns `None` if the bytes are invalid.
pub(crate) fn decode(bytes: &[u8]) -> Option<Blame> {
    let mut reader = ByteReader::new(bytes);
    let (flags, id_len, authors): (u64, usize, Vec<_>) = reader.read()?;
    let commits = reader.list(|reader| {
        let id = reader.take(id_len)?.to_vec();
        let author = reader.varint32().filter(|&author| (author as usize) < authors.len())?;
        let author_time = reader.zigzag()?;
        let committer_time = author_time.wrapping_add(reader.zigzag()?);
        Some(BlamedCommit { id, author, author_time, committer_time })
    })?;
    let mut lines = 0u32;
    let runs = reader.list(|reader| {
        let run = BlamedRun { len: reader.varint32()?, commit: reader.varint32()? };
        lines = lines.checked_add(run.len)?;
        ((run.commit as usize) < commits.len()).then_some(run)
    })?;
    let mut start = 0u32;
    let touches = reader.list(|reader| {
        start = start.checked_add(reader.varint32()?)?;
        let touched = TouchedLines { start, len: reader.varint32()?, commits: reader.varint32()? };
        start.checked_add(touched.len).is_some_and(|end| end <= lines).then_some(touched)
    })?;
    let mut copied = 0u32;
    let mut copied_run = |reader: &mut ByteReader<'_>| {
        let (len, committed): (u32, u64) = reader.read()?;
        let run = CopiedRun { len, committed: committed.checked_sub(1).map(u32::try_from).transpose().ok()? };
        copied = copied.checked_add(run.len)?;
        let is_within = |first: u32| first.checked_add(run.len).is_some_and(|end| end <= lines);
        run.committed.is_none_or(is_within).then_some(run)
    };
    let copy = if flags & HAS_COPY != 0 { Some(reader.list(&mut copied_run)?) } else { None };
    let is_known = flags & !(INCOMPLETE | HAS_COPY) == 0;
    let blame = Blame { authors, commits, runs, touches, copy, incomplete: flags & INCOMPLETE != 0 };
    (is_known && reader.is_empty()).then_some(blame)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;

    use super::*;

    fn blame() -> impl Strategy<Value = Blame> {
        let commit = |authors: u32| {
            (vec(any::<u8>(), 20), 0..authors, any::<i64>(), any::<i64>()).prop_map(
                |(id, author, author_time, committer_time)| BlamedCommit { id, author, author_time, committer_time },
            )
        };
        (vec(("\\PC{0,9}", "[a-z@]{0,9}"), 1..4), 1u32..5)
            .prop_flat_map(move |(authors, commits)| {
                let commit = commit(authors.len() as u32);
                let runs = vec((1u32..1_000, 0..commits), 0..9);
                (
                    Just(authors),
                    vec(commit, commits as usize),
                    runs,
                    vec((0u32..99, 0u32..9, any::<u32>()), 0..9),
                    of(vec((1u32..9, of(0u32..9)), 0..9)),
                    any::<bool>(),
                )
            })
            .prop_map(|(authors, commits, runs, touches, copy, incomplete)| {
                let runs: Vec<_> = runs.into_iter().map(|(len, commit)| BlamedRun { len, commit }).collect();
                let lines: u32 = runs.iter().map(|run| run.len).sum();
                let within = |(len, first): (u32, Option<u32>)| CopiedRun {
                    len,
                    committed: first.filter(|first| first + len <= lines),
                };
                let touched = |(start, len, commits)| TouchedLines { start, len, commits };
                let mut touches: Vec<_> = touches.into_iter().map(touched).collect();
                touches.retain(|touched| touched.start + touched.len <= lines);
                touches.sort_unstable_by_key(|touched| (touched.start, touched.len));
                let copy = copy.map(|copy| copy.into_iter().map(within).collect());
                Blame { authors, commits, runs, touches, copy, incomplete }
            })
    }

    proptest! {
        #[test]
        fn blames_round_trip(blame in blame()) {
            prop_assert_eq!(decode(&encode(&blame)), Some(blame));
        }

        #[test]
        fn damaged_bytes_are_refused_or_read_as_a_blame(blame in blame(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let mut bytes = encode(&blame);
            prop_assert!(decode(&bytes[..at.index(bytes.len())]).is_none());
            let at = at.index(bytes.len());
            bytes[at] = to;
            // Even for damaged bytes, decoded references between the lists are valid.
            if let Some(read) = decode(&bytes) {
                prop_assert!(read.runs.iter().all(|run| (run.commit as usize) < read.commits.len()));
            }
        }
    }
}
