//! Exact names: chunks whose name or qualified name is the query rank above all other chunks.

use std::borrow::Cow;
use std::collections::BTreeSet;

use aurora_storage::{ArchivedMetaValue, ChunkRecord, ChunkType};

use crate::path_class::{PathClass, PathClasses};

/// A query interpreted as a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdentifierQuery {
    /// The name without quotation marks and the parentheses of a call.
    plain: String,
    /// The name with `.` in place of `::`, `#`, `->` and `\` between members.
    dotted: String,
    /// The type of definition that the query asks for.
    declared: Option<ChunkType>,
}

/// The names of a chunk, and the data that orders chunks with equal names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkName<'a> {
    pub(crate) name: &'a str,
    pub(crate) qualified_name: &'a str,
    pub(crate) chunk_type: ChunkType,
    pub(crate) exported: bool,
    pub(crate) path: &'a str,
    pub(crate) line_start: u32,
    /// Whether comments in the file mark it as generated.
    pub(crate) is_generated: bool,
}

/// Returns whether comments in the file of a chunk mark it as generated.
pub(crate) fn is_generated(chunk: &ChunkRecord<'_>) -> bool {
    chunk.metadata().any(|(name, value)| name == "generated" && matches!(value, ArchivedMetaValue::Bool(true)))
}

impl<'a> ChunkName<'a> {
    /// Reads the names of a chunk.
    pub(crate) fn from_chunk(chunk: ChunkRecord<'a>) -> Self {
        Self {
            name: chunk.name(),
            qualified_name: chunk.qualified_name(),
            chunk_type: chunk.chunk_type(),
            exported: chunk.exported(),
            path: chunk.path(),
            line_start: chunk.line_start(),
            is_generated: is_generated(&chunk),
        }
    }

    /// Returns the classes of the chunk: the classes `of_path` of its path, and the classes that follow from the
    /// content of the file and from the enclosing scopes.
    pub(crate) fn classes(&self, of_path: PathClasses) -> PathClasses {
        let of_content = self.is_generated.then_some(PathClass::Generated).into_iter().collect();
        of_path.with_scopes(self.qualified_name).or(of_content)
    }
}

/// The difference between the spelling of a name in the query and in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spelling {
    Same,
    OtherCase,
    /// The naming convention differs: `fromText`, `from_text` and `from-text`.
    OtherConvention,
}

impl Spelling {
    const ALL: [Self; 3] = [Self::Same, Self::OtherCase, Self::OtherConvention];

    /// Normalises a name, so that names with this difference in spelling become equal.
    fn fold(self, name: &str) -> Cow<'_, str> {
        match self {
            Self::Same => Cow::Borrowed(name),
            Self::OtherCase => Cow::Owned(name.to_lowercase()),
            Self::OtherConvention => Cow::Owned(squeezed(name)),
        }
    }

    /// Returns the smallest difference with which `a` and `b` match.
    fn between(a: &str, b: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|spelling| spelling.fold(a) == spelling.fold(b))
    }
}

/// A match of a name. The smallest match ranks first; the fields are compared in the order of their declaration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExactMatch {
    spelling: Spelling,
    prose: bool,
    /// Whether the chunk is in tests, examples or other side code.
    pub(super) side_code: bool,
    /// Whether the query asks for another type of definition.
    other_type: bool,
    /// Whether the chunk only declares a function whose body is elsewhere.
    declaration: bool,
    not_exported: bool,
    /// Whether the query is only the end of the qualified name, or the name of a definition inside the chunk.
    inner: bool,
    kind: u8,
    path_length: usize,
    path: String,
    line_start: u32,
    key: String,
}

impl ExactMatch {
    /// Returns whether the name has the same case as the query.
    pub(crate) fn is_as_written(&self) -> bool {
        self.spelling == Spelling::Same
    }

    /// Returns whether the name equals the query, except for case.
    pub(crate) fn has_same_letters(&self) -> bool {
        self.spelling <= Spelling::OtherCase
    }

    /// Returns whether the chunk is source code and its name has the same case as the query.
    pub(crate) fn is_code_as_written(&self) -> bool {
        self.spelling == Spelling::Same && !self.prose
    }

    /// Sets the key, which orders chunks with equal names on one line.
    pub(crate) fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Returns whether the chunk is a function or method, which can be declared without a body.
    pub(crate) fn is_function(&self) -> bool {
        [ChunkType::Function, ChunkType::Method].map(kind_rank).contains(&self.kind)
    }

    /// Determines from the text of the chunk whether the chunk only declares a function.
    pub(crate) fn with_text(self, text: &str) -> Self {
        Self { declaration: text.trim_end().ends_with(';') && !text.contains('{') && !text.contains("=>"), ..self }
    }
}

/// Removes a tag at the end of a Markdown heading, such as `resolve.alias <Badge />`, because the tag is not part of
/// the heading's text.
fn without_tag(text: &str) -> &str {
    match text.rsplit_once(" <") {
        Some((before, tag)) if tag.ends_with('>') && !before.trim().is_empty() => before.trim_end(),
        _ => text,
    }
}

