//! The tools: their arguments, and the text of their answers.

mod common;
mod graph;
mod grep;
mod history;
mod memory;
mod read;
mod search;
mod status;

use std::sync::Arc;

use aurora_live::{Labels, LiveProject, Roots};
use aurora_memory::{AgentMemory, NewMemory};
use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use common::{CommonArguments, budget_after};
pub(crate) use common::{DEFAULT_BUDGET, MAX_BUDGET, ToolError, cut_name, fit};

/// The error of calls that use memory on a server whose clients may not use memory.
const NO_MEMORY: &str =
    "this server gives no access to memory; over HTTP, memory requires a token (`--token-file FILE`)";

/// Maximum number of roots whose names are listed in the definitions of the tools.
const MAX_LISTED_ROOTS: usize = 8;

/// A call of a tool, with validated arguments.
pub(crate) struct Call {
    tool: ToolCall,
    common: CommonArguments,
}

enum ToolCall {
    Search(search::Arguments),
    Read(read::Arguments),
    Grep(grep::Arguments),
    Graph(graph::Arguments),
    History(read::Arguments),
    Status,
    Recall(memory::Recall),
    Remember(NewMemory),
    Outcome(memory::TaskResult),
}

impl Call {
    /// Creates a call of the tool `name`.
    ///
    /// # Errors
    /// Fails if there is no such tool, if the arguments are invalid, or if the budget is too small for any answer.
    pub(crate) fn new(name: &str, arguments: Value) -> Result<Self, ToolError> {
        let call = match name {
            "search" => parse(arguments, ToolCall::Search)?,
            "read" => parse(arguments, ToolCall::Read)?,
            "grep" => parse(arguments, ToolCall::Grep)?,
            "graph" => parse(arguments, ToolCall::Graph)?,
            "history" => parse(arguments, ToolCall::History)?,
            "status" => parse(arguments, |()| ToolCall::Status)?,
            "recall" => parse(arguments, ToolCall::Recall)?,
            "remember" => parse(arguments, ToolCall::Remember)?,
            "outcome" => parse(arguments, ToolCall::Outcome)?,
            _ => return Err(ToolError::Unknown(cut_name(name))),
        };
        match &call.tool {
            ToolCall::Search(arguments) => arguments.check()?,
            ToolCall::Graph(arguments) => arguments.check()?,
            _ => {}
        }
        call.budget()?;
        Ok(call)
    }

    /// Returns the maximum number of tokens in the answer or in an error message.
    pub(crate) fn budget(&self) -> Result<usize, ToolError> {
        self.common.budget()
    }

    /// Returns the name of the root to search; `None` means all roots.
    pub(crate) fn root(&self) -> Option<&str> {
        self.common.root.as_deref()
    }

    /// Returns `true` if the call can only be answered with an index.
    pub(crate) fn needs_index(&self) -> bool {
        !matches!(self.tool, ToolCall::Status | ToolCall::Recall(_) | ToolCall::Remember(_) | ToolCall::Outcome(_))
    }

    /// Returns `true` if the call only changes memory, so that it does not concern the index of code.
    pub(crate) fn changes_memory(&self) -> bool {
        matches!(self.tool, ToolCall::Remember(_) | ToolCall::Outcome(_))
    }

    /// Answers the call within the budget. The answer begins with `note`, if given. For `search` and `read`, records an
    /// access to the chunks in the answer. `memory` is the memory of the server's clients, if they may use it.
    pub(crate) fn answer(
        &self,
        roots: &Roots,
        memory: Option<&AgentMemory>,
        note: Option<String>,
    ) -> Result<String, ToolError> {
        let budget = self.budget()?;
        // An empty line separates the note from the answer.
        let note = note.map(|note| note + "\n").unwrap_or_default();
        let room = if note.is_empty() { budget } else { budget_after(budget, [&*note]) };
        let text = self.text(roots, memory, room)?;
        Ok(fit(if note.is_empty() { text } else { format!("{note}\n{text}") }, budget))
    }

