//! The tools: what each takes, and the text that it answers with.

mod graph;
mod grep;
mod history;
mod read;
mod search;
mod status;

use std::sync::Arc;

use aurora_live::{Root, Roots};
use aurora_project::{ProjectError, chain};
use aurora_query::{QueryError, estimate_tokens};
use aurora_storage::StorageError;
use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Tokens of an answer unless the call says how many, and most of them.
const DEFAULT_BUDGET: usize = 2_000;
const MOST_BUDGET: usize = 50_000;

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// There is no such tool.
    #[error("there is no tool `{0}`")]
    Unknown(String),
    /// The arguments cannot be understood.
    #[error("{0}")]
    Arguments(String),
    /// The index has no answer.
    #[error("{}", told(.0))]
    Project(#[from] ProjectError),
}

/// An error with what to do about it.
fn told(error: &ProjectError) -> String {
    let help = error.help().map(|help| format!("; {help}"));
    format!("{}{}", chain(error), help.unwrap_or_default())
}

impl From<QueryError> for ToolError {
    fn from(error: QueryError) -> Self {
        Self::Project(error.into())
    }
}

impl From<StorageError> for ToolError {
    fn from(error: StorageError) -> Self {
        Self::Project(error.into())
    }
}

/// A call that is known to be well formed.
pub(crate) enum Call {
    Search(search::Arguments),
    Read(read::Arguments),
    Grep(grep::Arguments),
    Graph(graph::Arguments),
    History(history::Arguments),
    Status(status::Arguments),
}

impl Call {
    /// # Errors
    /// When there is no such tool, or its arguments cannot be understood.
    pub(crate) fn new(name: &str, arguments: Value) -> Result<Self, ToolError> {
        Ok(match name {
            "search" => Self::Search(parsed(arguments)?),
            "read" => Self::Read(parsed(arguments)?),
            "grep" => Self::Grep(parsed(arguments)?),
            "graph" => Self::Graph(parsed(arguments)?),
            "history" => Self::History(parsed(arguments)?),
            "status" => Self::Status(parsed(arguments)?),
            _ => return Err(ToolError::Unknown(name.to_owned())),
        })
    }

    /// The root that is asked.
    pub(crate) fn root(&self) -> Option<&str> {
        let named = match self {
            Self::Search(arguments) => &arguments.root,
            Self::Read(arguments) => &arguments.root,
            Self::Grep(arguments) => &arguments.root,
            Self::Graph(arguments) => &arguments.root,
            Self::History(arguments) => &arguments.root,
            Self::Status(arguments) => &arguments.root,
        };
        named.root.as_deref()
    }

    /// Whether there is no answer without an index.
    pub(crate) fn needs_index(&self) -> bool {
        !matches!(self, Self::Status(_))
    }

    /// The answer. What it shows is recorded where it `records`.
    pub(crate) fn answer(&self, root: &Root, records: bool) -> Result<String, ToolError> {
        match self {
            Self::Search(arguments) => search::answer(arguments, root, records),
            Self::Read(arguments) => read::answer(arguments, root, records),
            Self::Grep(arguments) => grep::answer(arguments, root),
            Self::Graph(arguments) => graph::answer(arguments, root),
            Self::History(arguments) => history::answer(arguments, root),
            Self::Status(_) => status::answer(root),
        }
    }
}

/// The argument that all tools have where several roots are served.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RootArgument {
    #[serde(default)]
    root: Option<String>,
}

/// Arguments may be given as an agent writes them: a number as a text, a list as one text.
fn parsed<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| ToolError::Arguments(error.to_string()))
}

