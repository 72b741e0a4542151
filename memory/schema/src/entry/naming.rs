//! The title of an entry.

use std::borrow::Cow;

use super::Entry;
use crate::kind::Kind;
use crate::title;

const SECTION: &str = "content";

impl Entry {
    /// Returns the title, as one line. It is the pattern of reasoning, the title or topic of knowledge, the heading of
    /// a note, the first line of a turn, or the function or file of code. If the entry has no title, returns the id
    /// without its prefix.
    pub fn title(&self) -> String {
        let title = self.title_for_id().map(Cow::into_owned).or_else(|| self.fallback_title());
        let name = || self.id.strip_prefix(self.kind.prefix()).unwrap_or(&self.id).to_owned();
        title.filter(|title| !title.is_empty()).unwrap_or_else(name)
    }

    /// Returns the title from which an id can be derived; `None` if the entry has no such title.
    pub(crate) fn title_for_id(&self) -> Option<Cow<'_, str>> {
        let first = |fields: &[&str]| fields.iter().find_map(|field| self.text(SECTION, field));
        match self.kind {
            Kind::Reasoning => first(&["pattern"]).map(one_line),
            Kind::Knowledge => first(&["title", "topic"]).map(one_line),
            Kind::Note => first(&["title"])
                .map(one_line)
                .or_else(|| self.text(SECTION, "text").map(|text| Cow::Owned(title::from_text(text)))),
            Kind::Turn => None,
            Kind::Code => first(&["function", "file"]).map(one_line),
        }
    }

    fn fallback_title(&self) -> Option<String> {
        let field = match self.kind {
            Kind::Reasoning => self.text(SECTION, "original_query"),
            Kind::Knowledge => self.text(SECTION, "summary").or_else(|| self.first_fact()),
            Kind::Turn => self.text(SECTION, "text"),
            Kind::Note | Kind::Code => None,
        };
        field.and_then(|text| text.trim_start().lines().next()).map(title::from_line)
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