    fn text(&self, roots: &Roots, memory: Option<&AgentMemory>, budget: usize) -> Result<String, ToolError> {
        let allowed = || memory.ok_or_else(|| ToolError::Arguments(NO_MEMORY.to_owned()));
        match &self.tool {
            ToolCall::Search(arguments) => search::answer(arguments, roots, memory, budget),
            ToolCall::Recall(arguments) => memory::recall(arguments, roots, allowed()?, budget),
            ToolCall::Remember(arguments) => memory::remember(arguments, roots, allowed()?),
            ToolCall::Outcome(arguments) => memory::outcome(arguments, roots, allowed()?),
            ToolCall::Grep(arguments) => grep::answer(arguments, roots, budget),
            ToolCall::Read(arguments) => answer_from_one(roots, &arguments.place, budget, read::answer),
            ToolCall::Graph(arguments) => answer_from_one(roots, &arguments.name, budget, |root, name, budget| {
                graph::answer(arguments, root, name, budget)
            }),
            ToolCall::History(arguments) => answer_from_one(roots, &arguments.place, budget, history::answer),
            ToolCall::Status => {
                let answer = |root| {
                    roots.record_use(std::slice::from_ref(root));
                    status::answer(root)
                };
                let each = roots.iter().map(answer).collect::<Result<Vec<_>, _>>()?;
                Ok(each.join("\n\n"))
            }
        }
    }
}

/// Answers a call about one file or chunk. `place` may begin with the name of a root, as in results of `search`.
/// Otherwise, the first root that has an answer is used. If there are several roots, the answer names the root.
fn answer_from_one(
    roots: &Roots,
    place: &str,
    budget: usize,
    answer: impl Fn(&LiveProject, &str, usize) -> Result<String, ToolError>,
) -> Result<String, ToolError> {
    let named = |root: &Arc<LiveProject>, place: &str| {
        roots.record_use(std::slice::from_ref(root));
        if roots.iter().len() == 1 {
            return answer(root, place, budget);
        }
        let header = format!("In {}:", root.name());
        let text = answer(root, place, budget_after(budget, [&*header]))?;
        Ok(format!("{header}\n{text}"))
    };
    if let Some((root, place)) = roots.locate(place) {
        return named(root, place);
    }
    let mut failed = None;
    for root in roots.iter() {
        match named(root, place) {
            Ok(text) => return Ok(text),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.unwrap_or_else(|| ToolError::Arguments("there is no root".to_owned())))
}

/// Parses the arguments of a tool, together with those that all tools accept.
fn parse<T: DeserializeOwned>(arguments: Value, tool: impl FnOnce(T) -> ToolCall) -> Result<Call, ToolError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments<T> {
        #[serde(flatten)]
        tool: T,
        #[serde(flatten)]
        common: CommonArguments,
    }

    let parsed = serde_json::from_value::<Arguments<T>>(arguments);
    let Arguments { tool: own, common } = parsed.map_err(|error| ToolError::Arguments(error.to_string()))?;
    Ok(Call { tool: tool(own), common })
}

/// Returns the definitions of all tools. `memory` is the memory of the server's clients, if they may use it.
///
/// Agents keep the definitions in their context, so each has at most 100 tokens.
pub(crate) fn definitions(roots: &Roots, memory: Option<&AgentMemory>) -> Vec<Tool> {
    let mut tools = vec![
        tool(
            "search",
            "Find code and docs.",
            &[],
            json!({
                "query": text(""),
                "where": text(""),
                "path": text(""),
                "type": text(""),
                "lang": text(""),
                "nearest": json!({"type": "boolean"}),
            }),
        ),
        tool(
            "read",
            "Read a file, lines of it, or a chunk.",
            &["place"],
            json!({
                "place": text("path, path:12-40, or an id"),
            }),
        ),
        tool(
            "grep",
            "Find lines that match a regular expression.",
            &["pattern"],
            json!({
                "pattern": text(""),
                "fixed": json!({"type": "boolean"}),
                "path": text("Glob"),
                "lang": text(""),
                "where": text("churn>5"),
            }),
        ),
        tool(
            "graph",
            "Relations of code. impact: what a change affects.",
            &[],
            json!({
                "name": text("Name, path:line or id; file; diff:RANGE"),
                "relation": json!({
                    "enum": ["callers", "callees", "implementers", "impact", "unused", "imports", "imported-by"]
                }),
                "depth": json!({"type": "integer"}),
            }),
        ),
        tool(
            "history",
            "Commits and authors of the lines of a file.",
            &["place"],
            json!({"place": text("path or path:12-40")}),
        ),
        tool("status", "Contents of the index, and whether it is current.", &[], json!({})),
    ];
    if let Some(memory) = memory {
        tools.extend(memory_tools(memory.is_read_only()));
    }
    let names: Vec<&str> = roots.iter().map(|root| root.name()).collect();
    let has_labels = roots.iter().any(|root| *root.labels() != Labels::default());
    let root = match has_labels || names.len() > MAX_LISTED_ROOTS {
        true => text("repository, group or owner"),
        false => json!({"enum": names}),
    };
    for tool in &mut tools {
        let schema = Arc::make_mut(&mut tool.input_schema);
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { continue };
        if memory.is_some() && tool.name == "search" {
            properties.insert("session".to_owned(), text(""));
        }
        // The answers of tools that change memory are short.
        if tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint) == Some(true) {
            properties.insert("budget".to_owned(), json!({"type": "integer"}));
        }
        if names.len() > 1 {
            properties.insert("root".to_owned(), root.clone());
        }
    }
    tools
}

