//! `aur mem tag`: adds and removes tags of entries and of code.

use aurora_memory_schema::Kind;
use aurora_project::Names;
use clap::Args;

use crate::context::{Failure, Memories, MemoryArgs, Outcome, Program, place};
use crate::output::sanitize;

/// Add or remove tags of an entry of memory or of code
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Id of the entry, or id or PATH:LINE of a chunk of code
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Tags to add
    #[arg(value_name = "TAG", required_unless_present = "remove")]
    pub(crate) tags: Vec<String>,

    /// Tag to remove; may be given more than once
    #[arg(long, short, value_name = "TAG")]
    pub(crate) remove: Vec<String>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

pub(crate) fn run(args: &TagArgs, program: &Program) -> Outcome {
    let is_entry = Kind::from_id(&args.id).is_some_and(|kind| kind != Kind::Code);
    if !is_entry {
        return tag_code(args, program);
    }
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.containing(&args.id)?;
    let add: Vec<&str> = args.tags.iter().map(String::as_str).collect();
    let remove: Vec<&str> = args.remove.iter().map(String::as_str).collect();
    let tags = memory.tag(&args.id, &add, &remove, aurora_clock::now_seconds())?;
    print_tags(&args.id, &tags, program)
}

/// Adds and removes tags of a chunk of code. The tags follow the chunk when its file is moved.
fn tag_code(args: &TagArgs, program: &Program) -> Outcome {
    let (project, snapshot) = program.open(args.memories.root.as_deref())?;
    let here = place::here();
    let names = Names { snapshot: &snapshot, root: project.root(), from: here.as_deref(), work: None };
    let (_, key) = names.chunk(&args.id)?;
    for tag in &args.tags {
        if let Some(problem) = aurora_memory_schema::label_problem(tag) {
            return Err(Failure::new(problem));
        }
    }
    let governance = aurora_project::tag(&project, &key, &args.tags, &args.remove)?;
    print_tags(&key, &governance.tags, program)
}

fn print_tags(id: &str, tags: &[String], program: &Program) -> Outcome {
    let shown = if tags.is_empty() { "no tags".to_owned() } else { tags.join(", ") };
    program.terminal.line(&format!("{}: {}", sanitize::line(id), sanitize::line(&shown)))
}
