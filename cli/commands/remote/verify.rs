//! `aur remote verify`: checks a remote.

use std::io::Write;

use clap::Args;

use crate::context::remotes::{RemoteArgs, failure};
use crate::context::{Failure, Outcome, Program, ReportFormat};
use crate::output::{Role, sanitize, units};

/// Check the signatures of all manifests, and that all of their parts exist
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur remote verify nightly               exits with 1 if a check fails
  aur remote verify nightly --read-data   download every part and check its hash")]
pub(crate) struct VerifyRemoteArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Download every part and check its hash
    #[arg(long)]
    pub(crate) read_data: bool,

    /// Do not report manifests that no trusted key has signed
    #[arg(long)]
    pub(crate) allow_unsigned: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) fn run(args: &VerifyRemoteArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let opened = args.remote.open(args.allow_unsigned, false, program)?;
    let verified = opened.remote.verify(args.read_data).map_err(failure)?;
    terminal.print(args.format, &verified, |out| {
        let (manifests, parts) =
            (units::counted(verified.manifests, "manifest"), units::counted(verified.parts, "part"));
        writeln!(out, "Checked {manifests} and {parts} ({})", units::bytes(verified.bytes))?;
        if verified.unused > 0 {
            writeln!(out, "  Unused: {}", units::counted(verified.unused, "part"))?;
        }
        for problem in &verified.problems {
            writeln!(out, "{} {}", terminal.out.paint(Role::Error, "-"), sanitize::line(problem))?;
        }
        if verified.problems.is_empty() {
            writeln!(out, "{}", terminal.out.paint(Role::Good, "No problems found"))?;
        }
        Ok(())
    })?;
    match verified.problems.len() as u64 {
        0 => Ok(()),
        count => {
            Err(Failure::Short(format!("{} in the remote {}", units::counted(count, "problem"), args.remote.name)))
        }
    }
}
