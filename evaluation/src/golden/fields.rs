//! Reads a question from a JSON value. Questions in YAML are first converted to JSON values.

use aurora_suggest::nearest;
use serde_json::{Map, Value};

use crate::golden::question::{Answer, FOUND, Question};

/// Maximum grade of an answer. Grades have one digit.
const MAX_GRADE: u8 = 9;

/// Defaults for fields that are missing in the value.
pub(crate) struct Defaults<'a> {
    /// Set of a question that does not name its set.
    pub(crate) set: &'a str,
    /// Id of a question that has no id.
    pub(crate) id: String,
}

/// Reads a question, or returns all of its errors.
pub(crate) fn read(value: &Value, defaults: Defaults<'_>) -> Result<Question, Vec<String>> {
    let Value::Object(fields) = value else {
        return Err(vec![format!("expected an object with `query` and `relevant`, found {}", type_name(value))]);
    };
    let mut reader = FieldReader { fields, place: String::new(), faults: Vec::new() };
    let query = match reader.text("query") {
        None if reader.faults.is_empty() => reader.missing("query", "it contains the words to search for"),
        None => String::new(),
        Some(query) if query.trim().is_empty() => reader.fault("`query` is empty".to_owned()),
        Some(query) => query,
    };
    let id = reader.text("id").unwrap_or(defaults.id);
    let set = reader.text("set").or_else(|| reader.text("kind")).unwrap_or_else(|| defaults.set.to_owned());
    let relevant = reader.answers();
    let question = Question {
        id,
        query,
        set,
        relevant,
        tags: reader.texts("tags"),
        topics: reader.texts("expected_topics"),
        min_recall: reader.field("min_recall", "a number from 0 to 1", |value| {
            value.as_f64().filter(|share| (0.0..=1.0).contains(share))
        }),
    };
    if reader.faults.is_empty() { Ok(question) } else { Err(reader.faults) }
}

struct FieldReader<'v> {
    fields: &'v Map<String, Value>,
    /// The beginning of the message about an invalid field.
    place: String,
    faults: Vec<String>,
}

impl<'v> FieldReader<'v> {
    fn fault<T: Default>(&mut self, message: String) -> T {
        self.faults.push(message);
        T::default()
    }

    fn missing<T: Default>(&mut self, key: &str, what: &str) -> T {
        let near = nearest(key, self.fields.keys().map(String::as_str));
        let meant = near.map_or_else(String::new, |near| format!("; unknown field `{near}`, did you mean `{key}`?"));
        self.fault(format!("`{key}` is missing; {what}{meant}"))
    }

    fn value(&self, key: &str) -> Option<&'v Value> {
        self.fields.get(key).filter(|value| !value.is_null())
    }

    /// Reads a field, and reports a value that is not `expected`.
    fn field<T>(&mut self, key: &str, expected: &str, read: impl FnOnce(&'v Value) -> Option<T>) -> Option<T> {
        let value = self.value(key)?;
        read(value).or_else(|| {
            let message = format!("{}`{key}` must be {expected}", self.place);
            self.fault(message)
        })
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) if key == "id" => Some(number.to_string()),
            other => {
                let message = format!("`{key}` must be a string, not {}", type_name(other));
                self.fault(message)
            }
        }
    }

    fn texts(&mut self, key: &str) -> Vec<String> {
        let text = |item: &Value| item.as_str().map(str::to_owned);
        let texts = self.field(key, "a list of strings", |value| value.as_array()?.iter().map(text).collect());
        texts.unwrap_or_default()
    }

    /// Reads the answers from `relevant`, or from the files in `expected_sources`.
    fn answers(&mut self) -> Vec<Answer> {
        let answers: Vec<Answer> = match (self.value("relevant"), self.value("expected_sources")) {
            (Some(Value::Array(list)), _) => {
                let read = list.iter().zip(1..).map(|(value, number)| answer(number, value));
                read.filter_map(|answer| answer.map_err(|messages| self.faults.extend(messages)).ok()).collect()
            }
            (Some(_), _) => return self.fault("`relevant` must be a list of answers".to_owned()),
            (None, Some(_)) => self.texts("expected_sources").iter().map(|path| source(path)).collect(),
            (None, None) => {
                return self
                    .missing("relevant", "it lists the places that answer the question, such as [{\"path\": …}]");
            }
        };
        let graded = answers.iter().any(|answer| answer.grade.is_some());
        let counts = |answer: &Answer| !graded || answer.grade.unwrap_or(FOUND) >= FOUND;
        if self.faults.is_empty() && !answers.iter().any(counts) {
            return self.fault(if answers.is_empty() {
                "the question has no answers".to_owned()
            } else {
                format!("no answer has a grade of {FOUND} or above, so no result can count as correct")
            });
        }
        answers
    }
}

fn answer(number: usize, value: &Value) -> Result<Answer, Vec<String>> {
    let Value::Object(fields) = value else {
        return Err(vec![format!("answer {number} must be an object with a `path`, not {}", type_name(value))]);
    };
    let mut reader = FieldReader { fields, place: format!("answer {number}: "), faults: Vec::new() };
    let path = reader.value("path").and_then(Value::as_str).filter(|path| !path.trim().is_empty());
    if path.is_none() {
        reader.faults.push(format!("answer {number} has no `path`"));
    }
    let mut line = |key| {
        let line = |value: &Value| u32::try_from(value.as_u64()?).ok().filter(|line| *line > 0);
        reader.field(key, "a line number from 1", line)
    };
    let lines = match (line("line_start"), line("line_end")) {
        (Some(start), Some(end)) if start > end => {
            reader.fault(format!("answer {number}: line_end {end} is before line_start {start}"))
        }
        (Some(start), Some(end)) => Some((start, end)),
        (start, end) => start.or(end).map(|line| (line, line)),
    };
    let grade = reader.field("grade", &format!("a whole number from 0 to {MAX_GRADE}"), |value| {
        u8::try_from(value.as_u64()?).ok().filter(|grade| *grade <= MAX_GRADE)
    });
    let name = reader.value("name").and_then(Value::as_str).map(str::to_owned);
    let path = path.unwrap_or_default().trim_start_matches("./").to_owned();
    if reader.faults.is_empty() {
        Ok(Answer { path, lines, name, grade, any_directory: false })
    } else {
        Err(reader.faults)
    }
}

fn source(path: &str) -> Answer {
    let path = path.trim_start_matches("./").to_owned();
    Answer { any_directory: !path.contains('/'), path, lines: None, name: None, grade: None }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
