//! Patterns: how they are read from a query's source, and how they match a node.

use std::cell::Cell;
use std::num::NonZeroU16;

use thiserror::Error;
use tree_sitter::{Language, Node};

use crate::parse::query::{CaptureKind, QueryError, capture_kind};

/// One pattern of a query with the predicates on its captures.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) root: NodePattern,
    pub(crate) predicates: Vec<Predicate>,
}

/// What a node has to be, and what its children have to be.
#[derive(Debug)]
pub(crate) struct NodePattern {
    pub(crate) test: NodeTest,
    captures: Vec<CaptureKind>,
    children: Vec<ChildPattern>,
    absent: Vec<NonZeroU16>,
}

#[derive(Debug)]
pub(crate) enum NodeTest {
    Kind(u16),
    /// Any named node.
    Named,
    /// An anonymous node.
    Token(u16),
    OneOf(Vec<NodePattern>),
    Error,
    Missing,
}

#[derive(Debug)]
struct ChildPattern {
    place: ChildPosition,
    pattern: NodePattern,
    optional: bool,
    /// Whether it captures nothing: then one match says as much as all of them.
    is_test: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChildPosition {
    Field(NonZeroU16),
    /// Any child; with anchors only the first or the last named one.
    Any {
        first: bool,
        last: bool,
    },
}

#[derive(Debug)]
pub(crate) enum Predicate {
    AnyOf(CaptureKind, Vec<String>),
    Capitalised(CaptureKind),
}

/// What is wrong with a query, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SyntaxError {
    /// No such kind of node.
    #[error("no node kind `{0}`")]
    Kind(String),
    /// No such field.
    #[error("no field `{0}`")]
    Field(String),
    /// Something that is not understood.
    #[error("unexpected `{found}` in line {line}")]
    Unexpected {
        /// What stands there.
        found: String,
        /// Where, 1-based.
        line: usize,
    },
    /// See [`QueryError::Capture`].
    #[error("unknown capture `@{0}`")]
    Capture(String),
}

const FEW_CHILDREN: u32 = 8;

/// Captured nodes, innermost last.
pub(crate) type MatchedCaptures<'t> = Vec<(CaptureKind, Node<'t>)>;

impl NodePattern {
    /// Calls `then` with every way in which the pattern matches at `node`.
    pub(crate) fn matches<'t>(
        &self,
        node: Node<'t>,
        found: &mut MatchedCaptures<'t>,
        then: &mut dyn FnMut(&mut MatchedCaptures<'t>),
    ) {
        let before = found.len();
        if let NodeTest::OneOf(patterns) = &self.test {
            found.extend(self.captures.iter().map(|capture| (*capture, node)));
            for pattern in patterns {
                pattern.matches(node, found, then);
            }
        } else if self.test.holds(node) && self.absent.iter().all(|f| node.child_by_field_id(f.get()).is_none()) {
            found.extend(self.captures.iter().map(|capture| (*capture, node)));
            match_children(&self.children, node, found, then);
        }
        found.truncate(before);
    }
}

impl NodePattern {
    /// Whether it captures a node, itself or below.
    fn captures_any(&self) -> bool {
        let inner = match &self.test {
            NodeTest::OneOf(patterns) => patterns.iter().any(Self::captures_any),
            _ => false,
        };
        inner || !self.captures.is_empty() || self.children.iter().any(|child| child.pattern.captures_any())
    }
}

impl NodeTest {
    fn holds(&self, node: Node<'_>) -> bool {
        match self {
            Self::Kind(kind) | Self::Token(kind) => node.kind_id() == *kind,
            Self::Named => node.is_named(),
            Self::Error => node.is_error(),
            Self::Missing => node.is_missing(),
            Self::OneOf(_) => true,
        }
    }
}

fn match_children<'t>(
    children: &[ChildPattern],
    node: Node<'t>,
    found: &mut MatchedCaptures<'t>,
    then: &mut dyn FnMut(&mut MatchedCaptures<'t>),
) {
    let Some((child, rest)) = children.split_first() else {
        return then(found);
    };
    let matched = Cell::new(false);
    let is_enough = || child.is_test && matched.get();
    let mut go_on = |found: &mut MatchedCaptures<'t>| {
        // Of an alternative, several may match one node.
        if !is_enough() {
            matched.set(true);
            match_children(rest, node, found, then);
        }
    };
    match child.place {
        ChildPosition::Field(field) => {
            if let Some(at) = node.child_by_field_id(field.get()) {
                child.pattern.matches(at, found, &mut go_on);
            }
        }
        ChildPosition::Any { first: false, last: false } => {
            // By index each child costs its position, a cursor an allocation.
            let count = node.child_count();
            if count <= FEW_CHILDREN {
                for at in (0..count).filter_map(|index| node.child(index)).take_while(|_| !is_enough()) {
                    child.pattern.matches(at, found, &mut go_on);
                }
            } else {
                let mut cursor = node.walk();
                for at in node.children(&mut cursor).take_while(|_| !is_enough()) {
                    child.pattern.matches(at, found, &mut go_on);
                }
            }
        }
        ChildPosition::Any { first, last } => {
            let count = node.named_child_count() as u32;
            let at = if first { Some(0) } else { count.checked_sub(1) };
            let is_alone = !(first && last) || count == 1;
            if let Some(at) = at.filter(|_| is_alone).and_then(|at| node.named_child(at)) {
                child.pattern.matches(at, found, &mut go_on);
            }
        }
    }
    if child.optional && !matched.get() {
        match_children(rest, node, found, then);
    }
}

