//! `grep`: the lines that match a pattern.

use std::collections::{BTreeMap, BTreeSet};

use aurora_live::{OpenedRoots, Roots};
use aurora_project::SearchRequest;
use aurora_query::{FilterSpec, Query};
use serde::Deserialize;

use crate::tools::common::{OneOrMore, ToolError, budget_after, format_notes, values, with_conditions, within_budget};

/// Maximum number of chunks that are searched for lines.
const MAX_CHUNKS: usize = 1_000;
/// Maximum number of lines shown per chunk.
const MAX_LINES: usize = 50;
/// Last line of an answer if the search reached [`MAX_CHUNKS`].
const MORE: &str = "(there may be more matches; narrow the pattern or the path)\n";

#[derive(Debug, Deserialize)]
pub(crate) struct Arguments {
    pattern: String,
    #[serde(default)]
    fixed: bool,
    path: Option<OneOrMore>,
    lang: Option<OneOrMore>,
    r#where: Option<OneOrMore>,
}

pub(super) fn answer(arguments: &Arguments, roots: &Roots, budget: usize) -> Result<String, ToolError> {
    let OpenedRoots { searchers, notes } = roots.open()?;
    let pattern = vec![arguments.pattern.clone()];
    let (grep, fixed) = if arguments.fixed { (Vec::new(), pattern) } else { (pattern, Vec::new()) };
    let filter = FilterSpec {
        paths: values(&arguments.path),
        languages: values(&arguments.lang),
        grep,
        fixed,
        ..FilterSpec::default()
    };
    let query = Query {
        limit: MAX_CHUNKS,
        filter: with_conditions(filter, &arguments.r#where)?,
        ..Query::new("", aurora_clock::now_seconds())
    };
    let found = searchers.search(&SearchRequest { snippet_lines: MAX_LINES, ..SearchRequest::new(query) })?;
    // A line can be in several chunks: a method is part of its class. Each line is shown once.
    let mut lines: BTreeMap<(String, u32), &str> = BTreeMap::new();
    // The lines of a class's outline have no number. The chunks of the class's members contain the same lines with
    // numbers. Therefore, lines without a number are shown only for a file without matching lines that have a number.
    let mut without_line: BTreeMap<(String, u32), &str> = BTreeMap::new();
    for hit in &found.hits {
        for line in hit.snippet.iter().filter(|line| !line.matches.is_empty()) {
            match line.line {
                Some(number) => lines.insert((hit.display_file(), number), line.text.as_str()),
                None => without_line.insert((hit.display_file(), hit.line_start), line.text.as_str()),
            };
        }
    }
    let files: BTreeSet<String> = lines.keys().map(|(file, _)| file.clone()).collect();
    lines.extend(without_line.into_iter().filter(|((file, _), _)| !files.contains(file)));
    let notes: Vec<String> = notes.into_iter().chain(format_notes(&found.notes)).collect();
    if lines.is_empty() {
        return Ok(notes.into_iter().chain(["No line matches.".to_owned()]).collect::<Vec<_>>().join("\n"));
    }
    let total = lines.len();
    let unfit =
        |left: usize| format!("({left} of {total} lines did not fit; narrow the path or use a larger budget)\n");
    let more = if found.hits.len() == MAX_CHUNKS { MORE } else { "" };
    let budget = budget_after(budget, notes.iter().map(String::as_str).chain([&*unfit(total), more]));
    let shown = lines.iter().map(|((file, line), text)| format!("{file}:{line}: {}", text.trim_end()));
    let (mut out, left) = within_budget(shown, budget);
    if left > 0 {
        out.push_str(&unfit(left));
    }
    out.push_str(more);
    Ok(notes.into_iter().chain([out]).collect::<Vec<_>>().join("\n"))
}
