//! Stages with `use = "documents"`, which supply documents from sources other than the file tree.
//!
//! The program receives one message, `list`, with the state that it returned in the last run. It answers with messages
//! that contain documents, and with a final message `done`. Documents get paths below `@NAME/`, where NAME is the name
//! of the stage.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use aurora_pipeline::{
    Access, BatchView, BuildContext, ByteSize, ColumnSpec, DynamicType, Emitter, Fingerprint, Problems, ProgramSpec,
    Stage, StageConfig, StageContext, StageError, Value, Worker, stage_options,
};
use serde::Deserialize;
use serde_json::json;

use super::child::{Child, StartOptions};
use super::codec::Encoding;
use super::config::Process;
use super::handshake::HostHello;
use super::heartbeats::Heartbeats;
use super::prepared::prepare;
use super::stderr_lines::StderrLines;
use crate::declaration::OF_DOCUMENTS;

/// Number of documents in a batch.
const BATCH: usize = 256;

stage_options! {
    /// Runs a program that supplies documents from elsewhere, such as tickets or wiki pages.
    pub struct Documents {
        /// The program and its arguments, as for `process`.
        command: Vec<String> = Vec::new(), strings;
        /// Configuration that is passed to the program unchanged.
        config: serde_json::Map<String, serde_json::Value> = serde_json::Map::new(), table;
        /// Version of the program. Its author must change it when the program emits the same documents differently.
        version: String = String::new(), string;
        /// Files and directories of the program, in addition to the files that the command names.
        files: Vec<String> = Vec::new(), strings;
        /// Files that the documents depend on.
        inputs: Vec<String> = Vec::new(), strings;
        /// Names of environment variables that are passed to the program.
        env: Vec<String> = Vec::new(), strings;
        /// Maximum time to wait for a message.
        timeout: u64 = Process::default().timeout, count_up("seconds");
        /// Maximum memory for the data of the process, if the system can limit it.
        memory: ByteSize = Process::default().memory, size;
        /// Language of documents that do not name one.
        language: String = "markdown".to_owned(), string;
    }
}

impl StageConfig for Documents {
    const TYPE: &'static str = "documents";

    fn access(&self) -> Access {
        let [path, size, time, language, document] = OF_DOCUMENTS;
        Access::transform()
            .writes([
                ColumnSpec::dynamic(path, DynamicType::String),
                ColumnSpec::dynamic(size, DynamicType::Integer),
                ColumnSpec::dynamic(time, DynamicType::Integer),
                ColumnSpec::dynamic(language, DynamicType::String),
                ColumnSpec::dynamic(document, DynamicType::Json),
            ])
            .restructures()
    }

    fn program(&self) -> Option<ProgramSpec> {
        self.process().program()
    }

    fn check(&self, problems: &mut Problems<'_>) {
        self.process().check_program(problems);
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let process = self.process();
        let (command, fingerprint) = prepare(Self::TYPE, &process, cx)?;
        let fingerprint = fingerprint.with("language", &self.language);
        Ok(Box::new(DocumentsStage { process, language: self.language, command, fingerprint, stderr: Arc::default() }))
    }
}

impl Documents {
    /// Returns the options that a `documents` stage shares with a `process` stage, as a [`Process`].
    fn process(&self) -> Process {
        let Self { command, config, version, files, inputs, env, timeout, memory, .. } = self.clone();
        Process { command, config, version, files, inputs, env, timeout, memory, ..Process::default() }
    }
}

struct DocumentsStage {
    process: Process,
    language: String,
    command: super::command::ResolvedCommand,
    fingerprint: Fingerprint,
    stderr: Arc<StderrLines>,
}

/// A message of the program after the handshake.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum Message {
    Documents {
        documents: Vec<GivenDocument>,
    },
    Done {
        /// State to save for the next run.
        state: Option<String>,
        /// Whether documents that were not listed are unchanged. If false, they are deleted.
        #[serde(default)]
        partial: bool,
    },
    Error {
        message: String,
    },
    Heartbeat,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenDocument {
    /// Path below `@NAME/`, where NAME is the name of the stage.
    path: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    deleted: bool,
}

impl Stage for DocumentsStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        // Files of the file tree pass through unchanged, without a value for the properties of documents.
        Box::new(|batch: &mut BatchView<'_>, _: &StageContext<'_>| {
            batch.write_values(OF_DOCUMENTS[4], vec![None; batch.files()])?;
            Ok(())
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint.clone()
    }

    fn close(&self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        if cx.cancelled() {
            return Ok(());
        }
        let directory = format!("@{}/", cx.stage());
        let mut listing = Listing { stage: self, directory, rows: Vec::new(), given: HashSet::new(), out, cx };
        let listed = listing.read();
        self.stderr.close(cx);
        match listed {
            Ok(Some(state)) => cx.keep(&state),
            // There is no state to save, or the run was cancelled. The incomplete listing of a cancelled run does no
            // harm, because such a run deletes no documents.
            Ok(None) | Err(Ended::Stopped) => {}
            Err(Ended::Stage(error)) => return Err(error),
            Err(Ended::Failed(reason)) => {
                // The listing failed, so documents that are not listed must not be treated as deleted.
                let directory = listing.directory.clone();
                cx.failed(&directory, &reason);
                cx.kept().into_iter().for_each(|state| cx.keep(state));
                listing.rows.push((directory, String::new(), json!({ "rest": true })));
                return listing.emit();
            }
        }
        Ok(())
    }
}

/// The reason why a listing ended early.
enum Ended {
    Stopped,
    Stage(StageError),
    Failed(String),
}

