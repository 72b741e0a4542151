//! A pipeline that consists of a source, the stage, and a sink.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aurora_pipeline::{
    Access, BatchView, BuildContext, Column, Emitter, Fingerprint, Pipeline, Registry, RunConfig, RunOptions, Services,
    Stage, StageContext, StagePart, ValueRef, Worker, producer,
};
use aurora_plugins::process::Process;
use aurora_plugins::trust::Consents;

use crate::corpus::Corpus;
use crate::measure::{Measured, measured};

const TEXT: Column<String> = Column::new("chunk.text");
const COPY: &str = "chunk.copy";

/// Sends the corpus through the given number of processes.
pub(crate) fn run(corpus: &Corpus, encoding: &str, workers: usize) -> Measured {
    let received = Arc::new(Received::default());
    let source = Source { batches: Mutex::new(corpus.batches.clone()) };
    let mut stage = stage(encoding);
    stage.workers = Some(workers);
    let parts = vec![
        StagePart::new("source", Access::source().writes([TEXT]), Box::new(source)),
        stage,
        StagePart::new(
            "sink",
            Access::sink().reads_optional([COPY]).after(["echo"]),
            Box::new(Sink(Arc::clone(&received))),
        ),
    ];
    let pipeline = Pipeline::assemble(RunConfig::default(), parts).expect("a pipeline");
    let options = RunOptions { jobs: Some(workers), ..RunOptions::default() };
    let mut report = None;
    let measured = measured(|| report = Some(pipeline.run(options).expect("the run completes")));
    let failures = report.map(|report| report.failures);
    assert_eq!(received.rows.load(Ordering::Relaxed), corpus.rows(), "every row has a value: {failures:?}");
    assert_eq!(received.bytes.load(Ordering::Relaxed), corpus.text_bytes(), "the values are the texts");
    measured
}

fn stage(encoding: &str) -> StagePart {
    let program = env!("CARGO_BIN_EXE_echo-stage");
    let config =
        format!("command = [{program:?}, {encoding:?}]\nreads = ['chunk.text']\nwrites = {{ copy = 'string' }}");
    let mut registry = Registry::new();
    registry.register::<Process>();
    let configured = registry.configure("process", &config).expect("a valid configuration");
    let access = configured.access();
    let mut services = Services::new();
    services.insert(Arc::new(Consents::everything()));
    let built = configured.build(&BuildContext { root: Path::new("."), services: &services });
    StagePart::new("echo", access, built.expect("a stage"))
}

struct Source {
    batches: Mutex<Vec<Vec<String>>>,
}

impl Stage for Source {
    fn open(&self) -> Box<dyn Worker + '_> {
        producer(|out: &mut Emitter<'_>, _: &StageContext<'_>| {
            for texts in std::mem::take(&mut *self.batches.lock().expect("one worker")) {
                let mut draft = out.batch(1);
                draft.add_chunks(vec![0; texts.len()])?;
                draft.write(TEXT, texts)?;
                out.emit(draft)?;
            }
            Ok(())
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new("source", 1)
    }
}

/// Numbers of rows and bytes that the sink has received.
#[derive(Default)]
struct Received {
    rows: AtomicUsize,
    bytes: AtomicUsize,
}

struct Sink(Arc<Received>);

impl Stage for Sink {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, _: &StageContext<'_>| {
            let values = batch.optional_values(COPY)?;
            let lengths = values.iter().flat_map(|values| values.iter()).filter_map(|value| match value {
                Some(ValueRef::String(text)) => Some(text.len()),
                _ => None,
            });
            let (rows, bytes) = lengths.fold((0, 0), |(rows, bytes), length| (rows + 1, bytes + length));
            self.0.rows.fetch_add(rows, Ordering::Relaxed);
            self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
            Ok(())
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new("sink", 1)
    }
}
