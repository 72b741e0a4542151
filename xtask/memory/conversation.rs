//! Reads the conversations of LoCoMo and the questions about them (Maharana et al., "Evaluating Very Long-Term
//! Conversational Memory of LLM Agents", ACL 2024).

use std::collections::BTreeMap;
use std::path::Path;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::category::Category;
use crate::evidence::{self, Corrections};

/// Seconds between two turns of a session. LoCoMo contains only the time of the session.
const BETWEEN_TURNS: i64 = 60;

/// A conversation of two people over several sessions.
pub(crate) struct Conversation {
    /// Number of the conversation in LoCoMo, which is also the name of its file.
    pub(crate) name: String,
    /// The sessions, oldest first.
    pub(crate) sessions: Vec<Session>,
    /// The questions with evidence, in the order of the file.
    pub(crate) questions: Vec<ConversationQuestion>,
    /// Number of questions that are omitted because their evidence contains no id of a turn.
    pub(crate) without_evidence: usize,
}

/// The turns of one day.
pub(crate) struct Session {
    /// The numbers of the conversation and the session, such as `26-1`.
    pub(crate) name: String,
    /// The turns, oldest first.
    pub(crate) turns: Vec<Turn>,
}

/// A turn of one of the two speakers.
pub(crate) struct Turn {
    /// Id of the turn in LoCoMo, such as `D1:3`.
    pub(crate) id: String,
    /// Name of the speaker.
    pub(crate) speaker: String,
    /// Text of the turn, with the caption of the image that the speaker showed.
    pub(crate) text: String,
    /// Time in Unix seconds: the time of the session plus a minute for this turn and for each earlier turn. LoCoMo does
    /// not specify a time zone, so the program assumes UTC.
    pub(crate) time: i64,
}

/// A question with the turns that answer it.
pub(crate) struct ConversationQuestion {
    /// The numbers of the conversation and the question, such as `26-q1`.
    pub(crate) id: String,
    /// Category of the question.
    pub(crate) category: Category,
    /// Text of the question.
    pub(crate) text: String,
    /// The answer in LoCoMo, for display.
    pub(crate) answer: String,
    /// Ids of the turns that answer the question. There is at least one.
    pub(crate) evidence: Vec<String>,
}

impl Conversation {
    /// Reads a file of LoCoMo's directory `locomo10_v2`.
    /// `corrections` contains evidence that replaces the evidence of questions, by the text of the question.
    pub(crate) fn read(path: &Path, corrections: &Corrections) -> Result<Self, String> {
        let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| at(&error))?;
        let document: Value = serde_json::from_str(&text).map_err(|error| at(&error))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self::from_document(name, &document, corrections).map_err(|error| at(&error))
    }

    fn from_document(name: String, document: &Value, corrections: &Corrections) -> Result<Self, String> {
        let sessions = sessions(&name, document)?;
        let is_turn = |id: &String| sessions.iter().flat_map(|session| &session.turns).any(|turn| turn.id == *id);
        let asked = document["qa"].as_array().ok_or("there is no list `qa`")?;
        let mut questions = Vec::with_capacity(asked.len());
        for (question, number) in asked.iter().zip(1..) {
            let corrected = question["question"].as_str().and_then(|text| corrections.get(text));
            let listed = corrected.cloned().unwrap_or_else(|| evidence::listed(&question["evidence"]));
            let mut found: Vec<String> = listed.into_iter().filter(is_turn).collect();
            found.sort();
            found.dedup();
            if found.is_empty() {
                continue;
            }
            let category = question["category"].as_u64().and_then(Category::from_number);
            questions.push(ConversationQuestion {
                id: format!("{name}-q{number}"),
                category: category.ok_or_else(|| format!("question {number} has no category from 1 to 5"))?,
                text: string(&question["question"])?,
                answer: match &question["answer"] {
                    Value::String(answer) => answer.clone(),
                    other => other.to_string(),
                },
                evidence: found,
            });
        }
        let without_evidence = asked.len() - questions.len();
        Ok(Self { name, sessions, questions, without_evidence })
    }

    /// Returns all turns, oldest first.
    pub(crate) fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.sessions.iter().flat_map(|session| &session.turns)
    }

    /// Returns the time of the last turn.
    pub(crate) fn end(&self) -> i64 {
        self.turns().map(|turn| turn.time).max().unwrap_or_default()
    }
}

