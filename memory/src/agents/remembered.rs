//! Entries that agents add.

use std::path::Path;
use std::time::Instant;

use aurora_memory_policy::{Scope, check_rule};
use aurora_memory_schema::{Draft, Kind, read_json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{AgentMemory, AgentSession, MemoryOperation, place_for};
use crate::error::MemoryError;
use crate::memory::{Memory, Placement};

/// Number of hexadecimal digits of the session's hash in the id of a private entry.
const SESSION_DIGITS: usize = 8;

/// The kind of an entry that an agent adds.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NewMemoryKind {
    /// A text.
    Note,
    /// Facts with their sources.
    Knowledge,
    /// A solution of a problem.
    Reasoning,
}

/// An entry that an agent adds.
#[derive(Debug, Clone, Deserialize)]
pub struct NewMemory {
    /// The kind of the entry.
    pub kind: NewMemoryKind,
    /// The content of the entry: an object as in the schema of the kind, the text of a note, or the summary of
    /// knowledge.
    pub content: Value,
    /// Tags of the entry.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The session of the entry. Only this session finds the entry. Without a session, all searches in the project find
    /// the entry.
    pub session: Option<String>,
    /// Whether only the session finds the entry. If no session is given, the server assigns a session.
    #[serde(default)]
    pub private: bool,
}

/// The result of adding an entry.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remembered {
    /// The id of the entry.
    pub id: String,
    /// Whether the entry is stored. A stored entry is durable.
    pub stored: bool,
    /// The reason for the outcome.
    pub reason: String,
    /// The session that finds the entry; missing if all searches in the project find it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl AgentMemory {
    /// Adds an entry at `now`, in Unix seconds. An entry with a session is private to the session and belongs to the
    /// user's memory. Any other entry belongs to the memory of the project at `root`.
    ///
    /// # Errors
    /// Fails if the memory is read-only, the session is unknown, the entry is invalid or exceeds a limit, or the memory
    /// cannot be written.
    pub fn remember(&self, entry: &NewMemory, root: &Path, now: i64) -> Result<Remembered, MemoryError> {
        let begun = Instant::now();
        self.observed(MemoryOperation::Remember, begun, self.add(entry, root, now))
    }

    fn add(&self, entry: &NewMemory, root: &Path, now: i64) -> Result<Remembered, MemoryError> {
        self.check_writable()?;
        let caller = self.session(entry.session.as_deref())?;
        let counted = caller.as_ref().map(|session| session.id.clone());
        let session = match caller {
            _ if !entry.private && entry.session.is_none() => None,
            None => Some(self.issue_session()?),
            session => session,
        };
        let document = entry.document()?;
        self.quotas.count(counted.as_deref(), document.len())?;
        let draft = entry.draft(&document, session.as_ref())?;
        let scope = if session.is_some() { Scope::Session } else { Scope::Project };
        let session = session.map(|AgentSession { id, .. }| id);
        let memory = Memory::create(place_for(scope, root)?)?;
        let outcome = memory.add(draft, &Placement { scope, session: session.clone() }, now)?;
        Ok(Remembered { id: outcome.id, stored: outcome.stored, reason: outcome.reason, session })
    }
}

impl NewMemory {
    /// Returns the document of the entry as JSON.
    fn document(&self) -> Result<String, MemoryError> {
        let unfit = |problem: &str| Err(MemoryError::Unfit(problem.to_owned()));
        let content = match (self.kind, &self.content) {
            (_, Value::Object(_)) => self.content.clone(),
            (NewMemoryKind::Note, Value::String(text)) => json!({ "text": text }),
            // Some clients pass objects as strings.
            (kind, Value::String(text)) => match (kind, serde_json::from_str(text)) {
                (_, Ok(object @ Value::Object(_))) => object,
                (NewMemoryKind::Knowledge, _) => json!({ "summary": text }),
                _ => return unfit("the content of reasoning must be an object with `pattern` and `success_score`"),
            },
            _ => return unfit("`content` must be a string or an object"),
        };
        Ok(Value::Object(Map::from_iter([("content".to_owned(), content)])).to_string())
    }

    /// Parses the document. The id of a private entry contains a hash of the session. Otherwise, the numeric suffix of
    /// an id would reveal that another session has an entry with the same title.
    fn draft(&self, document: &str, session: Option<&AgentSession>) -> Result<Draft, MemoryError> {
        let kind = match self.kind {
            NewMemoryKind::Note => Kind::Note,
            NewMemoryKind::Knowledge => Kind::Knowledge,
            NewMemoryKind::Reasoning => Kind::Reasoning,
        };
        let draft = read_json(kind, "content", document, check_rule);
        let mut draft = draft.map_err(|errors| {
            let messages = errors.iter().map(|error| match &error.help {
                Some(help) => format!("{} ({help})", error.message),
                None => error.message.clone(),
            });
            MemoryError::Unfit(messages.collect::<Vec<_>>().join("; "))
        })?;
        let unfit = |error: aurora_memory_schema::EditError| MemoryError::Unfit(error.to_string());
        let tags: Vec<&str> = self.tags.iter().map(String::as_str).collect();
        draft.entry_mut().set_tags(&tags, &[]).map_err(unfit)?;
        if let Some(session) = session {
            let hash = blake3::hash(session.id.as_bytes()).to_hex();
            let id = format!("{}-{}", draft.entry().id(), &hash[..SESSION_DIGITS]);
            draft.entry_mut().set_id(&id).map_err(unfit)?;
        }
        Ok(draft)
    }
}
