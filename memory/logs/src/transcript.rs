//! Conversations that agents have recorded, as logs.
//!
//! A transcript has a JSON object per line, as Claude Code, Codex and Cursor write it, or is one JSON object with a list
//! `messages`, as Gemini CLI writes it. Only prompts of the user and texts of the agent are read; the calls of tools and
//! their results are left out.

use std::io::{self, BufRead as _, BufReader, Read};

use aurora_redact::masked;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::input::interaction;
use crate::interaction::Interaction;
use crate::query_id::QueryId;

/// Maximum size of a transcript in bytes. The rest of a longer transcript is ignored.
const MAX_TRANSCRIPT_BYTES: u64 = 256 << 20;
/// Maximum length of a line in bytes. Longer lines, which usually contain files, are skipped.
const MAX_LINE_BYTES: usize = 4 << 20;
/// Maximum total length of the texts in a log, in bytes. Later texts are left out.
const MAX_LOG_BYTES: usize = 16 << 20;

/// Number of messages before a message that are searched for its earlier version.
const MAX_VERSION_DISTANCE: usize = 64;

/// A conversation of a user and an agent.
#[derive(Default)]
struct Conversation {
    messages: Vec<Message>,
    bytes: usize,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

struct Message {
    /// The id, if the client gives one to each message.
    id: Option<String>,
    is_prompt: bool,
    text: String,
}

/// Reads the transcript of a session of an agent as an interaction: the first prompt is the query, and the prompts with
/// their answers are the exchanges. Secrets are masked. `session` is the id of the session, from which the id of the log
/// follows, and `end` the reason for its end. Returns `None` if the session has no prompts.
///
/// Reads at most 256 MiB, skips lines of more than 4 MiB, and stops when the texts have 16 MiB.
///
/// # Errors
/// Fails if the transcript cannot be read.
pub fn read_transcript(
    transcript: impl Read,
    session: Option<&str>,
    end: Option<&str>,
) -> io::Result<Option<Interaction>> {
    let conversation = Conversation::read(transcript)?;
    let exchanges = conversation.exchanges();
    let Some((query, _)) = exchanges.first() else { return Ok(None) };
    let (first, last) = (conversation.first, conversation.last);
    let mut summary = Map::from_iter([("turns".to_owned(), Value::from(exchanges.len()))]);
    for (name, value) in [("session", session), ("end", end)] {
        let value = value.filter(|value| !value.trim().is_empty());
        summary.extend(value.map(|value| (name.to_owned(), Value::from(masked(value.to_owned())))));
    }
    if let (Some(first), Some(last)) = (first, last) {
        let duration = last.as_millisecond().saturating_sub(first.as_millisecond()).max(0);
        summary.insert("duration_ms".to_owned(), Value::from(duration));
    }
    let answered = exchanges.iter().filter(|(_, answer)| !answer.is_empty());
    let answered: Vec<Value> = answered.map(|(user, answer)| json!({ "user": user, "answer": answer })).collect();
    let response = exchanges.iter().rev().map(|(_, answer)| answer).find(|answer| !answer.is_empty());
    let mut document = json!({ "query": query, "phases": [], "interactions": answered, "summary": summary });
    document["response"] = response.map(|text| text.as_str().into()).unwrap_or_default();
    if let Some(first) = first {
        document["timestamp"] = first.to_string().into();
    }
    let text = document.to_string();
    let read = interaction("the transcript", text.as_bytes());
    let mut log = read.map_err(|mistakes| io::Error::new(io::ErrorKind::InvalidData, mistakes.to_string()))?;
    log.id = session.and_then(|session| QueryId::parse(&masked(format!("session-{session}"))).ok());
    Ok(Some(log))
}

impl Conversation {
    fn read(transcript: impl Read) -> io::Result<Self> {
        let mut conversation = Self::default();
        let mut reader = BufReader::new(transcript.take(MAX_TRANSCRIPT_BYTES));
        let (mut line, mut whole) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            let read = reader.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)?;
            if read == 0 || conversation.bytes > MAX_LOG_BYTES {
                break;
            }
            if read > MAX_LINE_BYTES {
                reader.skip_until(b'\n')?;
                continue;
            }
            match serde_json::from_slice::<Value>(&line) {
                Ok(Value::Object(message)) if message.contains_key("messages") => {
                    conversation.add_all(&message["messages"])
                }
                Ok(message) => conversation.add(&message),
                // A line of a document that is indented.
                Err(_) if whole.len() + line.len() <= MAX_LOG_BYTES => whole.extend_from_slice(&line),
                Err(_) => {}
            }
        }
        if conversation.messages.is_empty()
            && let Ok(document) = serde_json::from_slice::<Value>(&whole)
        {
            conversation.add_all(&document["messages"]);
        }
        Ok(conversation)
    }

    fn add_all(&mut self, messages: &Value) {
        messages.as_array().into_iter().flatten().for_each(|message| self.add(message));
    }

    /// Adds the text of a message. Messages that the client itself has inserted, or that belong to a subagent, are left
    /// out.
    fn add(&mut self, message: &Value) {
        let is_set = |name: &str| message.get(name).and_then(Value::as_bool).unwrap_or_default();
        // Codex wraps a message in a `payload`.
        let inner = ["message", "payload"].iter().find_map(|name| message.get(name).filter(|value| value.is_object()));
        let inner = inner.unwrap_or(message);
        let role = [inner.get("role"), message.get("role"), message.get("type")];
        let role = role.into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
        let is_user = role == "user";
        if is_set("isMeta") || is_set("isSidechain") || !(is_user || ["assistant", "gemini", "model"].contains(&role)) {
            return;
        }
        let text = masked(text_of(inner.get("content")));
        if text.trim().is_empty() || is_user && is_of_client(text.trim()) {
            return;
        }
        let time = message.get("timestamp").and_then(Value::as_str).and_then(|time| time.parse::<Timestamp>().ok());
        self.first = self.first.or(time);
        self.last = time.or(self.last);
        self.bytes += text.len();
        let id = message.get("id").and_then(Value::as_str).map(str::to_owned);
        // Gemini CLI writes a message again when the message grows.
        let mut earlier = self.messages.iter_mut().rev().take(MAX_VERSION_DISTANCE);
        match earlier.find(|earlier| id.is_some() && earlier.id == id) {
            Some(earlier) => earlier.text = text,
            None => self.messages.push(Message { id, is_prompt: is_user, text }),
        }
    }

    /// Returns the prompts with their answers. Answers before the first prompt are left out.
    fn exchanges(&self) -> Vec<(String, String)> {
        let mut exchanges: Vec<(String, String)> = Vec::new();
        for Message { is_prompt, text, .. } in &self.messages {
            match exchanges.last_mut() {
                _ if *is_prompt => exchanges.push((text.clone(), String::new())),
                Some((_, answer)) => {
                    let separator = if answer.is_empty() { "" } else { "\n\n" };
                    *answer += &format!("{separator}{text}");
                }
                None => {}
            }
        }
        exchanges
    }
}

