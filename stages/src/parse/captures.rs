//! One pass of a language's query over a tree, sorted by what the captures mean.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use crate::parse::deadline::Deadline;
use crate::parse::parser::ParseFailure;
use crate::parse::pattern::{MatchedCaptures, Predicate};
use crate::parse::query::{CaptureKind, CompiledQuery};
use crate::parse::symbols::SymbolKind;

/// Everything that the query found in one file. Lists are ordered by where their nodes start.
#[derive(Default)]
pub(crate) struct Captures<'tree, 'text> {
    pub(crate) definitions: Vec<Definition<'tree>>,
    /// Wrapped node → its wrapper, and whether the wrapper exports it.
    pub(crate) outers: FxHashMap<usize, (Node<'tree>, bool)>,
    pub(crate) exports: FxHashSet<&'text str>,
    pub(crate) imports: Vec<Node<'tree>>,
    pub(crate) headings: Vec<Node<'tree>>,
    /// Names given to values, wherever they stand.
    pub(crate) values: Vec<(Node<'tree>, ConstantScope)>,
    /// What hides the names inside it. Those inside others may be left out.
    pub(crate) locals: Vec<Range<u32>>,
    /// Comments and preludes: what may stand between two definitions and belong to the second.
    pub(crate) leading: Vec<LeadingNode>,
    /// What signatures leave out.
    pub(crate) skips: Vec<Range<u32>>,
    pub(crate) occurrences: Vec<(u32, Occurrence<'text>)>,
    pub(crate) errors: u32,
}

/// A definition or a naming scope.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Definition<'tree> {
    pub(crate) node: Node<'tree>,
    /// None for a mere scope.
    pub(crate) kind: Option<SymbolKind>,
    pub(crate) name: Node<'tree>,
    pub(crate) body: Option<Node<'tree>>,
    pub(crate) owner: Option<Node<'tree>>,
    pattern_index: u32,
}

/// Where a captured constant counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConstantScope {
    /// At file level and inside types.
    FileOrType,
    /// At file level only.
    FileOnly,
}

#[derive(Debug, Clone)]
pub(crate) struct LeadingNode {
    pub(crate) bytes: Range<u32>,
    pub(crate) is_comment: bool,
}

/// Something that is counted towards the innermost definition around it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Occurrence<'text> {
    Call(&'text str),
    Base(&'text str),
    Branch,
    Loop,
}

impl<'tree, 'text> Captures<'tree, 'text> {
    /// Walks the tree once, without recursion: its depth is the file's to choose.
    ///
    /// # Errors
    /// See [`Deadline::check`].
    pub(crate) fn collect(
        query: &CompiledQuery,
        root: Node<'tree>,
        text: &'text str,
        deadline: &Deadline<'_>,
    ) -> Result<Self, ParseFailure> {
        let mut found = Self::default();
        let mut error_end = 0;
        let is_broken = root.has_error();
        let mut captured = Vec::new();
        let mut cursor = root.walk();
        'walk: loop {
            deadline.tick()?;
            let node = cursor.node();
            for index in query.patterns_at(node.kind_id()) {
                found.apply(query, *index, node, text, &mut captured);
            }
            if is_broken && node.start_byte() >= error_end && (node.is_error() || node.is_missing()) {
                for index in &query.broken {
                    found.apply(query, *index, node, text, &mut captured);
                }
                error_end = node.end_byte().max(node.start_byte() + 1);
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'walk;
                }
            }
        }
        found.sort();
        Ok(found)
    }

    fn apply(
        &mut self,
        query: &CompiledQuery,
        index: u32,
        node: Node<'tree>,
        text: &'text str,
        captured: &mut MatchedCaptures<'tree>,
    ) {
        let pattern = &query.patterns[index as usize];
        pattern.root.matches(node, captured, &mut |captured| {
            let holds = |predicate: &Predicate| {
                let capture = predicate.capture();
                captured.iter().filter(|(r, _)| *r == capture).all(|(_, node)| predicate.holds(slice(text, *node)))
            };
            if pattern.predicates.iter().all(holds) {
                self.take(captured, index, text);
            }
        });
    }

