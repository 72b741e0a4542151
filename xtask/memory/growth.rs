//! Measures questions that are asked soon after the session that answers them, while a memory grows.
//!
//! Questions about a finished conversation concern the whole conversation, as if every turn were equally likely to be
//! needed. This measurement is the other extreme: each question is asked right after the session with the newest turn
//! that answers it.

use std::path::Path;

use aurora_evaluation::metrics::Measured;

use crate::ask::ask;
use crate::conversation::{Conversation, ConversationQuestion, Session};
use crate::memories::{StoredTurns, UNTIL_ASKED};
use crate::setting::Setting;

/// Measures the search results for each setting, in the order of the questions. Each question is asked an hour after
/// the last turn of the session with its newest evidence, before later sessions are added to the memory.
pub(crate) fn ask_while_growing(
    conversations: &[Conversation],
    directory: &Path,
    settings: &[Setting],
) -> Result<Vec<Vec<Measured>>, String> {
    let mut all: Vec<Vec<Measured>> = vec![Vec::new(); settings.len()];
    for conversation in conversations {
        let mut stored = StoredTurns::create(&directory.join(format!("growing-{}", conversation.name)))?;
        let mut measured: Vec<Vec<(&str, Measured)>> = vec![Vec::new(); settings.len()];
        for session in &conversation.sessions {
            stored.add(conversation, session, 0)?;
            let asked = conversation.questions.iter();
            let asked: Vec<&ConversationQuestion> =
                asked.filter(|question| newest_session(conversation, question) == Some(&session.name)).collect();
            let Some(last) = session.turns.last().filter(|_| !asked.is_empty()) else { continue };
            let questions = stored.questions(conversation, asked.iter().copied());
            for (setting, measured) in settings.iter().zip(&mut measured) {
                let found = ask(&stored.memory, setting, last.time + UNTIL_ASKED, &questions)?;
                measured.extend(asked.iter().map(|question| question.id.as_str()).zip(found));
            }
        }
        for (all, mut measured) in all.iter_mut().zip(measured) {
            let order = |id: &str| conversation.questions.iter().position(|question| question.id == id);
            measured.sort_by_key(|(id, _)| order(id));
            all.extend(measured.into_iter().map(|(_, measured)| measured));
        }
    }
    Ok(all)
}

/// Returns the name of the last session that contains evidence of a question.
fn newest_session<'c>(conversation: &'c Conversation, question: &ConversationQuestion) -> Option<&'c String> {
    let holds = |session: &&Session| session.turns.iter().any(|turn| question.evidence.contains(&turn.id));
    conversation.sessions.iter().rev().find(holds).map(|session| &session.name)
}
