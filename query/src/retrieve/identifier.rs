//! Exact names: chunks whose name or qualified name is the query, which rank above all others.

use aurora_storage::ChunkType;

use crate::path_class::{PathClass, PathClasses};

/// A query read as the name of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdentifierQuery {
    /// As typed, without quotes and call brackets.
    plain: String,
    /// With `::`, `#`, `->` and `/` between members written as `.`.
    dotted: String,
}

/// The names of a chunk, and what orders equal ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkName<'a> {
    pub(crate) name: &'a str,
    pub(crate) qualified_name: &'a str,
    pub(crate) chunk_type: ChunkType,
    pub(crate) exported: bool,
    pub(crate) path: &'a str,
    pub(crate) line_start: u32,
    /// Whether the comments of the file say that a program has written it.
    pub(crate) is_generated: bool,
}

impl ChunkName<'_> {
    /// The classes of the file, if those that its path tells are `of_path`, and of the scopes around the definition.
    pub(crate) fn classes(&self, of_path: PathClasses) -> PathClasses {
        let of_content = self.is_generated.then_some(PathClass::Generated).into_iter().collect();
        of_path.with_scopes(self.qualified_name).or(of_content)
    }
}

/// How well a name is the query, and which of several comes first: the least. The fields are compared in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExactMatch {
    other_case: bool,
    prose: bool,
    side_code: bool,
    /// The chunk only declares what has its body elsewhere.
    declaration: bool,
    not_exported: bool,
    /// The query is the end of the qualified name only, or defined inside the chunk.
    inner: bool,
    kind: u8,
    path_length: usize,
    path: String,
    line_start: u32,
    key: String,
}

impl ExactMatch {
    /// Whether the chunk is source code and its name has the same case as the query.
    pub(crate) fn is_code_as_written(&self) -> bool {
        !self.other_case && !self.prose
    }

    /// The same for a chunk with a key, by which chunks of equal names on one line are ordered.
    pub(crate) fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Whether the chunk is a function or method, of which there may be declarations without a body.
    pub(crate) fn is_function(&self) -> bool {
        [ChunkType::Function, ChunkType::Method].map(kind_rank).contains(&self.kind)
    }

    /// The same for a chunk with a text, which tells whether it is a declaration only.
    pub(crate) fn with_text(self, text: &str) -> Self {
        Self { declaration: text.trim_end().ends_with(';') && !text.contains('{') && !text.contains("=>"), ..self }
    }

    /// Whether the chunk is of tests, examples or the like.
    pub(crate) fn is_side_code(&self) -> bool {
        self.side_code
    }
}

/// A heading as it is written in Markdown may end in a tag, which is no part of its text: `resolve.alias <Badge />`.
fn without_tag(text: &str) -> &str {
    match text.rsplit_once(" <") {
        Some((before, tag)) if tag.ends_with('>') && !before.trim().is_empty() => before.trim_end(),
        _ => text,
    }
}

impl IdentifierQuery {
    /// Reads `text` as a name.
    pub(crate) fn new(text: &str) -> Self {
        let plain = text.trim().trim_matches(['`', '"', '\'']).trim();
        let plain = without_tag(plain);
        let plain = plain.strip_suffix("()").unwrap_or(plain).trim().to_owned();
        let dotted = dotted(&plain);
        Self { plain, dotted }
    }

    /// Lower-case names to look up in the index: the whole query, and its last member.
    pub(crate) fn lookups(&self) -> Vec<String> {
        let mut names = vec![self.plain.to_lowercase()];
        names.extend(self.last_member().map(str::to_lowercase));
        names.retain(|name| !name.is_empty());
        names
    }

    /// The member of a qualified name. A sentence that ends in one, `converts to yaml.Node`, is none.
    fn last_member(&self) -> Option<&str> {
        let (owner, last) = self.dotted.rsplit_once('.')?;
        (!owner.contains(char::is_whitespace)).then_some(last)
    }

    /// Whether `chunk` is called what the query says.
    pub(crate) fn matches(&self, chunk: ChunkName<'_>) -> Option<ExactMatch> {
        let qualified = dotted(chunk.qualified_name);
        let is =
            |a: &str, b: &str, other_case: bool| if other_case { a.to_lowercase() == b.to_lowercase() } else { a == b };
        let ends_with = |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
        let found = |other_case: bool| {
            if is(chunk.name, &self.plain, other_case) || is(&qualified, &self.dotted, other_case) {
                return Some(false);
            }
            let inner = self.dotted.contains('.')
                && if other_case {
                    ends_with(&qualified.to_lowercase(), &self.dotted.to_lowercase())
                } else {
                    ends_with(&qualified, &self.dotted)
                };
            inner.then_some(true)
        };
        let (other_case, inner) =
            found(false).map(|inner| (false, inner)).or_else(|| found(true).map(|inner| (true, inner)))?;
        Some(Self::found(chunk, other_case, inner))
    }

