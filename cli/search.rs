//! `aur mem search`: answers queries, for people and for programs.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use aurora_analysis::Embedder;
use aurora_query::{
    ConfigErrors, ConfigLayers, FilterError, FilterSpec, FlagValue, Mode, Query, QueryError, Retriever, SearchConfig,
    SearchResults,
};
use aurora_storage::{AccessLog, Snapshot};
use serde_json::json;

use crate::args::{FusionArg, ModeArg, ResultFormat, SearchArgs};
use crate::failure::{Failure, Outcome};
use crate::output::results::{self, Shown};
use crate::output::{json, time};
use crate::terminal::Terminal;
use crate::{index, model, opened, place};

/// Answers the query, or every query on standard input.
pub(crate) fn run(args: &SearchArgs, terminal: &Terminal) -> Outcome {
    let filter = filter(args).map_err(|error| Failure::from_error(&error))?;
    let query = args.query.join(" ");
    if !args.stdin && query.trim().is_empty() {
        return Err(Failure::from_error(&QueryError::Empty));
    }
    let root = place::for_search(args.root.as_deref())?;
    let config = settings(&root, flags(args)).map_err(|errors| Failure::from_error(&errors))?;
    if !place::has_index(&root) {
        if args.no_index {
            return Err(Failure::new(format!("no index in {}", root.display()))
                .with_help("build it with `aur mem index`, or search without --no-index"));
        }
        index::build_for_search(&root, terminal)?;
    }
    let snapshot = opened::snapshot(&root)?;
    let mode = mode(args.mode);
    let embedder = match mode {
        Mode::Sparse => None,
        Mode::Hybrid | Mode::Dense => embedder(&snapshot, mode, terminal)?,
    };
    let session = Session {
        args,
        terminal,
        mode,
        filter,
        // Without the log, results are ranked as if nothing had been shown before.
        access: AccessLog::open(&place::index_dir(&root)).ok(),
        retriever: Retriever::new(snapshot, embedder, config),
    };
    match args.stdin {
        true => session.answer_lines(std::io::stdin().lock()),
        false => session.answer(&query),
    }
}

/// The search configuration of a root: built-in, the user's, the project's, the environment's,
/// then `flags`.
pub(crate) fn settings(root: &Path, flags: Vec<FlagValue>) -> Result<SearchConfig, ConfigErrors> {
    let user = place::user_config();
    let project = place::project_config(root);
    SearchConfig::load(&ConfigLayers {
        user: user.as_deref(),
        project: Some(&project),
        environment: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        flags,
        other_tables: &[],
    })
}

/// One opened index and how its answers are to be shown.
struct Session<'a> {
    args: &'a SearchArgs,
    terminal: &'a Terminal,
    mode: Mode,
    filter: FilterSpec,
    access: Option<AccessLog>,
    retriever: Retriever,
}

