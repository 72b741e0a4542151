//! Writes the outline of a Groovy source in Java, which the parser can read.
//!
//! The outline is as long as the source, and every name has the same offset in both. Names are written as `xxx`,
//! because the engine reads them from the source. Expressions become a flat list of statements, which needs no
//! operators:
//!
//! | source | outline |
//! |---|---|
//! | heads of types, methods of types and scripts, fields, imports | the same in Java, without parameters |
//! | the value of a field | an initializer `{ … }` |
//! | a call | `name;` |
//! | braces of blocks and closures | a block |
//! | `new T() { … }` | `new T(){ … };` |
//! | `if`, `case`, `catch`, `default`, `?`, `?:`, `&&`, `\|\|` | `;` |
//! | `for`, `while` | `"";` |
//! | the beginning of another statement | `0;` |
//! | `name = value` in a script | `name:;` |
//! | `name { … }` in a script | `name:{ … }` |
//! | `def name = { … }` outside types | `x:name:{ … }` |
//! | `task name { … }`, `stage("name") { … }` | `x:x:name:{ … }` |

use crate::groovy::lexer::{Token, TokenKind, tokens};
use crate::lexical_tables::LexicalTable;

/// Maximum depth of braces in the outline. Braces that are nested more deeply are omitted.
const MAX_DEPTH: usize = 500;

/// Initial value of the bytes of the outline. A byte with this value was not written yet.
const FREE: u8 = 0;

/// Words that are keywords in some contexts, and can be names in all other contexts.
const CONTEXTUAL_KEYWORDS: &[&str] = &["it", "record", "sealed", "trait", "var", "yield"];

/// Operators that continue a statement if they begin a line.
const CONTINUATIONS: &[&str] =
    &[".", "?.", "*.", "??.", ".&", ".@", "::", "?", ":", "?:", "&&", "||", "=", "==", "!=", "<=>", "==~", "=~", "->"];

/// Punctuation after which a new line begins a statement.
const ENDS: &[&str] = &[")", "]", "}", "++", "--", ".*", "{", ";", "->", ":", ">"];

/// Words that continue a statement if they begin or end a line.
const JOINING_WORDS: &[&str] = &["as", "in", "instanceof", "new", "implements", "extends", "throws"];

/// The content of a pair of braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// The statements of a file.
    Script,
    /// The statements of a block, a closure, or the value of a field.
    Block,
    /// The members of a class or of an enumeration after its constants.
    Class,
    /// The members of an interface or annotation.
    Interface,
    /// The constants of an enumeration.
    Constants,
}

/// The tokens between a pair of braces, or of the value of a field.
pub(super) struct Frame {
    pub(super) inside: Inside,
    /// The index of the closing brace, or of the token after a value.
    pub(super) end: usize,
    /// Offset at which the closing brace is written, if a closing brace is written.
    pub(super) brace: Option<usize>,
}

pub(super) struct OutlineWriter<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [Token],
    /// The index of the next token.
    pub(super) at: usize,
    out: Vec<u8>,
    /// The frames around the next token, innermost last.
    pub(super) frames: Vec<Frame>,
}

/// Returns the outline of a text.
pub(super) fn outline(text: &str) -> Option<String> {
    let (tokens, comments) = tokens(text);
    let mut out: Vec<u8> = text.bytes().map(|byte| if byte == b'\n' { byte } else { FREE }).collect();
    for comment in comments {
        let source = &text[comment.clone()];
        if source.starts_with("//") || (source.starts_with("/*") && source.len() >= 4 && source.ends_with("*/")) {
            out[comment].copy_from_slice(source.as_bytes());
        }
    }
    let script = Frame { inside: Inside::Script, end: tokens.len(), brace: None };
    let mut writer = OutlineWriter { text, tokens: &tokens, at: 0, out, frames: vec![script] };
    while writer.at < tokens.len() || writer.frames.len() > 1 {
        writer.step();
    }
    writer.out.iter_mut().filter(|byte| **byte == FREE).for_each(|byte| *byte = b' ');
    String::from_utf8(writer.out).ok()
}

/// Whether a word is a keyword and cannot be a name.
pub(super) fn is_keyword(word: &str) -> bool {
    LexicalTable::for_language("groovy").is_some_and(|table| table.is_keyword(word))
        && !CONTEXTUAL_KEYWORDS.contains(&word)
}