    /// Whether `chunk` defines what the query says inside itself, given the names that it defines so.
    pub(crate) fn matches_inside<'n>(
        &self,
        chunk: ChunkName<'_>,
        mut names: impl Iterator<Item = &'n str>,
    ) -> Option<ExactMatch> {
        let name = self.last_member().unwrap_or(&self.dotted);
        let mut other_case = false;
        names
            .find(|defined| {
                other_case = *defined != name;
                defined.to_lowercase() == name.to_lowercase()
            })
            .map(|_| Self::found(chunk, other_case, true))
    }

    fn found(chunk: ChunkName<'_>, other_case: bool, inner: bool) -> ExactMatch {
        ExactMatch {
            other_case,
            prose: !chunk.chunk_type.is_source_code(),
            side_code: !chunk.classes(PathClasses::of(chunk.path)).is_empty(),
            declaration: false,
            not_exported: !chunk.exported,
            inner,
            kind: kind_rank(chunk.chunk_type),
            path_length: chunk.path.len(),
            path: chunk.path.to_owned(),
            line_start: chunk.line_start,
            key: String::new(),
        }
    }
}

/// Types before functions before methods (a constructor often has its type's name) before anything else.
fn kind_rank(chunk_type: ChunkType) -> u8 {
    match chunk_type {
        ChunkType::Class | ChunkType::Interface | ChunkType::Type | ChunkType::Struct | ChunkType::Enum => 0,
        ChunkType::Function => 1,
        ChunkType::Method => 2,
        _ => 3,
    }
}

/// Members joined by `.` instead of the separator of the language; text with spaces is no chain of members.
fn dotted(text: &str) -> String {
    if text.contains(char::is_whitespace) {
        return text.to_owned();
    }
    let inner = text.trim_start_matches('#');
    let mut out = text[..text.len() - inner.len()].to_owned();
    out.push_str(&inner.replace("::", ".").replace("->", ".").replace(['#', '\\'], "."));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk<'a>(qualified_name: &'a str, chunk_type: ChunkType, path: &'a str) -> ChunkName<'a> {
        let name = qualified_name.rsplit('.').next().unwrap_or(qualified_name);
        ChunkName { name, qualified_name, chunk_type, exported: true, path, line_start: 1, is_generated: false }
    }

    #[test]
    fn all_spellings_of_a_member_match() {
        let member = chunk("QueueManager.send", ChunkType::Method, "queue.go");
        for query in [
            "send",
            "QueueManager.send",
            "QueueManager::send",
            "QueueManager#send",
            "QueueManager->send",
            "`QueueManager.send()`",
            "queuemanager.SEND",
        ] {
            assert!(IdentifierQuery::new(query).matches(member).is_some(), "{query}");
        }
        for query in ["QueueManager", "Manager.send", "sendall", "queue send", ""] {
            assert!(IdentifierQuery::new(query).matches(member).is_none(), "{query}");
        }
    }

    #[test]
    fn lookups_are_the_whole_and_the_last_member() {
        assert_eq!(IdentifierQuery::new("Type::member").lookups(), ["type::member", "member"]);
        assert_eq!(IdentifierQuery::new("Start timestamp (ST)").lookups(), ["start timestamp (st)"]);
        assert_eq!(IdentifierQuery::new("made a yaml.Node").lookups(), ["made a yaml.node"]);
        assert_eq!(IdentifierQuery::new("Cart.adds an item").lookups(), ["cart.adds an item", "adds an item"]);
        assert_eq!(IdentifierQuery::new("`").lookups(), Vec::<String>::new());
    }

    #[test]
    fn case_then_definition_then_main_code_then_exported_then_shorter_path() {
        let hidden = ChunkName { exported: false, ..chunk("Session", ChunkType::Class, "a.py") };
        let order = [
            chunk("Session", ChunkType::Class, "src/session.py"),
            chunk("Session", ChunkType::Class, "src/other/session.py"),
            hidden,
            chunk("Session", ChunkType::Class, "tests/x.py"),
            chunk("Session", ChunkType::Kb, "doc.md"),
            chunk("session", ChunkType::Function, "s.py"),
        ];
        let query = IdentifierQuery::new("Session");
        let matches: Vec<_> = order.iter().map(|&chunk| query.matches(chunk).expect("all are called so")).collect();
        assert!(matches.is_sorted(), "{matches:#?}");
    }

    #[test]
    fn a_type_stands_before_its_constructor_and_a_whole_match_before_an_inner_one() {
        let query = IdentifierQuery::new("Map");
        assert!(
            query.matches(chunk("Map", ChunkType::Class, "Map.java"))
                < query.matches(chunk("Map.Map", ChunkType::Method, "Map.java"))
        );
        let query = IdentifierQuery::new("Map.get");
        assert!(
            query.matches(chunk("Map.get", ChunkType::Method, "long/Map.java"))
                < query.matches(chunk("Tree.Map.get", ChunkType::Method, "Map.java"))
        );
    }
}
