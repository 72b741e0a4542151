//! Parses the sources of queries.

use std::num::NonZeroU16;

use tree_sitter::Language as Grammar;

use crate::query::capture::CaptureKind;
use crate::query::error::QuerySyntaxError;
use crate::query::pattern::{ChildPattern, ChildPosition, NodePattern, NodeTest, Pattern, Predicate};

/// Parses the patterns of a query source.
///
/// # Errors
/// Returns the first error in the source.
pub(crate) fn parse(source: &str, grammar: &Grammar) -> Result<Vec<Pattern>, QuerySyntaxError> {
    let mut parser =
        QueryParser { tokens: tokens(source), next: 0, grammar, ignored: Vec::new(), predicates: Vec::new() };
    let mut patterns = Vec::new();
    while parser.next < parser.tokens.len() {
        let (root, _) = parser.pattern()?;
        patterns.push(Pattern { root, predicates: std::mem::take(&mut parser.predicates) });
    }
    Ok(patterns)
}

/// Splits a query source into tokens with their lines. Comments begin with `;`.
fn tokens(source: &str) -> Vec<(&str, usize)> {
    let mut tokens = Vec::new();
    for (row, line) in source.lines().enumerate() {
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with(';') {
            let length = match rest.as_bytes()[0] {
                b'(' | b')' | b'[' | b']' | b'?' | b'.' => 1,
                b'"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                _ => rest.find([' ', '(', ')', '[', ']', '"']).unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(length.max(1));
            tokens.push((token, row + 1));
            rest = after.trim_start();
        }
    }
    tokens
}

struct QueryParser<'a> {
    tokens: Vec<(&'a str, usize)>,
    next: usize,
    grammar: &'a Grammar,
    /// Names of ignored captures. See [`CaptureKind::by_name`].
    ignored: Vec<String>,
    /// Predicates of the current top-level pattern.
    predicates: Vec<Predicate>,
}

impl<'a> QueryParser<'a> {
    /// Parses a pattern with its captures. Also returns whether the pattern is optional.
    fn pattern(&mut self) -> Result<(NodePattern, bool), QuerySyntaxError> {
        let (test, children, absent) = match self.take()? {
            "[" => {
                let mut patterns = Vec::new();
                while self.peek() != "]" {
                    patterns.push(self.pattern()?.0);
                }
                self.expect("]")?;
                (NodeTest::Alternation(patterns), Vec::new(), Vec::new())
            }
            "(" => self.node()?,
            "_" => (NodeTest::AnyNamed, Vec::new(), Vec::new()),
            token if token.starts_with('"') => {
                let name = token.trim_matches('"');
                (NodeTest::Anonymous(self.node_kind(name, false)?), Vec::new(), Vec::new())
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

    /// Parses the rest of a node pattern after the opening parenthesis.
    fn node(&mut self) -> Result<(NodeTest, Vec<ChildPattern>, Vec<NonZeroU16>), QuerySyntaxError> {
        let test = match self.take()? {
            "_" => NodeTest::AnyNamed,
            "ERROR" => NodeTest::Error,
            "MISSING" => NodeTest::Missing,
            kind => NodeTest::Named(self.node_kind(kind, true)?),
        };
        let (mut children, mut absent): (Vec<ChildPattern>, _) = (Vec::new(), Vec::new());
        let mut first = false;
        loop {
            let token = self.peek();
            if self.accept(")") {
                return Ok((test, children, absent));
            } else if self.accept(".") {
                match children.last_mut().map(|child| &mut child.position) {
                    Some(ChildPosition::Any { last, .. }) => *last = true,
                    _ => first = true,
                }
            } else if let Some(field) = token.strip_prefix('!') {
                self.next += 1;
                absent.push(self.field(field)?);
            } else if token == "(" && self.tokens.get(self.next + 1).is_some_and(|(next, _)| next.starts_with('#')) {
                self.predicate()?;
            } else {
                let position = match token.strip_suffix(':') {
                    Some(field) => {
                        self.next += 1;
                        ChildPosition::Field(self.field(field)?)
                    }
                    None => ChildPosition::Any { first: std::mem::take(&mut first), last: false },
                };
                let (pattern, optional) = self.pattern()?;
                let has_captures = pattern.has_captures();
                children.push(ChildPattern { position, pattern, optional, has_captures });
            }
        }
    }

    fn predicate(&mut self) -> Result<(), QuerySyntaxError> {
        self.expect("(")?;
        let name = self.take()?;
        let capture = self.capture()?;
        if name == "#not-eq?" && self.peek().starts_with('@') {
            let other = self.capture()?;
            self.predicates.push(Predicate::Differ(capture, other));
            return self.expect(")");
        }
        let mut values = Vec::new();
        while !self.accept(")") {
            values.push(self.take()?.trim_matches('"').to_owned());
        }
        self.predicates.push(match name {
            "#eq?" | "#any-of?" => Predicate::AnyOf(capture, values),
            "#not-eq?" | "#not-any-of?" => Predicate::NoneOf(capture, values),
            "#match?" if values == ["^[A-Z]"] => Predicate::Capitalised(capture),
            "#match?" if values == ["-"] => Predicate::Hyphenated(capture),
            _ => return Err(self.unexpected()),
        });
        Ok(())
    }

    fn capture(&mut self) -> Result<CaptureKind, QuerySyntaxError> {
        let token = self.take()?;
        let name = token.strip_prefix('@').ok_or_else(|| self.unexpected())?;
        CaptureKind::by_name(name, &mut self.ignored).ok_or_else(|| QuerySyntaxError::UnknownCapture(name.to_owned()))
    }

    fn node_kind(&self, name: &str, named: bool) -> Result<u16, QuerySyntaxError> {
        let id = self.grammar.id_for_node_kind(name, named);
        if id == 0 { Err(QuerySyntaxError::UnknownNode(name.to_owned())) } else { Ok(id) }
    }

    fn field(&self, name: &str) -> Result<NonZeroU16, QuerySyntaxError> {
        self.grammar.field_id_for_name(name).ok_or_else(|| QuerySyntaxError::UnknownField(name.to_owned()))
    }

    fn peek(&self) -> &'a str {
        self.tokens.get(self.next).map_or("", |(token, _)| token)
    }

    fn take(&mut self) -> Result<&'a str, QuerySyntaxError> {
        let token = self.peek();
        self.next += 1;
        if token.is_empty() { Err(self.unexpected()) } else { Ok(token) }
    }

    fn accept(&mut self, token: &str) -> bool {
        let is_next = self.peek() == token;
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), QuerySyntaxError> {
        if self.take()? == token { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Returns the error for the token that was taken last.
    fn unexpected(&self) -> QuerySyntaxError {
        let (token, line) = self.tokens.get(self.next.saturating_sub(1)).copied().unwrap_or(("end", 0));
        QuerySyntaxError::UnexpectedToken { token: token.to_owned(), line }
    }
}