/// Methods that read tokens.
impl<'t> OutlineWriter<'t> {
    /// Returns the text of a token, or an empty string after the last token.
    pub(super) fn word(&self, index: usize) -> &'t str {
        self.tokens.get(index).map_or("", |token| &self.text[token.bytes.clone()])
    }

    pub(super) fn is_kind(&self, index: usize, kind: TokenKind) -> bool {
        self.tokens.get(index).is_some_and(|token| token.kind == kind)
    }

    pub(super) fn is_word(&self, index: usize) -> bool {
        self.is_kind(index, TokenKind::Word)
    }

    /// Whether a token is on the same line as the previous token.
    pub(super) fn is_in_line(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|token| !token.begins_line)
    }

    pub(super) fn start(&self, index: usize) -> usize {
        self.tokens.get(index).map_or(self.text.len(), |token| token.bytes.start)
    }

    pub(super) fn end(&self, index: usize) -> usize {
        self.tokens.get(index).map_or(self.text.len(), |token| token.bytes.end)
    }

    /// Returns the index of the bracket that closes the bracket at `open`, or `None` if the token at `open` is not
    /// `bracket`, or is never closed.
    pub(super) fn close_of(&self, open: usize, bracket: &str) -> Option<usize> {
        self.tokens.get(open)?.partner.filter(|_| self.word(open) == bracket)
    }

    /// Returns the index of the last name in a path such as `a.b.c`, whose first name is at `first`.
    pub(super) fn path_end(&self, first: usize) -> usize {
        let mut last = first;
        while self.word(last + 1) == "." && self.is_in_line(last + 1) && self.is_word(last + 2) {
            last += 2;
        }
        last
    }

    pub(super) fn begins_statement(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else { return true };
        let keyword = match self.word(before) {
            ")" => self.tokens[before].partner.map_or("", |open| self.word(open.wrapping_sub(1))),
            word => word,
        };
        !self.tokens[index].is_grouped
            && (matches!(
                keyword,
                "{" | ";" | "->" | "else" | "try" | "do" | "finally" | "if" | "for" | "while" | "catch"
            ) || (keyword == "}" && self.has_members())
                || (self.tokens[index].begins_line && !self.continues(index)))
    }

    /// Whether the line that begins with a token continues the statement of the previous line.
    fn continues(&self, index: usize) -> bool {
        let (last, first) = (self.word(index - 1), self.word(index));
        CONTINUATIONS.contains(&first)
            || JOINING_WORDS.contains(&first)
            || JOINING_WORDS.contains(&last)
            || (self.is_kind(index - 1, TokenKind::Punctuation) && !ENDS.contains(&last))
    }

    /// Returns the index of the token after the statement that contains the token at `from`.
    pub(super) fn statement_end(&self, from: usize) -> usize {
        let (mut at, end) = (from, self.frame().end);
        while at < end && self.word(at) != ";" && (at == from || !self.begins_statement(at)) {
            at = self.after_brackets(at);
        }
        at.min(end)
    }

    /// Returns the index of the token after the token at `index`, or after the matching bracket if that token is an
    /// opening bracket.
    fn after_brackets(&self, index: usize) -> usize {
        self.tokens[index].partner.unwrap_or(index).max(index) + 1
    }
}

/// Methods that write the outline.
impl OutlineWriter<'_> {
    pub(super) fn is_free(&self, at: usize) -> bool {
        self.out.get(at) == Some(&FREE)
    }

    /// Writes ASCII text at an offset, unless there is no room for the text before the next line feed.
    pub(super) fn write(&mut self, at: usize, text: &str) {
        if let Some(bytes) = self.out.get_mut(at..at + text.len()).filter(|bytes| !bytes.contains(&b'\n')) {
            bytes.copy_from_slice(text.as_bytes());
        }
    }

    /// Writes `x` over each byte of a token, which is a name.
    pub(super) fn write_name(&mut self, index: usize) {
        let bytes = self.tokens[index].bytes.clone();
        self.out[bytes].fill(b'x');
    }

    /// Writes the parentheses that begin at `open`, if the token there is an opening parenthesis.
    pub(super) fn write_parentheses(&mut self, open: usize) {
        if let Some(close) = self.close_of(open, "(") {
            self.write(self.start(open), "(");
            self.write(self.start(close), ")");
        }
    }

    /// Writes `;` to the first free byte after a token. If there is no free byte, the parser inserts the missing `;`.
    pub(super) fn end_statement(&mut self, last: usize) {
        let is_brace = matches!(self.word(last + 1), "{" | "}");
        let to = self.start(last + 1) + usize::from(!is_brace);
        if let Some(at) = (self.end(last)..to).find(|at| self.is_free(*at)) {
            self.out[at] = b';';
        }
    }
}