impl IdentifierQuery {
    /// Parses `text` as a name.
    pub(crate) fn new(text: &str) -> Self {
        let plain = text.trim().trim_matches(['`', '"', '\'']).trim();
        let plain = without_tag(plain);
        let plain = plain.strip_suffix("()").unwrap_or(plain).trim();
        // The sigil of a variable in Elixir, Perl, PHP or Ruby is not part of its name, nor are `${…}` and `%…%`.
        let variable = |(start, end): (&str, &str)| plain.strip_prefix(start)?.strip_suffix(end);
        let plain = [("${", "}"), ("%", "%")].into_iter().find_map(variable).unwrap_or(plain);
        let plain = plain.trim_start_matches(['@', '$', '%']).to_owned();
        let dotted = dotted(&plain);
        Self { plain, dotted, declared: None }
    }

    /// Returns the same query with the type of definition that it asks for: `struct Session`.
    pub(crate) fn with_type(self, declared: Option<ChunkType>) -> Self {
        Self { declared, ..self }
    }

    /// Returns the names to look up in the index, in lower case: the whole query, its last member, and the last member
    /// in other naming conventions.
    pub(crate) fn lookups(&self) -> Vec<String> {
        let member = self.member();
        let mut names = vec![self.plain.to_lowercase(), member.to_lowercase()];
        if !member.contains(char::is_whitespace) {
            names.extend([squeezed(member), joined(member, '_'), joined(member, '-')]);
        }
        let mut seen = BTreeSet::new();
        names.retain(|name| !name.is_empty() && seen.insert(name.clone()));
        names
    }

    /// Returns the last member, which is the name in calls.
    pub(crate) fn member(&self) -> &str {
        self.last_member().unwrap_or(&self.plain)
    }

    /// Returns the last member of a qualified name. `None` for a sentence that ends with a qualified name: `converts to
    /// yaml.Node`.
    fn last_member(&self) -> Option<&str> {
        let (owner, last) = self.dotted.rsplit_once('.')?;
        (!owner.contains(char::is_whitespace)).then_some(last)
    }

    /// Compares the names of `chunk` with the query.
    pub(crate) fn matches(&self, chunk: ChunkName<'_>) -> Option<ExactMatch> {
        let qualified = dotted(chunk.qualified_name);
        let ends_with = |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
        let inner = |spelling: Spelling| {
            let (name, qualified) = (spelling.fold(chunk.name), spelling.fold(&qualified));
            let (plain, dotted) = (spelling.fold(&self.plain), spelling.fold(&self.dotted));
            if name == plain || qualified == dotted {
                return Some(false);
            }
            (dotted.contains('.') && ends_with(&qualified, &dotted)).then_some(true)
        };
        let (spelling, inner) = Spelling::ALL.into_iter().find_map(|spelling| Some((spelling, inner(spelling)?)))?;
        Some(self.exact_match(chunk, spelling, inner))
    }

