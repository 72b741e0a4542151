//! Uses of definitions by code outside the repository, or without their names.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use aurora_storage::{ChunkType, Label};
use rustc_hash::FxHashSet;

use super::index::{Definition, Index, Result};
use super::mentions::{Mentions, words};
use super::resolve::is_constructor;
use super::scope;
use super::syntax::Imports;
use super::tokens::{TokenKind, Tokens};

/// Maximum number of chunks that load types by name and are read.
const MAX_LOADERS: usize = 1_024;
/// Maximum number of tokens of the type in `new Type(…) { … }`.
const MAX_TYPE_TOKENS: usize = 64;

/// Recognises uses by code outside the repository, such as an entry point, an overriding member, a definition that an
/// annotation registers, and uses by a name that is composed at run time.
pub(super) struct OutsideUses<'i> {
    index: &'i Index<'i>,
    mentions: &'i Mentions,
    /// The base types of types that are loaded by name.
    loaded: OnceCell<FxHashSet<String>>,
    /// The path of a file, and the parts of names that its macros compose.
    pasted: RefCell<(Rc<str>, Vec<String>)>,
}

impl<'i> OutsideUses<'i> {
    pub(super) fn new(index: &'i Index<'i>, mentions: &'i Mentions) -> Self {
        Self { index, mentions, loaded: OnceCell::new(), pasted: RefCell::new(("".into(), Vec::new())) }
    }

    /// Returns whether code may use a definition without a mention of its name in the repository.
    pub(super) fn may_use(&self, of: &Rc<Definition>) -> Result<bool> {
        let index = self.index;
        let parts = &self.mentions.parts;
        let is_part = |at: usize| parts.contains(&of.name[..=at]) || parts.contains(&of.name[at..]);
        let is_composed = of.name.match_indices('_').any(|(at, _)| at > 0 && is_part(at));
        if is_composed || is_registered(index, of)? || looks_up_names(index, of)? {
            return Ok(true);
        }
        let is_used = match of.syntax.imports {
            Imports::Go => is_directed(index, of)?,
            Imports::Rust => {
                of.name.starts_with('_')
                    || self.mentions.is_only_for_tests(index, of.id, &of.path)?
                    || is_in_trait_or_macro(index, of)?
                    || self.is_pasted(of)?
            }
            Imports::Ecma => is_expression(index, of)? || is_ambient(index, of)?,
            Imports::Package => self.is_loaded(of)? || is_program(index, of)?,
            _ if of.syntax.languages.contains(&"cpp") => is_declarator(index, of)? || self.is_pasted(of)?,
            _ => false,
        };
        if is_used {
            return Ok(true);
        }
        let own = if of.is_function() { scope::enclosing_type(index, of)? } else { None };
        // A method of an object without a type is called by the code that receives the object.
        let is_of_object = |own: &Definition| of.owner() != own.qualified_name && of.syntax.imports == Imports::Ecma;
        let Some(own) = own.filter(|own| !(of.kind == ChunkType::Method && is_of_object(own))) else {
            return Ok(of.kind == ChunkType::Method && of.syntax.imports == Imports::Ecma);
        };
        if is_constructor(of, &own) || (of.syntax.imports == Imports::Ecma && is_decorated(index, of, &own)?) {
            return Ok(true);
        }
        let mut around = Some(Rc::clone(&own));
        while let Some(at) = around.filter(|at| at.is_type()) {
            if is_registered(index, &at)? {
                return Ok(true);
            }
            around = index.parent(&at)?;
        }
        if of.syntax.imports == Imports::Rust || of.syntax.structural_interfaces {
            return Ok(false);
        }
        if of.syntax.imports == Imports::Package && is_in_anonymous_type(index, of, &own)? {
            return may_override(index, of);
        }
        let bases = scope::bases(index, &own)?;
        for base in bases.types.iter() {
            let members = scope::member(index, base, &of.name)?;
            let is_inherited = || Ok(!scope::holders(index, base, &of.name)?.is_empty());
            if members.has_external_base || !members.found.is_empty() || is_inherited()? {
                return may_override(index, of);
            }
        }
        Ok(!bases.is_complete && may_override(index, of)?)
    }

