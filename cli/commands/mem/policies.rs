//! `aur mem policies`: prints the effective retention policies, and converts policies from JSON to TOML.

use std::io::Write;
use std::path::{Path, PathBuf};

use aurora_memory_policy::{Policy, PolicyLayer};
use clap::Args;
use serde::Serialize;

use crate::context::{Failure, Outcome, Program, ReportFormat, Terminal, document, memories};
use crate::output::{Role, sanitize};

/// Show the effective retention policies
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem policies                                the effective policies, in evaluation order
  aur mem policies --convert policies.json >> .aurora/config.toml")]
pub(crate) struct PoliciesArgs {
    /// Convert a JSON file of policies to TOML for the configuration; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) convert: Option<PathBuf>,

    /// Project directory [default: the nearest enclosing project]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// File of retention policies, in TOML or JSON, that override the configured ones
    #[arg(long, value_name = "FILE")]
    pub(crate) lifespan_policies: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// The output of `--format json`.
#[derive(Serialize)]
struct Report<'p> {
    enabled: bool,
    default: &'p str,
    /// The policies in evaluation order.
    policies: Vec<&'p Policy>,
}

/// Prints the effective policies, or converts a file.
pub(crate) fn run(args: &PoliciesArgs, program: &Program) -> Outcome {
    match &args.convert {
        Some(file) => convert(file, program),
        None => print(args, program),
    }
}

fn convert(file: &Path, program: &Program) -> Outcome {
    let given = document::read(file)?;
    let layer = PolicyLayer::from_seed_json(&given.name, &given.text)
        .map_err(|errors| Failure::findings(&given.name, &errors))?;
    program.terminal.write(|out| write!(out, "{}", layer.to_toml()))
}

fn print(args: &PoliciesArgs, program: &Program) -> Outcome {
    let root = memories::project(args.root.as_deref())?;
    let rules = memories::load_rules(root.as_deref(), args.lifespan_policies.as_deref())?;
    let policies = &rules.policies;
    let default = policies.default_policy().name.as_str();
    let report = Report { enabled: policies.is_enabled(), default, policies: policies.iter().collect() };
    program.terminal.print(args.format, &report, |out| write_text(out, &report, &program.terminal))
}

fn write_text(out: &mut impl Write, report: &Report<'_>, terminal: &Terminal) -> std::io::Result<()> {
    if !report.enabled {
        writeln!(out, "Policies are switched off: everything is kept\n")?;
    }
    for policy in &report.policies {
        let name = terminal.out.paint(Role::Heading, &sanitize::line(&policy.name));
        writeln!(out, "{name} ({})", policy.layer)?;
        if let Some(description) = &policy.description {
            writeln!(out, "  {}", sanitize::line(description))?;
        }
        match &policy.condition {
            _ if policy.name == report.default => writeln!(out, "  applies if no other policy does")?,
            Some(condition) => writeln!(out, "  {}", sanitize::line(&condition.to_string()))?,
            None => {}
        }
        let flag = policy.escalation.as_ref().map(|flag| format!(", flag {flag}")).unwrap_or_default();
        writeln!(out, "  kept: {}, decay: {}{}", policy.lifespan, policy.decay, sanitize::line(&flag))?;
    }
    Ok(())
}
