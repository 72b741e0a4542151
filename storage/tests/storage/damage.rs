//! Truncated and changed files result in errors, never in a crash or a wrong answer.

use std::fs;
use std::path::Path;

use aurora_inverted::frequency_bound;
use aurora_storage::{ChunkId, Environment, Field, Label, OpenMode, StorageError, Threads, Walk, WriterOptions};

use heed::types::Bytes;
use heed::{CommitOrAbort, EnvOpenOptions};

use crate::repository::{DIMENSIONS, directory, open, piece, replace, synthetic, update, write};

/// The answers to all queries to an index.
type Answers = Vec<Result<String, StorageError>>;

/// Returns the data file of an index with two generations, and its answers.
fn valid_index() -> (Vec<u8>, Answers) {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(30, 10, 0), 64 << 20);
    write(&environment, &synthetic(10, 10, 3), 64 << 20);
    drop(environment);
    let answers = run_queries(directory.path());
    assert!(answers.iter().all(Result::is_ok));
    (fs::read(directory.path().join("index/data.mdb")).expect("the file can be read"), answers)
}

/// Runs all queries.
fn run_queries(directory: &Path) -> Answers {
    let snapshot = match Environment::open(directory, OpenMode::Existing).and_then(|open| open.snapshot()) {
        Ok(snapshot) => snapshot,
        Err(error) => return vec![Err(error)],
    };
    let snapshot = &snapshot;
    let mut answers: Answers = ["common", "term7", "term8", "missing"]
        .map(|term| {
            let postings = snapshot.postings(term)?;
            let rows = postings.to_vec();
            let bounds = postings.windows(|impact| {
                let body = impact.body.iter().map(|[step, _]| f32::from(frequency_bound(*step)));
                body.sum::<f32>()
                    + impact
                        .other_fields
                        .into_iter()
                        .flatten()
                        .map(|[code, _]| f32::from(frequency_bound(*code)))
                        .sum::<f32>()
            });
            Ok(format!("{rows:?} {bounds:?} {:?}", snapshot.doc_frequency(term)?))
        })
        .into();
    let show = |error| Err::<String, StorageError>(error);
    answers.push(snapshot.label(Label::Language("py")).map(|chunks| format!("{chunks:?}")));
    answers.push(snapshot.files().collect::<Result<Vec<_>, _>>().map(|rows| format!("{rows:?}")));
    answers.push(snapshot.file("src/file_003.py").map(|row| format!("{row:?}")));
    answers.push(snapshot.terms_with_prefix("term").collect::<Result<Vec<_>, _>>().map(|terms| format!("{terms:?}")));
    let mut walked = Vec::new();
    let walk = snapshot.walk_terms("term", &mut |term| {
        walked.push(String::from_utf8_lossy(term).into_owned());
        if walked.len() % 3 == 0 { Walk::SkipPrefix(5) } else { Walk::Next }
    });
    answers.push(walk.map(|()| format!("{walked:?}")));
    for id in snapshot.live().iter().map(ChunkId) {
        answers.push(match (snapshot.whole_chunk(id), snapshot.vector(id), snapshot.field_lengths(id)) {
            (Ok(chunk), Ok(vector), Ok(lengths)) => Ok(format!("{:?} {vector:?} {lengths:?}", chunk)),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => show(error),
        });
    }
    let near = snapshot.nearest(&[1.0; DIMENSIONS], 10, None, Threads::All);
    answers.push(near.map(|near| format!("{near:?}")));
    answers.push(
        snapshot
            .chunk_by_key("code:src/file_001.py:function_11#1")
            .map(|found| format!("{:?}", found.map(|found| found.0))),
    );
    answers.push(snapshot.digest());
    answers
}

/// Writes a data file to the path of an index's data file.
pub(crate) fn write_data_file(directory: &Path, data: &[u8]) {
    fs::create_dir_all(directory.join("index")).expect("the directory can be created");
    fs::write(directory.join("index/data.mdb"), data).expect("the file can be written");
}

