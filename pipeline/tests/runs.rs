//! Guarantees of a run: the same sequence of batches for any number of threads, bounded memory, and termination in
//! every case.

mod made;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

use aurora_pipeline::{CancelToken, Observer, Outcome, Progress, RunError, RunOptions, RunReport};
use made::{Log, pipeline};
use proptest::prelude::*;

/// Runs a pipeline on a separate thread, so that a deadlock fails the test instead of hanging it.
fn run(text: &str, jobs: usize, cancel: CancelToken) -> (Result<RunReport, RunError>, Arc<Log>) {
    let (pipeline, log) = pipeline(text);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let result = pipeline.run(RunOptions { jobs: Some(jobs), cancel, ..RunOptions::default() });
        sender.send(result).ok();
    });
    let result = receiver.recv_timeout(Duration::from_secs(120)).expect("the run comes to an end");
    (result, log)
}

fn completed(text: &str, jobs: usize) -> (RunReport, Vec<(String, String)>) {
    let (result, log) = run(text, jobs, CancelToken::new());
    let report = result.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(report.outcome, Outcome::Completed);
    let mut seen = log.seen.lock().expect("no panic while locked").clone();
    // Two sinks of the same step write to one log, so only the order within each sink is defined.
    seen.sort_by(|a, b| a.0.cmp(&b.0));
    (report, seen)
}

/// A random plan. Every stage reads some columns of earlier stages and writes a new column.
#[derive(Clone, Debug)]
struct Drawn {
    files: usize,
    batch_files: usize,
    queue: usize,
    memory: usize,
    stages: Vec<DrawnStage>,
}

#[derive(Clone, Debug)]
struct DrawnStage {
    reads: Vec<prop::sample::Index>,
    shape: u8,
    after_previous: bool,
}

