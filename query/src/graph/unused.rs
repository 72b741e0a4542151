//! Definitions that nothing mentions.
//!
//! One pass over the texts of a generation counts the chunks in which the name of each definition occurs. A definition
//! is unused if its name occurs only in its own text, where definitions of the same name are defined, or in comments.
//! Definitions that something outside the repository may use are excluded: entry points, overridden members, members
//! that a framework finds by an annotation. Exported definitions have a low confidence.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use aurora_storage::{ChunkId, ChunkRecord, ChunkType, Snapshot, StorageError};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::index::{Definition, Index, Result};
use super::relations::RelationIndex;
use super::resolve::is_constructor;
use super::scope;
use super::syntax::{self, Imports, Syntax};
use crate::path_class::{PathClass, PathClasses};
use crate::rank::first_piece;

/// Default of [`UnusedOptions::min_confidence`]. Exported definitions, and definitions that only tests mention, have a
/// lower confidence.
pub const MIN_UNUSED_CONFIDENCE: f32 = 0.7;
/// Maximum number of definitions whose names are counted.
const MAX_DEFINITIONS: usize = 1_000_000;
/// Maximum number of chunks that are recorded for one name. A name in more chunks counts as used.
const MAX_MENTIONS: usize = 12;
/// Number of chunks that one task reads.
const TASK_CHUNKS: usize = 2_048;
/// Number of lines at the start of a file in which a mark of generated code is searched.
const MAX_HEAD_LINES: usize = 10;
/// Maximum number of distinct prefixes, such as `visit_`, that are recorded.
const MAX_PREFIXES: usize = 65_536;

/// Options of a search for unused definitions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnusedOptions {
    /// Minimum confidence, 0..=1.
    pub min_confidence: f32,
    /// Language of the definitions, as chunks store it; `None` for all languages.
    pub language: Option<String>,
    /// Path of a file or directory that contains the definitions; `None` for all files.
    pub path: Option<String>,
}

/// The reason why a definition counts as unused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum UnusedReason {
    /// The name occurs nowhere else.
    Unmentioned,
    /// The name occurs elsewhere only in comments.
    OnlyComments,
    /// The name occurs elsewhere only in tests.
    OnlyTests,
    /// The name occurs nowhere else, but code outside the repository may use it.
    Exported,
}

impl UnusedReason {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Estimated share of definitions with this reason that are unused.
    fn confidence(self) -> f32 {
        match self {
            Self::Unmentioned => 0.95,
            Self::OnlyComments => 0.85,
            Self::OnlyTests => 0.6,
            Self::Exported => 0.5,
        }
    }
}

/// A definition that nothing in the repository uses.
#[derive(Debug, Clone, PartialEq)]
pub struct UnusedDefinition {
    /// The first chunk of the definition.
    pub id: ChunkId,
    /// The reason.
    pub reason: UnusedReason,
    /// Probability that the definition is unused, 0..=1.
    pub confidence: f32,
}

/// The unused definitions of a generation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnusedDefinitions {
    /// The definitions, ordered by key.
    pub list: Vec<UnusedDefinition>,
    /// Number of definitions that are left out because of a low confidence.
    pub left_out: usize,
    /// Number of definitions that were examined.
    pub examined: usize,
    /// Whether definitions may be missing, because of a limit or because the request was cancelled.
    pub is_cut: bool,
}

/// A definition whose name is counted.
struct Counted {
    id: ChunkId,
    /// Number of the name.
    name: usize,
    path: Rc<str>,
    lines: Range<u32>,
    /// Whether the definition is reported if nothing mentions it. Other definitions are needed to recognise mentions
    /// that are only definitions.
    is_candidate: bool,
}

/// The chunks that mention a name, with the number of mentions in each.
#[derive(Default, Clone)]
struct Mentions {
    chunks: Vec<(u32, u32)>,
    /// Whether more than [`MAX_MENTIONS`] chunks mention the name.
    is_common: bool,
}

impl Mentions {
    fn add(&mut self, chunk: u32, count: u32) {
        match self.chunks.len() < MAX_MENTIONS {
            true => self.chunks.push((chunk, count)),
            false => self.is_common = true,
        }
    }
}

