//! One pass of a language's query over a tree, sorted by what the captures mean.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use crate::parse::parser::ParseFailure;
use crate::parse::pattern::{Found, Predicate};
use crate::parse::query::{CompiledQuery, Role};
use crate::parse::symbols::SymbolKind;
use crate::parse::watch::Watch;

/// Everything that the query found in one file. Lists are ordered by where their nodes start.
#[derive(Default)]
pub(crate) struct Captures<'tree, 'text> {
    pub(crate) definitions: Vec<Definition<'tree>>,
    /// Wrapped node → the node around it, and whether that exports it.
    pub(crate) outers: FxHashMap<usize, (Node<'tree>, bool)>,
    pub(crate) exports: FxHashSet<&'text str>,
    pub(crate) imports: Vec<Node<'tree>>,
    pub(crate) headings: Vec<Node<'tree>>,
    /// Names given to values, wherever they stand.
    pub(crate) values: Vec<(Node<'tree>, Reach)>,
    /// What hides the names inside it. Those inside others may be left out.
    pub(crate) locals: Vec<Range<u32>>,
    /// Comments and preludes: what may stand between two definitions and belong to the second.
    pub(crate) leading: Vec<Leading>,
    /// What signatures leave out.
    pub(crate) skips: Vec<Range<u32>>,
    pub(crate) marks: Vec<(u32, Mark<'text>)>,
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
    rule: u32,
}

/// Where a name that is given to a value can be seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// In a type as well as outside all types.
    Type,
    /// Outside all types only.
    File,
}

#[derive(Debug, Clone)]
pub(crate) struct Leading {
    pub(crate) bytes: Range<u32>,
    pub(crate) is_comment: bool,
}

/// Something that is counted towards the innermost definition around it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mark<'text> {
    Call(&'text str),
    Base(&'text str),
    Branch,
    Loop,
}

impl<'tree, 'text> Captures<'tree, 'text> {
    /// Walks the tree once, without recursion: its depth is the file's to choose.
    ///
    /// # Errors
    /// The watch's.
    pub(crate) fn collect(
        query: &CompiledQuery,
        root: Node<'tree>,
        text: &'text str,
        watch: &Watch<'_>,
    ) -> Result<Self, ParseFailure> {
        let mut found = Self::default();
        let mut error_end = 0;
        let is_broken = root.has_error();
        let mut captured = Vec::new();
        let mut cursor = root.walk();
        'walk: loop {
            watch.look()?;
            let node = cursor.node();
            for rule in query.rules_at(node.kind_id()) {
                found.apply(query, *rule, node, text, &mut captured);
            }
            if is_broken && node.start_byte() >= error_end && (node.is_error() || node.is_missing()) {
                for rule in &query.broken {
                    found.apply(query, *rule, node, text, &mut captured);
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
        captured: &mut Found<'tree>,
    ) {
        let rule = &query.rules[index as usize];
        rule.pattern.matches(node, captured, &mut |captured| {
            let holds = |predicate: &Predicate| {
                let role = predicate.role();
                captured.iter().filter(|(r, _)| *r == role).all(|(_, node)| predicate.holds(slice(text, *node)))
            };
            if rule.predicates.iter().all(holds) {
                self.take(captured, index, text);
            }
        });
    }

    fn take(&mut self, captured: &Found<'tree>, rule: u32, text: &'text str) {
        let mut partial = Partial::default();
        for (role, node) in captured.iter().copied() {
            match role {
                Role::Definition(kind) => partial.definition = Some((node, Some(kind))),
                Role::Scope => partial.definition = Some((node, None)),
                Role::Name => partial.name = Some(node),
                Role::Body => partial.body = Some(node),
                Role::Owner => partial.owner = Some(node),
                Role::Outer { exported } => partial.outer = Some((node, exported)),
                Role::Inner => partial.inner = Some(node),
                Role::Export => drop(self.exports.insert(slice(text, node))),
                Role::Prelude => self.leading.push(Leading { bytes: span(node), is_comment: false }),
                Role::Comment => self.leading.push(Leading { bytes: span(node), is_comment: true }),
                Role::Skip => self.skips.push(span(node)),
                Role::Call => self.mark(node, Mark::Call(slice(text, node).trim_start_matches('#'))),
                Role::Base => self.mark(node, Mark::Base(slice(text, node))),
                Role::Branch => self.mark(node, Mark::Branch),
                Role::Loop => self.mark(node, Mark::Loop),
                Role::Import => self.imports.push(node),
                Role::Heading => self.headings.push(node),
                Role::Constant => self.values.push((node, Reach::Type)),
                Role::Variable => self.values.push((node, Reach::File)),
                Role::Local => self.hide(span(node)),
                Role::Error => self.errors += 1,
                Role::Nothing(_) => {}
            }
        }
        self.add(partial, rule);
    }

    fn mark(&mut self, node: Node<'tree>, mark: Mark<'text>) {
        self.marks.push((node.start_byte() as u32, mark));
    }

    fn hide(&mut self, bytes: Range<u32>) {
        if self.locals.last().is_none_or(|last| bytes.start < last.start || last.end < bytes.end) {
            self.locals.push(bytes);
        }
    }

    fn add(&mut self, partial: Partial<'tree>, rule: u32) {
        if let (Some((node, kind)), Some(name)) = (partial.definition, partial.name) {
            let Partial { body, owner, .. } = partial;
            self.definitions.push(Definition { node, kind, name, body, owner, rule });
        }
        if let (Some(outer), Some(inner)) = (partial.outer, partial.inner) {
            self.outers.insert(inner.id(), outer);
        }
    }

    /// Patterns capture nodes below the one they start at, so the order is nearly right. Of several definitions at
    /// one node, the earliest rule wins.
    fn sort(&mut self) {
        self.definitions.sort_by_key(|d| (d.node.start_byte(), usize::MAX - d.node.end_byte(), d.rule));
        self.definitions.dedup_by_key(|d| d.node.id());
        self.leading.sort_by_key(|l| l.bytes.start);
        self.skips.sort_by_key(|s| s.start);
        self.marks.sort_by_key(|m| m.0);
        self.imports.sort_by_key(Node::start_byte);
        self.imports.dedup_by_key(|node| node.id());
        self.headings.sort_by_key(Node::start_byte);
        self.values.sort_by_key(|(node, _)| node.start_byte());
        self.locals.sort_by_key(|local| local.start);
    }
}

#[derive(Default)]
struct Partial<'tree> {
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
