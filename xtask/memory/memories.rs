//! Stores conversations as memories, and lists the questions for each memory.

use std::collections::BTreeMap;
use std::path::Path;

use aurora_evaluation::golden::{Answer, Question};
use aurora_memory::{Memory, MemoryPlace, NewTurn, Owner, Scope};

use crate::conversation::{Conversation, ConversationQuestion, Session};

/// Seconds between the last turn and the questions about it.
pub(crate) const UNTIL_ASKED: i64 = 3_600;

/// A memory with the turns of one or several conversations.
pub(crate) struct StoredTurns {
    /// The memory.
    pub(crate) memory: Memory,
    /// Ids of the turns in the memory, by conversation name and LoCoMo id.
    ids: BTreeMap<(String, String), String>,
}

/// Questions that are asked of one memory at the same time.
pub(crate) struct Round {
    /// Index of the memory in [`Memories::stored`].
    pub(crate) memory: usize,
    /// Time of the questions in Unix seconds.
    pub(crate) now: i64,
    /// The questions, in the order of the file.
    pub(crate) questions: Vec<Question>,
}

/// Memories and their questions. The order of all questions is the same for separate memories and for a shared memory.
pub(crate) struct Memories {
    /// The memories.
    pub(crate) stored: Vec<StoredTurns>,
    /// One round for each conversation.
    pub(crate) rounds: Vec<Round>,
}

impl Memories {
    /// Creates a memory for each conversation. The questions are asked an hour after the end of the conversation.
    pub(crate) fn separate(conversations: &[Conversation], directory: &Path) -> Result<Self, String> {
        let (mut stored, mut rounds) = (Vec::new(), Vec::new());
        for (memory, conversation) in conversations.iter().enumerate() {
            let mut turns = StoredTurns::create(&directory.join(&conversation.name))?;
            for session in &conversation.sessions {
                turns.add(conversation, session, 0)?;
            }
            let questions = turns.questions(conversation, conversation.questions.iter());
            rounds.push(Round { memory, now: conversation.end() + UNTIL_ASKED, questions });
            stored.push(turns);
        }
        Ok(Self { stored, rounds })
    }

    /// Creates one memory for all conversations. Conversations are shifted in time so that all conversations end when
    /// the newest conversation ends. Therefore, the turns have the same age at the time of a question as in separate
    /// memories, and no turn is newer than the question.
    pub(crate) fn shared(conversations: &[Conversation], directory: &Path) -> Result<Self, String> {
        let end = conversations.iter().map(Conversation::end).max().unwrap_or_default();
        let mut turns = StoredTurns::create(&directory.join("shared"))?;
        for conversation in conversations {
            for session in &conversation.sessions {
                turns.add(conversation, session, end - conversation.end())?;
            }
        }
        let round = |conversation: &Conversation| {
            let questions = turns.questions(conversation, conversation.questions.iter());
            Round { memory: 0, now: end + UNTIL_ASKED, questions }
        };
        let rounds = conversations.iter().map(round).collect();
        Ok(Self { stored: vec![turns], rounds })
    }
}

impl StoredTurns {
    /// Creates a memory without turns.
    pub(crate) fn create(directory: &Path) -> Result<Self, String> {
        let memory = Memory::create(MemoryPlace::at(Owner::User, directory)).map_err(|error| error.to_string())?;
        Ok(Self { memory, ids: BTreeMap::new() })
    }

    /// Adds the turns of a session, each `shift` seconds later than its original time.
    pub(crate) fn add(&mut self, conversation: &Conversation, session: &Session, shift: i64) -> Result<(), String> {
        for turn in &session.turns {
            let time = turn.time + shift;
            let new =
                NewTurn { session: &session.name, speaker: &turn.speaker, text: &turn.text, reply_to: None, time };
            let id = self.memory.add_turn(&new, Scope::Session, time).map_err(|error| error.to_string())?;
            self.ids.insert((conversation.name.clone(), turn.id.clone()), id);
        }
        Ok(())
    }

    /// Returns questions about a conversation of this memory in the form that the evaluation needs: entry ids serve as
    /// paths, and each answer is a whole turn.
    pub(crate) fn questions<'c>(
        &self,
        conversation: &Conversation,
        questions: impl Iterator<Item = &'c ConversationQuestion>,
    ) -> Vec<Question> {
        let answer = |id: &String| Answer { path: self.id(conversation, id), ..Answer::default() };
        let question = |question: &ConversationQuestion| Question {
            id: question.id.clone(),
            query: question.text.clone(),
            set: question.category.name().to_owned(),
            relevant: question.evidence.iter().map(answer).collect(),
            ..Question::default()
        };
        questions.map(question).collect()
    }

    /// Returns the memory id of a turn, given its LoCoMo id.
    pub(crate) fn id(&self, conversation: &Conversation, id: &str) -> String {
        self.ids.get(&(conversation.name.clone(), id.to_owned())).cloned().unwrap_or_default()
    }
}