impl RelationIndex<'_> {
    /// Returns the definitions that nothing in the repository uses. After cancellation, the list is partial.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn unused(&self, options: &UnusedOptions) -> Result<UnusedDefinitions> {
        let index = &self.index;
        let mut counting = Counting::read(index)?;
        let (mentions, prefixes) = counting.mentions(index)?;
        let mut found = UnusedDefinitions { is_cut: counting.is_cut, ..UnusedDefinitions::default() };
        let by_name = counting.by_name();
        let mut list = BTreeMap::new();
        for (at, one) in counting.definitions.iter().enumerate().filter(|(_, one)| one.is_candidate) {
            if self.is_cancelled() {
                found.is_cut = true;
                break;
            }
            let Some(chunk) = index.snapshot.chunk(one.id)? else { continue };
            let is_below = |path: &String| {
                let rest = one.path.strip_prefix(path.trim_end_matches('/'));
                path.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !options.path.as_ref().is_none_or(is_below)
                || options.language.as_ref().is_some_and(|wanted| wanted != chunk.language())
            {
                continue;
            }
            found.examined += 1;
            let mentions = &mentions[one.name];
            if mentions.is_common {
                continue;
            }
            let namesakes: Vec<&Counted> = by_name[one.name].iter().map(|at| &counting.definitions[*at]).collect();
            let Some(reason) = reason(index, &counting.definitions[at], chunk.name(), &namesakes, mentions)? else {
                continue;
            };
            index.begin();
            let Some(definition) = index.definition(one.id)? else { continue };
            if is_generated(index, &definition)? || is_used_from_outside(index, &definition, &prefixes)? {
                continue;
            }
            let reason = if is_api(index, &definition, &chunk)? { UnusedReason::Exported } else { reason };
            let confidence = reason.confidence();
            if confidence < options.min_confidence {
                found.left_out += 1;
                continue;
            }
            list.insert(definition.key.clone(), UnusedDefinition { id: one.id, reason, confidence });
        }
        found.list = list.into_values().collect();
        Ok(found)
    }
}

/// The definitions of a generation, and their names.
struct Counting {
    definitions: Vec<Counted>,
    /// The numbers of the names.
    names: FxHashMap<String, usize>,
    is_cut: bool,
}

impl Counting {
    fn read(index: &Index<'_>) -> Result<Self> {
        let mut read = Self { definitions: Vec::new(), names: FxHashMap::default(), is_cut: false };
        let mut path: Rc<str> = "".into();
        let mut classes = PathClasses::default();
        for id in index.snapshot.live().iter().map(ChunkId) {
            if index.is_cancelled() || read.definitions.len() >= MAX_DEFINITIONS {
                read.is_cut = true;
                break;
            }
            let Some(chunk) = index.snapshot.chunk(id)? else { continue };
            if !is_definition(chunk.chunk_type()) || first_piece(&chunk.key()) != chunk.key() {
                continue;
            }
            let Some(name) = counted_name(chunk.name()) else { continue };
            if *path != *chunk.path() {
                path = chunk.path().into();
                classes = PathClasses::for_path(&path);
            }
            let next = read.names.len();
            let name = *read.names.entry(name.to_owned()).or_insert(next);
            read.definitions.push(Counted {
                id,
                name,
                path: Rc::clone(&path),
                lines: chunk.line_start()..chunk.line_end() + 1,
                is_candidate: is_candidate(&chunk, classes),
            });
        }
        Ok(read)
    }

    /// Returns the positions of the definitions of each name.
    fn by_name(&self) -> Vec<Vec<usize>> {
        let mut found = vec![Vec::new(); self.names.len()];
        for (at, one) in self.definitions.iter().enumerate() {
            found[one.name].push(at);
        }
        found
    }

