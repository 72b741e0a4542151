//! Runs a language's query over a tree in one pass, and sorts the captures by their meaning.

use std::ops::Range;

use aurora_bounded_parser::BoundedTree;
use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use crate::deadline::Deadline;
use crate::extract::span_cursor::SpanCursor;
use crate::failure::ParseFailure;
use crate::query::CompiledQuery;
use crate::query::capture::CaptureKind;
use crate::query::pattern::MatchedCaptures;
use crate::spans::{span_of, text_of};
use crate::symbols::SymbolKind;

/// All captures of the query in one file. Lists are ordered by the start of the nodes.
#[derive(Default)]
pub(crate) struct Captures<'tree, 'text> {
    pub(crate) definitions: Vec<CapturedDefinition<'tree>>,
    /// Wrapper of each wrapped node, by the id of the wrapped node, and whether the wrapper exports the node.
    pub(crate) wrappers: FxHashMap<usize, (Node<'tree>, bool)>,
    values: Values<'tree>,
    pub(crate) exports: FxHashSet<&'text str>,
    /// Access labels.
    pub(crate) sections: Vec<Node<'tree>>,
    pub(crate) imports: Vec<Node<'tree>>,
    pub(crate) headings: Vec<Node<'tree>>,
    /// Names of constants and variables, local ones included.
    pub(crate) constants: Vec<(Node<'tree>, ConstantScope)>,
    /// Local scopes, except scopes that were captured directly after a scope that contains them.
    pub(crate) local_scopes: Vec<Range<u32>>,
    /// Comments and attributes, which may belong to the definition after them.
    pub(crate) leading: Vec<LeadingNode>,
    /// Spans that signatures omit.
    pub(crate) signature_omits: Vec<Range<u32>>,
    /// References with their offsets. Each belongs to the innermost enclosing definition.
    pub(crate) references: Vec<(u32, Reference<'text>)>,
    /// Spans in which references are ignored.
    no_references: Vec<Range<u32>>,
    pub(crate) errors: u32,
}

/// A definition or namespace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CapturedDefinition<'tree> {
    pub(crate) node: Node<'tree>,
    /// `None` for a namespace.
    pub(crate) kind: Option<SymbolKind>,
    pub(crate) name: Node<'tree>,
    pub(crate) body: Option<Node<'tree>>,
    pub(crate) owner: Option<Node<'tree>>,
    /// Set if the node of the definition does not include the contents of the definition.
    pub(crate) open_end: Option<OpenEnd>,
    /// Whether this is a namespace that extends to the next such namespace or to the end of the file.
    pub(crate) to_end: bool,
    /// Whether the definition is ignored inside local scopes.
    is_declaration: bool,
    /// If set, the definition only counts if this value is or wraps a function. The body of the function is then the
    /// body of the definition.
    value: Option<Node<'tree>>,
    pattern_index: u32,
}

/// The extent of a definition whose node does not include the contents of the definition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenEnd {
    /// Id of the node that contains the definition and its contents.
    container: usize,
    /// Latest possible end of the definition.
    pub(crate) limit: u32,
}

/// The scopes in which a captured name counts as a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConstantScope {
    /// At file level and inside types.
    FileOrType,
    /// At file level only.
    FileOnly,
    /// Anywhere, including functions.
    Anywhere,
}

/// A comment or attribute.
#[derive(Debug, Clone)]
pub(crate) struct LeadingNode {
    pub(crate) bytes: Range<u32>,
    pub(crate) is_comment: bool,
}