#[test]
fn truncated_files_are_recognised() {
    let (data, answers) = valid_index();
    let directory = directory();
    let pages = (0..data.len()).step_by(4096);
    let lengths = pages.flat_map(|page| [page, page + 1, page + 2000]).chain([10, 100, 150]);
    let mut refused = 0;
    for length in lengths.filter(|&length| length < data.len()) {
        write_data_file(directory.path(), &data[..length]);
        match run_queries(directory.path()).as_slice() {
            // The first ten bytes of any file are zero.
            [Err(StorageError::NoIndex { .. })] if length <= 10 => {}
            [Err(error)] => {
                assert!(matches!(error, StorageError::Truncated { .. }), "at {length}: {error}");
                refused += 1;
            }
            // Only free pages were lost.
            found => assert_eq!(wrong_answers(found, &answers), [] as [usize; 0], "{length}"),
        }
    }
    assert!(refused > 50);
}

/// Returns the data file of an index with segments of several generations, deleted chunks, and rows of a writer that
/// never published.
fn worn() -> Vec<u8> {
    let directory = directory();
    let environment = open(directory.path());
    write(&environment, &synthetic(30, 10, 0), 64 << 20);
    write(&environment, &synthetic(10, 10, 3), 64 << 20);
    let options = WriterOptions { memory: 1 << 18, ..WriterOptions::default() };
    let writer = environment.writer(options).expect("there is no other writer");
    for (path, pieces) in &synthetic(40, 20, 7) {
        replace(&writer, path, pieces).expect("the file can be replaced");
    }
    drop((writer, environment));
    fs::read(directory.path().join("index/data.mdb")).expect("the file can be read")
}

