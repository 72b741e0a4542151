//! Builds the outline of a file from its captures: nesting, names, signatures and documentation.

use std::ops::Range;

use tree_sitter::Node;

use crate::deadline::Deadline;
use crate::extract::blocks::select_blocks;
use crate::extract::captures::{CapturedDefinition, Captures};
use crate::extract::constants::constants;
use crate::extract::docs::{self, Attached};
use crate::extract::opening::opening;
use crate::extract::overloads::merge_overloads;
use crate::extract::references::assign_references;
use crate::extract::scope::Scope;
use crate::extract::signature::signature;
use crate::failure::ParseFailure;
use crate::file_symbols::{FileSymbols, Truncation};
use crate::language::{DeclaredName, FileDoc, Language, VisibilityContext};
use crate::spans::{slice, text_of};
use crate::symbols::{Import, Symbol, SymbolKind, bounded, without_quotes};

/// Limit in bytes for the documentation of all symbols of an empty file. For each byte of the text, the limit grows by
/// [`DOC_BYTES_PER_BYTE`]. Documentation can be larger than the text, because all definitions in a statement get the
/// comment before the statement.
const MIN_DOC_BYTES: usize = 1 << 20;
/// Number of bytes by which the limit for documentation grows for each byte of the text (see [`MIN_DOC_BYTES`]).
const DOC_BYTES_PER_BYTE: usize = 8;

/// Maximum number of bytes of a declaration that are read for its signature.
const MAX_DECLARATION_BYTES: usize = 16 << 10;

/// Returns the outline of one file, with at most `max_symbols` symbols and as many imports.
///
/// # Errors
/// See [`Deadline::check`].
pub(crate) fn outline<'t>(
    language: &Language,
    root: Node<'t>,
    mut captures: Captures<'t, 't>,
    text: &'t str,
    max_symbols: usize,
    deadline: &Deadline<'_>,
) -> Result<FileSymbols, ParseFailure> {
    let mut imports: Vec<Import> = Vec::new();
    for node in &captures.imports {
        deadline.tick()?;
        (language.imports)(*node, text, &mut imports);
        if imports.len() > max_symbols {
            break;
        }
    }
    let small_blocks = match language.blocks {
        Some(limits) => select_blocks(language, limits, &mut captures, text, deadline)?,
        None => Vec::new(),
    };
    let mut builder = OutlineBuilder {
        language,
        captures: &captures,
        text,
        scopes: Vec::new(),
        symbols: Vec::new(),
        open: Vec::new(),
        next_section: 0,
        attached: AttachedCache::default(),
        doc_bytes_left: MIN_DOC_BYTES + DOC_BYTES_PER_BYTE * text.len(),
    };
    let mut is_truncated = imports.len() > max_symbols;
    imports.truncate(max_symbols);
    for definition in wrapped_definitions(&captures) {
        deadline.tick()?;
        if builder.symbols.len() == max_symbols {
            is_truncated = true;
            break;
        }
        builder.define(definition);
    }
    let OutlineBuilder { scopes, mut symbols, .. } = builder;
    let calls = assign_references(&captures.references, &scopes, &mut symbols);
    let mut constants = constants(language, &captures, &symbols, text);
    if !small_blocks.is_empty() {
        constants.extend(small_blocks);
        constants.sort_by_key(|constant| constant.at);
    }
    if !language.keeps_overloads {
        merge_overloads(&mut symbols, language, text);
    }
    let (doc, doc_bytes) = file_doc(language, root, &captures, text);
    let opening = opening(&captures.leading, &symbols, &constants, text);
    Ok(FileSymbols {
        symbols,
        imports,
        constants,
        calls,
        doc,
        doc_bytes,
        opening,
        errors: captures.errors,
        truncation: is_truncated.then_some(Truncation::Definitions),
        ..FileSymbols::default()
    })
}

/// A definition with its outermost wrapper. Without a wrapper, `outermost` is the node of the definition.
struct WrappedDefinition<'t> {
    definition: CapturedDefinition<'t>,
    outermost: Node<'t>,
    exported: bool,
}