/// Whether the text of a prompt is from the client: an element such as `<environment_context>`, whose name has a `_` or
/// `-`, or the instructions of the project, which Codex sends first.
fn is_of_client(text: &str) -> bool {
    let name = text.strip_prefix('<').and_then(|rest| rest.split_once('>')).map_or("", |(name, _)| name);
    let is_name = name.contains(['_', '-']) && name.chars().all(|c| c.is_ascii_lowercase() || ['_', '-'].contains(&c));
    is_name && text.ends_with('>') || text.starts_with("# AGENTS.md instructions")
}

/// Returns the texts in the content of a message: a string, or a list of parts.
fn text_of(content: Option<&Value>) -> String {
    let is_text = |part: &&Value| {
        part.get("type")
            .is_none_or(|kind| kind.as_str().is_some_and(|kind| ["text", "input_text", "output_text"].contains(&kind)))
    };
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter(is_text).filter_map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchanges(text: &str) -> Vec<(String, String)> {
        Conversation::read(text.as_bytes()).expect("the text can be read").exchanges()
    }

    #[test]
    fn prompts_and_answers_of_all_clients_are_read() {
        let expected = vec![("Why?".to_owned(), "Because.\n\nAnd so on.".to_owned())];
        let claude = r#"{"type":"user","message":{"role":"user","content":"Why?"},"timestamp":"2026-01-01T10:00:00Z"}
{"type":"user","isMeta":true,"message":{"role":"user","content":"inserted"}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Because."},{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"output"}]}}
not JSON
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"And so on."}]}}
{"type":"summary","summary":"x"}
"#;
        assert_eq!(exchanges(claude), expected);
        let codex = r##"{"type":"session_meta","payload":{"id":"s","cwd":"/"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /p\n\nBe brief."}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/</cwd>\n</environment_context>"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Why?"}]}}
{"type":"event_msg","payload":{"type":"user_message","message":"Why?"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Because.\n\nAnd so on."}]}}
"##;
        assert_eq!(exchanges(codex), expected);
        let gemini = json!({"sessionId": "s", "messages": [{"type": "user", "content": "Why?"},
            {"type": "gemini", "content": [{"text": "Because."}, {"text": "And so on."}]}]});
        assert_eq!(exchanges(&gemini.to_string()), expected);
        assert_eq!(exchanges(&serde_json::to_string_pretty(&gemini).expect("valid JSON")), expected);
        let grown = r#"{"id":"1","type":"user","content":[{"text":"Why?"}]}
{"id":"2","type":"gemini","content":"Because."}
{"id":"2","type":"gemini","content":"Because.\n\nAnd so on."}
{"$set":{"lastUpdated":"x"}}
"#;
        assert_eq!(exchanges(grown), expected);
        for text in [
            "",
            "\n\n",
            "{}",
            "[1]",
            "\u{0}\u{1}",
            "{\"messages\": 7}",
            "{\"role\": \"assistant\", \"content\": \"x\"}",
        ] {
            assert_eq!(exchanges(text), [], "{text}");
        }
        assert_eq!(exchanges(&format!("{{\"x\": \"{}\"}}\n{claude}", "x".repeat(MAX_LINE_BYTES))), expected);
    }

    #[test]
    fn only_texts_of_the_client_are_left_out() {
        for text in [
            "<command-name>/clear</command-name> <command-args></command-args>",
            "<user_instructions>x</user_instructions>",
        ] {
            assert!(is_of_client(text), "{text}");
        }
        for text in ["<div>Why?</div>", "<a_b> is unknown", "Why <a_b>?</a_b>", "<", "# AGENTS.md", "a < b > c"] {
            assert!(!is_of_client(text), "{text}");
        }
    }

    #[test]
    fn secrets_are_masked() {
        let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
        let line = json!({"role": "user", "content": format!("Use {token}")}).to_string();
        assert!(!exchanges(&line)[0].0.contains(&token[4..]));
    }
}
