//! The indexes that a search covers, opened and up to date.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aurora_project::{NamedSearcher, Searcher, Searchers, root_names};
use aurora_query::{FlagValue, Mode};

use crate::args::SearchArgs;
use crate::failure::{Failure, Outcome};
use crate::program::Program;
use crate::refresh::{self, Refreshed};
use crate::{findings, index, place, query_embedder};

/// Opened generations of some roots.
pub(crate) struct Searched {
    pub(crate) searchers: Searchers,
    /// What the first answer says of them.
    pub(crate) notes: Vec<String>,
    /// How many of all known roots could not be opened. Why has been printed.
    pub(crate) missing: usize,
}

/// Opens the index of each root that the arguments name. One that is missing is built, one that is old is updated if that is
/// quick. `flags` change the search configuration.
pub(crate) fn open(args: &SearchArgs, flags: &[FlagValue], mode: Mode, program: &Program) -> Outcome<Searched> {
    let roots = place::for_searches(&args.roots)?;
    let names = root_names(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let opening = Opening { args, flags, mode, share: roots.len().max(1) as u32, program };
    let (mut searchers, mut notes, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for (name, root) in names.into_iter().zip(&roots) {
        match opening.open(root) {
            Ok((searcher, note)) => {
                notes.extend(note.map(|note| if roots.len() > 1 { format!("{name}: {note}") } else { note }));
                searchers.push(NamedSearcher { name, searcher: Arc::new(searcher) });
            }
            // Of all that are known, some may be damaged or trusted no longer.
            Err(failure) if args.roots.all_roots => failures.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    if searchers.is_empty() {
        let nothing = || Failure::new("no index is known").with_help("`aur mem index PATH` builds one");
        return Err(failures.into_iter().next().unwrap_or_else(nothing));
    }
    failures.iter().for_each(|failure| program.terminal.report(failure));
    Ok(Searched { searchers: Searchers::new(searchers), notes, missing: failures.len() })
}

/// How roots are opened.
struct Opening<'a> {
    args: &'a SearchArgs,
    flags: &'a [FlagValue],
    mode: Mode,
    /// How many roots share the time that an update may take.
    share: u32,
    program: &'a Program,
}

impl Opening<'_> {
    fn open(&self, root: &Path) -> Outcome<(Searcher, Option<String>)> {
        let terminal = &self.program.terminal;
        let failed = |error| findings::project(error, terminal);
        let project = self.program.project(root.to_owned());
        let config = project.settings(self.flags.to_vec()).map_err(failed)?;
        let is_new = index::for_search(&project, self.args.no_index, self.program)?;
        let snapshot = project.snapshot()?;
        let is_kept = self.args.no_refresh || is_new;
        let budget = if is_kept { Duration::ZERO } else { Duration::from_millis(config.refresh) / self.share };
        let Refreshed { snapshot, note } = match budget {
            Duration::ZERO => Refreshed { snapshot, note: None },
            budget => refresh::before_search(&project, snapshot, budget),
        };
        let searcher = Searcher::open(&project, snapshot, config, self.mode).map_err(failed)?;
        query_embedder::tell(searcher.notice(), terminal);
        if let Some(embedder) = searcher.embedder() {
            query_embedder::ends_with_interrupt(embedder);
        }
        Ok((searcher, note))
    }
}
