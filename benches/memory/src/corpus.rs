//! Generates turns of conversations and knowledge articles. The number of a turn or an article determines its content.

use serde_json::{Value, json};

use crate::Options;
use crate::measure::now;
use crate::words::{Random, Words};

/// Number of words that are typical of a topic. A third of the words of a conversation are drawn from them.
const TOPIC: usize = 150;
/// Frequency ranks from which the words of topics are chosen: neither too frequent nor too rare.
const TOPICAL: std::ops::Range<usize> = 150..20_000;
/// Number of words in a query.
const QUERY: usize = 4;

/// A turn of a conversation.
pub(crate) struct Turn {
    pub(crate) session: String,
    pub(crate) speaker: &'static str,
    /// Position in the session, starting at 1.
    pub(crate) order: usize,
    pub(crate) text: String,
    pub(crate) time: i64,
}

pub(crate) struct Article {
    pub(crate) id: String,
    pub(crate) topic: String,
    pub(crate) summary: String,
    pub(crate) facts: Vec<String>,
    pub(crate) confidence: f64,
    pub(crate) time: i64,
}

pub(crate) struct Corpus {
    words: Words,
    sessions: usize,
    /// Time of the first turn in Unix seconds. Each turn is a second later than the turn before it, so the last loaded
    /// turn is a second before the start of the bench.
    beginning: i64,
}

impl Corpus {
    pub(crate) fn new(options: &Options) -> Self {
        let beginning = now() - options.turns as i64;
        Self { words: Words::new(), sessions: options.sessions.max(1), beginning }
    }

    /// Generates the turn with a number. The turns of a session have consecutive numbers.
    pub(crate) fn turn(&self, number: usize) -> Turn {
        let (session, order) = (number % self.sessions, number / self.sessions + 1);
        let mut random = Random::for_number(1, number);
        let length = 20 + random.below(81);
        Turn {
            session: format!("session-{session}"),
            speaker: if order % 2 == 1 { "user" } else { "assistant" },
            order,
            text: self.text(session, length, &mut random),
            time: self.beginning + number as i64,
        }
    }

    pub(crate) fn article(&self, number: usize) -> Article {
        let mut random = Random::for_number(2, number);
        let topic = random.below(self.sessions);
        let mut text = |length| self.text(topic, length, &mut random);
        Article {
            id: format!("know:article-{number}"),
            topic: text(6),
            summary: text(15),
            facts: (0..3).map(|_| text(18)).collect(),
            confidence: 0.5 + 0.5 * (number % 50) as f64 / 50.0,
            time: self.beginning + number as i64,
        }
    }

    /// Generates a text in which some words belong to a topic, with an occasional full stop.
    fn text(&self, topic: usize, length: usize, random: &mut Random) -> String {
        let mut text = String::with_capacity(7 * length);
        for position in 0..length {
            let rank =
                if random.below(3) == 0 { self.topical(topic, random.below(TOPIC)) } else { self.words.draw(random) };
            text.push_str(if position == 0 { "" } else { " " });
            text.push_str(self.words.get(rank));
            if random.below(14) == 0 {
                text.push('.');
            }
        }
        text
    }

    /// Returns the rank of one of the `TOPIC` words of a topic.
    fn topical(&self, topic: usize, position: usize) -> usize {
        TOPICAL.start + Random::for_number(3, topic * TOPIC + position).below(TOPICAL.len())
    }

    /// Generates a query, and the name of the session that it concerns.
    pub(crate) fn query(&self, number: usize) -> (String, String) {
        let mut random = Random::for_number(4, number);
        let topic = random.below(self.sessions);
        let words: Vec<&str> = (0..QUERY).map(|_| self.words.get(self.topical(topic, random.below(TOPIC)))).collect();
        (words.join(" "), format!("session-{topic}"))
    }
}

impl Turn {
    pub(crate) fn id(&self) -> String {
        format!("turn:{}:{}", self.session, self.order)
    }

    /// Returns the document as `aur` stores it.
    pub(crate) fn document(&self) -> Value {
        let Self { session, speaker, order, text, .. } = self;
        let content = json!({ "text": text, "speaker": speaker, "session": session, "order": order });
        json!({ "id": self.id(), "type": "turn", "content": content })
    }
}

impl Article {
    pub(crate) fn document(&self) -> Value {
        let facts: Vec<Value> = self.facts.iter().map(|fact| json!({ "statement": fact })).collect();
        let content = json!({
            "topic": self.topic, "summary": self.summary, "facts": facts, "confidence": self.confidence,
        });
        json!({ "id": self.id, "type": "knowledge", "content": content })
    }

    /// Returns the text that searches read.
    pub(crate) fn text(&self) -> String {
        format!("{}\n{}", self.summary, self.facts.join("\n"))
    }
}