    fn take(&mut self, captured: &MatchedCaptures<'tree>, pattern_index: u32, text: &'text str) {
        let mut partial = MatchFields::default();
        for (capture, node) in captured.iter().copied() {
            match capture {
                CaptureKind::Definition(kind) => partial.definition = Some((node, Some(kind))),
                CaptureKind::Namespace => partial.definition = Some((node, None)),
                CaptureKind::Name => partial.name = Some(node),
                CaptureKind::Body => partial.body = Some(node),
                CaptureKind::Owner => partial.owner = Some(node),
                CaptureKind::Wrapper { exported } => partial.outer = Some((node, exported)),
                CaptureKind::Wrapped => partial.inner = Some(node),
                CaptureKind::Export => drop(self.exports.insert(slice(text, node))),
                CaptureKind::Attribute => self.leading.push(LeadingNode { bytes: span(node), is_comment: false }),
                CaptureKind::Comment => self.leading.push(LeadingNode { bytes: span(node), is_comment: true }),
                CaptureKind::SignatureOmit => self.skips.push(span(node)),
                CaptureKind::ReferenceCall => {
                    self.mark(node, Occurrence::Call(slice(text, node).trim_start_matches('#')))
                }
                CaptureKind::ReferenceBase => self.mark(node, Occurrence::Base(slice(text, node))),
                CaptureKind::Branch => self.mark(node, Occurrence::Branch),
                CaptureKind::Loop => self.mark(node, Occurrence::Loop),
                CaptureKind::Import => self.imports.push(node),
                CaptureKind::Heading => self.headings.push(node),
                CaptureKind::DefinitionConstant => self.values.push((node, ConstantScope::FileOrType)),
                CaptureKind::DefinitionVariable => self.values.push((node, ConstantScope::FileOnly)),
                CaptureKind::LocalScope => self.hide(span(node)),
                CaptureKind::Error => self.errors += 1,
                CaptureKind::Ignored(_) => {}
            }
        }
        self.add(partial, pattern_index);
    }

    fn mark(&mut self, node: Node<'tree>, mark: Occurrence<'text>) {
        self.occurrences.push((node.start_byte() as u32, mark));
    }

    fn hide(&mut self, bytes: Range<u32>) {
        if self.locals.last().is_none_or(|last| bytes.start < last.start || last.end < bytes.end) {
            self.locals.push(bytes);
        }
    }

    fn add(&mut self, partial: MatchFields<'tree>, pattern_index: u32) {
        if let (Some((node, kind)), Some(name)) = (partial.definition, partial.name) {
            let MatchFields { body, owner, .. } = partial;
            self.definitions.push(Definition { node, kind, name, body, owner, pattern_index });
        }
        if let (Some(outer), Some(inner)) = (partial.outer, partial.inner) {
            self.outers.insert(inner.id(), outer);
        }
    }

    /// Patterns capture nodes below the one they start at, so the order is nearly right. Of several definitions at
    /// one node, the earliest pattern wins.
    fn sort(&mut self) {
        self.definitions.sort_by_key(|d| (d.node.start_byte(), usize::MAX - d.node.end_byte(), d.pattern_index));
        self.definitions.dedup_by_key(|d| d.node.id());
        self.leading.sort_by_key(|l| l.bytes.start);
        self.skips.sort_by_key(|s| s.start);
        self.occurrences.sort_by_key(|m| m.0);
        self.imports.sort_by_key(Node::start_byte);
        self.imports.dedup_by_key(|node| node.id());
        self.headings.sort_by_key(Node::start_byte);
        self.values.sort_by_key(|(node, _)| node.start_byte());
        self.locals.sort_by_key(|local| local.start);
    }
}

#[derive(Default)]
struct MatchFields<'tree> {
    definition: Option<(Node<'tree>, Option<SymbolKind>)>,
    name: Option<Node<'tree>>,
    body: Option<Node<'tree>>,
    owner: Option<Node<'tree>>,
    outer: Option<(Node<'tree>, bool)>,
    inner: Option<Node<'tree>>,
}

fn span(node: Node<'_>) -> Range<u32> {
    node.start_byte() as u32..node.end_byte() as u32
}

fn slice<'text>(text: &'text str, node: Node<'_>) -> &'text str {
    text.get(node.byte_range()).unwrap_or_default()
}