impl Drawn {
    fn toml(&self) -> String {
        let Self { files, batch_files, queue, memory, .. } = self;
        let mut text = format!(
            "[run]\nbatch_files = {batch_files}\nqueue_batches = {queue}\nmemory = {memory}\n\
             [stage.s]\nuse = 'mixer'\nkind = 'source'\nfiles = {files}\nwrites = ['file.id']\npayload = 40\n"
        );
        let mut columns = vec!["file.id".to_owned()];
        let mut chunked = false;
        let mut previous = "s".to_owned();
        for (number, stage) in self.stages.iter().enumerate() {
            let mut reads: Vec<&String> = stage.reads.iter().map(|index| index.get(&columns)).collect();
            reads.sort();
            reads.dedup();
            let reads: Vec<String> = reads.into_iter().cloned().collect();
            let mut writes = vec![format!("file.c{number}")];
            let mut more = String::new();
            match stage.shape {
                0 => more = format!("drop_every = {}\n", number + 2),
                1 if !chunked => {
                    chunked = true;
                    writes.push(format!("chunk.c{number}"));
                    more = "chunks = 3\n".to_owned();
                }
                2 => more = "kind = 'sink'\n".to_owned(),
                3 if chunked => writes.push(format!("chunk.c{number}")),
                4 => more = "nap = 200\n".to_owned(),
                5 => more = "workers = 2\n".to_owned(),
                6 => more = "kind = 'sink'\nparallel = true\nnap = 200\n".to_owned(),
                _ => {}
            }
            // Stages that drop or add rows are ordered explicitly, because the rows depend on their order.
            let after = if stage.after_previous || stage.shape < 2 {
                format!("after = ['{previous}']\n")
            } else {
                String::new()
            };
            text.push_str(&format!(
                "[stage.m{number}]\nuse = 'mixer'\nreads = {reads:?}\nwrites = {writes:?}\n{more}{after}"
            ));
            columns.append(&mut writes);
            previous = format!("m{number}");
        }
        text.push_str(&format!("[stage.z]\nuse = 'mixer'\nkind = 'sink'\nreads = {columns:?}\n"));
        text
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let stage = (prop::collection::vec(any::<prop::sample::Index>(), 1..4), 0u8..9, any::<bool>())
        .prop_map(|(reads, shape, after_previous)| DrawnStage { reads, shape, after_previous });
    (0usize..120, 1usize..16, 1usize..4, 200usize..40_000, prop::collection::vec(stage, 0..7))
        .prop_map(|(files, batch_files, queue, memory, stages)| Drawn { files, batch_files, queue, memory, stages })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_worker_and_many_give_the_same_sequence(drawn in drawn(), jobs in 2usize..6) {
        let text = drawn.toml();
        let (serial, expected) = completed(&text, 1);
        let (parallel, seen) = completed(&text, jobs);
        prop_assert_eq!(seen, expected, "{}", text);
        prop_assert_eq!(parallel.files, drawn.files as u64);
        prop_assert_eq!((serial.files, serial.chunks, serial.counters), (parallel.files, parallel.chunks, parallel.counters));
    }

    #[test]
    fn an_error_or_panic_in_any_stage_ends_the_run_and_names_the_stage(
        drawn in drawn(),
        at in 0usize..150,
        panics in any::<bool>(),
        victim in any::<prop::sample::Index>(),
        jobs in 1usize..5,
    ) {
        let names: Vec<String> =
            (0..drawn.stages.len()).map(|number| format!("m{number}")).chain(["s".to_owned(), "z".to_owned()]).collect();
        let victim = victim.get(&names);
        let trouble = if panics { "panic" } else { "error" };
        let header = format!("[stage.{victim}]\n");
        let text = drawn.toml().replace(&header, &format!("{header}trouble = '{trouble}'\nat = {at}\n"));
        let (result, log) = run(&text, jobs, CancelToken::new());
        match result {
            Ok(_) => prop_assert!(log.closed.lock().expect("no panic while locked").contains(victim)),
            Err(error) => {
                prop_assert_eq!(error.stage(), victim.as_str());
                prop_assert!(error.to_string().contains(&format!("row {at} is cursed")), "{}", error);
                let closed = log.closed.lock().expect("no panic while locked");
                prop_assert!(!closed.contains(victim));
                prop_assert!(!closed.contains(&"z".to_owned()), "the last stage comes after the failed stage");
            }
        }
    }
}

const LINE: &str = "[stage.s]\nuse = 'mixer'\nkind = 'source'\nwrites = ['file.id']\nfiles = 400\n\
    [stage.m]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['file.m']\n\
    [stage.z]\nuse = 'mixer'\nkind = 'sink'\nreads = ['file.id', 'file.m']\n";

#[test]
fn the_memory_budget_limits_the_batches_in_flight() {
    // The source declares an expected size of 10 × 1000 bytes for each batch, so four batches fit into the budget.
    let text = format!("[run]\nbatch_files = 10\nmemory = 40000\nqueue_batches = 50\n{LINE}")
        .replace("files = 400", "files = 400\npayload = 1000");
    let (report, seen) = completed(&text, 4);
    assert_eq!(seen.len(), 400);
    assert_eq!(report.memory_limit, 40_000);
    assert!((10_000..=40_000).contains(&report.memory_peak), "{}", report.memory_peak);
}

#[test]
fn a_batch_larger_than_the_memory_budget_is_alone_in_flight() {
    let text =
        format!("[run]\nbatch_files = 10\nmemory = 100\n{LINE}").replace("files = 400", "files = 400\npayload = 1000");
    let (report, seen) = completed(&text, 4);
    assert_eq!((seen.len(), report.memory_peak), (400, 10_000));
}

/// Cancels a run once the given number of files is done.
struct CancelAt(CancelToken, u64);

impl Observer for CancelAt {
    fn on_progress(&self, progress: &Progress) {
        if progress.files_done >= self.1 {
            self.0.cancel();
        }
    }
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_millis(1))
    }
}