impl Session<'_> {
    fn answer(&self, text: &str) -> Outcome {
        let now = time::now();
        let found = self.search(text, now).map_err(|error| Failure::from_error(&error))?;
        let mut out = self.terminal.stdout();
        self.print(&mut out, &found, now)?;
        out.flush()?;
        self.record(&found, now);
        Ok(())
    }

    /// One answer for every line, at once, so that a program can ask one by one. A query that
    /// cannot be answered gets an object with an `error`, and the next ones are still read.
    fn answer_lines(&self, input: impl BufRead) -> Outcome {
        let mut out = self.terminal.stdout();
        for line in input.split(b'\n') {
            let line = line.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches('\r');
            let now = time::now();
            match self.search(text, now) {
                Ok(found) => {
                    if self.args.format == ResultFormat::Table {
                        results::write_heading(&mut out, text, self.terminal.out)?;
                    }
                    self.print(&mut out, &found, now)?;
                    out.flush()?;
                    self.record(&found, now);
                }
                Err(error) => {
                    self.print_error(&mut out, text, &error)?;
                    out.flush()?;
                }
            }
        }
        Ok(())
    }

    fn search(&self, text: &str, now: i64) -> Result<SearchResults, QueryError> {
        self.retriever.search(&Query {
            text: text.to_owned(),
            limit: self.args.limit,
            mode: self.mode,
            filter: self.filter.clone(),
            now,
            access: self.access.as_ref(),
            content: self.args.show_content,
        })
    }

    fn print(&self, out: &mut impl Write, found: &SearchResults, now: i64) -> Outcome {
        match self.args.format {
            ResultFormat::Json => json::write_indented(out, found)?,
            ResultFormat::Jsonl => json::write_line(out, found)?,
            ResultFormat::Table => {
                for note in &found.notes {
                    self.terminal.note(note);
                }
                if found.hits.is_empty() {
                    self.terminal.note(&format!("no results for \"{}\"", found.query));
                }
                let shown = Shown {
                    legacy: self.args.legacy,
                    scores: self.args.show_scores,
                    content: self.args.show_content,
                    columns: self.terminal.columns,
                    paint: self.terminal.out,
                    now,
                };
                results::write(out, &found.hits, &shown)?;
            }
        }
        Ok(())
    }

    fn print_error(&self, out: &mut impl Write, text: &str, error: &QueryError) -> Outcome {
        let answer = json!({
            "query": text,
            "mode": self.mode,
            "results": [],
            "took_ms": 0.0,
            "error": error.to_string(),
        });
        match self.args.format {
            ResultFormat::Json => json::write_indented(out, &answer)?,
            ResultFormat::Jsonl => json::write_line(out, &answer)?,
            ResultFormat::Table => self.terminal.warn(&error.to_string()),
        }
        Ok(())
    }

    /// Remembers what was shown. A search never fails because of it.
    fn record(&self, found: &SearchResults, now: i64) {
        if self.args.no_record {
            return;
        }
        if let Some(access) = &self.access {
            let shown: Vec<(&str, i64)> = found.hits.iter().map(|hit| (hit.key.as_str(), now)).collect();
            // A read-only index is searched all the same.
            let _ = access.record(&shown);
        }
    }
}

fn filter(args: &SearchArgs) -> Result<FilterSpec, FilterError> {
    let mut filter = FilterSpec {
        types: args.types.clone(),
        languages: args.lang.clone(),
        paths: args.path.clone(),
        ..FilterSpec::default()
    };
    for condition in &args.where_ {
        filter.add_condition(condition)?;
    }
    filter.check()?;
    Ok(filter)
}

fn flags(args: &SearchArgs) -> Vec<FlagValue> {
    let flag = |flag: &str, key: &str, value: String| FlagValue {
        flag: flag.to_owned(),
        key: format!("search.hybrid.{key}"),
        value,
    };
    let mut flags = Vec::new();
    if let Some(fusion) = args.fusion {
        let name = match fusion {
            FusionArg::Weighted => "weighted",
            FusionArg::Rrf => "rrf",
        };
        flags.push(flag("--fusion", "fusion", name.to_owned()));
    }
    if let Some(weights) = args.weights {
        for (name, weight) in ["bm25", "semantic", "activation"].into_iter().zip(weights) {
            flags.push(flag("--weights", &format!("weights.{name}"), weight.to_string()));
        }
    }
    flags
}

/// The mode asked for, or the default one.
pub(crate) fn mode(asked: Option<ModeArg>) -> Mode {
    match asked {
        None | Some(ModeArg::Hybrid) => Mode::Hybrid,
        Some(ModeArg::Sparse) => Mode::Sparse,
        Some(ModeArg::Dense) => Mode::Dense,
    }
}

/// The model that made the index's vectors. Without it a hybrid search goes by keywords.
pub(crate) fn embedder(snapshot: &Snapshot, mode: Mode, terminal: &Terminal) -> Outcome<Option<Arc<dyn Embedder>>> {
    let Some(stored) = &snapshot.manifest().model else {
        return Ok(None);
    };
    match model::embedder_of(&stored.id) {
        Ok(embedder) => Ok(Some(embedder)),
        Err(error) if mode == Mode::Dense => Err(Failure::from_error(&error)),
        Err(error) => {
            terminal.warn(&error.to_string());
            Ok(None)
        }
    }
}
