//! Declarations of types, methods and variables.

use crate::groovy::keywords::is_keyword;
use crate::groovy::lexer::TokenKind;
use crate::groovy::masked::{Inside, Masker, Role, Written};

const MODIFIERS: &[&str] = &[
    "abstract",
    "def",
    "default",
    "final",
    "native",
    "non",
    "private",
    "protected",
    "public",
    "sealed",
    "static",
    "strictfp",
    "synchronized",
    "transient",
    "var",
    "volatile",
];

const PRIMITIVES: &[&str] = &["boolean", "byte", "char", "double", "float", "int", "long", "short", "void"];

/// A declaration has at most this many annotations and modifiers, and its types at most this many tokens.
const MAX_MODIFIERS: usize = 64;
const MAX_TYPE_TOKENS: usize = 300;

/// The first tokens of a declaration.
struct Head {
    /// The first token after the annotations.
    first: usize,
    /// The first token after the modifiers.
    next: usize,
    /// Whether there are any modifiers, or `def`.
    is_modified: bool,
}

impl Masker<'_> {
    /// Reads the head of a type, method or variable up to its body or value. `false` if none begins here.
    pub(super) fn declaration(&mut self, index: usize) -> bool {
        let Some(head) = self.head(index) else { return false };
        self.type_declaration(index, &head) || self.member(index, &head)
    }

    fn head(&self, index: usize) -> Option<Head> {
        let mut at = index;
        let mut head: Option<Head> = None;
        for _ in 0..MAX_MODIFIERS {
            if self.word(at) == "@" && self.word(at + 1) != "interface" {
                at = self.annotation_end(at);
                continue;
            }
            let is_modifier = MODIFIERS.contains(&self.word(at)) && !matches!(self.word(at + 1), "." | "=" | ":");
            let is_hyphenated = self.word(at) == "-" && head.is_some() && self.word(at + 1) == "sealed";
            // `name()` may be a method with the name of a modifier.
            if (!is_modifier && !is_hyphenated) || (self.word(at + 1) == "(" && self.word(at) != "def") {
                let first = head.map_or(at, |head| head.first);
                return Some(Head { first, next: at, is_modified: at > first });
            }
            head = Some(Head { first: head.map_or(at, |head| head.first), next: at, is_modified: true });
            at += 1;
        }
        None
    }

    /// The token after an annotation.
    fn annotation_end(&self, at: usize) -> usize {
        let name = self.path_end(at + 1);
        let open = name + 1;
        match self.partners.get(open).copied().flatten() {
            Some(close) if self.word(open) == "(" && self.is_in_line(open) => close + 1,
            _ => open,
        }
    }

    /// Writes the annotations before a token, without their arguments.
    fn annotations(&mut self, index: usize, first: usize) {
        let mut at = index;
        while at < first {
            let end = self.annotation_end(at);
            if self.word(at) == "@" && self.kind(at + 1) == Some(TokenKind::Word) {
                let name = self.path_end(at + 1);
                self.out.write(self.start(at), "@");
                self.out.identifier(self.start(at + 1)..self.tokens[at + 1].bytes.end);
                for part in (at + 2..=name).step_by(2) {
                    self.out.write(self.start(part), ".");
                    self.out.identifier(self.tokens[part + 1].bytes.clone());
                }
                if end > name + 1 {
                    self.out.write(self.start(name + 1), "(");
                    self.out.write(self.start(end - 1), ")");
                }
                at = end;
            } else {
                at += 1;
            }
        }
    }

    /// The token after type arguments or parameters.
    pub(super) fn type_arguments_end(&self, open: usize) -> usize {
        if self.word(open) != "<" {
            return open;
        }
        let mut depth = 0;
        for at in open..open + MAX_TYPE_TOKENS {
            match (self.kind(at), self.word(at)) {
                (_, "<") => depth += 1,
                (_, ">") => {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                (Some(TokenKind::Word), _) | (_, "." | "," | "?" | "&" | "[" | "]" | "@") => {}
                _ => return open,
            }
        }
        open
    }

    /// `class A<T> extends B<T> implements C, D {` and the like.
    fn type_declaration(&mut self, index: usize, head: &Head) -> bool {
        let is_annotation = self.word(head.next) == "@" && self.word(head.next + 1) == "interface";
        let keyword = head.next + usize::from(is_annotation);
        let name = keyword + 1;
        let word = self.word(keyword);
        let is_type = matches!(word, "class" | "interface" | "trait" | "enum" | "record");
        if !is_type || self.kind(name) != Some(TokenKind::Word) {
            return false;
        }
        let Some(body) = self.type_body(name) else { return false };
        self.annotations(index, head.first);
        if head.is_modified && self.start(head.next) > self.start(head.first) + "final".len() {
            self.out.write(self.start(head.first), "final");
        }
        let has_parameters = self.word(name + 1) == "(";
        let known = if word == "trait" || (word == "record" && !has_parameters) { "class" } else { word };
        self.out.write(self.start(keyword), known);
        if is_annotation && self.start(keyword) == self.start(head.next) + 1 {
            self.out.write(self.start(head.next), "@");
        }
        self.out.identifier(self.tokens[name].bytes.clone());
        if known == "record" {
            self.out.write(self.start(name + 1), "(");
            self.out.write(self.start(self.partners[name + 1].unwrap_or(name + 1)), ")");
        }
        if !is_annotation {
            self.bases(name + 1, body, known);
        }
        self.out.write(self.start(body), "{");
        self.frame().is_start = false;
        self.push(body, Inside::Members { is_enum: word == "enum" }, Role::Statement);
        self.at = body + 1;
        true
    }

    /// The brace after the head of a type.
    fn type_body(&self, name: usize) -> Option<usize> {
        let mut at = name + 1;
        while at < name + MAX_TYPE_TOKENS {
            match (self.kind(at)?, self.word(at)) {
                (_, "{") => return self.partners[at].map(|_| at),
                (_, "(") => at = self.partners[at]? + 1,
                (TokenKind::Word, "class" | "interface" | "trait" | "enum") => return None,
                (TokenKind::Word, _) | (_, "<" | ">" | "," | "." | "?" | "&" | "@" | "[" | "]" | "-") => at += 1,
                _ => return None,
            }
        }
        None
    }

    /// Writes the types after `extends` and `implements`.
    fn bases(&mut self, from: usize, to: usize, keyword: &str) {
        let mut at = from;
        let mut depth = 0usize;
        // How many types follow the last `extends` or `implements`, and whether more than one may.
        let (mut count, mut may_have_more, mut is_written) = (0, false, false);
        let mut written: Option<&str> = None;
        while at < to {
            let word = self.word(at);
            match word {
                "(" => at = self.partners[at].unwrap_or(at),
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                "extends" | "implements" | "permits" => {
                    is_written = word != "permits" && written != Some(word) && written != Some("implements");
                    may_have_more = keyword == "interface" || word == "implements";
                    count = 0;
                    if is_written {
                        written = Some(word);
                        self.out.write(self.start(at), word);
                    }
                }
                _ if self.kind(at) == Some(TokenKind::Word) && is_written => {
                    let end = self.path_end(at).min(to - 1);
                    if count == 0 || may_have_more {
                        if count > 0 {
                            self.out.place(b',', self.start(at));
                        }
                        for part in at..=end {
                            if self.word(part) == "." {
                                self.out.write(self.start(part), ".");
                            } else {
                                self.out.identifier(self.tokens[part].bytes.clone());
                            }
                        }
                    }
                    count += 1;
                    at = end;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The token after a type, and whether it can be nothing else.
    fn type_end(&self, at: usize) -> Option<(usize, bool)> {
        let word = self.word(at);
        if self.kind(at) != Some(TokenKind::Word) || (is_keyword(word) && !PRIMITIVES.contains(&word)) {
            return None;
        }
        let last = self.path_end(at);
        let mut next = self.type_arguments_end(last + 1);
        let mut is_certain = next > last + 1 || PRIMITIVES.contains(&word);
        while self.word(next) == "[" && self.word(next + 1) == "]" {
            is_certain = true;
            next += 2;
        }
        is_certain |= self.word(last).starts_with(char::is_uppercase);
        Some((next, is_certain))
    }

    /// A method, constructor, field or variable.
    fn member(&mut self, index: usize, head: &Head) -> bool {
        let is_member = matches!(self.inside(), Inside::Members { .. });
        let first = self.type_arguments_end(head.next);
        let mut is_declared = head.is_modified || first > head.next;
        let mut name = first;
        if let Some((next, is_certain)) = self.type_end(first)
            && self.is_in_line(next)
            && (self.kind(next) == Some(TokenKind::Literal)
                || (self.kind(next) == Some(TokenKind::Word) && !matches!(self.word(next), "in" | "as" | "instanceof")))
        {
            is_declared |= is_certain || is_member;
            name = next;
        }
        if self.inside() != Inside::Block && self.method(index, head, name, is_declared) {
            return true;
        }
        is_declared && self.variable(index, head, name)
    }

    fn method(&mut self, index: usize, head: &Head, name: usize, is_declared: bool) -> bool {
        let is_member = matches!(self.inside(), Inside::Members { .. });
        let is_name = match self.kind(name) {
            Some(TokenKind::Word) => !is_keyword(self.word(name)) || name > head.first,
            Some(TokenKind::Literal) => !self.word(name).contains('\n'),
            _ => false,
        };
        if !is_name || !(is_declared || is_member) {
            return false;
        }
        let open = name + 1;
        let is_compact = name == head.first && self.word(open) == "{" && is_member;
        let Some(close) = self.partners.get(open).copied().flatten().filter(|_| self.word(open) == "(" || is_compact)
        else {
            return false;
        };
        let after = if is_compact { open } else { self.throws_end(close + 1) };
        let body = Some(after).filter(|after| self.word(*after) == "{" && self.partners[*after].is_some());
        if body.is_none() && (!is_member || name == head.first) {
            return false;
        }
        self.annotations(index, head.first);
        self.method_head(head.first, name, is_member || body.is_none());
        if !is_compact {
            self.out.write(self.start(open), "(");
            self.out.write(self.start(close), ")");
        }
        self.frame().is_start = false;
        match body {
            Some(body) => {
                self.out.write(self.start(body), "{");
                self.push(body, Inside::Block, Role::Statement);
                self.at = body + 1;
            }
            None => {
                self.at = after;
                while self.is_in_line(self.at) && !matches!(self.word(self.at), ";" | "}") {
                    self.at += 1;
                }
                self.out.place(b';', self.start(self.at) + usize::from(self.word(self.at) == ";"));
                self.frame().is_start = true;
            }
        }
        true
    }

    /// Writes a type, if there is room for one, and the name.
    fn method_head(&mut self, first: usize, name: usize, is_member: bool) {
        let (start, bytes) = (self.start(first), self.tokens[name].bytes.clone());
        if first < name {
            let is_function =
                !is_member && bytes.start > start + 3 && (start..start + 3).all(|at| self.out.is_free(at));
            self.out.write(start, if is_function { "def" } else { "T" });
        }
        self.out.identifier(bytes);
    }

    /// The token after `throws A, B`.
    fn throws_end(&self, at: usize) -> usize {
        let mut end = at;
        while self.word(end) == "[" && self.word(end + 1) == "]" {
            end += 2;
        }
        if self.word(end) != "throws" {
            return end;
        }
        end += 1;
        while end < at + MAX_TYPE_TOKENS
            && (self.kind(end) == Some(TokenKind::Word) || matches!(self.word(end), "." | ","))
        {
            end += 1;
        }
        end
    }

    /// `def a = 1`, `def (a, b) = c`, and `int a, b`; those in blocks only with a closure for a value.
    fn variable(&mut self, index: usize, head: &Head, name: usize) -> bool {
        let inside = self.inside();
        let after = name + 1;
        let is_assigned = self.word(after) == "=";
        if inside == Inside::Script && self.word(name) == "(" && name > head.first {
            return self.variables(index, head, name);
        }
        if self.kind(name) != Some(TokenKind::Word) || is_keyword(self.word(name)) {
            return false;
        }
        let has_closure = is_assigned && self.word(after + 1) == "{";
        let is_end = !self.is_in_line(after) || matches!(self.word(after), ";" | "," | "}");
        if (inside == Inside::Block && !has_closure) || !(is_assigned || is_end) || name == head.first {
            return false;
        }
        self.annotations(index, head.first);
        self.out.write(self.start(head.first), "T");
        let mut name = name;
        self.out.identifier(self.tokens[name].bytes.clone());
        while self.word(name + 1) == "," && self.kind(name + 2) == Some(TokenKind::Word) {
            self.out.write(self.start(name + 1), ",");
            self.out.identifier(self.tokens[name + 2].bytes.clone());
            name += 2;
        }
        self.value(name + 1);
        true
    }

    /// `def (a, b) = c`.
    fn variables(&mut self, index: usize, head: &Head, open: usize) -> bool {
        let Some(close) =
            self.partners[open].filter(|close| self.word(close + 1) == "=" && close - open < MAX_TYPE_TOKENS)
        else {
            return false;
        };
        self.annotations(index, head.first);
        self.out.write(self.start(head.first), "T");
        for at in open + 1..close {
            if matches!(self.word(at + 1), "," | ")") && self.kind(at) == Some(TokenKind::Word) {
                self.out.identifier(self.tokens[at].bytes.clone());
                if at + 1 < close {
                    self.out.write(self.start(at + 1), ",");
                }
            }
        }
        self.value(close + 1);
        true
    }

    /// Begins the value of a variable, if it has one.
    fn value(&mut self, assignment: usize) {
        self.frame().is_start = false;
        self.at = assignment;
        if self.word(assignment) == "=" {
            self.out.write(self.start(assignment), "=");
            self.at = assignment + 1;
            *self.written() = Written::before_value();
        } else {
            let next = self.start(assignment) + usize::from(self.word(assignment) == ";");
            self.out.place(b';', next);
            self.frame().is_start = true;
            if self.word(assignment) == ";" {
                self.at = assignment + 1;
            }
        }
    }

    /// A constant of an enumeration, the comma after it, or the semicolon after the last one.
    pub(super) fn constant(&mut self, index: usize) -> bool {
        let bytes = self.tokens[index].bytes.clone();
        let was_constant = self.written().is_constant;
        let has_name = self.kind(index) == Some(TokenKind::Word) && !is_keyword(self.word(index));
        let next = self.word(index + 1);
        let is_end = index + 1 == self.tokens.len() || !self.is_in_line(index + 1);
        if self.word(index) == "," && was_constant {
            self.out.write(bytes.start, ",");
            self.written().is_constant = false;
            self.at = index + 1;
        } else if !was_constant && self.word(index) == "@" {
            let end = self.annotation_end(index);
            self.annotations(index, end);
            self.at = end;
        } else if !was_constant && has_name && (is_end || matches!(next, "," | ";" | "(" | "{" | "}")) {
            self.out.identifier(bytes);
            self.written().is_constant = true;
            self.at = index + 1;
        } else if was_constant && matches!(self.word(index), "(" | "{") && self.partners[index].is_some() {
            let is_open = self.word(index) == "(";
            self.out.write(bytes.start, self.word(index));
            let members = Inside::Members { is_enum: false };
            self.push(index, if is_open { Inside::Arguments } else { members }, Role::Statement);
            self.frame().is_start = !is_open;
            self.at = index + 1;
        } else {
            // The members follow.
            if self.word(index) != ";" {
                self.out.place(b';', bytes.start);
            }
            self.frame().inside = Inside::Members { is_enum: false };
            return false;
        }
        true
    }
}
