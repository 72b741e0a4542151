//! Mutations of single fields of the data file, tested through the commands. No command may crash, hang, or give a
//! wrong answer without a warning.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::UndamagedIndex;
use crate::fixture::Run;
use crate::mutation::{Mutation, Sites};
use crate::pages::{Layout, PAGE, word};

/// Environment variable with the number of mutated files to try.
const CORRUPTIONS: &str = "AURORA_CORRUPTIONS";
/// Environment variable with the first seed.
const FIRST: &str = "AURORA_SEED";
/// Time after which a command counts as hanging. It is long enough for any machine.
const TIME_LIMIT: Duration = Duration::from_secs(60);
const QUERIES: &str = "read the header of a token\nparse_token_7\nretry after a timeout\n";

/// An undamaged index of a project that has changed since the last run, so that the next run has to write.
struct Subject {
    undamaged: UndamagedIndex,
    /// The answers before the next run.
    before: String,
    /// The answers after the next run.
    after: String,
}

impl Subject {
    fn new() -> Self {
        let undamaged = UndamagedIndex::new();
        undamaged.fixture.write("m1/f1.go", "package main\n\n// Retry1 gives up after a timeout.\nfunc Retry1() {}\n");
        undamaged.fixture.remove("m2/f2.md");
        let mut subject = Self { undamaged, before: String::new(), after: String::new() };
        subject.before = answers(&subject.search("the undamaged index")).expect("the search succeeds");
        assert_eq!(subject.run("the undamaged index", &["mem", "index", "-q"]).code, Some(0));
        subject.after = answers(&subject.search("the next index")).expect("the search succeeds");
        subject
    }

    /// Replaces the data file of the index.
    fn write_data(&self, data: &[u8]) {
        self.undamaged.restore().write(".aurora/index/data.mdb", data);
    }

    /// Runs a command, and asserts that it does not hang, crash or panic.
    fn run(&self, what: &str, arguments: &[&str]) -> Run {
        self.limited(what, arguments, self.undamaged.fixture.command().args(arguments))
    }

    fn search(&self, what: &str) -> Run {
        let (queries, arguments) = ("queries", ["mem", "search", "--stdin", "--format", "jsonl", "--no-record"]);
        self.undamaged.fixture.write(queries, QUERIES);
        let input = fs::File::open(self.undamaged.fixture.path(queries)).expect("the file can be opened");
        self.undamaged.fixture.remove(queries);
        self.limited(what, &arguments, self.undamaged.fixture.command().args(arguments).stdin(input))
    }

    fn limited(&self, what: &str, arguments: &[&str], command: &mut Command) -> Run {
        let files = ["out", "err"].map(|name| self.undamaged.fixture.path(&format!(".home/{name}")));
        fs::create_dir_all(self.undamaged.fixture.path(".home")).expect("the directory can be created");
        let [out, err] = files.each_ref().map(|path| fs::File::create(path).expect("the file can be created"));
        let mut child = command.stdout(out).stderr(err).spawn().expect("the program starts");
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("the status of the process is available") {
                break status;
            }
            if start.elapsed() > TIME_LIMIT {
                child.kill().expect("the process can be killed");
                child.wait().expect("the program ends");
                panic!("{what}: {arguments:?} hangs");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let [out, err] =
            files.map(|path| String::from_utf8_lossy(&fs::read(path).expect("the file can be read")).into_owned());
        let run = Run { code: status.code(), out, err };
        assert!(matches!(run.code, Some(0..=2)), "{what}: {arguments:?} ends badly: {status} {run:?}");
        assert!(!run.err.contains("panicked"), "{what}: {arguments:?} panics: {run:?}");
        run
    }

    /// Asserts that a search gives the right answers or reports an error, and returns the outcome. If a value was
    /// changed together with its checksum, other answers are allowed.
    fn check(&self, mutation: &Mutation, right: &str) -> &'static str {
        let run = self.search(&mutation.what);
        match answers(&run) {
            Some(answers) if answers == right => "right",
            Some(_) if mutation.resealed => "resealed",
            Some(found) => {
                panic!("{}: a wrong answer without a warning:\n{found}\n{right}\n{}", mutation.what, run.err)
            }
            None => "reported",
        }
    }
}