    /// Compares `names`, which are defined inside `chunk`, with the query.
    pub(crate) fn matches_inside<'n>(
        &self,
        chunk: ChunkName<'_>,
        mut names: impl Iterator<Item = &'n str>,
    ) -> Option<ExactMatch> {
        if self.plain.contains(['/', '\\']) {
            return None;
        }
        let name = self.last_member().unwrap_or(&self.dotted);
        let spelling = names.find_map(|defined| Spelling::between(defined, name))?;
        Some(self.exact_match(chunk, spelling, true))
    }

    fn exact_match(&self, chunk: ChunkName<'_>, spelling: Spelling, inner: bool) -> ExactMatch {
        // A function declared with `def` or `fn` may be a method, so both count as the same type.
        let function = |kind: ChunkType| if kind == ChunkType::Method { ChunkType::Function } else { kind };
        ExactMatch {
            spelling,
            prose: !chunk.chunk_type.is_source_code(),
            side_code: !chunk.classes(PathClasses::for_path(chunk.path)).is_empty(),
            other_type: self.declared.is_some_and(|declared| function(declared) != function(chunk.chunk_type)),
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

/// Returns the rank of a chunk type: types, then functions, then methods, then everything else. A type precedes its
/// constructors, which often have the name of the type.
fn kind_rank(chunk_type: ChunkType) -> u8 {
    match chunk_type {
        ChunkType::Class | ChunkType::Interface | ChunkType::Type | ChunkType::Struct | ChunkType::Enum => 0,
        ChunkType::Function => 1,
        ChunkType::Method => 2,
        _ => 3,
    }
}

/// Converts a name to lower case and removes `_` and `-` between its words. A name of only these characters does not
/// change.
fn squeezed(name: &str) -> String {
    let is_joint = |c: char| matches!(c, '_' | '-');
    let inner = name.trim_matches(is_joint);
    let start = name.len() - name.trim_start_matches(is_joint).len();
    let squeezed = inner.chars().filter(|&c| !is_joint(c)).collect::<String>().to_lowercase();
    [&name[..start], &squeezed, &name[(start + inner.len()).min(name.len())..]].concat()
}

/// Joins the words of a name in lower case with `joint`: `http_server` for `HTTPServer`, `http-server` and
/// `http_server`.
fn joined(name: &str, joint: char) -> String {
    let inner = name.trim_start_matches(['_', '-']);
    let mut out = name[..name.len() - inner.len()].to_owned();
    let mut rest = inner.chars().peekable();
    let mut before = None;
    while let Some(c) = rest.next() {
        let is_last_capital = rest.peek().is_some_and(|after| after.is_lowercase());
        let begins_word = |before: char| c.is_uppercase() && (!before.is_uppercase() || is_last_capital);
        match before {
            _ if matches!(c, '_' | '-') => out.push(joint),
            Some(before) if !matches!(before, '_' | '-') && begins_word(before) => {
                out.push(joint);
                out.extend(c.to_lowercase());
            }
            _ => out.extend(c.to_lowercase()),
        }
        before = Some(c);
    }
    out
}

/// Replaces the separators of members with `.`. Text with spaces does not change, because it is not a chain of members.
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
    use proptest::prelude::*;

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
        for query in ["QueueManager", "Manager.send", "sendall", "queue send", "", "_send", "sen_d_"] {
            assert!(IdentifierQuery::new(query).matches(member).is_none(), "{query}");
        }
    }

    #[test]
    fn lookups_are_the_whole_name_and_its_last_member() {
        assert_eq!(IdentifierQuery::new("Type::member").lookups(), ["type::member", "member"]);
        assert_eq!(IdentifierQuery::new("HTTPServer").lookups(), ["httpserver", "http_server", "http-server"]);
        assert_eq!(IdentifierQuery::new("_from_text").lookups(), ["_from_text", "_fromtext", "_from-text"]);
        assert_eq!(IdentifierQuery::new("Start timestamp (ST)").lookups(), ["start timestamp (st)"]);
        assert_eq!(IdentifierQuery::new("made a yaml.Node").lookups(), ["made a yaml.node"]);
        assert_eq!(IdentifierQuery::new("Cart.adds an item").lookups(), ["cart.adds an item", "adds an item"]);
        for variable in ["$home_dir", "${home_dir}", "%home_dir%", "@home_dir"] {
            assert_eq!(IdentifierQuery::new(variable).lookups(), ["home_dir", "homedir", "home-dir"], "{variable}");
        }
        assert_eq!(IdentifierQuery::new("`").lookups(), Vec::<String>::new());
    }

    #[test]
    fn other_naming_conventions_match_and_rank_lower() {
        let names = ["from_text", "FROM_TEXT", "fromText", "from-text"];
        let chunks = names.map(|name| chunk(name, ChunkType::Function, "a.py"));
        for query in ["from_text", "fromText", "FromText", "from-text", "FROM_TEXT"] {
            let query = IdentifierQuery::new(query);
            assert!(chunks.iter().all(|&chunk| query.matches(chunk).is_some()), "{query:?}");
            for name in names.iter().map(|name| name.to_lowercase()) {
                assert!(query.lookups().contains(&name), "{query:?}: {name}");
            }
        }
        let order = ["from_text", "FROM_TEXT", "fromText"].map(|name| chunk(name, ChunkType::Function, "a.py"));
        let matches = order.map(|chunk| IdentifierQuery::new("from_text").matches(chunk).expect("the name matches"));
        assert!(matches.is_sorted_by(|a, b| a < b), "{matches:#?}");
        for other in ["fro_mtex", "fromtexts", "_from_text", "from"] {
            assert!(IdentifierQuery::new(other).matches(chunks[0]).is_none(), "{other}");
        }
    }

    proptest! {
        #[test]
        fn names_match_themselves(name in "[_-]{0,3}[a-zA-Zß0-9._-]{0,8}[_-]{0,3}", query in "\\PC{0,12}") {
            let query = IdentifierQuery::new(&query);
            let _ = (query.lookups(), query.matches(chunk(&name, ChunkType::Function, "a.py")));
            prop_assert!(IdentifierQuery::new(&name).plain != name || IdentifierQuery::new(&name).matches(chunk(&name, ChunkType::Function, "a.py")).is_some());
        }
    }

    #[test]
    fn matches_are_ordered_by_case_then_code_then_main_code_then_export_then_path_length() {
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
        let matches: Vec<_> = order.iter().map(|&chunk| query.matches(chunk).expect("every name matches")).collect();
        assert!(matches.is_sorted(), "{matches:#?}");
    }

    #[test]
    fn the_declared_type_comes_first() {
        let query = IdentifierQuery::new("Session").with_type(Some(ChunkType::Struct));
        let class = query.matches(chunk("Session", ChunkType::Class, "s.py"));
        assert!(query.matches(chunk("Session", ChunkType::Struct, "long/path/session.go")) < class);
        assert!(class < query.matches(chunk("Session", ChunkType::Struct, "tests/s.go")));
        let query = IdentifierQuery::new("save").with_type(Some(ChunkType::Function));
        let method = query.matches(chunk("Session.save", ChunkType::Method, "s.py"));
        assert!(method < query.matches(chunk("save", ChunkType::Class, "s.py")));
    }

    #[test]
    fn a_type_ranks_before_its_constructor_and_a_whole_match_before_an_inner_one() {
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