fn sessions(name: &str, document: &Value) -> Result<Vec<Session>, String> {
    let fields = document.as_object().ok_or("the file does not contain a JSON object")?;
    let numbered = fields.iter().filter_map(|(key, turns)| {
        let number: u32 = key.strip_prefix("session_")?.parse().ok()?;
        Some((number, turns.as_array()?))
    });
    let numbered: BTreeMap<u32, &Vec<Value>> = numbered.collect();
    let session = |(number, turns): (u32, &Vec<Value>)| {
        let begun = time(&string(&document[format!("session_{number}_date_time")])?)?;
        let turns = turns.iter().zip(1..).map(|(turn, order)| parse_turn(turn, begun + order * BETWEEN_TURNS));
        Ok(Session { name: format!("{name}-{number}"), turns: turns.collect::<Result<_, String>>()? })
    };
    numbered.into_iter().map(session).collect()
}

fn parse_turn(turn: &Value, time: i64) -> Result<Turn, String> {
    let said = string(&turn["text"])?;
    let text = match turn["blip_caption"].as_str() {
        Some(caption) => format!("{said} [image: {caption}]"),
        None => said,
    };
    Ok(Turn { id: string(&turn["dia_id"])?, speaker: string(&turn["speaker"])?, text, time })
}

fn string(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("expected a string, found {value}"))
}

/// Converts a time such as `1:56 pm on 8 May, 2023` into Unix seconds.
fn time(text: &str) -> Result<i64, String> {
    let read = DateTime::strptime("%I:%M %p on %d %B, %Y", text);
    let zoned = read.and_then(|time| time.to_zoned(TimeZone::UTC));
    zoned.map(|time| time.timestamp().as_second()).map_err(|error| format!("{text}: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_parsed() {
        assert_eq!(time("1:56 pm on 8 May, 2023"), Ok(1_683_554_160));
        assert_eq!(time("12:09 am on 13 September, 2023"), Ok(1_694_563_740));
        assert!(time("yesterday").is_err());
    }

    #[test]
    fn a_conversation_has_its_sessions_in_order_and_questions_with_evidence() {
        let turn = |id: &str, text: &str| json!({ "speaker": "Ann", "dia_id": id, "text": text });
        let mut shown = turn("D10:1", "Look!");
        shown["blip_caption"] = json!("a photo of a cat");
        let document = json!({
            "session_2_date_time": "1:00 pm on 1 May, 2023", "session_2": [turn("D2:1", "Hi"), turn("D2:2", "Bye")],
            "session_10_date_time": "1:00 pm on 2 May, 2023", "session_10": [shown],
            "session_11_date_time": "1:00 pm on 3 May, 2023",
            "qa": [
                { "question": "Who?", "answer": 2022, "evidence": ["D2:1; D10:01", "D2:1"], "category": 1 },
                { "question": "When?", "answer": "never", "evidence": ["D", "D7:7"], "category": 2 },
            ],
        });
        let conversation = Conversation::from_document("7".to_owned(), &document, &Corrections::new())
            .expect("the document is well-formed");
        let names: Vec<&str> = conversation.sessions.iter().map(|session| session.name.as_str()).collect();
        assert_eq!(names, ["7-2", "7-10"]);
        let times: Vec<i64> = conversation.turns().map(|turn| turn.time).collect();
        assert_eq!((times[1] - times[0], conversation.end() - times[0]), (60, 86_400));
        assert_eq!(conversation.sessions[1].turns[0].text, "Look! [image: a photo of a cat]");
        assert_eq!((conversation.questions.len(), conversation.without_evidence), (1, 1));
        let question = &conversation.questions[0];
        assert_eq!((question.id.as_str(), question.answer.as_str()), ("7-q1", "2022"));
        assert_eq!(question.evidence, ["D10:1", "D2:1"]);
    }
}