/// Returns the answers of a search without values that depend on time, or `None` if the search reports an error.
fn answers(run: &Run) -> Option<String> {
    if run.code != Some(0) || !run.err.is_empty() {
        return None;
    }
    let mut all = String::new();
    for line in run.out.lines() {
        let mut found: serde_json::Value = serde_json::from_str(line).expect("the text is JSON");
        found.get("error").is_none().then_some(())?;
        for result in found["results"].as_array_mut().expect("the value is a list") {
            let result = result.as_object_mut().expect("the value is an object");
            // If the record of a file is damaged, it is unknown whether the file has changed.
            result.remove("changed_since_index");
            result.remove("file_state");
        }
        all += &format!("{} {} {}\n", found["results"], found["notes"], found["stages"]);
    }
    Some(all)
}

#[test]
fn commands_survive_mutations_of_the_data_file() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let first = number(FIRST).unwrap_or(0);
    let subject = Subject::new();
    let sites = Sites::from_data(&subject.undamaged.data);
    let mut outcomes = std::collections::BTreeMap::<String, u32>::new();
    for seed in first..first + number(CORRUPTIONS).unwrap_or(60) {
        let mut data = subject.undamaged.data.clone();
        let mutation = sites.mutate(&mut data, seed);
        let what = &mutation.what;
        subject.write_data(&data);
        let verified = subject.run(what, &["mem", "verify"]).code == Some(0);
        let searched = subject.check(&mutation, &subject.before);
        assert!(!verified || searched == "right" || mutation.resealed, "{what}: verified, but {searched}");
        let indexed = subject.run(what, &["mem", "index", "-q"]);
        let indexed = match indexed.code {
            Some(0) => subject.check(&mutation, &subject.after),
            _ => "refused",
        };
        subject.write_data(&data);
        assert_eq!(subject.run(what, &["mem", "index", "--force", "-q"]).code, Some(0), "{what}");
        let forced = subject.check(&mutation, &subject.after);
        assert!(forced == "right" || mutation.resealed, "{what}: --force has not repaired it: {forced}");
        let undamaged = subject.run(what, &["mem", "verify"]);
        assert!(undamaged.code == Some(0) || mutation.resealed, "{what}: {undamaged:?}");
        let word = if verified { "verified" } else { "noticed" };
        *outcomes.entry(format!("{word}, searched: {searched}, indexed: {indexed}")).or_default() += 1;
    }
    outcomes.iter().for_each(|(outcome, count)| eprintln!("{count:6} {outcome}"));
}

/// When LMDB removes a large value, it frees as many pages as the header of the first overflow page states. Without the
/// check, LMDB would write beyond its map if the upper half of this count is set. For a count of 2³¹ − 1, LMDB would
/// not return.
#[test]
fn a_count_of_overflow_pages_is_checked_before_lmdb_uses_it() {
    let subject = Subject::new();
    let layout = Layout::from_data(&subject.undamaged.data);
    let count_of = |value: usize| value / PAGE * PAGE + 12;
    let mut seen = 0;
    for table in ["meta", "chunks", "post", "vectors"] {
        let large = layout.table(table).values.iter().find(|value| value.start % PAGE == 16 && value.len() > PAGE / 2);
        let Some(at) = large.map(|value| count_of(value.start)) else { continue };
        let old = word(&subject.undamaged.data, at) as u32;
        for new in [old | 0xffff_0000, i32::MAX as u32, u32::MAX, old + 1, old - 1] {
            let what = format!("{new:#x} overflow pages in `{table}` instead of {old}");
            let mut data = subject.undamaged.data.clone();
            data[at..at + 4].copy_from_slice(&new.to_le_bytes());
            subject.write_data(&data);
            let verified = subject.run(&what, &["mem", "verify"]);
            assert_eq!(verified.code, Some(1), "{what}: {verified:?}");
            let indexed = subject.run(&what, &["mem", "index"]);
            let is_repaired = ["set aside and rebuilt", "rebuilt from"].iter().any(|text| indexed.out.contains(text));
            assert!(indexed.code == Some(0) && is_repaired, "{what}: {indexed:?}");
            assert_eq!(subject.run(&what, &["mem", "verify"]).code, Some(0), "{what}");
            subject.write_data(&data);
            assert_eq!(subject.run(&what, &["mem", "index", "--force"]).code, Some(0), "{what}");
            assert_eq!(subject.run(&what, &["mem", "verify"]).code, Some(0), "{what}");
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}
