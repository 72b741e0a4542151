//! Damage to the data file.

use crate::pages::{DEPTH, ENTRIES, LAST_PAGE, Layout, PAGE, ROOT, TRANSACTION, word};
use crate::{Remedy, UndamagedIndex};

use Remedy::{Anew, Forced, Harmless, Keywords, Missing, Refused};

/// A kind of damage: its name, the remedy, and a function that damages the bytes of an undamaged file.
type Kind = (&'static str, Remedy, fn(&mut Vec<u8>, &Layout));

fn examine_all(kinds: &[Kind]) {
    let undamaged = UndamagedIndex::new();
    let layout = Layout::from_data(&undamaged.data);
    for (name, remedy, inflict) in kinds {
        let mut data = undamaged.data.clone();
        inflict(&mut data, &layout);
        assert!(data != undamaged.data, "{name} changes nothing");
        undamaged.restore().write(".aurora/index/data.mdb", data);
        undamaged.examine(name, *remedy);
    }
}

/// Flips a bit in the middle of a range.
fn flip(data: &mut [u8], range: std::ops::Range<usize>) {
    data[range.start + range.len() / 2] ^= 0x10;
}

fn zero(data: &mut [u8], at: usize, length: usize) {
    data[at..at + length].fill(0);
}

/// Copies a page over another page, but keeps the page number.
fn copy_page(data: &mut [u8], from: usize, to: usize) {
    data.copy_within(from..from + PAGE, to);
    data[to..to + 8].copy_from_slice(&((to / PAGE) as u64).to_le_bytes());
}

/// Exchanges two pages of a table.
fn exchange(data: &mut [u8], [a, b]: [usize; 2]) {
    let first = data[a * PAGE..(a + 1) * PAGE].to_vec();
    copy_page(data, b * PAGE, a * PAGE);
    data[b * PAGE + 8..(b + 1) * PAGE].copy_from_slice(&first[8..]);
}

fn write_word(data: &mut [u8], at: usize, number: usize) {
    data[at..at + 8].copy_from_slice(&(number as u64).to_le_bytes());
}

/// Replaces the format version everywhere in the file, because pages of earlier generations also contain it.
fn set_version(data: &mut [u8], mark: &[u8; 10]) {
    for at in 0..data.len() - mark.len() {
        if data[at..].starts_with(b"aurora") && data[at + 7..at + 10] == [0; 3] {
            data[at..at + mark.len()].copy_from_slice(mark);
        }
    }
}

#[test]
fn files_of_another_length_are_detected() {
    examine_all(&[
        ("empty", Missing, |data, _| data.clear()),
        ("one byte", Missing, |data, _| data.truncate(1)),
        ("cut in the first meta page", Anew, |data, _| data.truncate(100)),
        ("cut after the first meta page", Anew, |data, _| data.truncate(PAGE)),
        ("cut after the meta pages", Anew, |data, _| data.truncate(2 * PAGE)),
        ("cut at the border of a page", Anew, |data, _| data.truncate(data.len() / 2 / PAGE * PAGE)),
        ("cut within a page", Anew, |data, _| data.truncate(data.len() / 2 / PAGE * PAGE + 1234)),
        ("zeros after the end", Harmless, |data, _| data.resize(data.len() + PAGE, 0)),
        ("rubbish after the end", Harmless, |data, _| data.extend([0xa5; 5000])),
    ]);
}

#[test]
fn files_of_another_format_are_detected() {
    examine_all(&[
        ("all zeros", Refused, |data, _| data.fill(0)),
        ("all ones", Refused, |data, _| data.fill(0xff)),
        ("a text file", Refused, |data, _| *data = b"not a database ".repeat(1000)),
        ("another database", Refused, |data, _| {
            let length = data.len();
            *data = b"SQLite format 3\0".to_vec();
            data.resize(length, 0x20);
        }),
        ("a compressed file", Refused, |data, _| data[..4].copy_from_slice(&[0x1f, 0x8b, 8, 0])),
        ("another program's LMDB file", Refused, |data, _| set_version(data, b"others\x03\0\0\0")),
        ("an older format", Anew, |data, _| set_version(data, b"aurora\x02\0\0\0")),
        ("a newer format", Anew, |data, _| set_version(data, b"aurora\x63\0\0\0")),
    ]);
}

#[test]
fn damaged_meta_pages_are_detected() {
    examine_all(&[
        ("the first meta page zeroed", Refused, |data, _| zero(data, 0, PAGE)),
        ("the second meta page zeroed", Refused, |data, _| zero(data, PAGE, PAGE)),
        ("both meta pages zeroed", Refused, |data, _| zero(data, 0, 2 * PAGE)),
        ("the head of the file zeroed", Refused, |data, _| zero(data, 0, 16)),
        ("the meta pages exchanged", Refused, |data, _| {
            let first = data[16..PAGE].to_vec();
            data.copy_within(PAGE + 16..2 * PAGE, 16);
            data[PAGE + 16..2 * PAGE].copy_from_slice(&first);
        }),
        ("the newest meta page torn", Anew, |data, layout| {
            let other = PAGE - layout.meta;
            // Only the second half of the page was written.
            data.copy_within(other + 88..other + LAST_PAGE, layout.meta + 88);
        }),
        ("a magic number changed", Refused, |data, layout| data[layout.meta + 16] ^= 1),
        ("a data version changed", Refused, |data, layout| data[layout.meta + 20] = 2),
        ("the page size changed", Refused, |data, layout| data[layout.meta + 41] ^= 0x30),
        ("the transaction of an earlier day", Refused, |data, layout| data[layout.meta + TRANSACTION] ^= 4),
        ("a last page beyond the file", Anew, |data, layout| data[layout.meta + LAST_PAGE + 2] = 1),
        ("a last page within the file", Anew, |data, layout| write_word(data, layout.meta + LAST_PAGE, 9)),
        ("the root of tables elsewhere", Anew, |data, layout| write_word(data, layout.main.record + ROOT, 1 << 40)),
        ("the root of tables lost", Anew, |data, layout| write_word(data, layout.main.record + ROOT, usize::MAX)),
        ("the depth of the tree of tables", Anew, |data, layout| data[layout.main.record + DEPTH] += 1),
    ]);
}

#[test]
fn damaged_trees_are_detected() {
    examine_all(&[
        ("the page of tables zeroed", Anew, |data, layout| zero(data, layout.main.root(), PAGE)),
        ("the head of the page of tables", Anew, |data, layout| data[layout.main.root() + 12] ^= 0x40),
        ("a table misnamed", Refused, |data, layout| {
            let page = layout.main.root();
            let name = (page..page + PAGE).find(|&at| data[at..].starts_with(b"chunks"));
            data[name.expect("the page contains the name")] = b'C';
        }),
        ("the list of free pages", Forced, |data, layout| flip(data, layout.free.value())),
        ("the root of free pages", Forced, |data, layout| zero(data, layout.free.root(), 64)),
        ("fewer chunks than were counted", Forced, |data, layout| data[layout.table("chunks").record + ENTRIES] -= 1),
        ("fewer files than were counted", Anew, |data, layout| data[layout.table("files").record + ENTRIES] -= 1),
        ("another table's root", Anew, |data, layout| {
            write_word(data, layout.table("files").record + ROOT, layout.table("chunks").pages[0]);
        }),
        ("keywords with another table's root", Keywords, |data, layout| {
            write_word(data, layout.table("dict").record + ROOT, layout.table("chunks").pages[0]);
        }),
        ("a tree that contains itself", Forced, |data, layout| {
            let chunks = layout.table("chunks");
            let (root, leaf) = (chunks.pages[0], chunks.leaves[1]);
            data.copy_within(root * PAGE + 8..(root + 1) * PAGE, leaf * PAGE + 8);
        }),
    ]);
}

#[test]
fn damaged_tables_are_detected() {
    examine_all(&[
        ("a bit of the manifest", Anew, |data, layout| flip(data, layout.table("meta").value())),
        ("a bit of a chunk", Forced, |data, layout| flip(data, layout.table("chunks").value())),
        ("a bit of the representation of a file", Forced, |data, layout| flip(data, layout.table("represent").value())),
        ("a bit of a source record", Forced, |data, layout| flip(data, layout.table("sources").value())),
        ("a bit of a block of contents", Forced, |data, layout| flip(data, layout.table("content").value())),
        ("a bit of a file's row", Anew, |data, layout| flip(data, layout.table("files").value())),
        ("a bit of the dictionary", Keywords, |data, layout| flip(data, layout.table("dict").value())),
        ("a bit of the postings", Keywords, |data, layout| flip(data, layout.table("post").value())),
        ("a bit of the field lengths", Keywords, |data, layout| flip(data, layout.table("lengths").value())),
        ("a bit of the codes", Forced, |data, layout| flip(data, layout.table("codes").value())),
        ("a bit of a vector", Forced, |data, layout| {
            let rows = layout.table("vectors").value();
            flip(data, rows.start..rows.start + 400);
        }),
        ("a page of chunks zeroed", Forced, |data, layout| zero(data, layout.table("chunks").leaves[1] * PAGE, PAGE)),
        ("a page of files zeroed", Anew, |data, layout| zero(data, layout.table("files").leaves[1] * PAGE, PAGE)),
        ("the dictionary zeroed", Keywords, |data, layout| zero(data, layout.table("dict").root(), PAGE)),
        ("the head of the postings zeroed", Keywords, |data, layout| zero(data, layout.table("post").root(), 16)),
        ("the lengths zeroed", Keywords, |data, layout| {
            let rows = layout.table("lengths").value();
            zero(data, rows.start, rows.len());
        }),
        ("a vector zeroed", Forced, |data, layout| zero(data, layout.table("vectors").value().start, 256)),
    ]);
}

#[test]
fn misplaced_pages_are_detected() {
    examine_all(&[
        ("two pages of chunks exchanged", Forced, |data, layout| {
            let leaves = &layout.table("chunks").leaves;
            exchange(data, [leaves[0], leaves[1]]);
        }),
        ("a page of chunks twice", Forced, |data, layout| {
            let leaves = &layout.table("chunks").leaves;
            copy_page(data, leaves[0] * PAGE, leaves[1] * PAGE);
        }),
        ("two pages of files exchanged", Anew, |data, layout| {
            let leaves = &layout.table("files").leaves;
            exchange(data, [leaves[0], leaves[1]]);
        }),
        ("a page of files in the dictionary", Keywords, |data, layout| {
            copy_page(data, layout.table("files").leaves[0] * PAGE, layout.table("dict").leaves[0] * PAGE);
        }),
        ("a page with another's number", Keywords, |data, layout| {
            let page = layout.table("dict").leaves[0];
            write_word(data, page * PAGE, page + 1);
        }),
        ("a sector of zeros in every page", Anew, |data, _| {
            data.chunks_mut(PAGE).skip(2).for_each(|page| page[3072..3584].fill(0));
        }),
        ("every byte after the meta pages lost", Anew, |data, _| data[2 * PAGE..].fill(0)),
        ("an earlier length", Anew, |data, layout| {
            let pages = word(data, layout.meta + LAST_PAGE);
            data.truncate((pages - 2) * PAGE);
        }),
    ]);
}