fn wrapped_definitions<'t>(captures: &Captures<'t, '_>) -> Vec<WrappedDefinition<'t>> {
    let wrap = |definition: &CapturedDefinition<'t>| {
        let (mut outermost, mut exported) = (definition.node, false);
        while let Some((wrapper, exports)) = captures.wrappers.get(&outermost.id()) {
            outermost = *wrapper;
            exported |= exports;
        }
        WrappedDefinition { definition: *definition, outermost, exported }
    };
    let mut all: Vec<_> = captures.definitions.iter().map(wrap).collect();
    all.sort_by_key(|w| {
        (w.outermost.start_byte(), usize::MAX - w.outermost.end_byte(), w.definition.node.start_byte())
    });
    all
}

struct OutlineBuilder<'a, 't> {
    language: &'a Language,
    captures: &'a Captures<'t, 't>,
    text: &'t str,
    scopes: Vec<Scope<'t>>,
    symbols: Vec<Symbol>,
    /// Indices of the scopes that enclose the current offset, innermost last.
    open: Vec<usize>,
    /// Index of the first access label that is not yet assigned to a scope.
    next_section: usize,
    attached: AttachedCache,
    doc_bytes_left: usize,
}

/// The attached comments and attributes of the most recent offset. They are cached because several definitions may
/// start at one offset, as in `const a = …, b = …`.
#[derive(Clone, Default)]
struct AttachedCache {
    at: Option<u32>,
    attached: Attached,
    /// Number of lines from the first attribute to the first line of the definition.
    attribute_lines: usize,
}