    /// Returns whether a macro in the file of a definition may compose its name.
    fn is_pasted(&self, of: &Definition) -> Result<bool> {
        // Definitions of one file follow one another.
        if *self.pasted.borrow().0 != *of.path {
            *self.pasted.borrow_mut() = (Rc::clone(&of.path), pasted_parts(self.index, &of.path)?);
        }
        let is_part = |part: &String| {
            *part != of.name && (of.name.starts_with(part.as_str()) || of.name.ends_with(part.as_str()))
        };
        Ok(self.pasted.borrow().1.iter().any(is_part))
    }

    /// Returns whether a type extends a type to which code converts types that it loads by name, as in
    /// `Class.forName(name).asSubclass(Plugin.class)`.
    fn is_loaded(&self, of: &Rc<Definition>) -> Result<bool> {
        if !of.is_type() {
            return Ok(false);
        }
        let loaded = match self.loaded.get() {
            Some(loaded) => loaded,
            None => {
                let loaded = self.read_loaded()?;
                self.loaded.get_or_init(|| loaded)
            }
        };
        for holder in scope::lineage(self.index, of)?.iter().filter(|_| !loaded.is_empty()) {
            let bases = self.index.snapshot.relations(holder.id)?.map(|relations| relations.bases).unwrap_or_default();
            let names = bases.iter().map(|base| base.rsplit('.').next().unwrap_or(base));
            if names.chain((holder.id != of.id).then_some(holder.name.as_str())).any(|name| loaded.contains(name)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read_loaded(&self) -> Result<FxHashSet<String>> {
        let mut found = FxHashSet::default();
        for name in ["forName", "loadClass"] {
            for id in self.index.chunks(Label::Calls(name), MAX_LOADERS)?.list {
                let Some(of) = self.index.definition(id)?.filter(|of| of.syntax.imports == Imports::Package) else {
                    continue;
                };
                let tokens = self.index.tokens(&of)?;
                let is_converted = |at: usize| {
                    let is_cast = tokens.before(at) == "(" && matches!(tokens.at(at + 1), ")" | "<");
                    let is_literal = tokens.at(at + 1) == "." && tokens.at(at + 2) == "class";
                    tokens.is_name(at) && (is_cast || is_literal)
                };
                found.extend((0..tokens.len()).filter(|at| is_converted(*at)).map(|at| tokens.at(at).to_owned()));
            }
        }
        Ok(found)
    }
}

/// Returns whether the file of a definition looks up names that are computed at run time: `globals()[name]`,
/// `getattr(self, "do_" + name)`, `lookup.findStatic(Type.class, "to" + name, type)`.
fn looks_up_names(index: &Index<'_>, of: &Definition) -> Result<bool> {
    // The methods that look up a name, with the position of the argument.
    let lookups: &[(&str, usize)] = match of.syntax.imports {
        Imports::Python => &[("getattr", 1)],
        Imports::Package => {
            &[("findStatic", 1), ("findVirtual", 1), ("findSpecial", 1), ("getMethod", 0), ("getDeclaredMethod", 0)]
        }
        _ => return Ok(false),
    };
    for other in &index.file(&of.path)?.definitions {
        let tokens = index.tokens(other)?;
        let calls = |name: &str| tokens.positions(name).any(|at| tokens.at(at + 1) == "(");
        if of.syntax.imports == Imports::Python && (calls("globals") || calls("locals") || other.name == "__getattr__")
        {
            return Ok(true);
        }
        let is_computed = |(name, argument): &(&str, usize)| {
            tokens.positions(name).any(|at| tokens.at(at + 1) == "(" && is_computed(&tokens, at + 1, *argument))
        };
        if lookups.iter().any(is_computed) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether an argument of a call is not a single string, given the opening parenthesis of the call.
fn is_computed(tokens: &Tokens, open: usize, argument: usize) -> bool {
    let Some(end) = tokens.closer(open) else { return false };
    let commas = (open..end).filter(|at| tokens.at(*at) == "," && tokens.opener(*at) == Some(open));
    let start = std::iter::once(open).chain(commas).nth(argument).map(|before| before + 1).filter(|start| *start < end);
    start.is_some_and(|start| {
        let is_literal = tokens.kind(start) == Some(TokenKind::String) && matches!(tokens.at(start + 1), "," | ")");
        !is_literal
    })
}

/// Returns whether a type in Java has a `main` method, or whether a method is implemented in another language.
fn is_program(index: &Index<'_>, of: &Definition) -> Result<bool> {
    if of.is_function() {
        return Ok(index.signature_text(of)?.split(' ').any(|word| matches!(word, "native" | "external")));
    }
    let has_main = !index.own_members(of, "main")?.is_empty();
    Ok(has_main || index.inner_names(of.id)?.iter().any(|inner| inner == "main"))
}

/// Returns whether a method belongs to `new Type(…) { … }` or `object : Type(…) { … }`.
fn is_in_anonymous_type(index: &Index<'_>, of: &Definition, own: &Rc<Definition>) -> Result<bool> {
    for around in index.parent(of)?.iter().chain([own]) {
        let tokens = index.tokens(around)?;
        let is_member = |at: usize| {
            let Some(open) = tokens.opener(at).filter(|open| tokens.at(at + 1) == "(" && tokens.at(*open) == "{")
            else {
                return false;
            };
            let mut before = open;
            if tokens.before(before) == ")" {
                before = tokens.opener(before - 1).unwrap_or(0);
            }
            let words = (before.saturating_sub(MAX_TYPE_TOKENS)..before).rev();
            let is_part = |at: &usize| {
                tokens.is_name(*at)
                    || matches!(tokens.at(*at), "." | "<" | ">" | "," | "?" | "[" | "]" | "&" | ":" | "@")
            };
            words.take_while(is_part).any(|at| {
                tokens.at(at) == "new" || (tokens.at(at) == "object" && matches!(tokens.at(at + 1), ":" | "{"))
            })
        };
        if tokens.positions(&of.name).any(is_member) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a directive of the compiler or a tool in Go uses a function without a call: `//export name`,
/// `//go:linkname name`, a rule of `ruleguard`.
fn is_directed(index: &Index<'_>, of: &Definition) -> Result<bool> {
    let Some(text) = index.snapshot.text(of.id)? else { return Ok(false) };
    let mut directives = text.text.lines().filter(|line| line.starts_with("//go:") || line.starts_with("//export "));
    Ok(text.signature.contains("dsl.Matcher") || directives.any(|line| words(line).any(|word| word == of.name)))
}

/// Returns whether a definition in C or C++ is a variable that has the form of a function, `Type name(argument);`, or
/// the type of variables or of another type name, `struct Name { … } variable;`.
fn is_declarator(index: &Index<'_>, of: &Definition) -> Result<bool> {
    let tokens = index.tokens(of)?;
    let Some(name) = tokens.positions(&of.name).next() else { return Ok(false) };
    if of.kind == ChunkType::Function {
        let end = tokens.closer(name + 1).filter(|end| matches!(tokens.at(end + 1), ";" | ""));
        let is_argument = |at: usize| match (at - name) % 2 {
            0 => tokens.is_name(at) || matches!(tokens.kind(at), Some(TokenKind::Number | TokenKind::String)),
            _ => tokens.at(at) == ",",
        };
        let is_source = [".c", ".cc", ".cpp", ".cxx"].iter().any(|end| of.path.ends_with(end));
        return Ok(is_source && name > 0 && end.is_some_and(|end| end > name + 2 && (name + 2..end).all(is_argument)));
    }
    if !matches!(of.kind, ChunkType::Struct | ChunkType::Class | ChunkType::Enum) || tokens.at(0) == "@" {
        return Ok(false);
    }
    let body = (0..tokens.len()).find(|at| tokens.at(*at) == "{" && tokens.opener(*at).is_none());
    let Some(end) = body.and_then(|body| tokens.closer(body)) else { return Ok(false) };
    let mut after = (end + 1..tokens.len()).take_while(|at| tokens.at(*at) != ";");
    // The rest of the declaration is in the text of the enclosing definition.
    let is_continued = end + 1 == tokens.len();
    Ok(is_continued || after.any(|at| tokens.is_name(at) && tokens.at(at) != of.name))
}

/// Returns the parts of names that macros in a file compose: `my` of `my##name`, `Builder` of `[<$name Builder>]`.
fn pasted_parts(index: &Index<'_>, path: &str) -> Result<Vec<String>> {
    let mut parts = Vec::new();
    for of in &index.file(path)?.definitions {
        let tokens = index.tokens(of)?;
        let is_part = |at: &usize| {
            tokens.is_name(*at)
                && tokens.at(*at).len() > 1
                && tokens.before(*at) != "$"
                && !tokens.at(*at).starts_with('$')
        };
        for at in (0..tokens.len()).filter(|at| tokens.is_glued(at + 1)) {
            let found = match (tokens.at(at), tokens.at(at + 1)) {
                ("#", "#") => at.saturating_sub(1)..at + 3,
                ("[", "<") => match tokens.closer(at).filter(|end| tokens.before(*end) == ">") {
                    Some(end) => at..end,
                    None => continue,
                },
                _ => continue,
            };
            parts.extend(found.filter(is_part).map(|at| tokens.at(at).to_owned()));
        }
    }
    parts.sort_unstable();
    parts.dedup();
    Ok(parts)
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
    // An indented item without a known parent is in the input of a macro or in a block such as `impl Trait for ()`.
    let is_indented = index.snapshot.text(of.id)?.is_some_and(|text| {
        text.text.starts_with(char::is_whitespace) && !text.signature.split(' ').any(|word| word == "static")
    });
    if is_indented && index.parent(of)?.is_none() {
        return Ok(true);
    }
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
        if !block.is_implementation() || !index.signature_text(block)?.contains(" for ") {
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
    if !of.is_function() {
        return Ok(false);
    }
    // At the top level of a file, the enclosing call is in no text, except for its end: register(function name() {});
    let own = index.tokens(of)?;
    if (0..own.len()).any(|at| own.at(at) == ")" && own.opener(at).is_none()) {
        return Ok(true);
    }
    let file = index.file(&of.path)?;
    let around = file.definitions.iter().filter(|other| !of.owner().is_empty() && other.qualified_name == of.owner());
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

/// Returns whether the text of a class in TypeScript has a decorator in the line of a method or in the line before. A
/// decorator that contains a function is not in the text of the method.
fn is_decorated(index: &Index<'_>, of: &Definition, own: &Definition) -> Result<bool> {
    let tokens = index.tokens(own)?;
    let line_start = |at: usize| (0..=at).rev().find(|at| tokens.is_first(*at));
    let has_decorator = |at: usize| {
        let Some(line) = line_start(at).filter(|line| *line > 0) else { return false };
        let end = line - 1;
        let start = if tokens.at(end) == ")" { tokens.opener(end).unwrap_or(end) } else { end };
        tokens.at(line) == "@" || line_start(start).is_some_and(|before| tokens.at(before) == "@")
    };
    Ok(tokens.positions(&of.name).filter(|at| tokens.at(at + 1) == "(").any(has_decorator))
}

/// Returns whether a definition in TypeScript describes code that is defined elsewhere: a function without a body, a
/// member of `declare namespace`, or an interface that may add to another one in `declare global { … }`.
fn is_ambient(index: &Index<'_>, of: &Rc<Definition>) -> Result<bool> {
    let mut around = Some(Rc::clone(of));
    while let Some(at) = around {
        if index.signature_text(&at)?.split(' ').take(2).any(|word| word == "declare") {
            return Ok(true);
        }
        around = index.parent(&at)?;
    }
    if of.is_function() {
        let tokens = index.tokens(of)?;
        let name = tokens.positions(&of.name).find(|at| tokens.before(*at) == "function");
        let end = name.and_then(|name| tokens.closer(name + 1));
        return Ok(end.is_some_and(|end| (end..tokens.len()).all(|at| tokens.at(at) != "{")));
    }
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
const PLAIN_ANNOTATIONS: [&str; 43] = [
    "staticmethod", "classmethod", "property", "cached_property", "lru_cache", "cache", "wraps", "contextmanager",
    "asynccontextmanager", "overload", "abstractmethod", "dataclass", "final", "functools", "contextlib",
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