impl From<StageError> for Ended {
    fn from(error: StageError) -> Self {
        Self::Stage(error)
    }
}

/// The listing of all documents of the program.
struct Listing<'l, 'e> {
    stage: &'l DocumentsStage,
    /// Directory of the documents, with a trailing `/`.
    directory: String,
    /// Path, language and properties of each document.
    rows: Vec<(String, String, serde_json::Value)>,
    /// Paths of all documents received so far.
    given: HashSet<String>,
    out: &'l mut Emitter<'e>,
    cx: &'l StageContext<'l>,
}

impl Listing<'_, '_> {
    /// Receives all documents and emits them. Returns the state to save for the next run.
    fn read(&mut self) -> Result<Option<String>, Ended> {
        let (stage, cx) = (self.stage, self.cx);
        let hello = HostHello::for_documents(cx.stage(), &stage.process);
        let hello = Encoding::Jsonl.encode(&hello).map_err(Ended::Failed)?;
        let DocumentsStage { process, command, stderr, .. } = stage;
        let options = StartOptions { command, config: process, in_flight: 1, stderr };
        let is_stopped = || cx.cancelled();
        let started = Child::start(&options, hello, &is_stopped);
        let mut child = started.map_err(|reason| reason.map_or(Ended::Stopped, Ended::Failed))?;
        let list = json!({ "type": "list", "id": 0, "state": cx.kept() });
        let list = child.encoding.encode(&list).map_err(Ended::Failed)?;
        if child.to.try_send(list).is_err() {
            return Err(Ended::Failed(child.explained("the process does not read its input")));
        }
        let mut progress = Instant::now();
        let mut heartbeats = Heartbeats::since(progress);
        loop {
            if cx.cancelled() {
                return Err(Ended::Stopped);
            }
            match child.receive().map_err(Ended::Failed)? {
                Some(message) => {
                    match message {
                        Message::Documents { documents } => {
                            self.take(documents)?;
                            heartbeats = Heartbeats::since(Instant::now());
                        }
                        Message::Done { state, partial } => {
                            if partial {
                                self.rows.push((self.directory.clone(), String::new(), json!({ "rest": true })));
                            }
                            self.emit()?;
                            child.finish(&is_stopped);
                            return Ok(state);
                        }
                        Message::Error { message } => return Err(Ended::Failed(message)),
                        Message::Heartbeat => heartbeats.take(Instant::now()).map_err(Ended::Failed)?,
                    }
                    progress = Instant::now();
                }
                None if progress.elapsed() > stage.process.timeout() => {
                    return Err(Ended::Failed(format!("no message within {} s", stage.process.timeout)));
                }
                None => stage.stderr.deliver(cx),
            }
        }
    }

    fn take(&mut self, documents: Vec<GivenDocument>) -> Result<(), Ended> {
        for GivenDocument { path, text, language, deleted } in documents {
            let path = format!("{}{path}", self.directory);
            if !self.given.insert(path.clone()) {
                self.cx.failed(&path, "the document was given twice");
                continue;
            }
            let properties = match text {
                Some(text) if !deleted => json!({ "text": text }),
                None if deleted => json!({ "deleted": true }),
                _ => {
                    self.cx.failed(&path, "a document has either `text` or `deleted`");
                    continue;
                }
            };
            self.rows.push((path, language.unwrap_or_else(|| self.stage.language.clone()), properties));
            if self.rows.len() >= BATCH {
                self.emit()?;
            }
        }
        Ok(())
    }

    /// Emits the collected rows. Rejected rows are reported and not emitted.
    fn emit(&mut self) -> Result<(), StageError> {
        let rows = std::mem::take(&mut self.rows);
        let mut draft = self.out.batch(rows.len());
        let refused = self.fill(&mut draft, &rows)?;
        if refused.is_empty() {
            return if rows.is_empty() { Ok(()) } else { self.out.emit(draft) };
        }
        for (row, reason) in &refused {
            self.cx.failed(&rows[*row].0, reason);
        }
        let is_refused = |at: &usize| refused.iter().any(|(row, _)| row == at);
        let accepted: Vec<_> =
            rows.into_iter().enumerate().filter(|(at, _)| !is_refused(at)).map(|(_, row)| row).collect();
        if accepted.is_empty() {
            return Ok(());
        }
        let mut draft = self.out.batch(accepted.len());
        self.fill(&mut draft, &accepted)?;
        self.out.emit(draft)
    }

    fn fill(
        &self,
        draft: &mut BatchView<'_>,
        rows: &[(String, String, serde_json::Value)],
    ) -> Result<Vec<(usize, String)>, StageError> {
        let size = |properties: &serde_json::Value| properties["text"].as_str().map_or(0, str::len) as i64;
        let language = |name: &str| Value::String(if name.is_empty() { "text".to_owned() } else { name.to_owned() });
        let columns: [Vec<Option<Value>>; 5] = [
            rows.iter().map(|(path, ..)| Some(Value::String(path.clone()))).collect(),
            rows.iter().map(|(_, _, properties)| Some(Value::Integer(size(properties)))).collect(),
            rows.iter().map(|_| Some(Value::Integer(0))).collect(),
            rows.iter().map(|(_, name, _)| Some(language(name))).collect(),
            rows.iter().map(|(_, _, properties)| Some(Value::Json(properties.clone()))).collect(),
        ];
        let mut refused = Vec::new();
        for (name, values) in OF_DOCUMENTS.iter().zip(columns) {
            refused.extend(draft.write_values(name, values)?);
        }
        Ok(refused)
    }
}
