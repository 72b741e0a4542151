//! `aur mem show`: prints an entry.

use aurora_project::stamp;
use std::io::Write;

use aurora_memory::{EntryReport, Version};
use aurora_memory_schema::searchable;
use clap::Args;
use serde::Serialize;

use crate::context::{Failure, Memories, MemoryArgs, Outcome, Program, ReportFormat, Terminal};
use crate::output::{Role, sanitize, units};

/// Show an entry of memory
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Id of the entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Include earlier versions
    #[arg(long)]
    pub(crate) history: bool,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// An entry with its earlier versions.
#[derive(Serialize)]
struct WithHistory<'r> {
    #[serde(flatten)]
    report: &'r EntryReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<Vec<ShownVersion<'r>>>,
}

/// A version, in the output of `--format json`.
#[derive(Serialize)]
struct ShownVersion<'v> {
    version: u32,
    change: aurora_memory::Change,
    time: String,
    document: &'v Option<serde_json::Map<String, serde_json::Value>>,
}

pub(crate) fn run(args: &ShowArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.containing(&args.id)?;
    let report = memory.report(&args.id, (&memories.rules, &memories.config), aurora_clock::now_seconds())?;
    let report = report.ok_or_else(|| Failure::new(format!("there is no entry {}", args.id)))?;
    let versions = if args.history { memory.versions(&args.id)? } else { Vec::new() };
    let printed = WithHistory {
        report: &report,
        versions: args.history.then(|| versions.iter().map(ShownVersion::new).collect()),
    };
    program.terminal.print(args.format, &printed, |out| write_text(out, &report, &versions, &program.terminal))
}

impl<'v> ShownVersion<'v> {
    fn new(version: &'v Version) -> Self {
        let Version { number, change, time, document, .. } = version;
        Self { version: *number, change: *change, time: stamp(*time), document }
    }
}

fn write_text(
    out: &mut impl Write,
    report: &EntryReport,
    versions: &[Version],
    terminal: &Terminal,
) -> std::io::Result<()> {
    let EntryReport { entry, facts } = report;
    let heading = |text: &str| terminal.out.paint(Role::Heading, text);
    writeln!(out, "{}", heading(&sanitize::line(entry.id())))?;
    let mut field = |name: &str, value: &str| writeln!(out, "  {name:<14}{}", sanitize::line(value));
    field("Title:", &entry.title())?;
    field("Kind:", entry.kind().name())?;
    let session = facts.session.as_ref().map(|session| format!(", session {session}")).unwrap_or_default();
    field("Scope:", &format!("{}{session}, in the {}'s memory", facts.scope, facts.memory.as_str()))?;
    if let Some(score) = entry.score() {
        field("Score:", &format!("{score:.2}{}", if facts.is_pattern { ", a pattern" } else { "" }))?;
    }
    if !entry.tags().is_empty() {
        field("Tags:", &entry.tags().join(", "))?;
    }
    if let Some(domain) = entry.domain() {
        field("Domain:", domain)?;
    }
    field("Added:", &stamp(facts.created_at))?;
    field("Changed:", &format!("{} (version {})", stamp(facts.edited_at), facts.version))?;
    field("Used:", &format!("{} times, last {}", facts.access_count, stamp(facts.last_accessed)))?;
    field("Activation:", &format!("{:.2}", facts.activation))?;
    let expires = facts.expires_at.map(|at| format!(", until {}", units::date(at))).unwrap_or_default();
    field("Policy:", &format!("{} ({}{expires})", facts.policy, facts.state))?;
    if !facts.escalation.is_empty() {
        field("Flags:", &facts.escalation.join(", "))?;
    }
    for link in entry.links() {
        field("Link:", &format!("{} {} ({})", link.relation, link.to, link.weight))?;
    }
    writeln!(out)?;
    for line in searchable(entry).text.lines() {
        writeln!(out, "{}", sanitize::line(line))?;
    }
    if !versions.is_empty() {
        writeln!(out, "\n{}", heading("History"))?;
    }
    for version in versions {
        let change = serde_json::to_value(version.change).ok();
        let change = change.as_ref().and_then(|change| change.as_str()).unwrap_or_default().to_owned();
        writeln!(out, "  {:>4}  {}  {change}", version.number, stamp(version.time))?;
    }
    Ok(())
}