    /// Returns the chunks that mention each name, and parts of names. The parts may belong to
    /// names that are composed at run time, as in `getattr(self, "visit_" + kind)`.
    fn mentions(&mut self, index: &Index<'_>) -> Result<(Vec<Mentions>, FxHashSet<String>)> {
        let ids: Vec<u32> = index.snapshot.live().iter().collect();
        let (snapshot, work, names): (&Snapshot, _, _) = (index.snapshot, &index.work, &self.names);
        let scan = |ids: &[u32]| {
            let mut counted: Vec<(usize, u32, u32)> = Vec::new();
            let mut prefixes = FxHashSet::default();
            if work.is_cancelled() {
                return Ok((counted, prefixes));
            }
            snapshot.for_each_text(ids, |id, text| {
                let first = counted.len();
                for word in words(text) {
                    let part = composed_part(text, word);
                    if let Some(part) = part.filter(|part| part.len() > 2 && prefixes.len() < MAX_PREFIXES) {
                        prefixes.insert(part.to_owned());
                    }
                    if let Some(&name) = names.get(word) {
                        counted.push((name, id, 1));
                    }
                }
                // The mentions of each name in this chunk are added up.
                counted[first..].sort_unstable();
                let mut last = first;
                for at in first..counted.len() {
                    if at > first && counted[last].0 == counted[at].0 {
                        counted[last].2 += 1;
                    } else {
                        last += usize::from(at > first);
                        counted[last] = counted[at];
                    }
                }
                counted.truncate(if counted.len() > first { last + 1 } else { first });
            })?;
            Ok((counted, prefixes))
        };
        let (mut found, mut all) = (vec![Mentions::default(); self.names.len()], FxHashSet::default());
        // A group of tasks is complete before the next one starts, so that few counts are in memory at once.
        for group in ids.chunks(TASK_CHUNKS * rayon::current_num_threads().max(1)) {
            let parts: Vec<_> =
                group.par_chunks(TASK_CHUNKS).map(scan).collect::<std::result::Result<_, StorageError>>()?;
            for (counted, prefixes) in parts {
                counted.into_iter().for_each(|(name, id, count)| found[name].add(id, count));
                all.extend(prefixes);
            }
        }
        self.is_cut |= work.is_cancelled() || all.len() >= MAX_PREFIXES;
        Ok((found, all))
    }
}

/// Returns the names, keywords and numbers in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| word.len() > 1)
}

/// Returns the part of a name that a string composes: `visit_` of `"visit_" + kind`, `_cb` of `"{}_cb"` and `"%s_cb"`.
fn composed_part<'t>(text: &str, word: &'t str) -> Option<&'t str> {
    if word.ends_with('_') {
        return Some(word);
    }
    let before = offset_of(text, word).checked_sub(1).and_then(|at| text.as_bytes().get(at));
    match before? {
        b'}' | b'"' | b'\'' if word.starts_with('_') => Some(word),
        b'%' => word.strip_prefix(['s', 'd', 'r']).filter(|rest| rest.starts_with('_')),
        _ => None,
    }
}

/// Returns the name as it is counted: without the `?`, `!` or `=` of a Ruby method. `None` if the name is not a word.
fn counted_name(name: &str) -> Option<&str> {
    let name = name.trim_end_matches(['?', '!', '=']);
    (name.len() > 1 && words(name).next() == Some(name)).then_some(name)
}

fn is_definition(kind: ChunkType) -> bool {
    use ChunkType::{Class, Enum, Function, Interface, Method, Struct, Type};
    matches!(kind, Function | Method | Class | Interface | Struct | Enum | Type)
}

/// Returns whether a definition is reported if nothing mentions it, as far as its record shows.
fn is_candidate(chunk: &ChunkRecord<'_>, classes: PathClasses) -> bool {
    use PathClass::{Declaration, Example, Generated, Test, Vendored};
    let syntax = syntax::for_language(chunk.language());
    let name = chunk.name();
    let is_special = name.starts_with("__") && name.ends_with("__");
    let classes = classes.with_scopes(chunk.qualified_name());
    let is_side = [Test, Generated, Vendored, Example, Declaration].iter().any(|class| classes.contains(*class));
    syntax.is_known() && !syntax.is_component && !is_side && !is_special && !is_entry_point(name, syntax)
}

/// Returns whether the runtime or a tool calls functions of this name.
fn is_entry_point(name: &str, syntax: &Syntax) -> bool {
    let names: &[&str] = match syntax.imports {
        Imports::Go => &["init"],
        // Serialisation calls these methods.
        Imports::Package => &["readObject", "writeObject", "readResolve", "writeReplace", "readObjectNoData"],
        Imports::Rust => &["drop"],
        Imports::Modules => &["BUILD", "DESTROY", "AUTOLOAD", "import", "unimport"],
        _ if syntax.languages.contains(&"ruby") => {
            &["included", "extended", "inherited", "prepended", "method_missing"]
        }
        _ if syntax.languages.contains(&"cpp") => &["WinMain", "DllMain", "wmain"],
        _ => &[],
    };
    let is_test = name.starts_with("test_") && matches!(syntax.imports, Imports::Python | Imports::Rust);
    is_test || matches!(name, "main" | "Main" | "_start" | "default") || names.contains(&name)
}