/// The patterns of a query source.
pub(crate) fn read(source: &str, grammar: &Language) -> Result<Vec<Pattern>, SyntaxError> {
    let mut parser =
        QueryParser { tokens: tokens(source), at: 0, grammar, ignored: Vec::new(), predicates: Vec::new() };
    let mut patterns = Vec::new();
    while parser.at < parser.tokens.len() {
        let (root, _) = parser.pattern()?;
        patterns.push(Pattern { root, predicates: std::mem::take(&mut parser.predicates) });
    }
    Ok(patterns)
}

struct QueryParser<'a> {
    tokens: Vec<(&'a str, usize)>,
    at: usize,
    grammar: &'a Language,
    ignored: Vec<String>,
    predicates: Vec<Predicate>,
}

impl<'a> QueryParser<'a> {
    /// A pattern with its captures, and whether it is optional.
    fn pattern(&mut self) -> Result<(NodePattern, bool), SyntaxError> {
        let (test, children, absent) = match self.next()? {
            "[" => {
                let mut patterns = Vec::new();
                while self.peek() != "]" {
                    patterns.push(self.pattern()?.0);
                }
                self.expect("]")?;
                (NodeTest::OneOf(patterns), Vec::new(), Vec::new())
            }
            "(" => self.node()?,
            "_" => (NodeTest::Named, Vec::new(), Vec::new()),
            token if token.starts_with('"') => {
                let name = token.trim_matches('"');
                (NodeTest::Token(self.kind(name, false)?), Vec::new(), Vec::new())
            }
            _ => return Err(self.unexpected()),
        };
        let optional = self.accept("?");
        let mut captures = Vec::new();
        while self.peek().starts_with('@') {
            captures.push(self.capture()?);
        }
        Ok((NodePattern { test, captures, children, absent }, optional))
    }

    /// What stands between the parentheses of a node.
    fn node(&mut self) -> Result<(NodeTest, Vec<ChildPattern>, Vec<NonZeroU16>), SyntaxError> {
        let test = match self.next()? {
            "_" => NodeTest::Named,
            "ERROR" => NodeTest::Error,
            "MISSING" => NodeTest::Missing,
            kind => NodeTest::Kind(self.kind(kind, true)?),
        };
        let (mut children, mut absent): (Vec<ChildPattern>, _) = (Vec::new(), Vec::new());
        let mut first = false;
        loop {
            let token = self.peek();
            if self.accept(")") {
                return Ok((test, children, absent));
            } else if self.accept(".") {
                match children.last_mut().map(|child| &mut child.place) {
                    Some(ChildPosition::Any { last, .. }) => *last = true,
                    _ => first = true,
                }
            } else if let Some(field) = token.strip_prefix('!') {
                self.at += 1;
                absent.push(self.field(field)?);
            } else if token == "(" && self.tokens.get(self.at + 1).is_some_and(|(next, _)| next.starts_with('#')) {
                self.predicate()?;
            } else {
                let place = match token.strip_suffix(':') {
                    Some(field) => {
                        self.at += 1;
                        ChildPosition::Field(self.field(field)?)
                    }
                    None => ChildPosition::Any { first: std::mem::take(&mut first), last: false },
                };
                let (pattern, optional) = self.pattern()?;
                let is_test = !pattern.captures_any();
                children.push(ChildPattern { place, pattern, optional, is_test });
            }
        }
    }

    fn predicate(&mut self) -> Result<(), SyntaxError> {
        self.expect("(")?;
        let name = self.next()?;
        let capture = self.capture()?;
        let mut values = Vec::new();
        while !self.accept(")") {
            values.push(self.next()?.trim_matches('"').to_owned());
        }
        self.predicates.push(match name {
            "#eq?" | "#any-of?" => Predicate::AnyOf(capture, values),
            "#match?" if values == ["^[A-Z]"] => Predicate::Capitalised(capture),
            _ => return Err(self.unexpected()),
        });
        Ok(())
    }

    fn capture(&mut self) -> Result<CaptureKind, SyntaxError> {
        let token = self.next()?;
        let name = token.strip_prefix('@').ok_or_else(|| self.unexpected())?;
        capture_kind(name, &mut self.ignored).map_err(|problem| match problem {
            QueryError::Capture(name) => SyntaxError::Capture(name),
            QueryError::Syntax(problem) => problem,
        })
    }

    fn kind(&self, name: &str, named: bool) -> Result<u16, SyntaxError> {
        let id = self.grammar.id_for_node_kind(name, named);
        if id == 0 { Err(SyntaxError::Kind(name.to_owned())) } else { Ok(id) }
    }

    fn field(&self, name: &str) -> Result<NonZeroU16, SyntaxError> {
        self.grammar.field_id_for_name(name).ok_or_else(|| SyntaxError::Field(name.to_owned()))
    }

    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |(token, _)| token)
    }

    fn next(&mut self) -> Result<&'a str, SyntaxError> {
        let token = self.peek();
        self.at += 1;
        if token.is_empty() { Err(self.unexpected()) } else { Ok(token) }
    }

    fn accept(&mut self, token: &str) -> bool {
        let is_next = self.peek() == token;
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), SyntaxError> {
        if self.next()? == token { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> SyntaxError {
        let (found, line) = self.tokens.get(self.at.saturating_sub(1)).copied().unwrap_or(("end", 0));
        SyntaxError::Unexpected { found: found.to_owned(), line }
    }
}

/// The tokens of a query's source with their lines; comments begin with `;`.
fn tokens(source: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    for (row, line) in source.lines().enumerate() {
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with(';') {
            let length = match rest.as_bytes()[0] {
                b'(' | b')' | b'[' | b']' | b'?' | b'.' => 1,
                b'"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                _ => rest.find([' ', '(', ')', '[', ']', '"']).unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(length.max(1));
            found.push((token, row + 1));
            rest = after.trim_start();
        }
    }
    found
}
