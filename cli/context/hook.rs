//! Hooks of agents: the JSON that a client passes to a hook, and the context that a hook returns.
//!
//! A hook never makes its client fail. It prints nothing if an error occurs, ends after a limited time, and always exits
//! with 0.

use std::io::{self, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;
use std::{process, thread};

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::context::{Failure, Outcome};

/// Maximum size of the JSON from the client in bytes.
const MAX_INPUT_BYTES: u64 = 4 << 20;

/// A client with hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookClient {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Gemini CLI
    Gemini,
}

/// The input of a hook. Fields that the client does not supply are empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct HookInput {
    /// The prompt of the user.
    pub(crate) prompt: String,
    /// The id of the session.
    pub(crate) session: Option<String>,
    /// The path of the file with the conversation.
    pub(crate) transcript: Option<PathBuf>,
    /// The reason for the end of the session.
    pub(crate) reason: Option<String>,
}

impl HookInput {
    /// Reads the JSON of the client from standard input.
    pub(crate) fn read() -> Outcome<Self> {
        let mut bytes = Vec::new();
        io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_INPUT_BYTES {
            return Err(Failure::new("the input of the hook is too long"));
        }
        Self::parse(&bytes).ok_or_else(|| Failure::new("the input of the hook is not a JSON object"))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let Ok(Value::Object(input)) = serde_json::from_slice(bytes) else { return None };
        let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            prompt: text("prompt").unwrap_or_default(),
            session: text("session_id").or_else(|| text("conversation_id")),
            transcript: text("transcript_path").map(PathBuf::from),
            reason: text("reason"),
        })
    }
}

impl HookClient {
    /// Returns the output of a prompt hook that adds `context` to the prompt, in the format of the client.
    pub(crate) fn output(self, context: &str) -> Value {
        let event = match self {
            Self::ClaudeCode | Self::Codex => "UserPromptSubmit",
            Self::Gemini => "BeforeAgent",
            Self::Cursor => return json!({ "continue": true, "additional_context": context }),
        };
        json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": context } })
    }
}

/// Runs the work of a hook. Ignores errors and panics. After `limit`, ends the process with exit code 0.
pub(crate) fn run(limit: Duration, work: impl FnOnce() -> Outcome) -> Outcome {
    let end = move || {
        thread::sleep(limit);
        process::exit(0);
    };
    if thread::Builder::new().name("aurora-hook-limit".to_owned()).spawn(end).is_ok() {
        std::panic::set_hook(Box::new(|_| {}));
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_of_all_clients_are_read_and_other_values_are_ignored() {
        let parse = |text: &str| HookInput::parse(text.as_bytes());
        let claude =
            parse(r#"{"session_id": "s", "transcript_path": "/t.jsonl", "prompt": "p", "cwd": "/", "n": [1]}"#);
        let expected = HookInput {
            prompt: "p".to_owned(),
            session: Some("s".to_owned()),
            transcript: Some("/t.jsonl".into()),
            reason: None,
        };
        assert_eq!(claude, Some(expected));
        let cursor = parse(r#"{"conversation_id": "c", "transcript_path": null, "reason": "completed", "prompt": 7}"#);
        let expected =
            HookInput { session: Some("c".to_owned()), reason: Some("completed".to_owned()), ..HookInput::default() };
        assert_eq!(cursor, Some(expected));
        for text in ["", "[]", "7", "{", "\u{0}"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
