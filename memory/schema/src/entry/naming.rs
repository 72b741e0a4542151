//! How an entry is called.

use std::borrow::Cow;

use super::Entry;
use crate::kind::Kind;
use crate::title;

const SECTION: &str = "content";

impl Entry {
    /// The title, in one line: the pattern, the topic, the heading of a note, the first line of a turn, the function or the file
    /// of a piece of code; the name in the id where there is none of these.
    pub fn title(&self) -> String {
        let given = self.given_title().map(Cow::into_owned).or_else(|| self.described());
        let name = || self.id.strip_prefix(self.kind.prefix()).unwrap_or(&self.id).to_owned();
        given.filter(|title| !title.is_empty()).unwrap_or_else(name)
    }

    /// The title that makes the id of an entry without one.
    pub(crate) fn given_title(&self) -> Option<Cow<'_, str>> {
        let first = |fields: &[&str]| fields.iter().find_map(|field| self.text(SECTION, field));
        match self.kind {
            Kind::Reasoning => first(&["pattern"]).map(one_line),
            Kind::Knowledge => first(&["title", "topic"]).map(one_line),
            Kind::Note => first(&["title"])
                .map(one_line)
                .or_else(|| self.text(SECTION, "text").map(|text| Cow::Owned(title::of_text(text)))),
            Kind::Turn => None,
            Kind::Code => first(&["function", "file"]).map(one_line),
        }
    }

    fn described(&self) -> Option<String> {
        let field = match self.kind {
            Kind::Reasoning => self.text(SECTION, "original_query"),
            Kind::Knowledge => self.text(SECTION, "summary").or_else(|| self.first_fact()),
            Kind::Turn => self.text(SECTION, "text"),
            Kind::Note | Kind::Code => None,
        };
        field.and_then(|text| text.trim_start().lines().next()).map(title::of_line)
    }

    fn first_fact(&self) -> Option<&str> {
        self.field(SECTION, "facts")?.get(0)?.get("statement")?.as_str()
    }
}

fn one_line(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.contains(['\n', '\r', '\t']) {
        Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
    } else {
        Cow::Borrowed(text)
    }
}