/// Returns the reason why a definition is unused, or `None` if something mentions it.
fn reason(
    index: &Index<'_>,
    of: &Counted,
    name: &str,
    namesakes: &[&Counted],
    mentions: &Mentions,
) -> Result<Option<UnusedReason>> {
    let name = counted_name(name).unwrap_or(name);
    let mut reason = UnusedReason::Unmentioned;
    for &(id, count) in &mentions.chunks {
        let Some(chunk) = index.snapshot.chunk(ChunkId(id))? else { continue };
        let is_here = chunk.path() == &*of.path;
        let lines = chunk.line_start()..chunk.line_end() + 1;
        let file_name = chunk.path().rsplit('/').next().unwrap_or_default();
        let is_module = chunk.chunk_type() == ChunkType::Code && chunk.name() == file_name;
        let is_inside = |outer: &Range<u32>, inner: &Range<u32>| outer.start <= inner.start && inner.end <= outer.end;
        if is_here && !is_module && is_inside(&of.lines, &lines) {
            continue;
        }
        // A chunk mentions the names of the definitions that it consists of or contains.
        let inner = chunk.definitions().filter(|inner| *inner == name).count();
        let defined = namesakes
            .iter()
            .filter(|other| *other.path == *chunk.path() && !is_module && is_inside(&lines, &other.lines));
        let defined = defined.count() + inner;
        if count as usize <= defined {
            continue;
        }
        let place = Place { id: ChunkId(id), name, defined };
        if is_only_in_comments(index, &chunk, &place)? {
            reason = reason.max(UnusedReason::OnlyComments);
            continue;
        }
        let classes = PathClasses::for_path(chunk.path()).with_scopes(chunk.qualified_name());
        if !classes.contains(PathClass::Test) {
            return Ok(None);
        }
        reason = UnusedReason::OnlyTests;
    }
    Ok(Some(reason))
}

/// A chunk that mentions a name.
struct Place<'a> {
    id: ChunkId,
    name: &'a str,
    /// Number of definitions of the name in the chunk.
    defined: usize,
}

/// Returns whether a chunk of code mentions a name only in comments, apart from definitions of the name.
fn is_only_in_comments(index: &Index<'_>, chunk: &ChunkRecord<'_>, place: &Place<'_>) -> Result<bool> {
    let syntax = syntax::for_language(chunk.language());
    if !(syntax.is_known() && chunk.chunk_type().is_source_code()) {
        return Ok(false);
    }
    let Some(text) = index.snapshot.text(place.id)? else { return Ok(false) };
    // The text may begin inside a string or comment, so each line is read separately.
    let is_code = |line: &str, at: usize| {
        let start = line.trim_start();
        let follows_mark = syntax.comments.iter().any(|mark| line[..at].contains(&format!(" {mark} ")));
        !(follows_mark
            || start.starts_with(['*'])
            || ["/*"].iter().chain(syntax.comments).any(|mark| start.starts_with(mark)))
    };
    let mut count = 0;
    for line in text.text.lines() {
        let starts = words(line).filter(|word| *word == place.name).map(|word| offset_of(line, word));
        count += starts.filter(|at| is_code(line, *at)).count();
    }
    Ok(count <= place.defined)
}

