//! The probe that records the output of stages in a dry run.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aurora_pipeline::{Entity, Observer, Probe, Progress, Registry, StageEvent, StageOutput};
use aurora_redact::masked;

use super::trace::{ChunkRow, DroppedRow, FailedRows, StageTrace};
use crate::columns::display::{DisplayColumn, display_columns};
use crate::columns::{PATH, RECORD, Record, RelativePath};

/// A probe that records the output of all stages for one file.
pub(super) struct Recorder {
    path: RelativePath,
    registry: Arc<Registry>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    traces: BTreeMap<String, StageTrace>,
    /// The chunks of the file after the most recent stage.
    chunks: Vec<ChunkRow>,
    /// For each stage, the reasons for dropping chunks of the current batch, in row order.
    reasons: BTreeMap<String, Vec<String>>,
}

impl Recorder {
    pub(super) fn new(path: &str, registry: Arc<Registry>) -> Self {
        Self { path: path.into(), registry, seen: Mutex::default() }
    }

    /// Returns the traces of the stages with these names and types.
    pub(super) fn traces(&self, stages: Vec<(String, String)>, lines: &LogLines) -> Vec<StageTrace> {
        let mut seen = self.seen();
        let trace = |(stage, type_name): (String, String)| {
            let recorded = seen.traces.remove(&stage).unwrap_or_default();
            StageTrace { log: lines.take(&stage), stage, type_name, ..recorded }
        };
        stages.into_iter().map(trace).collect()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the row numbers of the file and of its chunks.
    fn rows(&self, output: &StageOutput<'_>) -> (Vec<usize>, Vec<usize>) {
        let paths = output.cells(PATH);
        let is_of_file = |row: &usize| paths.is_none_or(|paths| paths[*row] == self.path);
        let files: Vec<usize> = (0..output.files()).filter(is_of_file).collect();
        let owners = output.chunk_files().iter().enumerate();
        let chunks = owners.filter(|(_, file)| files.contains(&(**file as usize))).map(|(row, _)| row).collect();
        (files, chunks)
    }

    fn columns(&self, output: &StageOutput<'_>, files: &[usize], chunks: &[usize]) -> Vec<DisplayColumn> {
        let mut columns: Vec<DisplayColumn> = Vec::new();
        for name in output.written() {
            columns.extend(display_columns(output, name, &self.registry));
        }
        for column in &mut columns {
            let rows = if column.entity == Entity::File { files } else { chunks };
            column.values = rows.iter().filter_map(|row| column.values.get(*row).cloned()).collect();
        }
        columns
    }
}

impl Probe for Recorder {
    fn on_output(&self, stage: &str, output: &StageOutput<'_>) {
        let (files, chunks) = self.rows(output);
        let columns = self.columns(output, &files, &chunks);
        let mut seen = self.seen();
        let trace = seen.traces.entry(stage.to_owned()).or_default();
        trace.time += output.time();
        if files.is_empty() {
            return;
        }
        let reasons = seen.reasons.remove(stage).unwrap_or_default();
        let before = mem::take(&mut seen.chunks);
        let records = output.cells(RECORD).unwrap_or_default();
        let after: Vec<ChunkRow> = chunks.iter().filter_map(|row| records.get(*row)).map(chunk_row).collect();
        let dropped = before.into_iter().filter(|chunk| !after.iter().any(|kept| kept.key == chunk.key));
        let dropped = with_reasons(dropped.collect(), reasons);
        seen.chunks.clone_from(&after);
        let trace = seen.traces.entry(stage.to_owned()).or_default();
        trace.dropped.extend(dropped);
        trace.has_file = true;
        trace.chunks = after;
        trace.columns = columns;
    }

    fn on_event(&self, stage: &str, event: StageEvent<'_>) {
        let mut seen = self.seen();
        let about = |path: &str, reason: &str| {
            if *path == *self.path { reason.to_owned() } else { masked(format!("{path}: {reason}")) }
        };
        if let StageEvent::Counted { name, .. } = event
            && let Some(reason) = name.strip_prefix(stage).and_then(|rest| rest.strip_prefix(": "))
        {
            // Before a stage drops chunks, it counts every dropped chunk with the reason.
            return seen.reasons.entry(stage.to_owned()).or_default().push(reason.to_owned());
        }
        let trace = seen.traces.entry(stage.to_owned()).or_default();
        match event {
            StageEvent::Skipped { path, reason } => {
                let reason = reason.strip_prefix(&format!("stage `{stage}`: ")).unwrap_or(reason);
                let (path, reason) = (Some(masked(path.to_owned())), Some(reason.to_owned()));
                trace.dropped.push(DroppedRow { path, chunk: None, reason });
            }
            StageEvent::Warning { path, reason } => trace.warnings.push(about(path, reason)),
            StageEvent::Error { path, reason } | StageEvent::Failed { path, reason } => {
                let reason = about(path, reason);
                match trace.failed.iter_mut().find(|failed| failed.reason == reason) {
                    Some(failed) => failed.rows += 1,
                    None => trace.failed.push(FailedRows { reason, rows: 1 }),
                }
            }
            StageEvent::Counted { name, n } => *trace.counters.entry(name.to_owned()).or_default() += n,
        }
    }
}

fn chunk_row(Record(chunk): &Record) -> ChunkRow {
    let name = if chunk.qualified_name.is_empty() { &chunk.name } else { &chunk.qualified_name };
    ChunkRow {
        key: chunk.key.clone(),
        kind: chunk.chunk_type.as_str().to_owned(),
        name: name.clone(),
        line_start: chunk.line_start,
        line_end: chunk.line_end,
    }
}

/// Returns the dropped chunks. Adds the reasons if there is exactly one reason per chunk.
fn with_reasons(dropped: Vec<ChunkRow>, reasons: Vec<String>) -> Vec<DroppedRow> {
    let has_all = dropped.len() == reasons.len();
    let mut reasons = reasons.into_iter().filter(|_| has_all);
    dropped.into_iter().map(|chunk| DroppedRow { path: None, chunk: Some(chunk), reason: reasons.next() }).collect()
}

/// The lines that stages logged, by stage.
#[derive(Default)]
pub(super) struct LogLines {
    lines: Mutex<BTreeMap<String, Vec<String>>>,
}

impl LogLines {
    fn take(&self, stage: &str) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).remove(stage).unwrap_or_default()
    }
}

impl Observer for LogLines {
    fn on_progress(&self, _: &Progress) {}

    fn on_log(&self, stage: &str, line: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.entry(stage.to_owned()).or_default().push(line.to_owned());
    }

    fn interval(&self) -> Option<Duration> {
        None
    }
}
