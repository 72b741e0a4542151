//! Patterns: how they are read from a query's source, and how they match a node.

use std::cell::Cell;
use std::num::NonZeroU16;

use thiserror::Error;
use tree_sitter::{Language, Node};

use crate::parse::query::{QueryProblem, Role, role};

/// One pattern of a query with the predicates on its captures.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) pattern: Pattern,
    pub(crate) predicates: Vec<Predicate>,
}

/// What a node has to be, and what its children have to be.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) test: Test,
    captures: Vec<Role>,
    children: Vec<Child>,
    absent: Vec<NonZeroU16>,
}

#[derive(Debug)]
pub(crate) enum Test {
    Kind(u16),
    /// Any named node.
    Named,
    /// An anonymous node.
    Token(u16),
    OneOf(Vec<Pattern>),
    Error,
    Missing,
}

#[derive(Debug)]
struct Child {
    place: Place,
    pattern: Pattern,
    optional: bool,
    /// Whether it captures nothing: then one match says as much as all of them.
    is_test: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Field(NonZeroU16),
    /// Any child; with anchors only the first or the last named one.
    Any {
        first: bool,
        last: bool,
    },
}

#[derive(Debug)]
pub(crate) enum Predicate {
    AnyOf(Role, Vec<String>),
    Capitalised(Role),
}

/// What is wrong with a query, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternProblem {
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
    /// See [`QueryProblem::Capture`].
    #[error("unknown capture `@{0}`")]
    Capture(String),
}

const FEW_CHILDREN: u32 = 8;

/// Captured nodes, innermost last.
pub(crate) type Found<'t> = Vec<(Role, Node<'t>)>;

impl Pattern {
    /// Calls `then` with every way in which the pattern matches at `node`.
    pub(crate) fn matches<'t>(&self, node: Node<'t>, found: &mut Found<'t>, then: &mut dyn FnMut(&mut Found<'t>)) {
        let before = found.len();
        if let Test::OneOf(patterns) = &self.test {
            found.extend(self.captures.iter().map(|role| (*role, node)));
            for pattern in patterns {
                pattern.matches(node, found, then);
            }
        } else if self.test.holds(node) && self.absent.iter().all(|f| node.child_by_field_id(f.get()).is_none()) {
            found.extend(self.captures.iter().map(|role| (*role, node)));
            match_children(&self.children, node, found, then);
        }
        found.truncate(before);
    }
}

impl Pattern {
    /// Whether it captures a node, itself or below.
    fn captures_any(&self) -> bool {
        let inner = match &self.test {
            Test::OneOf(patterns) => patterns.iter().any(Self::captures_any),
            _ => false,
        };
        inner || !self.captures.is_empty() || self.children.iter().any(|child| child.pattern.captures_any())
    }
}

