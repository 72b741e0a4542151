//! `aur remote keygen`: creates a key that signs manifests.

use std::io::Write;
use std::path::PathBuf;

use aurora_remote::SigningKey;
use clap::Args;
use serde_json::json;

use crate::context::remotes::{failure, signing_key_password};
use crate::context::{Outcome, Program, ReportFormat};
use crate::output::sanitize;

/// Create a key that signs the indexes of a remote
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur remote keygen ci.key                             create a key, and print its public key
  AURORA_SIGNING_KEY=ci.key aur remote push nightly    sign with it

The file gets mode 0600, and an existing file is never replaced. Its format is that of minisign. If
AURORA_SIGNING_KEY_PASSWORD is set, the key is encrypted with this password.")]
pub(crate) struct KeygenArgs {
    /// New file for the secret key
    pub(crate) file: PathBuf,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) fn run(args: &KeygenArgs, program: &Program) -> Outcome {
    let key = SigningKey::create(&args.file, signing_key_password()).map_err(failure)?;
    let (id, public) = (key.id(), key.public_key());
    program.terminal.print(args.format, &json!({ "file": args.file, "id": id, "public_key": public }), |out| {
        writeln!(out, "Wrote the secret key {id} to {}", sanitize::line(&args.file.display().to_string()))?;
        writeln!(out, "  Public key: {public}")?;
        writeln!(out, "\nEverybody who pulls adds the public key to ~/.aurora/config.toml:\n")?;
        writeln!(out, "[remotes]\ntrusted_keys = [\"{public}\"]")
    })
}
