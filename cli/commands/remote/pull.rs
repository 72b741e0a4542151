//! `aur remote pull`: replaces the index with one from a remote, and updates it.

use std::io::Write;

use aurora_remote::{Listed, Pulled};
use clap::Args;
use serde_json::json;

use crate::context::pulls::{self, PullOptions};
use crate::context::remotes::{Opened, RemoteArgs};
use crate::context::{Outcome, Program, ReportFormat};
use crate::output::{sanitize, units};

/// Download an index for the current commit or its nearest ancestor, and update it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur remote pull nightly                    download, check, replace the index, and update it
  aur remote pull nightly --allow-unsigned   also accept manifests that no trusted key has signed
  aur remote pull nightly --no-update        the index as it was pushed

Only parts that have changed since the last pull are downloaded, and an interrupted pull continues
when it is repeated. The existing index is replaced in one step, after every row of the new index
was checked. The new index is also verified like an import if no trusted key has signed it, or
another version of aur has pushed it. Nothing is downloaded if the existing index is of the same
commit or a later one.")]
pub(crate) struct PullArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Accept manifests that no trusted key has signed
    #[arg(long)]
    pub(crate) allow_unsigned: bool,

    /// Pull the index of this commit
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: Option<String>,

    /// Replace the existing index even if it is of the same commit or a later one
    #[arg(long)]
    pub(crate) force: bool,

    /// Do not update the index to the working tree
    #[arg(long)]
    pub(crate) no_update: bool,

    /// Print neither progress nor the text summary; errors and warnings are still printed
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) fn run(args: &PullArgs, program: &Program) -> Outcome {
    let opened = args.remote.open(args.allow_unsigned, false, program)?;
    let options = PullOptions { commit: args.commit.as_deref(), force: args.force, is_quiet: args.quiet };
    let pulled = pulls::pull(&opened, &options, program)?;
    print(args, &opened, pulled, program)?;
    if args.no_update { Ok(()) } else { pulls::update(&opened, args.quiet, program) }
}

fn print(args: &PullArgs, opened: &Opened, pulled: Option<(Listed, Pulled)>, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    if args.quiet && args.format == ReportFormat::Text {
        return Ok(());
    }
    let Some((chosen, pulled)) = pulled else {
        return terminal.print(args.format, &json!({ "pulled": false }), |out| {
            writeln!(out, "The index is already of the newest matching commit or a later one")
        });
    };
    terminal.print(args.format, &json!({ "pulled": true, "manifest": chosen, "transfer": pulled }), |out| {
        let manifest = &chosen.manifest;
        let (files, chunks) = (units::counted(manifest.files, "file"), units::counted(manifest.chunks.into(), "chunk"));
        let root = sanitize::line(&opened.project.root().display().to_string());
        writeln!(out, "Pulled {files} and {chunks} into {root}")?;
        let (new, all) = (units::bytes(pulled.downloaded_bytes), units::bytes(manifest.bytes));
        let parts = units::counted(pulled.downloaded_parts, "part");
        writeln!(out, "  Downloaded: {new} in {parts} (the index: {all})")?;
        match &manifest.commit {
            Some(commit) => writeln!(out, "  Commit:     {}", sanitize::line(commit)),
            None => Ok(()),
        }
    })
}