/// A call, base type or local variable of a definition, or a construct that counts towards the definition's complexity.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reference<'text> {
    Call(&'text str),
    /// A call, unless a local variable has this name.
    Name(&'text str),
    /// The declaration of a local variable.
    Local(&'text str),
    Base(&'text str),
    Branch,
    Loop,
}

impl<'tree, 'text> Captures<'tree, 'text> {
    /// Collects the captures of a query in one pass over the tree.
    ///
    /// # Errors
    /// See [`Deadline::check`].
    pub(crate) fn collect(
        query: &CompiledQuery,
        tree: &'tree BoundedTree,
        text: &'text str,
        deadline: &Deadline<'_>,
    ) -> Result<Self, ParseFailure> {
        let mut found = Self::default();
        let mut error_end = 0;
        let mut captured = Vec::new();
        for node in tree.nodes_of(&query.is_matched) {
            deadline.tick()?;
            for index in query.patterns_at(node.kind_id()) {
                found.apply(query, *index, node, text, &mut captured, deadline);
            }
            if node.start_byte() >= error_end && (node.is_error() || node.is_missing()) {
                for index in &query.error_patterns {
                    found.apply(query, *index, node, text, &mut captured, deadline);
                }
                error_end = node.end_byte().max(node.start_byte() + 1);
            }
        }
        found.sort();
        Ok(found)
    }

    /// Adds the matches of one pattern at a node.
    fn apply(
        &mut self,
        query: &CompiledQuery,
        index: u32,
        node: Node<'tree>,
        text: &'text str,
        captured: &mut MatchedCaptures<'tree>,
        deadline: &Deadline<'_>,
    ) {
        let pattern = &query.patterns[index as usize];
        pattern.root.matches(node, &|| deadline.tick().is_err(), captured, &mut |captured| {
            if pattern.predicates.iter().all(|predicate| predicate.holds(captured, text)) {
                self.add_match(captured, index, text);
            }
        });
    }

    fn add_match(&mut self, captured: &MatchedCaptures<'tree>, pattern_index: u32, text: &'text str) {
        let mut fields = MatchFields::default();
        for (capture, node) in captured.iter().copied() {
            match capture {
                CaptureKind::Definition(kind) => fields.definition = Some((node, Some(kind))),
                CaptureKind::Declaration(kind) => {
                    fields.definition = Some((node, Some(kind)));
                    fields.is_declaration = true;
                }
                CaptureKind::Namespace { to_end } => {
                    fields.definition = Some((node, None));
                    fields.to_end = to_end;
                }
                CaptureKind::Name => fields.name = Some(node),
                CaptureKind::Body => fields.body = Some(node),
                CaptureKind::Value => fields.value = Some(node),
                CaptureKind::ValueFunction => fields.function = Some(node),
                CaptureKind::ValueWrapper => fields.value_wrapper = Some(node),
                CaptureKind::ValueWrapped => fields.wrapped_value = Some(node),
                CaptureKind::Owner => fields.owner = Some(node),
                CaptureKind::OpenEnd => fields.container = Some(node),
                CaptureKind::Wrapper { exported } => fields.wrapper = Some((node, exported)),
                CaptureKind::Wrapped => fields.wrapped = Some(node),
                CaptureKind::Export => drop(self.exports.insert(text_of(node, text))),
                CaptureKind::Section => self.sections.push(node),
                CaptureKind::Attribute => self.leading.push(LeadingNode { bytes: span_of(node), is_comment: false }),
                CaptureKind::Comment => self.leading.push(LeadingNode { bytes: span_of(node), is_comment: true }),
                CaptureKind::SignatureOmit => self.signature_omits.push(span_of(node)),
                CaptureKind::ReferenceCall => {
                    self.add_reference(node, Reference::Call(text_of(node, text).trim_start_matches(['#', '&'])));
                }
                CaptureKind::ReferenceMacro if text[node.end_byte()..].starts_with('(') => {
                    self.add_reference(node, Reference::Call(text_of(node, text)));
                }
                CaptureKind::ReferenceMacro => {}
                CaptureKind::ReferenceName => self.add_reference(node, Reference::Name(text_of(node, text))),
                CaptureKind::LocalName => self.add_reference(node, Reference::Local(text_of(node, text))),
                CaptureKind::ReferenceBase => self.add_reference(node, Reference::Base(text_of(node, text))),
                CaptureKind::ReferenceBases => {
                    let words = text_of(node, text).split_whitespace().filter(|word| !word.starts_with('-'));
                    words.for_each(|word| self.add_reference(node, Reference::Base(word)));
                }
                CaptureKind::ReferenceNone => self.no_references.push(span_of(node)),
                CaptureKind::Branch => self.add_reference(node, Reference::Branch),
                CaptureKind::Loop => self.add_reference(node, Reference::Loop),
                CaptureKind::Import => self.imports.push(node),
                CaptureKind::Heading => self.headings.push(node),
                CaptureKind::DefinitionConstant => self.constants.push((node, ConstantScope::FileOrType)),
                CaptureKind::DefinitionVariable => self.constants.push((node, ConstantScope::FileOnly)),
                CaptureKind::LocalScope => self.add_local_scope(span_of(node)),
                CaptureKind::Error => self.errors += 1,
                CaptureKind::Ignored(_) => {}
            }
        }
        self.add_definition(fields, pattern_index);
    }

    fn add_reference(&mut self, node: Node<'tree>, reference: Reference<'text>) {
        self.references.push((node.start_byte() as u32, reference));
    }

    fn add_local_scope(&mut self, bytes: Range<u32>) {
        if self.local_scopes.last().is_none_or(|last| bytes.start < last.start || last.end < bytes.end) {
            self.local_scopes.push(bytes);
        }
    }

    fn add_definition(&mut self, fields: MatchFields<'tree>, pattern_index: u32) {
        if let (Some((node, kind)), Some(name)) = (fields.definition, fields.name) {
            let MatchFields { body, owner, to_end, is_declaration, value, .. } = fields;
            let open_end = |node: Node<'_>| OpenEnd { container: node.id(), limit: node.end_byte() as u32 };
            let open_end = fields.container.map(open_end);
            self.definitions.push(CapturedDefinition {
                node,
                kind,
                name,
                body,
                owner,
                open_end,
                to_end,
                is_declaration,
                value,
                pattern_index,
            });
        }
        if let (Some(wrapper), Some(wrapped)) = (fields.wrapper, fields.wrapped) {
            self.wrappers.insert(wrapped.id(), wrapper);
        }
        if let (Some(function), Some(body)) = (fields.function, fields.body) {
            self.values.bodies.insert(function.id(), body);
        }
        if let (Some(wrapper), Some(wrapped)) = (fields.value_wrapper, fields.wrapped_value)
            && !self.is_local(wrapper)
        {
            self.values.wrapped.entry(wrapper.id()).or_default().push(wrapped.id());
        }
    }

    /// Whether a node is inside the most recently captured local scope.
    fn is_local(&self, node: Node<'_>) -> bool {
        let start = node.start_byte() as u32;
        self.local_scopes.last().is_some_and(|scope| scope.start < start && start < scope.end)
    }

    /// Sorts the lists, and removes ignored definitions and references. Sorting is needed because patterns also capture
    /// nodes below their root, so captures are not added in the order of their nodes. If several patterns define the
    /// same node, the first pattern wins.
    fn sort(&mut self) {
        self.local_scopes.sort_by_key(|scope| scope.start);
        self.definitions.sort_by_key(|d| (d.node.start_byte(), usize::MAX - d.node.end_byte(), d.pattern_index));
        let mut locals = SpanCursor::new(self.local_scopes.iter().cloned());
        self.definitions.retain(|d| !locals.covers(d.node.start_byte() as u32) || !d.is_declaration);
        self.definitions.retain_mut(|definition| match definition.value {
            Some(value) => {
                definition.body = self.values.body(value);
                definition.body.is_some()
            }
            None => true,
        });
        self.definitions.dedup_by_key(|d| d.node.id());
        self.remove_second_names();
        self.end_open_definitions();
        self.leading.sort_by_key(|leading| leading.bytes.start);
        self.signature_omits.sort_by_key(|omit| omit.start);
        self.references.sort_by_key(|(at, reference)| (*at, !matches!(reference, Reference::Local(_))));
        self.remove_ignored_references();
        self.sections.sort_by_key(Node::start_byte);
        self.imports.sort_by_key(Node::start_byte);
        self.imports.dedup_by_key(|node| node.id());
        self.headings.sort_by_key(Node::start_byte);
        self.constants.sort_by_key(|(node, _)| node.start_byte());
    }

    /// Removes definitions with the same body as their enclosing definition, and records their names as constants. For
    /// example, `b` becomes a constant in `a = function b() {}`.
    fn remove_second_names(&mut self) {
        let mut bodies = FxHashSet::default();
        self.definitions.retain(|definition| {
            let is_first = definition.kind.is_none() || definition.body.is_none_or(|body| bodies.insert(body.id()));
            if !is_first {
                self.constants.push((definition.name, ConstantScope::Anywhere));
            }
            is_first
        });
    }

    fn end_open_definitions(&mut self) {
        let mut next: FxHashMap<usize, u32> = FxHashMap::default();
        for definition in self.definitions.iter_mut().rev() {
            if let Some(end) = &mut definition.open_end {
                let start = definition.node.start_byte() as u32;
                end.limit = next.insert(end.container, start).unwrap_or(end.limit);
            }
        }
    }

    fn remove_ignored_references(&mut self) {
        if self.no_references.is_empty() {
            return;
        }
        self.no_references.sort_by_key(|span| span.start);
        let (mut spans, mut end) = (self.no_references.iter().peekable(), 0);
        self.references.retain(|(at, reference)| {
            while let Some(span) = spans.next_if(|span| span.start <= *at) {
                end = end.max(span.end);
            }
            *at >= end || matches!(reference, Reference::Branch | Reference::Loop | Reference::Local(_))
        });
    }
}

/// Function values and the expressions that wrap such values, such as `memo(() => {})`.
#[derive(Default)]
struct Values<'tree> {
    /// Function bodies, by the node id of the function.
    bodies: FxHashMap<usize, Node<'tree>>,
    /// Ids of wrapped values, by the node id of the wrapping expression.
    wrapped: FxHashMap<usize, Vec<usize>>,
}

impl<'tree> Values<'tree> {
    /// Maximum number of expressions visited for one value.
    const MAX_STEPS: usize = 64;

    /// Returns the body of the function that a value is, or of the first function that it wraps.
    fn body(&self, value: Node<'tree>) -> Option<Node<'tree>> {
        let mut pending = vec![value.id()];
        for _ in 0..Self::MAX_STEPS {
            let id = pending.pop()?;
            if let Some(body) = self.bodies.get(&id) {
                return Some(*body);
            }
            pending.extend(self.wrapped.get(&id).into_iter().flatten().rev());
        }
        None
    }
}

/// The captures of one match that belong together.
#[derive(Default)]
struct MatchFields<'tree> {
    definition: Option<(Node<'tree>, Option<SymbolKind>)>,
    name: Option<Node<'tree>>,
    body: Option<Node<'tree>>,
    owner: Option<Node<'tree>>,
    container: Option<Node<'tree>>,
    to_end: bool,
    is_declaration: bool,
    wrapper: Option<(Node<'tree>, bool)>,
    wrapped: Option<Node<'tree>>,
    value: Option<Node<'tree>>,
    function: Option<Node<'tree>>,
    value_wrapper: Option<Node<'tree>>,
    wrapped_value: Option<Node<'tree>>,
}