#[test]
fn a_transform_may_drop_its_batches_when_the_run_is_stopping() {
    // The stages `a` and `b` share a step; `c` is in the next step.
    let text = "[run]\nbatch_files = 1\nqueue_batches = 50\n[stage.s]\nuse = 'mixer'\nkind = 'source'\nfiles = 100000000\nwrites = ['file.id']\n\
        [stage.a]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['file.a']\ntrouble = 'give up'\n\
        [stage.b]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['file.b']\n\
        [stage.c]\nuse = 'mixer'\nreads = ['file.a', 'file.b']\nwrites = ['file.c']\ntrouble = 'give up'\n\
        [stage.z]\nuse = 'mixer'\nkind = 'sink'\nreads = ['file.id', 'file.c']\n";
    let (pipeline, log) = pipeline(text);
    let cancel = CancelToken::new();
    let observer = CancelAt(cancel.clone(), 200);
    let report = pipeline
        .run(RunOptions { jobs: Some(2), cancel, observer: &observer, ..RunOptions::default() })
        .expect("a cancelled run is not a failure");
    assert_eq!((report.outcome, report.memory_peak > 0), (Outcome::Cancelled, true));
    let seen = log.seen.lock().expect("no panic while locked");
    let emitted = log.emitted.load(Ordering::Relaxed);
    assert!((200..=emitted).contains(&seen.len()), "{} of {emitted}", seen.len());
    let mut closed = log.closed.lock().expect("no panic while locked").clone();
    closed.sort();
    assert_eq!(closed, ["a", "b", "c", "s", "z"]);
}

#[test]
fn a_cancelled_run_finishes_the_batches_in_flight_and_closes_all_stages() {
    let text = format!("[run]\nbatch_files = 1\nmemory = 20000\n{LINE}").replace("files = 400", "files = 100000000");
    let (pipeline, log) = pipeline(&text);
    let cancel = CancelToken::new();
    let observer = CancelAt(cancel.clone(), 5);
    let report = pipeline
        .run(RunOptions { jobs: Some(2), cancel, observer: &observer, ..RunOptions::default() })
        .expect("a cancelled run is not a failure");
    assert_eq!(report.outcome, Outcome::Cancelled);
    let seen = log.seen.lock().expect("no panic while locked");
    assert_eq!(seen.len(), log.emitted.load(Ordering::Relaxed), "the sink received every emitted batch");
    assert!(seen.len() < 100_000_000);
    assert_eq!(*log.closed.lock().expect("no panic while locked"), ["s", "m", "z"]);
}

#[test]
fn a_run_cancelled_before_it_begins_does_nothing_and_ends() {
    let cancel = CancelToken::new();
    cancel.cancel();
    let (result, log) = run(LINE, 2, cancel);
    assert_eq!(result.expect("no failure").outcome, Outcome::Cancelled);
    assert!(log.seen.lock().expect("no panic while locked").is_empty());
    assert_eq!(log.closed.lock().expect("no panic while locked").len(), 3);
}

#[test]
fn an_error_while_closing_keeps_later_stages_from_closing() {
    let text = LINE.replace("[stage.m]\n", "[stage.m]\ntrouble = 'close'\n");
    let (result, log) = run(&text, 2, CancelToken::new());
    assert_eq!(result.expect_err("m cannot close").to_string(), "stage `m` failed: cannot close");
    assert_eq!(*log.closed.lock().expect("no panic while locked"), ["s"]);
}

#[test]
fn batches_emitted_on_close_come_last_and_pass_through_later_stages() {
    let text = "[run]\nbatch_files = 3\nmemory = 300\n\
        [stage.s]\nuse = 'mixer'\nkind = 'source'\nwrites = ['file.id']\nfiles = 20\n\
        [stage.check]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['file.id']\nlate = 4\n\
        [stage.keep]\nuse = 'mixer'\nkind = 'sink'\nreads = ['file.id']\n";
    let (report, seen) = completed(text, 3);
    let last: Vec<&str> = seen[20..].iter().map(|(_, row)| row.as_str()).collect();
    assert_eq!(last, ["-1", "-2", "-3", "-4"]);
    assert_eq!(report.files, 24);
}