impl Test {
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

fn match_children<'t>(children: &[Child], node: Node<'t>, found: &mut Found<'t>, then: &mut dyn FnMut(&mut Found<'t>)) {
    let Some((child, rest)) = children.split_first() else {
        return then(found);
    };
    let matched = Cell::new(false);
    let is_enough = || child.is_test && matched.get();
    let mut go_on = |found: &mut Found<'t>| {
        // Of an alternative, several may match one node.
        if !is_enough() {
            matched.set(true);
            match_children(rest, node, found, then);
        }
    };
    match child.place {
        Place::Field(field) => {
            if let Some(at) = node.child_by_field_id(field.get()) {
                child.pattern.matches(at, found, &mut go_on);
            }
        }
        Place::Any { first: false, last: false } => {
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
        Place::Any { first, last } => {
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

/// The rules in a query's source.
pub(crate) fn read(source: &str, grammar: &Language) -> Result<Vec<Rule>, PatternProblem> {
    let mut reader = Reader { tokens: tokens(source), at: 0, grammar, ignored: Vec::new(), predicates: Vec::new() };
    let mut rules = Vec::new();
    while reader.at < reader.tokens.len() {
        let (pattern, _) = reader.pattern()?;
        rules.push(Rule { pattern, predicates: std::mem::take(&mut reader.predicates) });
    }
    Ok(rules)
}

struct Reader<'a> {
    tokens: Vec<(&'a str, usize)>,
    at: usize,
    grammar: &'a Language,
    ignored: Vec<String>,
    predicates: Vec<Predicate>,
}

impl<'a> Reader<'a> {
    /// A pattern with its captures, and whether it is optional.
    fn pattern(&mut self) -> Result<(Pattern, bool), PatternProblem> {
        let (test, children, absent) = match self.next()? {
            "[" => {
                let mut patterns = Vec::new();
                while self.peek() != "]" {
                    patterns.push(self.pattern()?.0);
                }
                self.expect("]")?;
                (Test::OneOf(patterns), Vec::new(), Vec::new())
            }
            "(" => self.node()?,
            "_" => (Test::Named, Vec::new(), Vec::new()),
            token if token.starts_with('"') => {
                let name = token.trim_matches('"');
                (Test::Token(self.kind(name, false)?), Vec::new(), Vec::new())
            }
            _ => return Err(self.unexpected()),
        };
        let optional = self.accept("?");
        let mut captures = Vec::new();
        while self.peek().starts_with('@') {
            captures.push(self.capture()?);
        }
        Ok((Pattern { test, captures, children, absent }, optional))
    }

    /// What stands between the parentheses of a node.
    fn node(&mut self) -> Result<(Test, Vec<Child>, Vec<NonZeroU16>), PatternProblem> {
        let test = match self.next()? {
            "_" => Test::Named,
            "ERROR" => Test::Error,
            "MISSING" => Test::Missing,
            kind => Test::Kind(self.kind(kind, true)?),
        };
        let (mut children, mut absent): (Vec<Child>, _) = (Vec::new(), Vec::new());
        let mut first = false;
        loop {
            let token = self.peek();
            if self.accept(")") {
                return Ok((test, children, absent));
            } else if self.accept(".") {
                match children.last_mut().map(|child| &mut child.place) {
                    Some(Place::Any { last, .. }) => *last = true,
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
                        Place::Field(self.field(field)?)
                    }
                    None => Place::Any { first: std::mem::take(&mut first), last: false },
                };
                let (pattern, optional) = self.pattern()?;
                let is_test = !pattern.captures_any();
                children.push(Child { place, pattern, optional, is_test });
            }
        }
    }

    fn predicate(&mut self) -> Result<(), PatternProblem> {
        self.expect("(")?;
        let name = self.next()?;
        let role = self.capture()?;
        let mut values = Vec::new();
        while !self.accept(")") {
            values.push(self.next()?.trim_matches('"').to_owned());
        }
        self.predicates.push(match name {
            "#eq?" | "#any-of?" => Predicate::AnyOf(role, values),
            "#match?" if values == ["^[A-Z]"] => Predicate::Capitalised(role),
            _ => return Err(self.unexpected()),
        });
        Ok(())
    }

    fn capture(&mut self) -> Result<Role, PatternProblem> {
        let token = self.next()?;
        let name = token.strip_prefix('@').ok_or_else(|| self.unexpected())?;
        role(name, &mut self.ignored).map_err(|problem| match problem {
            QueryProblem::Capture(name) => PatternProblem::Capture(name),
            QueryProblem::Syntax(problem) => problem,
        })
    }

    fn kind(&self, name: &str, named: bool) -> Result<u16, PatternProblem> {
        let id = self.grammar.id_for_node_kind(name, named);
        if id == 0 { Err(PatternProblem::Kind(name.to_owned())) } else { Ok(id) }
    }

    fn field(&self, name: &str) -> Result<NonZeroU16, PatternProblem> {
        self.grammar.field_id_for_name(name).ok_or_else(|| PatternProblem::Field(name.to_owned()))
    }

    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).map_or("", |(token, _)| token)
    }

    fn next(&mut self) -> Result<&'a str, PatternProblem> {
        let token = self.peek();
        self.at += 1;
        if token.is_empty() { Err(self.unexpected()) } else { Ok(token) }
    }

    fn accept(&mut self, token: &str) -> bool {
        let is_next = self.peek() == token;
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), PatternProblem> {
        if self.next()? == token { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> PatternProblem {
        let (found, line) = self.tokens.get(self.at.saturating_sub(1)).copied().unwrap_or(("end", 0));
        PatternProblem::Unexpected { found: found.to_owned(), line }
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
