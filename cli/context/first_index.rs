//! The missing index of a project that is searched: it is pulled from a remote of the project, or built.

use std::io::IsTerminal;
use std::path::Path;

use aurora_project::Project;
use aurora_remote::{PullPolicy, RemoteSettings};

use crate::context::pulls::{self, PullOptions};
use crate::context::remotes::{self, Opened};
use crate::context::{Failure, Outcome, Program, Terminal, indexing, place};
use crate::output::{sanitize, units};

/// Pulls or builds the index of a project if the index is missing. Fails if it is missing and `never_builds` is set.
/// Returns whether there is a new index.
pub(crate) fn for_search(project: &Project, never_builds: bool, program: &Program) -> Outcome<bool> {
    if project.has_index() {
        return Ok(false);
    }
    if never_builds {
        return Err(Failure::new(format!("no index in {}", project.root().display()))
            .with_help("build it with `aur mem index`, or search without --no-index"));
    }
    may_build(project.root(), &program.terminal)?;
    if !pull_from_trusted(project, program)? {
        program.terminal.note(&format!("no index yet; indexing {}", project.root().display()));
        indexing::run_for_search(project.root(), false, program)?;
    }
    Ok(true)
}

/// Maximum number of directory entries that are counted before the user is asked whether to index the directory.
const MAX_COUNTED_ENTRIES: usize = 10_000;

/// Checks that a search may index a root. A project is indexed without a question. Anything else, such as a home
/// directory, is only indexed if the user agrees on the terminal.
fn may_build(root: &Path, terminal: &Terminal) -> Outcome {
    if place::is_project(root) {
        return Ok(());
    }
    let shown = sanitize::line(&root.display().to_string());
    if !terminal.live || !std::io::stdin().is_terminal() {
        return Err(Failure::new(format!(
            "{shown} has no index and is not a project, so the search does not index it"
        ))
        .with_help(format!("to index it, run `aur mem index {shown}`")));
    }
    let count = place::entries(root, MAX_COUNTED_ENTRIES);
    let more = if count == MAX_COUNTED_ENTRIES { " or more" } else { "" };
    let entries = units::counted(count as u64, "entry");
    match terminal.confirms(&format!("{shown} is not a project. Index it ({entries}{more})?"))? {
        true => Ok(()),
        false => Err(Failure::new(format!("{shown} was not indexed"))),
    }
}

/// Pulls the index from a remote that the project names, if the user trusts its URL and keys and agrees. Returns
/// whether an index was pulled. After a failed pull, the caller builds the index.
fn pull_from_trusted(project: &Project, program: &Program) -> Outcome<bool> {
    let terminal = &program.terminal;
    let settings = match remotes::settings(project.root()) {
        Ok(settings) => settings,
        Err(invalid) => {
            terminal.warn(&invalid.message());
            return Ok(false);
        }
    };
    let Some(name) = trusted_remote(&settings, terminal) else { return Ok(false) };
    if !may_pull(project.root(), &name, &settings, terminal)? {
        return Ok(false);
    }
    let pulled = Opened::new(project.clone(), settings, &name, false, false).and_then(|opened| {
        let pulled = pulls::pull(&opened, &PullOptions::default(), program)?;
        Ok((opened, pulled))
    });
    match pulled {
        Ok((opened, Some((chosen, transferred)))) => {
            let (files, bytes) = (chosen.manifest.files, transferred.downloaded_bytes);
            let (files, bytes) = (units::counted(files, "file"), units::bytes(bytes));
            terminal.note(&format!("pulled the index of {files} from `{name}` ({bytes})"));
            pulls::update(&opened, false, program)?;
            Ok(true)
        }
        Ok((_, None)) => Ok(false),
        Err(failure @ Failure::Interrupted(_)) => Err(failure),
        Err(failure) => {
            terminal.warn(&format!("cannot pull the index from `{name}`: {}", failure.message()));
            Ok(false)
        }
    }
}

/// Returns the name of the project's first remote that the user trusts. If the project names only others, prints a note
/// about the first one.
fn trusted_remote(settings: &RemoteSettings, terminal: &Terminal) -> Option<String> {
    if settings.pull == PullPolicy::Never {
        return None;
    }
    let named = || settings.project_remotes.iter().filter_map(|name| Some((name, settings.remotes.get(name)?)));
    let (first, first_url) = named().next()?;
    let trusted = named().find(|(_, url)| settings.trusts(url));
    let problem = match trusted {
        Some((name, _)) if !settings.trusted_keys.is_empty() => return Some(name.clone()),
        Some(_) => "no key is trusted",
        None => "its URL is not trusted",
    };
    let (name, url) = trusted.unwrap_or((first, first_url));
    terminal.note(&format!(
        "the project names the remote `{name}` ({url}), which was not contacted because {problem}; `trusted_urls` and \
         `trusted_keys` below [remotes] of your own config.toml allow pulls"
    ));
    None
}

/// Whether the user wants to pull. Asks on a terminal, unless the setting `pull` is the answer.
fn may_pull(root: &Path, name: &str, settings: &RemoteSettings, terminal: &Terminal) -> Outcome<bool> {
    if settings.pull == PullPolicy::Always {
        return Ok(true);
    }
    let Some(url) = settings.remotes.get(name) else { return Ok(false) };
    if terminal.live && std::io::stdin().is_terminal() {
        let project = root.file_name().unwrap_or(root.as_os_str()).to_string_lossy();
        let question = format!("Pull the index of {} from {url}?", sanitize::line(&project));
        return Ok(terminal.confirms_unless_refused(&question)?);
    }
    terminal.note(&format!("`aur remote pull {name}` downloads an index of this project from {url}"));
    Ok(false)
}
