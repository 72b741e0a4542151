//! `aur mem remove`, `tag`, `link` and `undo`: small changes of entries.

use std::io::Write as _;

use aurora_memory_schema::Kind;
use aurora_project::Names;

use crate::args_memory::{LinkArgs, RemoveArgs, TagArgs, UndoArgs};
use crate::failure::{Failure, Outcome};
use crate::memories::{Memories, failure};
use crate::opened::OpenedIndex;
use crate::output::{sanitize, time};
use crate::place;
use crate::program::Program;

/// Removes entries: all, or none where one is unknown.
pub(crate) fn remove(args: &RemoveArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let found = args.ids.iter().map(|id| Ok((id, memories.with(id, false)?))).collect::<Outcome<Vec<_>>>()?;
    let mut out = program.terminal.stdout();
    for (id, memory) in found {
        memory.remove(id, time::now()).map_err(failure)?;
        writeln!(out, "removed {}; `aur mem undo` restores it", sanitize::line(id))?;
    }
    Ok(out.flush()?)
}

/// Adds and removes tags.
pub(crate) fn tag(args: &TagArgs, program: &Program) -> Outcome {
    let is_entry = Kind::of_id(&args.id).is_some_and(|kind| kind != Kind::Code);
    if !is_entry {
        return tag_code(args, program);
    }
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.with(&args.id, false)?;
    let add: Vec<&str> = args.tags.iter().map(String::as_str).collect();
    let remove: Vec<&str> = args.remove.iter().map(String::as_str).collect();
    let tags = memory.tag(&args.id, &add, &remove, time::now()).map_err(failure)?;
    print_tags(&args.id, &tags, program)
}

/// Adds and removes tags of a chunk of code. They follow it when its file is moved.
fn tag_code(args: &TagArgs, program: &Program) -> Outcome {
    let OpenedIndex { project, snapshot } = crate::opened::open(args.memories.root.as_deref(), program)?;
    let here = place::here();
    let names = Names { snapshot: &snapshot, root: project.root(), from: here.as_deref(), work: None };
    let (_, key) = names.chunk(&args.id)?;
    for tag in &args.tags {
        if let Some(problem) = aurora_memory_schema::label_problem(tag) {
            return Err(Failure::new(problem));
        }
    }
    let add: Vec<&str> = args.tags.iter().map(String::as_str).collect();
    let remove: Vec<&str> = args.remove.iter().map(String::as_str).collect();
    let governance = aurora_project::tag(&project, &key, &add, &remove)?;
    print_tags(&key, &governance.tags, program)
}

fn print_tags(id: &str, tags: &[String], program: &Program) -> Outcome {
    let mut out = program.terminal.stdout();
    let shown = if tags.is_empty() { "no tags".to_owned() } else { tags.join(", ") };
    writeln!(out, "{}: {}", sanitize::line(id), sanitize::line(&shown))?;
    Ok(out.flush()?)
}

/// Links an entry to another one, or removes the link.
pub(crate) fn link(args: &LinkArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.with(&args.id, false)?;
    let weight = (!args.remove).then_some(args.weight);
    memory.link(&args.id, &args.to, &args.relation, weight, time::now()).map_err(failure)?;
    let mut out = program.terminal.stdout();
    let done = if args.remove { "no longer linked to" } else { "linked to" };
    writeln!(
        out,
        "{} {done} {} ({})",
        sanitize::line(&args.id),
        sanitize::line(&args.to),
        sanitize::line(&args.relation)
    )?;
    Ok(out.flush()?)
}

/// Takes back the last change of an entry.
pub(crate) fn undo(args: &UndoArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.with(&args.id, true)?;
    let version = memory.undo(&args.id, time::now()).map_err(failure)?;
    let mut out = program.terminal.stdout();
    let state = if version.document.is_some() { "is as it was before" } else { "is removed, as it was before" };
    writeln!(out, "{} {state} (version {})", sanitize::line(&args.id), version.number)?;
    Ok(out.flush()?)
}