/// Returns every value of every table in a data file, as stored, with the name of its table; and the number of pages in
/// use.
pub(crate) fn values(data: &[u8]) -> (Vec<(&'static str, Vec<u8>)>, u64) {
    let directory = directory();
    write_data_file(directory.path(), data);
    let snapshot = Environment::open(directory.path(), OpenMode::Existing).and_then(|open| open.snapshot());
    let sizes = snapshot.and_then(|snapshot| snapshot.table_sizes()).expect("the index is valid");
    // SAFETY: no other handle has this file open.
    let lmdb = unsafe { EnvOpenOptions::new().max_dbs(16).map_size(1 << 26).open(directory.path().join("index")) };
    let lmdb = lmdb.expect("the environment can be opened");
    let transaction = lmdb.write_txn().expect("the transaction can begin");
    let read = lmdb.create_databases_and_commit(transaction, |opener, transaction| {
        let mut found = Vec::new();
        for size in &sizes {
            let table: Option<heed::Database<'_, Bytes, Bytes>> = opener.open_database(transaction, Some(size.name))?;
            for entry in table.expect("the table exists").iter(transaction)? {
                found.push((size.name, entry?.1.to_vec()));
            }
        }
        Ok::<_, heed::Error>(CommitOrAbort::<heed::Database<'_, Bytes, Bytes>, _>::Abort(found))
    });
    lmdb.prepare_for_closing().wait();
    let CommitOrAbort::Abort(found) = read.expect("the tables can be read") else {
        unreachable!("nothing was committed")
    };
    // In addition, at least one page has the names of the tables.
    (found, sizes.iter().map(|size| size.bytes / 4096).sum::<u64>() + 1)
}

/// Whether a verification, or opening the index, finds damage in a data file.
fn is_found(directory: &Path, data: &[u8]) -> bool {
    let _ = fs::remove_dir_all(directory.join("index"));
    write_data_file(directory, data);
    let opened = Environment::open(directory, OpenMode::Existing).and_then(|open| open.snapshot());
    opened.map_or(true, |snapshot| !snapshot.verify().is_ok())
}

#[test]
fn verification_finds_a_changed_byte_in_any_value() {
    let data = worn();
    let (values, _) = values(&data);
    let directory = directory();
    assert!(!is_found(directory.path(), &data), "the file is valid");
    let mut tables = std::collections::BTreeSet::new();
    let mut missed = Vec::new();
    for (table, value) in values.iter().filter(|(_, value)| value.len() > 16) {
        tables.insert(*table);
        let mut damaged = data.clone();
        // A page that is now free may have the same value. Changing both does no harm.
        let starts = (0..data.len() - value.len()).filter(|&start| data[start..].starts_with(value));
        starts.for_each(|start| damaged[start + value.len() / 2] ^= 0x10);
        assert_ne!(damaged, data, "the file contains a value of {table}");
        if !is_found(directory.path(), &damaged) {
            missed.push(format!("{} bytes of {table}", value.len()));
        }
    }
    assert!(missed.is_empty(), "{} of {} values: {missed:?}", missed.len(), values.len());
    assert!(tables.len() >= 9, "{tables:?}");
}

#[test]
fn verification_finds_every_page_in_use_that_was_overwritten() {
    let data = worn();
    let (_, in_use) = values(&data);
    let pages = data.len() / 4096;
    let directory = directory();
    let is_missed = |page: &usize| {
        let mut damaged = data.clone();
        damaged[page * 4096..][..4096].iter_mut().for_each(|byte| *byte = !*byte);
        !is_found(directory.path(), &damaged)
    };
    let missed: Vec<usize> = (2..pages).filter(is_missed).collect();
    // All other pages are free and have no content.
    assert!(missed.len() as u64 + in_use + 2 <= pages as u64, "{missed:?} of {pages}, {in_use} in use");
    assert!(in_use > 30, "{in_use}");
}

/// Returns the positions of the wrong answers, which are neither errors nor correct.
fn wrong_answers(found: &[Result<String, StorageError>], right: &Answers) -> Vec<usize> {
    let wrong = |at: &usize| match (&found[*at], right.get(*at)) {
        (Ok(found), Some(Ok(right))) => found != right,
        (Ok(_), _) => true,
        (Err(_), _) => false,
    };
    (0..found.len()).filter(wrong).collect()
}

/// Every answer of a damaged index is correct or an error, regardless of the damage.
#[test]
fn damage_never_yields_a_wrong_answer() {
    let (data, answers) = valid_index();
    let mut random = generator();
    let directory = directory();
    let (mut noticed, rounds) = (0, 300);
    for round in 0..rounds {
        let mut damaged = data.clone();
        // Some rounds target page headers, which contain the structure of the file, and some target the meta pages.
        let near = if round % 3 == 1 { 64 } else { 4096 };
        let (pages, near) = if round % 5 == 0 { (2, 160) } else { (damaged.len() / 4096, near) };
        let mut position = || random(pages) * 4096 + random(near);
        match round % 6 {
            0..=2 => (0..=round % 3).for_each(|_| damaged[position()] ^= 1 << (round % 8)),
            3 => damaged[position()] = 0,
            4 => {
                let at = position() / 512 * 512;
                damaged[at..at + 512].fill(if round % 4 == 0 { 0xff } else { 0 });
            }
            _ => {
                let (from, to) = (2 + random(pages.max(3) - 2), 2 + random(pages.max(3) - 2));
                damaged.copy_within(from * 4096..(from + 1) * 4096, to * 4096);
            }
        }
        write_data_file(directory.path(), &damaged);
        let found = run_queries(directory.path());
        let wrong = wrong_answers(&found, &answers);
        assert!(wrong.is_empty(), "round {round}: {wrong:?} {:?}", found[wrong[0]]);
        noticed += usize::from(found.iter().any(Result::is_err));
        if let Ok(snapshot) = Environment::open(directory.path(), OpenMode::Existing).and_then(|open| open.snapshot()) {
            let is_ok = snapshot.verify().is_ok();
            assert!(!is_ok || found.iter().all(Result::is_ok), "round {round}: verified, but {found:?}");
        }
        write_to(directory.path());
    }
    assert!(noticed > rounds / 4, "{noticed}");
}

/// SplitMix64 with a fixed seed. Returns numbers below a bound.
pub(crate) fn generator() -> impl FnMut(usize) -> usize {
    let mut state = 7u64;
    move |below| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) as usize % below
    }
}

/// Writes to a damaged file. The writer returns an error or succeeds.
fn write_to(directory: &Path) {
    let write = || -> Result<(), StorageError> {
        let environment = Environment::open(directory, OpenMode::Existing)?;
        let writer = environment.writer(WriterOptions::default())?;
        writer.remove_file("src/file_004.py")?;
        replace(&writer, "src/file_005.py", &[piece("new", &[(Field::Body, "common")])])?;
        writer.publish(update()).map(drop)
    };
    let _ = write();
}