/// Methods that read statements.
impl OutlineWriter<'_> {
    pub(super) fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    pub(super) fn inside(&self) -> Inside {
        self.frame().inside
    }

    /// Whether the innermost frame contains the members of a type.
    pub(super) fn has_members(&self) -> bool {
        !matches!(self.inside(), Inside::Script | Inside::Block)
    }

    /// Reads one token, or several tokens that belong together.
    fn step(&mut self) {
        let index = self.at;
        if index >= self.frame().end {
            return self.close();
        }
        self.at += 1;
        let is_start = self.begins_statement(index);
        if (is_start || self.inside() == Inside::Constants) && self.statement(index) {
            return;
        }
        if self.has_members() {
            // Between the members of a type, everything except declarations is skipped.
            self.at = self.after_brackets(index);
            return;
        }
        self.expression(index, is_start);
        let (start, next) = (self.start(index), self.start(self.at));
        let has_room = self.is_free(start) && self.is_free(start + 1) && next > start + 1;
        if is_start && self.tokens[index].begins_line && has_room {
            // Marks the beginning of a statement, because the text can be split before this line.
            self.write(start, "0;");
        }
    }

    /// Opens a frame with a brace.
    pub(super) fn open(&mut self, brace: usize, inside: Inside) {
        self.at = brace + 1;
        let Some(end) = self.close_of(brace, "{") else { return };
        let is_written = self.is_free(self.start(brace)) && self.frames.len() < MAX_DEPTH;
        if is_written {
            self.write(self.start(brace), "{");
        }
        self.frames.push(Frame { inside, end, brace: is_written.then_some(self.start(end)) });
    }

    /// Ends the innermost frame.
    fn close(&mut self) {
        let Some(Frame { end, brace, .. }) = self.frames.pop() else { return };
        if let Some(brace) = brace {
            self.write(brace, "}");
        }
        if brace.is_none_or(|brace| brace == self.start(end)) {
            self.at = end + 1;
        }
    }

    /// Reads the beginning of a member, or of a statement that is more than an expression. Returns false if neither
    /// begins at `index`.
    fn statement(&mut self, index: usize) -> bool {
        if (self.inside() == Inside::Constants && self.constant(index)) || self.declaration(index) {
            return true;
        }
        match (self.inside(), self.word(index)) {
            (Inside::Class, "{") => self.open(index, Inside::Block),
            (Inside::Class, "static") if self.word(index + 1) == "{" => self.open(index + 1, Inside::Block),
            (Inside::Script, "import") => self.import(index),
            (Inside::Script | Inside::Block, _) => return self.named_block(index) || self.assignment(index),
            _ => return false,
        }
        true
    }

    fn import(&mut self, index: usize) {
        let path = index + 1 + usize::from(self.word(index + 1) == "static");
        self.at = self.statement_end(path);
        if self.is_word(path) && self.is_in_line(path) {
            self.write(self.start(index), "import");
            self.write_name(path);
            self.end_statement(path);
        }
    }

    /// Reads `name {` and `name(…) {` in a script, and `task name {`, `task name(…) {` and `a.register("name") {`
    /// everywhere. Returns false for all other statements.
    fn named_block(&mut self, index: usize) -> bool {
        let word = self.word(index);
        let called = self.path_end(index);
        let is_script = self.inside() == Inside::Script;
        let (name, open, labels) = match self.word(called) {
            "process" | "task" | "workflow" if self.is_word(index + 1) => (index + 1, index + 2, "x:x:"),
            "register" | "create" | "named" | "stage" if self.is_kind(called + 2, TokenKind::Literal) => {
                (called + 2, called + 1, "x:x:")
            }
            _ if called == index && is_script && !is_keyword(word) => (index, index + 1, ""),
            _ => return false,
        };
        let brace = self.close_of(open, "(").map_or(open, |close| close + 1);
        let has_body = self.is_in_line(brace) && self.close_of(brace, "{").is_some();
        if !has_body || !self.is_word(index) || self.word(name).contains('\n') {
            return false;
        }
        self.write(self.start(index), labels);
        self.write_name(name);
        // `name{` has no room for a colon, so the colon replaces the last character of the name. The engine reads the
        // name from the source.
        self.write(self.end(name) - usize::from(self.start(brace) == self.end(name)), ":");
        self.open(brace, Inside::Block);
        true
    }

    /// Reads `name = value` and `a.name = value` in a script. Returns false for all other statements.
    fn assignment(&mut self, index: usize) -> bool {
        let name = self.path_end(index);
        let is_assignment = matches!(self.word(name + 1), "=" | "+=") && self.is_in_line(name + 1);
        if self.inside() != Inside::Script || !self.is_word(name) || is_keyword(self.word(name)) || !is_assignment {
            return false;
        }
        self.write_name(name);
        self.write(self.end(name), ":;");
        self.at = name + 2;
        true
    }
}

