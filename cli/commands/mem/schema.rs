//! `aur mem schema`: prints a JSON Schema.

use std::io::Write;

use aurora_memory_schema::Kind;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::context::{Outcome, Program};
use crate::output::json;

/// Print the JSON Schema of a kind of entry, or of the report of an index run
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Kind of entry, or `index-report` for the `report.json` of `aur mem index --report`
    #[arg(value_enum)]
    pub(crate) kind: Document,
}

/// A document that has a JSON Schema.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Document {
    Entry(Kind),
    IndexReport,
}

impl ValueEnum for Document {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Document; 6] = [
            Document::Entry(Kind::Reasoning),
            Document::Entry(Kind::Knowledge),
            Document::Entry(Kind::Note),
            Document::Entry(Kind::Turn),
            Document::Entry(Kind::Code),
            Document::IndexReport,
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Entry(kind) => kind.to_possible_value(),
            Self::IndexReport => Some(PossibleValue::new("index-report").help("The report of an index run")),
        }
    }
}

pub(crate) fn run(args: &SchemaArgs, program: &Program) -> Outcome {
    program.terminal.write(|out| match args.kind {
        Document::Entry(kind) => out.write_all(aurora_memory_schema::schema(kind).as_bytes()),
        Document::IndexReport => json::write_indented(out, &aurora_project::run_report::schema()),
    })
}
