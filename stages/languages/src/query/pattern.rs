//! Patterns of a query, and the code that matches them against nodes.

use std::cell::Cell;
use std::num::NonZeroU16;

use tree_sitter::Node;

use crate::query::capture::CaptureKind;
use crate::spans::text_of;

/// A top-level pattern of a query with its predicates.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) root: NodePattern,
    pub(crate) predicates: Vec<Predicate>,
}

/// A pattern for one node and its children.
#[derive(Debug)]
pub(crate) struct NodePattern {
    pub(crate) test: NodeTest,
    pub(crate) captures: Vec<CaptureKind>,
    pub(crate) children: Vec<ChildPattern>,
    /// Fields that the node must not have.
    pub(crate) absent: Vec<NonZeroU16>,
}

/// A condition on a node itself, apart from its children.
#[derive(Debug)]
pub(crate) enum NodeTest {
    Named(u16),
    Anonymous(u16),
    /// `(_)`: any named node.
    AnyNamed,
    /// `[…]`: a node that one of the patterns matches.
    Alternation(Vec<NodePattern>),
    Error,
    Missing,
}

#[derive(Debug)]
pub(crate) struct ChildPattern {
    pub(crate) position: ChildPosition,
    pub(crate) pattern: NodePattern,
    pub(crate) optional: bool,
    /// Whether the pattern captures nodes. If not, its first match suffices.
    pub(crate) has_captures: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildPosition {
    Field(NonZeroU16),
    /// Any child. With anchors, only the first or the last named child.
    Any {
        first: bool,
        last: bool,
    },
}

/// A condition on the text of a capture.
#[derive(Debug)]
pub(crate) enum Predicate {
    AnyOf(CaptureKind, Vec<String>),
    NoneOf(CaptureKind, Vec<String>),
    Capitalised(CaptureKind),
    /// Two captures must have different texts.
    Differ(CaptureKind, CaptureKind),
    Hyphenated(CaptureKind),
}

/// The captured nodes of a match, innermost last.
pub(crate) type MatchedCaptures<'t> = Vec<(CaptureKind, Node<'t>)>;

/// If a node has more children than this, they are read with a cursor and not by index. Reading by index takes longer
/// for later children, while a cursor costs an allocation.
const MAX_INDEXED_CHILDREN: u32 = 8;

impl NodePattern {
    /// Calls `on_match` for every way in which the pattern matches at `node`.
    ///
    /// If several child patterns each match many children of the node, the number of matches is the product of the
    /// numbers of matching children. The function therefore calls `is_over` before every child, and stops if `is_over`
    /// returns true.
    pub(crate) fn matches<'t>(
        &self,
        node: Node<'t>,
        is_over: &dyn Fn() -> bool,
        captured: &mut MatchedCaptures<'t>,
        on_match: &mut dyn FnMut(&mut MatchedCaptures<'t>),
    ) {
        let before = captured.len();
        if let NodeTest::Alternation(patterns) = &self.test {
            captured.extend(self.captures.iter().map(|capture| (*capture, node)));
            for pattern in patterns {
                pattern.matches(node, is_over, captured, on_match);
            }
        } else if self.test.holds(node) && self.absent.iter().all(|f| node.child_by_field_id(f.get()).is_none()) {
            captured.extend(self.captures.iter().map(|capture| (*capture, node)));
            match_children(&self.children, node, is_over, captured, on_match);
        }
        captured.truncate(before);
    }

    /// Whether the pattern captures its node or a descendant.
    pub(crate) fn has_captures(&self) -> bool {
        let inner = match &self.test {
            NodeTest::Alternation(patterns) => patterns.iter().any(Self::has_captures),
            _ => false,
        };
        inner || !self.captures.is_empty() || self.children.iter().any(|child| child.pattern.has_captures())
    }
}

impl NodeTest {
    fn holds(&self, node: Node<'_>) -> bool {
        match self {
            Self::Named(kind) | Self::Anonymous(kind) => node.kind_id() == *kind,
            Self::AnyNamed => node.is_named(),
            Self::Alternation(_) => true,
            Self::Error => node.is_error(),
            Self::Missing => node.is_missing(),
        }
    }
}

/// Matches the first of the patterns `children`, and for each of its matches the remaining patterns.
fn match_children<'t>(
    children: &[ChildPattern],
    node: Node<'t>,
    is_over: &dyn Fn() -> bool,
    captured: &mut MatchedCaptures<'t>,
    on_match: &mut dyn FnMut(&mut MatchedCaptures<'t>),
) {
    let Some((child, rest)) = children.split_first() else {
        return on_match(captured);
    };
    let matched = Cell::new(false);
    let is_done = || !child.has_captures && matched.get();
    let continues = || !is_done() && !is_over();
    let mut match_rest = |captured: &mut MatchedCaptures<'t>| {
        // Several alternatives may match the same node, but one match suffices if the pattern has no captures.
        if !is_done() {
            matched.set(true);
            match_children(rest, node, is_over, captured, on_match);
        }
    };
    match child.position {
        ChildPosition::Field(field) => {
            if let Some(candidate) = node.child_by_field_id(field.get()) {
                child.pattern.matches(candidate, is_over, captured, &mut match_rest);
            }
        }
        ChildPosition::Any { first: false, last: false } => {
            let count = node.child_count();
            if count <= MAX_INDEXED_CHILDREN {
                for candidate in (0..count).filter_map(|index| node.child(index)).take_while(|_| continues()) {
                    child.pattern.matches(candidate, is_over, captured, &mut match_rest);
                }
            } else {
                let mut cursor = node.walk();
                for candidate in node.children(&mut cursor).take_while(|_| continues()) {
                    child.pattern.matches(candidate, is_over, captured, &mut match_rest);
                }
            }
        }
        ChildPosition::Any { first, last } => {
            let count = node.named_child_count() as u32;
            let index = if first { Some(0) } else { count.checked_sub(1) };
            let is_possible = !(first && last) || count == 1;
            if let Some(candidate) = index.filter(|_| is_possible).and_then(|index| node.named_child(index)) {
                child.pattern.matches(candidate, is_over, captured, &mut match_rest);
            }
        }
    }
    if child.optional && !matched.get() {
        match_children(rest, node, is_over, captured, on_match);
    }
}

impl Predicate {
    /// Whether the predicate holds for all nodes of its capture.
    pub(crate) fn holds(&self, captured: &MatchedCaptures<'_>, text: &str) -> bool {
        let texts = |capture: &CaptureKind| {
            let capture = *capture;
            captured.iter().filter(move |(kind, _)| *kind == capture).map(move |(_, node)| text_of(*node, text))
        };
        match self {
            Self::AnyOf(capture, values) => texts(capture).all(|text| values.iter().any(|value| value == text)),
            Self::NoneOf(capture, values) => texts(capture).all(|text| values.iter().all(|value| value != text)),
            Self::Capitalised(capture) => texts(capture).all(|text| text.starts_with(|c: char| c.is_ascii_uppercase())),
            Self::Hyphenated(capture) => texts(capture).all(|text| text.contains('-')),
            Self::Differ(first, second) => texts(first).all(|text| texts(second).all(|other| text != other)),
        }
    }
}
