//! `aur remote list`: lists the remotes, or the manifests of one.

use std::io::Write;
use std::path::PathBuf;

use aurora_remote::{Listed, Signature};
use clap::Args;
use serde_json::json;

use crate::context::remotes::{RemoteArgs, failure, settings};
use crate::context::{Outcome, Program, ReportFormat};
use crate::output::{sanitize, units, width};

/// List the configured remotes, or the indexes in one
#[derive(Debug, Args)]
pub(crate) struct ListRemotesArgs {
    /// Name of a remote [default: list the configured remotes]
    pub(crate) name: Option<String>,

    /// Project directory [default: the nearest enclosing directory with an index, or the top of the work tree]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) fn run(args: &ListRemotesArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let Some(name) = &args.name else {
        let settings = settings(program.find(args.root.as_deref())?.root())?;
        let remotes: Vec<(&str, &str)> =
            settings.remotes.iter().map(|(name, url)| (name.as_str(), url.as_str())).collect();
        let report: Vec<_> = remotes.iter().map(|(name, url)| json!({ "name": name, "url": url })).collect();
        return terminal.print(args.format, &report, |out| {
            write_rows(out, remotes.iter().map(|(name, url)| [*name, *url].map(str::to_owned)))
        });
    };
    let remote = RemoteArgs { name: name.clone(), root: args.root.clone() };
    let manifests = remote.open(true, false, program)?.remote.manifests().map_err(failure)?;
    terminal.print(args.format, &manifests, |out| {
        let header = ["manifest", "commit", "pushed", "generation", "files", "size", "signature"].map(str::to_owned);
        write_rows(out, std::iter::once(header).chain(manifests.iter().map(row)))
    })
}

/// Returns the columns of a manifest.
fn row(listed: &Listed) -> [String; 7] {
    let manifest = &listed.manifest;
    let signature = match &listed.signature {
        Signature::Trusted(key) => format!("trusted key {key}"),
        Signature::Unsigned => "none".to_owned(),
        Signature::UnknownKey(key) => format!("unknown key {key}"),
        Signature::Invalid => "invalid".to_owned(),
    };
    [
        manifest.sequence.to_string(),
        manifest.commit.as_deref().map_or("-", |commit| &commit[..12]).to_owned(),
        units::date(listed.stored),
        manifest.generation.to_string(),
        units::count(manifest.files),
        units::bytes(manifest.bytes),
        signature,
    ]
}

/// Writes rows with aligned columns.
fn write_rows<const N: usize>(out: &mut impl Write, rows: impl Iterator<Item = [String; N]>) -> std::io::Result<()> {
    let rows: Vec<[String; N]> = rows.map(|row| row.map(|text| sanitize::line(&text).to_string())).collect();
    let widths: [usize; N] = std::array::from_fn(|at| width::widest(rows.iter().map(|row| &row[at])));
    for row in &rows {
        let padded: Vec<_> = row.iter().zip(widths).map(|(text, width)| width::pad(text, width).to_string()).collect();
        writeln!(out, "{}", padded.join("  ").trim_end())?;
    }
    Ok(())
}
