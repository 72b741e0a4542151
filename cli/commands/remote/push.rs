//! `aur remote push`: uploads the index.

use std::io::Write;

use aurora_remote::PushContext;
use aurora_storage::Workers;
use clap::Args;

use crate::commands::mem::export::PROGRAM;
use crate::commands::remote::opened::{RemoteArgs, failure, signing_key};
use crate::context::{Outcome, Program, ReportFormat};
use crate::output::{sanitize, units};

/// Upload the parts of the index that the remote lacks, and a manifest
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem index && aur mem verify && aur remote push nightly
  AURORA_SIGNING_KEY=ci.key aur remote push nightly   sign with a key of `minisign -G -W`

Without a key, the manifest is not signed. Pushes at the same time are safe. An interrupted push
continues when it is repeated. If the newest manifest already describes this index, nothing is
written.")]
pub(crate) struct PushArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) fn run(args: &PushArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let snapshot = program.find(args.remote.root.as_deref())?.snapshot()?;
    // A push checks the hashes of everything that it uses of existing manifests.
    let opened = args.remote.open(true, true, program)?;
    let key = signing_key(&opened.settings)?;
    let directory = opened.project.directory();
    let context = PushContext {
        directory: &directory,
        program: PROGRAM,
        now: aurora_clock::now_seconds(),
        key: key.as_ref(),
        workers: Workers::default(),
        progress: &|_| {},
    };
    let pushed = opened.remote.push(&snapshot, context).map_err(failure)?;
    if !pushed.manifest.complete {
        terminal.warn("the index is incomplete: the last run was stopped early, could not read every file, or lacks stage results");
    }
    if key.is_none() {
        terminal.note("the manifest is not signed; set AURORA_SIGNING_KEY, or `signing_key` below [remotes]");
    }
    terminal.print(args.format, &pushed, |out| {
        let manifest = &pushed.manifest;
        let what = if pushed.written { "Pushed" } else { "Unchanged:" };
        let (files, chunks) = (units::counted(manifest.files, "file"), units::counted(manifest.chunks.into(), "chunk"));
        writeln!(out, "{what} {files} and {chunks} as manifest {}", manifest.sequence)?;
        let (new, all) = (units::bytes(pushed.uploaded_bytes), units::bytes(manifest.bytes));
        let parts = units::counted(pushed.uploaded_parts, "part");
        writeln!(out, "  Uploaded: {new} in {parts} (the index: {all})")?;
        match &manifest.commit {
            Some(commit) => writeln!(out, "  Commit:   {}", sanitize::line(commit)),
            None => Ok(()),
        }
    })
}