/// The definitions of all tools.
pub(crate) fn definitions(roots: &Roots) -> Vec<Tool> {
    let mut tools = vec![
        tool(
            "search",
            "Find code and documents by a question or name. Returns the best texts.",
            &["query"],
            json!({
                "query": text("Plain words, or an identifier"),
                "path": text("Glob, e.g. src/**"),
                "type": text("e.g. function,class,doc"),
                "lang": text("e.g. rust,go"),
                "budget": number("Tokens of the answer, 2000 by default"),
            }),
        ),
        tool(
            "read",
            "Read a file, lines of it, or a chunk.",
            &["place"],
            json!({
                "place": text("path, path:12-40, or an id"),
                "budget": number("Tokens, 2000 by default"),
            }),
        ),
        tool(
            "grep",
            "Find all lines that match a regular expression.",
            &["pattern"],
            json!({
                "pattern": text("Regular expression"),
                "fixed": json!({"type": "boolean", "description": "The pattern is plain text"}),
                "path": text("Glob"),
                "lang": text("Languages"),
                "budget": number("Tokens, 2000 by default"),
            }),
        ),
        tool(
            "graph",
            "What a definition calls, what calls it, or what implements it.",
            &["name"],
            json!({
                "name": text("Name, path:line, or id"),
                "relation": json!({"enum": ["callers", "callees", "implementers"]}),
                "depth": number("Steps, 1 by default"),
            }),
        ),
        tool(
            "history",
            "Which commits and authors the lines of a file come from.",
            &["place"],
            json!({"place": text("path or path:12-40")}),
        ),
        tool("status", "What the index holds, and whether it is up to date.", &[], json!({})),
    ];
    if roots.iter().len() > 1 {
        let names: Vec<&str> = roots.iter().map(|root| root.name.as_str()).collect();
        for tool in &mut tools {
            add_root(Arc::make_mut(&mut tool.input_schema), &names);
        }
    }
    tools
}

fn add_root(schema: &mut serde_json::Map<String, Value>, names: &[&str]) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("root".to_owned(), json!({"enum": names}));
    }
}

fn tool(name: &'static str, description: &'static str, required: &[&str], properties: Value) -> Tool {
    let mut schema = serde_json::Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Tool::new(name, description, Arc::new(schema))
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number(description: &str) -> Value {
    json!({"type": "integer", "description": description})
}

/// Tokens that an answer may have.
fn budget(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_BUDGET).clamp(1, MOST_BUDGET)
}

/// As many of the lines as fit into a budget, and how many do not.
fn within_budget(lines: impl IntoIterator<Item = String>, budget: usize) -> (String, usize) {
    let (mut out, mut tokens, mut left) = (String::new(), 0, 0);
    for line in lines {
        tokens += estimate_tokens(&line) + 1;
        if left > 0 || (tokens > budget && !out.is_empty()) {
            left += 1;
            continue;
        }
        out.push_str(&line);
        out.push('\n');
    }
    (out, left)
}

/// Values in one text, separated by commas, or in a list.
fn listed(value: &Option<OneOrMore>) -> Vec<String> {
    match value {
        None => Vec::new(),
        Some(OneOrMore::One(text)) => vec![text.clone()],
        Some(OneOrMore::More(texts)) => texts.clone(),
    }
}

/// A text, or a list of texts.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a text, or a list of texts")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_small() {
        let none = Roots::new(Vec::new()).expect("no names");
        let text = serde_json::to_string(&definitions(&none)).expect("JSON");
        let tokens = estimate_tokens(&text);
        assert!(tokens < 1_500, "{tokens} tokens in {text}");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let lines = |count: usize| (0..count).map(|n| format!("line number {n}"));
        assert_eq!(within_budget(lines(2), 1_000), ("line number 0\nline number 1\n".to_owned(), 0));
        let (text, left) = within_budget(lines(100), 20);
        assert!(left > 90 && estimate_tokens(&text) <= 20, "{left} left of {text}");
        assert_eq!(within_budget(lines(1), 1).1, 0, "one line is always shown");
    }

    #[test]
    fn arguments_are_checked() {
        assert!(matches!(Call::new("shell", json!({})), Err(ToolError::Unknown(_))));
        for (tool, arguments) in [
            ("search", json!({})),
            ("search", json!({"query": 7})),
            ("read", json!({"place": "a", "lines": "3"})),
            ("graph", json!({"name": "a", "relation": "friends"})),
        ] {
            assert!(matches!(Call::new(tool, arguments), Err(ToolError::Arguments(_))), "{tool}");
        }
        assert!(Call::new("search", json!({"query": "a", "lang": ["go", "rust"], "root": "b"})).is_ok());
    }
}
