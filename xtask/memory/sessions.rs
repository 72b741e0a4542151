//! How well does a memory find the sessions that answer a question?

use std::collections::BTreeSet;

use crate::ask::{search, searchers};
use crate::category::Category;
use crate::conversation::Conversation;
use crate::memories::Memories;
use crate::setting::Setting;

/// Number of turns whose sessions are counted.
const TURNS: usize = 100;
/// Number of sessions that may contain the evidence.
const SESSIONS: usize = 10;

/// Prints the shares of answered questions for which any session, and every session, with evidence is among the first
/// ten distinct sessions of the results.
pub(crate) fn print(conversations: &[Conversation], memories: &Memories, setting: &Setting) -> Result<(), String> {
    let (mut asked, mut any, mut all) = (0, 0, 0);
    for (round, conversation) in memories.rounds.iter().zip(conversations) {
        let searchers = searchers(&memories.stored[round.memory].memory, setting)?;
        for (asked_question, question) in round.questions.iter().zip(&conversation.questions) {
            if question.category == Category::Adversarial {
                continue;
            }
            let wanted: BTreeSet<&str> = asked_question.relevant.iter().map(|answer| session(&answer.path)).collect();
            let found = search(&searchers, setting, round.now, &asked_question.query, TURNS)?;
            let mut sessions: Vec<&str> = Vec::new();
            for hit in found.iter().flat_map(|found| &found.hits) {
                if !sessions.contains(&session(&hit.key)) {
                    sessions.push(session(&hit.key));
                }
            }
            sessions.truncate(SESSIONS);
            let is_found = |wanted: &&&str| sessions.contains(*wanted);
            asked += 1;
            any += usize::from(wanted.iter().any(|wanted| is_found(&wanted)));
            all += usize::from(wanted.iter().all(|wanted| is_found(&wanted)));
        }
    }
    let share = |count: usize| count as f64 / f64::from(asked.max(1) as u32);
    println!("\n## Sessions\n\n| questions | any@{SESSIONS} | all@{SESSIONS} |\n|---|---|---|");
    println!("| {asked} | {:.3} | {:.3} |", share(any), share(all));
    Ok(())
}

/// Returns the session in the key of a turn.
fn session(key: &str) -> &str {
    key.rsplit_once(':').map_or(key, |(session, _)| session)
}