impl<'t> OutlineBuilder<'_, 't> {
    fn define(&mut self, wrapped: WrappedDefinition<'t>) {
        let WrappedDefinition { definition, outermost, exported } = wrapped;
        let open_end = definition.open_end.filter(|_| definition.body.is_none());
        let open_end = open_end.map(|end| self.open_end(outermost, end.limit));
        let AttachedCache { attached, attribute_lines, .. } = self.attached(outermost.start_byte() as u32);
        let last = if self.language.ends_at_token { last_token(outermost, self.text) } else { outermost };
        let end = match open_end {
            Some(end) => end,
            None if definition.to_end => self.text.len() as u32,
            None => self.end_of(last),
        };
        let mut bytes = attached.start..end;
        if definition.to_end {
            self.open.clear();
        }
        let Some(declared) = self.declared_name(&definition) else { return };
        self.enter_sections(bytes.start);
        let first = outermost.start_byte() as u32;
        while self.open.pop_if(|last| self.scopes[*last].bytes.end <= first).is_some() {}
        // A function in the arguments of an attribute is part of the attribute.
        let is_in_attribute = |last: &mut Symbol| bytes.start <= last.bytes.start && last.bytes.end <= first;
        while self.symbols.pop_if(is_in_attribute).is_some() {}
        if self.language.is_flat {
            self.end_open(attached.doc.as_ref().map_or(bytes.start, |doc| doc.start.min(bytes.start)));
        }
        let enclosing = self.open.last().map(|last| &self.scopes[*last]);
        // In a text with errors, a node may end with white space that is outside of the enclosing definition.
        bytes.end = enclosing.map_or(bytes.end, |scope| bytes.end.min(scope.bytes.end));
        let enclosing_kind = enclosing.and_then(|scope| scope.kind);
        let parent = enclosing.and_then(|scope| scope.symbol);
        let section = enclosing.and_then(|scope| scope.section);
        let name = bounded(without_quotes(&declared.name));
        let is_omitted = |name: &str| self.language.omitted_qualifiers.contains(&name);
        let owner = definition.owner.map(|owner| self.owner(owner)).or(declared.owner.as_deref());
        let owner = owner.filter(|owner| !is_omitted(owner));
        let is_absolute = self.language.has_absolute_modules && definition.kind == Some(SymbolKind::Module);
        let enclosing_prefix = enclosing.filter(|_| !is_absolute).map(|scope| scope.prefix.clone());
        let mut prefix = enclosing_prefix.unwrap_or_default();
        if let Some(segment) = owner {
            Self::push_segment(&mut prefix, segment, self.language.separator);
        }
        let owner = match (owner, enclosing_kind) {
            (Some(_), _) | (None, Some(SymbolKind::Implementation)) => Some(prefix.clone()),
            _ => None,
        };
        // In declarative languages, an owner does not make a function a method, because the owner may be the schema
        // that qualifies the function.
        let is_member =
            !self.language.is_declarative && (owner.is_some() || enclosing_kind.is_some_and(SymbolKind::is_type));
        let kind = match definition.kind {
            Some(SymbolKind::Function) if is_member => Some(SymbolKind::Method),
            kind => kind,
        };
        let may_be_reserved =
            self.language.has_reserved_members && kind == Some(SymbolKind::Method) && self.captures.errors == 0;
        let is_quoted = text_of(definition.name, self.text).starts_with('`');
        if self.language.reserved.contains(&declared.name.as_str()) && kind.is_some() && !may_be_reserved && !is_quoted
        {
            return;
        }
        if kind.is_some() || !is_omitted(name) {
            let separator = self.language.member_separator.filter(|_| kind == Some(SymbolKind::Method));
            Self::push_segment(&mut prefix, name, separator.unwrap_or(self.language.separator));
        }
        let scope = Scope { bytes: bytes.clone(), symbol: parent, prefix, kind: definition.kind, section: None };
        let Some(kind) = kind else {
            return self.push_scope(scope);
        };
        let is_entity = self.language.blocks.is_some() && definition.body.is_none();
        let signature = match &declared.owner {
            Some(owner) if is_entity => format!("{owner} {name}"),
            None if is_entity => name.to_owned(),
            _ => self.signature(&definition, name, outermost),
        };
        let (doc, doc_bytes) = self.doc(&definition, attached.doc);
        self.doc_bytes_left = self.doc_bytes_left.saturating_sub(doc.len());
        let visibility = VisibilityContext {
            name,
            signature: &signature,
            exported: exported || self.captures.exports.contains(name),
            file_exports: !self.captures.exports.is_empty(),
            parent: parent.map(|p| (self.symbols[p as usize].kind, self.symbols[p as usize].exported)),
            section,
        };
        let exported = (self.language.exported)(&visibility);
        let (name, qualified_name) = match kind {
            SymbolKind::Implementation => (signature.clone(), signature.clone()),
            _ => (name.to_owned(), scope.prefix.clone()),
        };
        let first_line = outermost.start_position().row as u32 + 1;
        let is_whole = bytes.end as usize == last.end_byte();
        let part = if is_whole { None } else { self.text.get(outermost.start_byte()..bytes.end as usize) };
        let last_line = match part {
            Some(part) => first_line + part.matches('\n').count() as u32,
            None => last_line(last),
        };
        let symbol = Symbol {
            kind,
            name,
            qualified_name,
            parent,
            owner,
            lines: (first_line - attribute_lines as u32, last_line),
            body: definition.body.map(|body| (body.start_byte() as u32).min(bytes.end)),
            bytes,
            signature,
            doc,
            doc_bytes,
            calls: Vec::new(),
            bases: Vec::new(),
            branches: 0,
            loops: 0,
            exported,
            heading_level: 0,
        };
        let scope = Scope { symbol: Some(self.symbols.len() as u32), ..scope };
        self.symbols.push(symbol);
        self.push_scope(scope);
    }

    /// Ends all open definitions at `at`, without the white space before it.
    fn end_open(&mut self, at: u32) {
        for scope in self.open.drain(..) {
            let scope = &mut self.scopes[scope];
            let end = scope.bytes.start + slice(self.text, &(scope.bytes.start..at)).trim_end().len() as u32;
            let lines = slice(self.text, &(end..scope.bytes.end)).matches('\n').count() as u32;
            scope.bytes.end = end;
            if let Some(symbol) = scope.symbol {
                let symbol = &mut self.symbols[symbol as usize];
                symbol.lines.1 = (symbol.lines.1.saturating_sub(lines)).max(symbol.lines.0);
                symbol.body = symbol.body.map(|body| body.min(end));
                symbol.bytes.end = end;
            }
        }
    }

    /// Returns the end of a definition, including its terminator.
    fn end_of(&self, last: Node<'t>) -> u32 {
        let end = last.end_byte();
        let rest = self.text.get(end..).unwrap_or_default();
        let after = rest.trim_start_matches([' ', '\t']);
        match self.language.terminator {
            Some(terminator) if after.starts_with(terminator) => {
                (end + rest.len() - after.len() + terminator.len_utf8()) as u32
            }
            _ => end as u32,
        }
    }

    /// Returns the name of a definition, or `None` if the name is empty or cannot be read.
    fn declared_name(&self, definition: &CapturedDefinition<'t>) -> Option<DeclaredName> {
        match self.language.declared_name {
            Some(read) => read(definition.name, self.text).filter(|declared| !declared.name.is_empty()),
            None => {
                let name = (self.language.name_in)(text_of(definition.name, self.text));
                (!name.is_empty()).then(|| DeclaredName { name: name.to_owned(), owner: None })
            }
        }
    }

    /// Records the access labels before `start` in the scopes that contain them.
    fn enter_sections(&mut self, start: u32) {
        while let Some(label) = self.captures.sections.get(self.next_section) {
            let at = label.start_byte() as u32;
            if at >= start {
                return;
            }
            while self.open.pop_if(|last| self.scopes[*last].bytes.end <= at).is_some() {}
            if let Some(innermost) = self.open.last() {
                self.scopes[*innermost].section = Some(text_of(*label, self.text));
            }
            self.next_section += 1;
        }
    }

    fn attached(&mut self, start: u32) -> AttachedCache {
        if self.attached.at != Some(start) {
            let attached = self.attached_before(start);
            let attributes = self.text.get(attached.start as usize..start as usize);
            let attribute_lines = attributes.map_or(0, |attributes| attributes.matches('\n').count());
            self.attached = AttachedCache { at: Some(start), attached, attribute_lines };
        }
        self.attached.clone()
    }

    /// Returns the comments and attributes before `start`.
    fn attached_before(&self, start: u32) -> Attached {
        let mut around = self.open.iter().rev().map(|open| &self.scopes[*open].bytes).peekable();
        let mut before = 0..0;
        while let Some(ended) = around.next_if(|bytes| bytes.end <= start) {
            before = ended.clone();
        }
        docs::attached(self.language, &self.captures.leading, before, start, self.text)
    }

    /// Returns the end of a definition with an open end: `limit` without the comments and white space before it.
    fn open_end(&self, outermost: Node<'t>, limit: u32) -> u32 {
        let Attached { start, doc } = self.attached_before(limit);
        let from = outermost.end_byte();
        let to = doc.map_or(start, |doc| doc.start.min(start)) as usize;
        self.text.get(from..to).map_or(from, |part| from + part.trim_end().len()) as u32
    }

    fn owner(&self, node: Node<'t>) -> &'t str {
        let owner = text_of(node, self.text);
        owner.strip_suffix(self.language.owner_suffix).unwrap_or(owner)
    }

    fn push_segment(prefix: &mut String, segment: &str, separator: &str) {
        if !prefix.is_empty() {
            prefix.push_str(separator);
        }
        prefix.push_str(segment);
        prefix.truncate(bounded(prefix).len());
    }

    fn push_scope(&mut self, scope: Scope<'t>) {
        self.open.push(self.scopes.len());
        self.scopes.push(scope);
    }

    fn signature(&self, definition: &CapturedDefinition<'t>, name: &str, outermost: Node<'t>) -> String {
        let start = outermost.start_byte() as u32;
        let end = definition.body.map_or(definition.node.end_byte(), |body| body.start_byte());
        let end = self.text.floor_char_boundary(end.min(start as usize + MAX_DECLARATION_BYTES)) as u32;
        let omits = &self.captures.signature_omits;
        let mut omits = omits[omits.partition_point(|omit| omit.start < start)..].iter().peekable();
        let leading = &self.captures.leading;
        let leading = leading[leading.partition_point(|l| l.bytes.start < start)..].iter();
        let mut leading = leading.map(|l| &l.bytes).peekable();
        // Merges two sorted lists lazily, because only the spans inside the declaration are needed.
        let omitted = std::iter::from_fn(|| {
            let is_first = |omit: &&Range<u32>| leading.peek().is_none_or(|other| omit.start <= other.start);
            omits.next_if(is_first).or_else(|| leading.next()).cloned()
        });
        let signature = signature(self.text, start..end, omitted.take_while(|range| range.start < end));
        // If the name follows the body, as in `struct { … } name;`, it is appended to the signature.
        let is_name_after_body = definition.body.is_some_and(|body| body.end_byte() <= definition.name.start_byte());
        if is_name_after_body { format!("{signature} {name}") } else { signature }
    }

    fn doc(&self, definition: &CapturedDefinition<'t>, comment: Option<Range<u32>>) -> (String, Option<Range<u32>>) {
        if self.doc_bytes_left == 0 {
            return (String::new(), comment);
        }
        let docstring = self.language.docstring.zip(definition.body).and_then(|(find, body)| find(body, self.text));
        if let Some(range) = docstring {
            let source = self.text.get(range.clone()).unwrap_or_default();
            let text = self.language.doc_text.unwrap_or(docs::docstring_text);
            return (text(source), Some(range.start as u32..range.end as u32));
        }
        let text = self.language.doc_text.unwrap_or(docs::comment_text);
        let doc = comment.clone().map(|range| text(slice(self.text, &range)));
        (doc.unwrap_or_default(), comment)
    }
}