/// Methods that read expressions.
impl OutlineWriter<'_> {
    fn expression(&mut self, index: usize, is_start: bool) {
        let (word, start) = (self.word(index), self.start(index));
        let before = if index > 0 { self.word(index - 1) } else { "" };
        let is_member = matches!(before, "." | "?." | "*." | "??.");
        let is_free = !is_member && !self.tokens[index].is_grouped;
        match word {
            "{" => self.open(index, Inside::Block),
            "?" if self.start(index + 1) > start + 1 => self.write(start, ";"),
            "?:" | "&&" | "||" => self.write(start, ";"),
            "if" | "case" | "catch" | "default" if is_free => self.write(start, "0;;"),
            "for" | "while" if is_free => self.write(start, "\"\";"),
            "new" => self.creation(index),
            _ if self.is_word(index) => self.call(index, is_start, is_member),
            _ => {}
        }
    }

    /// Reads the calls `name(…)` and `a.name {`, and `a.name argument` at the start of a statement.
    fn call(&mut self, index: usize, is_start: bool, is_member: bool) {
        let next = index + 1;
        let is_keyword = !is_member && is_keyword(self.word(index));
        let has_closure = is_member && self.close_of(next, "{").is_some();
        let is_callee = has_closure || self.close_of(self.type_arguments_end(next), "(").is_some();
        if is_callee && !is_keyword && self.is_in_line(next) {
            return self.write_call(index);
        }
        let last = if is_start { self.path_end(index) } else { index };
        if is_start && (!is_keyword || last > index) && self.has_argument(last) {
            self.write_call(last);
            self.at = last + 1;
        }
    }

    fn write_call(&mut self, name: usize) {
        self.write_name(name);
        self.write(self.end(name), ";");
    }

    /// Whether an argument follows a name without parentheses.
    fn has_argument(&self, name: usize) -> bool {
        let next = name + 1;
        let is_operator = JOINING_WORDS.contains(&self.word(next)) && self.word(next) != "new";
        // `Type name` is the declaration of a variable.
        let is_declared = self.word(name).starts_with(char::is_uppercase);
        let is_argument = self.is_kind(next, TokenKind::Literal)
            || (self.is_word(next) && !is_operator && !is_declared)
            || self.word(next) == "[";
        is_argument && self.is_in_line(next) && self.start(next) > self.end(name)
    }

    /// Reads `new B(…) { … }`. An expression `new B(…)` without a body is read as a call.
    fn creation(&mut self, index: usize) {
        let name = self.path_end(index + 1);
        let open = self.type_arguments_end(name + 1);
        let brace = self.close_of(open, "(").map_or(open, |close| close + 1);
        if let Some(end) = self.close_of(brace, "{").filter(|_| brace > open && self.is_word(name)) {
            self.write(self.start(index), "new");
            self.write_name(name);
            self.write_parentheses(open);
            self.end_statement(end);
            self.open(brace, Inside::Class);
        }
    }
}
