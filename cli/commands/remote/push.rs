//! `aur remote push`: uploads the index.

use std::io::Write;

use aurora_remote::{PushContext, PushProgress};
use aurora_storage::Workers;
use clap::Args;

use crate::context::remotes::{self, RemoteArgs, failure, signing_key};
use crate::context::{Outcome, PROGRAM, Program, ReportFormat};
use crate::output::progress::TransferProgress;
use crate::output::{sanitize, units};

/// Description of the data that an interrupted push leaves behind.
const KEPT: &str = "uploaded parts stay in the remote";

/// Upload the parts of the index that the remote lacks, and a manifest
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem index && aur mem verify && aur remote push nightly
  AURORA_SIGNING_KEY=ci.key aur remote push nightly   sign with a key of `aur remote keygen`

Without a key, the manifest is not signed. Pushes at the same time are safe. An interrupted push
continues when it is repeated. If the newest manifest already describes this index, nothing is
written.")]
pub(crate) struct PushArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Print neither progress nor the text summary; errors and warnings are still printed
    #[arg(long, short)]
    pub(crate) quiet: bool,

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
    let progress = TransferProgress::new("Pushing", program.shows_progress(args.quiet));
    progress.show_step("reading the index");
    let directory = opened.project.directory();
    let context = PushContext {
        directory: &directory,
        program: PROGRAM,
        now: aurora_clock::now_seconds(),
        key: key.as_ref(),
        workers: Workers::default(),
        progress: &|step| match step {
            PushProgress::Waiting => progress.show_step("waiting for the end of a prune"),
            PushProgress::Parts { compared_bytes, uploaded_bytes, expected_bytes: Some(expected), .. } => {
                progress.show_bytes(compared_bytes, expected.max(compared_bytes), uploaded_bytes);
            }
            PushProgress::Parts { uploaded_bytes, .. } => {
                progress.show_step(format!("{} uploaded", units::bytes(uploaded_bytes)));
            }
        },
    };
    let pushed =
        remotes::transfer(&opened.remote, &progress, KEPT, || opened.remote.push(&snapshot, context).map_err(failure))?;
    if !pushed.manifest.complete {
        terminal.warn("the index is incomplete: the last run was stopped early, could not read every file, or lacks stage results");
    }
    if args.quiet && args.format == ReportFormat::Text {
        return Ok(());
    }
    if key.is_none() && !args.quiet {
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
