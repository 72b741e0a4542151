//! Calls in expressions.

use crate::groovy::keywords::is_keyword;
use crate::groovy::lexer::TokenKind;
use crate::groovy::masked::{Inside, Masker, Role};

/// Words that are no argument of a call without parentheses.
const NO_ARGUMENTS: &[&str] = &["as", "in", "instanceof", "implements", "extends"];

impl Masker<'_> {
    /// The index of the last name in `a.b.c` after its first name.
    pub(super) fn path_end(&self, first: usize) -> usize {
        let mut last = first;
        while self.word(last + 1) == "." && self.kind(last + 2) == Some(TokenKind::Word) {
            last += 2;
        }
        last
    }

    /// Whether parentheses with arguments follow a name, or a closure.
    fn callee(&self, name: usize) -> Option<Inside> {
        let next = name + 1;
        let is_open = self.is_in_line(next) && self.partners[next].is_some();
        match self.word(next) {
            "(" if is_open => Some(Inside::Arguments),
            "{" if is_open => Some(Inside::Block),
            _ => None,
        }
    }

    /// Reads a name with what is called by it.
    pub(super) fn call(&mut self, index: usize, is_start: bool) -> bool {
        let word = self.word(index);
        if word == "new" {
            return self.creation(index);
        }
        if is_keyword(word) && !matches!(word, "this" | "super") {
            return false;
        }
        let name = self.path_end(index);
        if is_keyword(self.word(name)) && name == index {
            self.at = name + 1;
            return false;
        }
        if let Some(dot) = (index + 1..name).find(|at| self.tokens[*at].begins_line) {
            self.at = dot;
            return false;
        }
        self.at = name + 1;
        let Some(inside) = self.callee(name) else {
            let is_command = is_start && !self.written().is_value && self.command(index, name);
            self.at = if is_command { self.at } else { name + 1 };
            return is_command;
        };
        if !self.begin_operand(self.start(index)) {
            return false;
        }
        self.path(index, name);
        self.open_call(name + 1, inside);
        true
    }

    /// Writes `a.b.c`.
    fn path(&mut self, first: usize, last: usize) {
        for at in (first..=last).step_by(2) {
            let bytes = self.tokens[at].bytes.clone();
            if matches!(self.word(at), "this" | "super") && at == first {
                self.out.write(bytes.start, self.word(at));
            } else {
                self.out.identifier(bytes);
            }
            if at < last {
                self.out.write(self.start(at + 1), ".");
            }
        }
    }

    fn open_call(&mut self, bracket: usize, inside: Inside) {
        if inside == Inside::Block {
            return self.open_block(bracket, Role::Call);
        }
        self.out.write(self.start(bracket), "(");
        self.push(bracket, Inside::Arguments, Role::Call);
        self.frame().is_start = false;
        self.at = bracket + 1;
    }

    /// Reads a call of a member of another operand.
    pub(super) fn dotted(&mut self, index: usize) -> bool {
        if self.kind(index + 1) != Some(TokenKind::Word) {
            return false;
        }
        let name = self.path_end(index + 1);
        self.at = name + 1;
        let Some(inside) = self.callee(name) else { return true };
        // The dot before the name.
        let (dot, bytes) = (self.tokens[name - 1].bytes.end - 1, self.tokens[name].bytes.clone());
        let ends_in_line = self.ends_in_line(dot);
        if self.written().is_call && !ends_in_line {
            self.out.write(dot, ".");
        } else if let Some(object) = self.out.free_before(dot).filter(|_| ends_in_line || inside == Inside::Block) {
            if !self.begin_operand(object) {
                return true;
            }
            self.out.write(object, "o");
            self.out.write(dot, ".");
        } else if !self.begin_operand(bytes.start) {
            return true;
        }
        self.out.identifier(bytes);
        self.open_call(name + 1, inside);
        true
    }

    /// Reads a call without parentheses: `name argument`.
    fn command(&mut self, first: usize, name: usize) -> bool {
        let next = name + 1;
        let gap = self.tokens[name].bytes.end;
        let is_argument = match self.kind(next) {
            Some(TokenKind::Literal | TokenKind::Number) => true,
            Some(TokenKind::Word) => !NO_ARGUMENTS.contains(&self.word(next)),
            Some(TokenKind::Punctuation) => self.word(next) == "[",
            None => false,
        };
        let is_gap = self.is_in_line(next) && self.start(next) > gap && self.out.is_free(gap);
        if !is_argument || !is_gap || !self.begin_operand(self.start(first)) {
            return false;
        }
        self.path(first, name);
        self.out.write(gap, "(");
        self.at = next;
        self.push(gap, Inside::Command, Role::Call);
        self.frame().is_start = false;
        true
    }

    /// Reads `new a.B<C>(…)`, and leaves out `new a.B[…]`.
    fn creation(&mut self, index: usize) -> bool {
        if self.kind(index + 1) != Some(TokenKind::Word) {
            return false;
        }
        let name = self.path_end(index + 1);
        let mut next = self.type_arguments_end(name + 1);
        self.at = next;
        if self.word(next) == "(" && self.partners[next].is_some() {
            let bytes = self.tokens[name].bytes.clone();
            if self.begin_operand(self.start(index)) {
                self.out.write(self.start(index), "new");
                self.out.identifier(bytes);
                self.out.write(self.start(next), "(");
                self.push(next, Inside::Arguments, Role::Operand);
                self.frame().is_start = false;
                self.at = next + 1;
            }
            return true;
        }
        while self.word(next) == "[" {
            next = self.partners.get(next).copied().flatten().unwrap_or(next) + 1;
        }
        if next > self.at && self.word(next) == "{" {
            self.push(next, Inside::Group, Role::Operand);
            self.at = next + 1;
        }
        false
    }
}
