//! Reads declarations of types, methods and variables, and writes them to the outline.

use crate::groovy::lexer::TokenKind;
use crate::groovy::outline::{Frame, Inside, OutlineWriter, is_keyword};

/// Modifiers, separated by spaces.
const MODIFIERS: &str = "abstract def default final native non private protected public sealed static strictfp \
    synchronized transient var volatile";

const PRIMITIVES: &[&str] = &["boolean", "byte", "char", "double", "float", "int", "long", "short", "void"];

/// Methods that call their closure immediately. A variable with the result of such a call is not a function.
const LOOPS: &[&str] = &["any", "collect", "each", "every", "find", "findAll", "inject", "with"];

/// Maximum number of annotations and modifiers of a declaration.
const MAX_MODIFIERS: usize = 64;
/// Maximum number of tokens that are searched for the end of a type or the beginning of a closure.
const MAX_TOKENS: usize = 300;

impl OutlineWriter<'_> {
    /// Reads the declaration of a type, method or variable up to its body or value. Returns false if no declaration
    /// begins at `index`.
    pub(super) fn declaration(&mut self, index: usize) -> bool {
        let (first, next) = self.modifiers(index);
        self.type_declaration(index, first, next) || self.member(index, first, next)
    }

    /// Returns the index of the first token after the annotations of a declaration, and the index of the first token
    /// after its modifiers.
    fn modifiers(&self, index: usize) -> (usize, usize) {
        let (mut first, mut at) = (index, index);
        for _ in 0..MAX_MODIFIERS {
            let (word, next) = (self.word(at), self.word(at + 1));
            if word == "@" {
                let end = self.annotation_end(at);
                first = if first == at { end } else { first };
                at = end;
            } else if (word == "-" && next == "sealed")
                || (MODIFIERS.split(' ').any(|modifier| modifier == word)
                    && !matches!(next, "." | "=" | ":")
                    && (next != "(" || word == "def"))
            {
                at += 1;
            } else {
                break;
            }
        }
        (first, at)
    }

    /// Returns the index of the token after an annotation.
    fn annotation_end(&self, at: usize) -> usize {
        let open = self.path_end(at + 1) + 1;
        self.close_of(open, "(").filter(|_| self.is_in_line(open)).map_or(open, |close| close + 1)
    }

    /// Writes the annotations between two tokens, without their arguments.
    fn annotations(&mut self, mut at: usize, first: usize) {
        while at < first {
            let name = self.path_end(at + 1);
            if self.is_word(name) {
                self.write(self.start(at), "@");
                self.write_name(name);
            }
            at = self.annotation_end(at);
            if at > name + 1 {
                self.write_parentheses(name + 1);
            }
        }
    }

    /// Writes the annotations, `x` for the modifiers and the type, and the name.
    fn head(&mut self, index: usize, first: usize, name: usize) {
        self.annotations(index, first);
        if first < name {
            self.write(self.start(first), "x");
        }
        self.write_name(name);
    }

    /// Returns the index of the token after type arguments or type parameters, or `open` if no such list starts there.
    pub(super) fn type_arguments_end(&self, open: usize) -> usize {
        let is_type = |at: &usize| self.is_word(*at) || "<>,.?&@[]".contains(self.word(*at));
        let mut depth = 0;
        for at in (open..open + MAX_TOKENS).take_while(is_type) {
            match self.word(at) {
                "<" => depth += 1,
                ">" if depth == 1 => return at + 1,
                ">" => depth -= 1,
                _ if depth > 0 => {}
                _ => return open,
            }
        }
        open
    }

    /// Returns the index of the token after a type, and whether the tokens can only be a type.
    fn type_end(&self, at: usize) -> Option<(usize, bool)> {
        let is_primitive = PRIMITIVES.contains(&self.word(at));
        if !self.is_word(at) || (is_keyword(self.word(at)) && !is_primitive) {
            return None;
        }
        let last = self.path_end(at);
        let mut next = self.type_arguments_end(last + 1);
        while self.word(next) == "[" && self.word(next + 1) == "]" {
            next += 2;
        }
        Some((next, next > last + 1 || is_primitive || self.word(last).starts_with(char::is_uppercase)))
    }

    /// Reads the declaration of a type, such as `class A<T> extends B<T> implements C, D {`. Returns false if `keyword`
    /// does not begin such a declaration.
    fn type_declaration(&mut self, index: usize, first: usize, keyword: usize) -> bool {
        let word = self.word(keyword);
        let inside = match word {
            "class" | "trait" | "record" => Inside::Class,
            "interface" | "@interface" => Inside::Interface,
            "enum" => Inside::Constants,
            _ => return false,
        };
        let name = keyword + 1;
        let bases = self.close_of(name + 1, "(").unwrap_or(name) + 1;
        let is_base = |at: &usize| self.is_word(*at) || "<>,.?&@[]-".contains(self.word(*at));
        let body = bases + (bases..bases + MAX_TOKENS).take_while(is_base).count();
        if !self.is_word(name) || self.close_of(body, "{").is_none() {
            return false;
        }
        self.annotations(index, first);
        if self.start(keyword) > self.start(first) + "final".len() {
            self.write(self.start(first), "final");
        }
        self.write(self.start(keyword), if word == "trait" { "class" } else { word });
        self.write_name(name);
        self.write_parentheses(name + 1);
        self.bases(bases, body);
        self.open(body, inside);
        true
    }

    /// Writes the types after `extends` and `implements`.
    fn bases(&mut self, from: usize, body: usize) {
        let (mut depth, mut is_base) = (0, false);
        for at in from..body {
            let word = self.word(at);
            depth += i32::from(word == "<") - i32::from(word == ">");
            match word {
                _ if depth > 0 => {}
                "permits" => return,
                "extends" | "implements" => {
                    self.write(self.start(at), word);
                    is_base = true;
                }
                "," if is_base => self.write(self.start(at), ","),
                _ if is_base && self.is_word(at) && self.word(at + 1) != "." => self.write_name(at),
                _ => {}
            }
        }
    }

    /// Reads a method, constructor, field or variable. Returns false if none of these begins at `index`.
    fn member(&mut self, index: usize, first: usize, next: usize) -> bool {
        let is_member = self.has_members();
        let mut name = self.type_arguments_end(next);
        let mut is_declared = name > first;
        if let Some((end, is_certain)) = self.type_end(name)
            && self.is_in_line(end)
            && (self.is_kind(end, TokenKind::Literal) || self.is_word(end))
            && !matches!(self.word(end), "in" | "as" | "instanceof")
        {
            is_declared |= is_certain || is_member;
            name = end;
        }
        (self.inside() != Inside::Block && (is_declared || is_member) && self.method(index, first, name))
            || (is_declared && name > first && self.variable(index, first, name))
    }

    fn method(&mut self, index: usize, first: usize, name: usize) -> bool {
        let (word, open) = (self.word(name), name + 1);
        let is_quoted = word.starts_with(['\'', '"']) && !word.contains('\n');
        let is_name = self.is_word(name) && (!is_keyword(word) || name > first);
        let Some(close) = self.close_of(open, "(") else { return false };
        let mut after = close + 1;
        if matches!(self.word(after), "throws" | "[") {
            let is_type = |at: &usize| self.is_in_line(*at) && (self.is_word(*at) || ".,[]".contains(self.word(*at)));
            after += 1 + (after + 1..after + MAX_TOKENS).take_while(is_type).count();
        }
        let has_body = self.close_of(after, "{").is_some();
        if !(is_name || is_quoted) || !(has_body || (self.has_members() && name > first)) {
            return false;
        }
        self.head(index, first, name);
        if first < name {
            self.write_parentheses(open);
        }
        if has_body {
            self.open(after, Inside::Block);
        } else {
            self.at = self.statement_end(after - 1);
            self.end_statement(self.at - 1);
        }
        true
    }

    /// Reads a variable, such as `def a = 1`, `def (a, b) = c` or `int a, b`. In blocks, reads only `def a = { … }`.
    fn variable(&mut self, index: usize, first: usize, name: usize) -> bool {
        let mut last = name;
        if let Some(close) = self.close_of(name, "(").filter(|close| self.word(close + 1) == "=") {
            last = close;
        } else if !self.is_word(name) || is_keyword(self.word(name)) {
            return false;
        }
        let is_assigned = self.word(last + 1) == "=" && self.is_in_line(last + 1);
        if is_assigned && last == name && self.closure_value(index, first, name) {
            return true;
        }
        let is_end = !self.is_in_line(last + 1) || matches!(self.word(last + 1), ";" | "," | "}");
        if self.inside() == Inside::Block || !(is_assigned || is_end) {
            return false;
        }
        while self.word(last + 1) == "," && self.is_word(last + 2) {
            last += 2;
        }
        self.annotations(index, first);
        self.write(self.start(first), "x");
        for at in name..=last {
            if self.word(at) == "," {
                self.write(self.start(at), ",");
            } else if self.is_word(at) && (at == last || matches!(self.word(at + 1), "," | ")")) {
                self.write_name(at);
            }
        }
        self.end_statement(last);
        self.at = last + 1 + usize::from(is_assigned);
        if is_assigned && self.inside() != Inside::Script {
            self.field_value(self.at);
        }
        true
    }

    /// Opens an initializer for the value of a field, if the outline has room for the braces of the initializer.
    fn field_value(&mut self, value: usize) {
        self.at = self.statement_end(value);
        let (opening, end) = (self.start(value) - 1, self.end(self.at - 1));
        // If the value ends with a brace, the outline contains that brace, too.
        let from = if self.word(self.at - 1) == "}" { end } else { end - 1 };
        let closing = (from..self.start(self.at).max(end)).rfind(|at| self.is_free(*at));
        if let Some(closing) = closing
            && self.inside() == Inside::Class
            && self.at > value
            && self.is_free(opening)
        {
            self.write(opening, "{");
            self.frames.push(Frame { inside: Inside::Block, end: self.at, brace: Some(closing) });
            self.at = value;
        }
    }

    /// Reads a variable whose value is a closure: `def a = { … }` or, outside of blocks, `def a = b(c) { … }`. Returns
    /// false for all other values.
    fn closure_value(&mut self, index: usize, first: usize, name: usize) -> bool {
        let (inside, end, value) = (self.inside(), self.end(name), name + 2);
        let is_wrapper = |at: &usize| {
            let word = self.word(*at);
            let is_called = self.is_word(*at) && !is_keyword(word) && !LOOPS.contains(&word);
            is_called || self.is_kind(*at, TokenKind::Literal) || matches!(word, "." | "(" | "," | ")")
        };
        let brace = value + (value..value + MAX_TOKENS).take_while(is_wrapper).count();
        let has_room = match inside {
            Inside::Script => true,
            Inside::Block => brace == value,
            _ => inside == Inside::Class && self.start(brace) >= end + 2,
        };
        if !has_room || self.close_of(brace, "{").is_none() || brace >= self.statement_end(value) {
            return false;
        }
        if inside == Inside::Class {
            self.head(index, first, name);
            self.write(end, "()");
        } else {
            self.write(self.start(first), "x:");
            self.write_name(name);
            self.write(end, ":");
        }
        self.open(brace, Inside::Block);
        true
    }

    /// Reads a constant of an enumeration, or the comma after a constant. Returns false if the constants have ended.
    pub(super) fn constant(&mut self, index: usize) -> bool {
        let name = self.modifiers(index).0;
        let next = name + 1;
        let is_first = matches!(self.word(index - 1), "{" | ",");
        let is_end = !self.is_in_line(next) || matches!(self.word(next), "," | ";" | "(" | "{" | "}");
        if self.word(index) == "," {
            self.write(self.start(index), ",");
        } else if is_first && is_end && self.is_word(name) && !is_keyword(self.word(name)) {
            self.annotations(index, name);
            self.write_name(name);
            self.write_parentheses(next);
            self.at = self.close_of(next, "(").map_or(next, |close| close + 1);
            if self.word(self.at) == "{" {
                self.open(self.at, Inside::Class);
            }
        } else {
            self.end_statement(index - 1);
            if let Some(frame) = self.frames.last_mut() {
                frame.inside = Inside::Class;
            }
            return false;
        }
        true
    }
}