/// Returns the offset of a part of a text.
fn offset_of(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Returns whether a comment at the start of a file marks the file as generated.
fn is_generated(index: &Index<'_>, of: &Definition) -> Result<bool> {
    let file = index.file(&of.path)?;
    let Some(first) = file.definitions.first() else { return Ok(false) };
    let text = index.snapshot.text(first.id)?.map(|text| text.text).unwrap_or_default();
    let marks =
        ["Code generated", "@generated", "DO NOT EDIT", "Autogenerated", "Automatically generated", "Generated by"];
    Ok(text.lines().take(MAX_HEAD_LINES).any(|line| marks.iter().any(|mark| line.contains(mark))))
}

/// Returns whether code outside the repository may use a definition without its name: an entry point, an overriding
/// member, a definition that an annotation registers, or a name that is composed at run time.
fn is_used_from_outside(index: &Index<'_>, of: &Rc<Definition>, prefixes: &FxHashSet<String>) -> Result<bool> {
    let is_part = |at: usize| prefixes.contains(&of.name[..=at]) || prefixes.contains(&of.name[at..]);
    let is_composed = of.name.match_indices('_').any(|(at, _)| at > 0 && is_part(at));
    if is_composed || is_registered(index, of)? || looks_up_names(index, of)? {
        return Ok(true);
    }
    if of.syntax.imports == Imports::Rust && (of.name.starts_with('_') || is_in_trait_or_macro(index, of)?) {
        return Ok(true);
    }
    if of.syntax.imports == Imports::Ecma && (is_expression(index, of)? || is_augmentation(index, of)?) {
        return Ok(true);
    }
    let own = if of.is_function() { scope::enclosing_type(index, of)? } else { None };
    // A method of an object without a type is called by the code that receives the object.
    let is_of_object = |own: &Definition| of.owner() != own.qualified_name && of.syntax.imports == Imports::Ecma;
    let Some(own) = own.filter(|own| !(of.kind == ChunkType::Method && is_of_object(own))) else {
        return Ok(of.kind == ChunkType::Method && of.syntax.imports == Imports::Ecma);
    };
    if is_constructor(of, &own) || is_registered(index, &own)? {
        return Ok(true);
    }
    if of.syntax.imports == Imports::Rust {
        return Ok(false);
    }
    let bases = scope::bases(index, &own)?;
    if of.syntax.structural_interfaces {
        return Ok(false);
    }
    for base in bases.types.iter() {
        let members = scope::member(index, base, &of.name)?;
        if members.has_external_base || !members.found.is_empty() || !scope::holders(index, base, &of.name)?.is_empty()
        {
            return may_override(index, of);
        }
    }
    Ok(!bases.is_complete && may_override(index, of)?)
}

/// Returns whether the file of a definition in Python looks up names that are computed at run time: `globals()[name]`,
/// `getattr(self, "do_" + name)`.
fn looks_up_names(index: &Index<'_>, of: &Definition) -> Result<bool> {
    if of.syntax.imports != Imports::Python {
        return Ok(false);
    }
    for other in &index.file(&of.path)?.definitions {
        let tokens = index.tokens(other)?;
        let calls = |name: &str| tokens.positions(name).any(|at| tokens.at(at + 1) == "(");
        let is_computed = |at: usize| {
            let comma = tokens.closer(at + 1).and_then(|end| (at + 2..end).find(|at| tokens.at(*at) == ","));
            comma.is_some_and(|comma| {
                let is_literal = tokens.kind(comma + 1) == Some(super::tokens::TokenKind::String);
                !(is_literal && matches!(tokens.at(comma + 2), "," | ")"))
            })
        };
        if calls("globals") || calls("locals") || other.name == "__getattr__" {
            return Ok(true);
        }
        if tokens.positions("getattr").any(is_computed) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a member can override a member of a base type.
fn may_override(index: &Index<'_>, of: &Definition) -> Result<bool> {
    let is_static = |word: &str| word == "static" && of.syntax.fixed_members;
    Ok(!index.signature_text(of)?.split(' ').any(|word| word == "private" || is_static(word)))
}

/// Returns whether an item in Rust belongs to the implementation of a trait, or may be in the input of a macro, which
/// can rename or export it.
fn is_in_trait_or_macro(index: &Index<'_>, of: &Definition) -> Result<bool> {
    let Some(own) = index.snapshot.chunk(of.id)? else { return Ok(false) };
    let file = index.file(&of.path)?;
    for block in file.definitions.iter().filter(|block| block.id != of.id) {
        if block.is_module {
            let tokens = index.tokens(block)?;
            let is_macro = |at: usize| {
                tokens.at(at) == "!"
                    && tokens.at(at + 1) == "{"
                    && tokens.opener(at).is_none()
                    && !matches!(tokens.before(at), "thread_local" | "lazy_static" | "macro_rules")
            };
            if (1..tokens.len()).any(is_macro) {
                return Ok(true);
            }
        }
        if !block.name.starts_with("impl") || !index.signature_text(block)?.contains(" for ") {
            continue;
        }
        for id in index.pieces(block)? {
            let Some(piece) = index.snapshot.chunk(id)? else { continue };
            if piece.line_start() <= own.line_start() && own.line_end() <= piece.line_end() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns whether a function in JavaScript is an expression, whose name is only visible inside it: `return function
/// name() {}`.
fn is_expression(index: &Index<'_>, of: &Rc<Definition>) -> Result<bool> {
    if of.owner().is_empty() || !of.is_function() {
        return Ok(false);
    }
    let file = index.file(&of.path)?;
    let around = file.definitions.iter().filter(|other| other.qualified_name == of.owner());
    for outer in around {
        let tokens = index.tokens(outer)?;
        for at in tokens.positions(&of.name) {
            let mut keyword = at.saturating_sub(1);
            while matches!(tokens.at(keyword), "*" | "function") && keyword > 0 && tokens.before(keyword) == "function"
            {
                keyword -= 1;
            }
            if tokens.at(keyword) != "function" {
                continue;
            }
            let before = tokens.before(keyword);
            let before = if before == "async" { tokens.before(keyword - 1) } else { before };
            if matches!(before, "return" | "=" | "(" | "," | ":" | "=>" | "?" | "&&" | "||" | "??" | "[") {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns whether an interface in TypeScript may add to one that is declared elsewhere: `declare global { … }`.
fn is_augmentation(index: &Index<'_>, of: &Definition) -> Result<bool> {
    if of.kind != ChunkType::Interface {
        return Ok(false);
    }
    let file = index.file(&of.path)?;
    for module in file.definitions.iter().filter(|module| module.is_module || module.is_namespace()) {
        let tokens = index.tokens(module)?;
        if tokens.positions("declare").any(|at| matches!(tokens.at(at + 1), "global" | "module")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Decorators, annotations and attributes that do not register a definition.
#[rustfmt::skip]
const PLAIN_ANNOTATIONS: [&str; 44] = [
    "staticmethod", "classmethod", "property", "cached_property", "lru_cache", "cache", "wraps", "contextmanager",
    "asynccontextmanager", "overload", "abstractmethod", "dataclass", "deprecated", "final", "functools", "contextlib",
    "SuppressWarnings", "Deprecated", "Nullable", "NonNull", "CheckReturnValue", "CanIgnoreReturnValue",
    "VisibleForTesting", "SafeVarargs", "FunctionalInterface", "inline", "must_use", "allow", "expect", "derive", "doc",
    "cfg", "cold", "track_caller", "target_feature", "rustfmt", "non_exhaustive", "repr", "default", "cfg_attr", "warn",
    "typing", "instrument", "GwtIncompatible",
];

/// Returns whether a decorator, an annotation or an attribute may register a definition, or whether the definition is
/// visible to other programs.
fn is_registered(index: &Index<'_>, of: &Rc<Definition>) -> Result<bool> {
    let tokens = index.tokens(of)?;
    let end = tokens.positions(&of.name).next().unwrap_or(0);
    let mut at = 0;
    while at < end {
        let name = match tokens.at(at) {
            "@" => at + 1,
            "#" if tokens.at(at + 1) == "[" => at + 2,
            "[" if of.syntax.languages.contains(&"csharp") && tokens.is_first(at) => at + 1,
            "extern" | "override" | "virtual" | "export" if tokens.at(at) != "export" => return Ok(true),
            _ => {
                at += 1;
                continue;
            }
        };
        if tokens.at(name) == "interface" {
            at = name + 1;
            continue;
        }
        if !PLAIN_ANNOTATIONS.contains(&tokens.at(name)) {
            return Ok(true);
        }
        // The last part of the name, and the arguments.
        at = name + 1;
        while tokens.is_separator(at) && at < end {
            if !PLAIN_ANNOTATIONS.contains(&tokens.at(at + 1)) {
                return Ok(true);
            }
            at += 2;
        }
        if tokens.at(at) == "(" {
            at = tokens.after_closer(at, end);
        }
    }
    Ok(false)
}

/// Returns whether code outside the repository may use a definition by its name.
fn is_api(index: &Index<'_>, of: &Rc<Definition>, chunk: &ChunkRecord<'_>) -> Result<bool> {
    let signature = index.signature_text(of)?;
    // In dynamic languages, code can call a method without naming its type.
    let is_hidden = of.name.starts_with('_') || signature.starts_with("private") || signature.contains('#');
    let is_duck_typed = of.kind == ChunkType::Method && !of.syntax.fixed_members && !is_hidden;
    if !chunk.exported() {
        return Ok(is_duck_typed);
    }
    Ok(match of.syntax.imports {
        // Other packages can satisfy their interfaces with exported methods.
        Imports::Go => {
            let is_hidden = of.path.split('/').any(|part| part == "internal" || part == "cmd");
            of.kind == ChunkType::Method || !(is_hidden || index.package(&of.path)?.as_deref() == Some("main"))
        }
        Imports::Rust => !signature.starts_with("pub(") && super::crates::is_library(index, of)?,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_as_words() {
        assert_eq!(counted_name("ready?"), Some("ready"));
        assert_eq!(counted_name("impl A for B"), None);
        assert_eq!(counted_name("x"), None);
        assert_eq!(words("self.visit_ + é_x1($y)").collect::<Vec<_>>(), ["self", "visit_", "é_x1"]);
    }
}