/// Returns the last token inside `node` that is neither white space nor a comment. A node with more text after its last
/// child, such as a literal block, counts as a token.
fn last_token<'t>(node: Node<'t>, text: &str) -> Node<'t> {
    let mut last = node;
    loop {
        let (mut token, mut end) = (None, last.end_byte());
        let mut cursor = last.walk();
        for child in last.children(&mut cursor) {
            if !child.is_extra() && !text_of(child, text).trim().is_empty() {
                (token, end) = (Some(child), last.end_byte());
            } else {
                end = end.min(child.start_byte());
            }
        }
        let Some(token) = token else { return last };
        if text.get(token.end_byte()..end).is_some_and(|rest| !rest.trim().is_empty()) {
            return last;
        }
        last = token;
    }
}

/// Returns the line of the last character of a node. A final line feed is not counted.
fn last_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    let ends_with_feed = end.column == 0 && end.row > node.start_position().row;
    (if ends_with_feed { end.row } else { end.row + 1 }) as u32
}

fn file_doc(
    language: &Language,
    root: Node<'_>,
    captures: &Captures<'_, '_>,
    text: &str,
) -> (String, Option<Range<u32>>) {
    let usual_text: fn(&str) -> String = match language.file_doc {
        FileDoc::Docstring => docs::docstring_text,
        _ => docs::comment_text,
    };
    let found = match language.file_doc {
        FileDoc::None => None,
        FileDoc::Docstring => {
            let range = language.docstring.and_then(|find| find(root, text));
            range.map(|range| range.start as u32..range.end as u32)
        }
        FileDoc::Prefix(prefix) => docs::first_run(&captures.leading, prefix, text),
        FileDoc::Before(kind) => {
            let mut cursor = root.walk();
            let node = root.children(&mut cursor).find(|child| child.kind() == kind);
            node.and_then(|node| docs::attached(language, &captures.leading, 0..0, node.start_byte() as u32, text).doc)
        }
    };
    let doc_text = language.doc_text.unwrap_or(usual_text);
    let doc = found.as_ref().map(|range| doc_text(slice(text, range)));
    (doc.unwrap_or_default(), found)
}