/// Returns the definitions of the tools that use memory. A read-only server has only `recall`.
fn memory_tools(is_read_only: bool) -> Vec<Tool> {
    let recall = tool(
        "recall",
        "Recall notes, knowledge and code for a task, with ids to cite.",
        &["query"],
        json!({
            "query": text(""),
            "session": text(""),
            "scope": json!({"enum": ["session", "project", "user", "global"]}),
            "nearest": json!({"type": "boolean"}),
        }),
    );
    if is_read_only {
        return vec![recall];
    }
    let writing = |tool: Tool| {
        tool.with_annotations(ToolAnnotations::new().read_only(false).destructive(false).open_world(false))
    };
    vec![
        recall,
        writing(tool(
            "remember",
            "Store an entry, shared or private.",
            &["kind", "content"],
            json!({
                "kind": json!({"enum": ["note", "knowledge", "reasoning"]}),
                "content": json!({"type": ["string", "object"]}),
                "tags": json!({"type": "array", "items": {"type": "string"}}),
                "session": text(""),
                "private": json!({"type": "boolean"}),
            }),
        )),
        writing(tool(
            "outcome",
            "Report how a task ended, to rate everything that was found for it.",
            &["result"],
            json!({
                "session": text(""),
                "result": json!({"enum": ["success", "partial", "failure"]}),
            }),
        )),
    ]
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

/// Returns the schema of a string. Names that need no explanation have no description.
fn text(description: &str) -> Value {
    match description {
        "" => json!({"type": "string"}),
        _ => json!({"type": "string", "description": description}),
    }
}

#[cfg(test)]
mod tests {
    use aurora_query::estimate_tokens;

    use super::*;

    #[test]
    fn each_definition_has_at_most_100_tokens() {
        let none = Roots::new(Vec::new());
        let memory = AgentMemory::for_connection(false).expect("there are random numbers");
        let tools = definitions(&none, Some(&memory));
        assert_eq!(tools.len(), 9);
        for Tool { name, description, input_schema, .. } in tools {
            let text = json!({"name": name, "description": description, "inputSchema": *input_schema}).to_string();
            let tokens = estimate_tokens(&text);
            assert!(tokens <= 100, "{tokens} tokens in {text}");
        }
    }

    #[test]
    fn arguments_are_checked() {
        assert!(matches!(Call::new("shell", json!({})), Err(ToolError::Unknown(_))));
        for (tool, arguments) in [
            ("search", json!({})),
            ("search", json!({"query": 7})),
            ("search", json!({"query": " ", "lang": ","})),
            ("read", json!({"place": "a", "lines": "3"})),
            ("graph", json!({"name": "a", "relation": "friends"})),
            ("graph", json!({"relation": "impact"})),
            ("status", json!({"budget": 0})),
            ("grep", json!({"pattern": "a", "budget": 19})),
        ] {
            assert!(matches!(Call::new(tool, arguments), Err(ToolError::Arguments(_))), "{tool}");
        }
        assert!(Call::new("search", json!({"query": "a", "lang": ["go", "rust"], "root": "b", "budget": 20})).is_ok());
        assert!(Call::new("search", json!({"where": ["owner in a,b", "churn>5"]})).is_ok());
        let error =
            Call::new("search", json!({"where": "owner in [a"})).err().expect("the condition is invalid").to_string();
        assert!(error.contains("`[` has no `]`"), "{error}");
    }
}