#[test]
fn custom_columns_are_kept_until_the_last_stage_that_reads_all_custom_columns() {
    let text = "[stage.s]\nuse = 'mixer'\nkind = 'source'\nwrites = ['file.id']\nfiles = 2\n\
        [stage.cut]\nuse = 'mixer'\nreads = ['file.id']\nchunks = 3\n\
        [stage.owners]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['chunk.owner', 'file.team']\n\
        [stage.other]\nuse = 'mixer'\nreads = ['file.team']\nwrites = ['file.other']\n\
        [stage.keep]\nuse = 'mixer'\nkind = 'sink'\nall = true\nafter = ['other']\n";
    let (_, seen) = completed(text, 2);
    let seen: Vec<&str> = seen.iter().map(|(_, row)| row.as_str()).filter(|row| !row.is_empty()).collect();
    assert_eq!(seen, ["File id 2", "File other 2", "File team 2", "Chunk owner 5"]);
}

#[test]
fn batches_emitted_on_close_must_have_the_columns_that_later_stages_read() {
    let text = "[stage.s]\nuse = 'mixer'\nkind = 'source'\nwrites = ['file.id']\nfiles = 2\n\
        [stage.check]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['file.other']\nlate = 1\n\
        [stage.keep]\nuse = 'mixer'\nkind = 'sink'\nreads = ['file.id', 'file.other']\n";
    let (result, _) = run(text, 1, CancelToken::new());
    let error = result.expect_err("`file.id` is missing").to_string();
    assert_eq!(
        error,
        "stage `check` failed: stage `check` declares that it writes column `file.id`, but did not write it"
    );
}

#[test]
fn the_report_counts_rows_and_names_the_bottleneck() {
    let text = LINE.replace("[stage.m]\n", "[stage.m]\nnap = 5000\nworkers = 1\n");
    let (report, _) = completed(&format!("[run]\nbatch_files = 20\n{text}"), 1);
    assert_eq!(report.bottleneck.as_deref(), Some("m"));
    let stage = |name: &str| report.stages.iter().find(|stage| stage.name == name).expect("in the plan");
    assert_eq!((stage("m").batches, stage("m").files_in, stage("z").files_in), (20, 400, 400));
    assert!(stage("z").input_empty > Duration::ZERO, "the sink waits for the slow stage");
    assert!(stage("s").output_full > Duration::ZERO, "the source waits for room in the queue");
    let json = serde_json::to_value(&report).expect("serializes");
    assert_eq!((&json["outcome"], &json["files"]), (&"completed".into(), &400.into()));
    assert!(json["stages"][0]["busy"].is_f64());
}

#[test]
fn fingerprints_carry_the_names_of_the_stages() {
    let (pipeline, _) = pipeline(&LINE.replace("[stage.m]\n", "[stage.m]\nlabel = 'a;b'\n"));
    let prints: Vec<String> = pipeline.fingerprints().iter().map(ToString::to_string).collect();
    assert_eq!(prints, ["s v1 use=mixer;label=;", "m v1 use=mixer;label=a\\;b;", "z v1 use=mixer;label=;"]);
}

#[test]
fn batches_do_not_all_grow_while_the_memory_budget_is_exceeded() {
    // A hundred batches that each grow to several tens of kilobytes, and a slow sink.
    let text = "[run]\nbatch_files = 20\nmemory = 20000\nqueue_batches = 500\n\
        [stage.s]\nuse = 'mixer'\nkind = 'source'\nfiles = 2000\nwrites = ['file.id']\n\
        [stage.c]\nuse = 'mixer'\nreads = ['file.id']\nwrites = ['chunk.c']\nchunks = 400\n\
        [stage.z]\nuse = 'mixer'\nkind = 'sink'\nreads = ['file.id', 'chunk.c']\nnap = 1000\n";
    let (report, seen) = completed(text, 4);
    let (alone, expected) = completed(&text.replace("memory = 20000", "memory = 1"), 1);
    assert_eq!(seen, expected);
    assert!(alone.memory_peak > 20_000, "{}", alone.memory_peak);
    assert!(report.memory_peak < 20_000 + 8 * alone.memory_peak, "{} {}", report.memory_peak, alone.memory_peak);
}
