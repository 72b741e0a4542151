//! `aur mem why ID`: explains which retention policies apply to an entry.

use std::io::Write;

use aurora_memory_policy::Decision;

use crate::context::args::{MemoryArgs, ReportFormat};
use crate::context::failure::{Failure, Outcome};
use crate::context::memories::{Memories, failure};
use crate::context::program::Program;
use crate::context::terminal::Terminal;
use crate::output::style::Role;
use crate::output::{json, sanitize, time};

/// Explains why entries are kept, decay or are archived.
pub(crate) fn run(ids: &[String], args: &MemoryArgs, format: ReportFormat, program: &Program) -> Outcome {
    let memories = Memories::open(args, program)?;
    let mut out = program.terminal.stdout();
    for id in ids {
        let memory = memories.with(id, false)?;
        let decision = memory.decision(id, &memories.rules, time::now()).map_err(failure)?;
        let decision = decision.ok_or_else(|| Failure::new(format!("no entry {id}")))?;
        match format {
            ReportFormat::Json => json::write_indented(&mut out, &decision)?,
            ReportFormat::Text => write_decision(&mut out, id, &decision, &program.terminal)?,
        }
    }
    Ok(out.flush()?)
}

fn write_decision(out: &mut impl Write, id: &str, decision: &Decision, terminal: &Terminal) -> std::io::Result<()> {
    writeln!(out, "{}", terminal.out.paint(Role::Heading, &sanitize::line(id)))?;
    for step in &decision.steps {
        let mark = match (step.decides, step.held) {
            (true, _) => "decides",
            (false, true) => "holds",
            (false, false) => "does not hold",
        };
        let condition = step.condition.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
        writeln!(out, "  {} ({}){}", sanitize::line(&step.name), step.layer, sanitize::line(&condition))?;
        writeln!(out, "    {mark}. {}", sanitize::line(&step.explanation))?;
    }
    Ok(())
}
