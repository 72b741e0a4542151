//! The beginnings of statements that are not expressions alone.

use crate::groovy::keywords::is_keyword;
use crate::groovy::lexer::TokenKind;
use crate::groovy::masked::{Inside, Masker, Role, Written};

/// Words before the name of a block.
pub(super) const NAMED_BLOCKS: &[&str] = &["process", "task", "workflow"];

impl Masker<'_> {
    /// Reads the beginning of a statement or member. `false` if it is an expression.
    pub(super) fn statement(&mut self) -> bool {
        let index = self.at;
        let inside = self.inside();
        let word = self.word(index);
        if let Inside::Members { is_enum: true } = inside
            && self.constant(index)
        {
            return true;
        }
        if self.declaration(index) {
            return true;
        }
        match word {
            "{" if self.partners[index].is_some() => {
                self.open_block(index, Role::Statement);
                return true;
            }
            "static" if self.word(index + 1) == "{" && matches!(inside, Inside::Members { .. }) => {
                self.out.write(self.start(index), "static");
                self.at = index + 1;
                return true;
            }
            _ => {}
        }
        if self.kind(index) != Some(TokenKind::Word) || matches!(inside, Inside::Members { .. }) {
            return false;
        }
        match word {
            "if" | "while" | "for" | "catch" => self.condition(index),
            "else" | "try" | "finally" | "do" => self.left_out(index),
            "case" if self.is_in_line(index + 1) => self.case(index),
            "import" | "package" if inside == Inside::Script => self.import(index),
            _ if self.word(index + 1) == ":" && (word == "default" || !is_keyword(word)) => self.label(index),
            _ if NAMED_BLOCKS.contains(&word) && self.named_block(index) => true,
            _ => inside == Inside::Script && self.assignment(index),
        }
    }

    fn left_out(&mut self, index: usize) -> bool {
        self.at = index + 1;
        self.frame().is_start = true;
        true
    }

    /// `if (…)`, `while (…)`, `for (…)` and `catch (…)`, which becomes `if (…)`.
    fn condition(&mut self, index: usize) -> bool {
        let open = index + 1;
        if self.word(open) != "(" || self.partners[open].is_none() {
            return self.left_out(index);
        }
        let word = self.word(index);
        self.out.write(self.start(index), if word == "catch" { "if" } else { word });
        self.out.write(self.start(open), "(");
        self.push(open, Inside::Condition, Role::Statement);
        self.frame().is_start = false;
        self.at = open + 1;
        if word == "for" {
            self.loop_head(open);
        }
        true
    }

    /// Writes `a:` before the expression of a loop.
    fn loop_head(&mut self, open: usize) {
        let close = self.partners[open].unwrap_or(open);
        let end = self.start(close);
        if self.word(open + 1) == ";" && self.word(open + 2) == ";" && close == open + 3 {
            self.out.write(self.start(open + 1), ";");
            self.out.write(self.start(open + 2), ";");
            self.written().has_operand = true;
            self.at = close;
            return;
        }
        let first = self.tokens[open + 1].bytes.clone();
        if first.start < end {
            // The name of the variable, unless the expression begins with it.
            self.out.place(b'a', end);
            self.out.place(b':', end);
        }
        self.at =
            self.tokens[self.at..close].iter().take_while(|token| token.bytes.start < self.out.last).count() + self.at;
    }

    /// `case …:` becomes `if(0)`, and what follows it a statement.
    fn case(&mut self, index: usize) -> bool {
        let start = self.start(index);
        if !self.out.is_free(start + 4) {
            return self.left_out(index);
        }
        self.out.write(start, "if(0)");
        self.out.place(b';', self.start(index + 1) + 1);
        let mut at = index + 1;
        while let Some(token) = self.tokens.get(at) {
            match &self.text[token.bytes.clone()] {
                ":" | "->" => break,
                "(" | "[" | "{" => at = self.partners[at].unwrap_or(at) + 1,
                "?" | "}" | ";" | "=" => break,
                _ if token.begins_line => break,
                _ => at += 1,
            }
        }
        let is_end = matches!(self.word(at), ":" | "->");
        self.at = if is_end { at + 1 } else { index + 1 };
        self.frame().is_start = is_end;
        true
    }

    /// `name:` is left out, and `default:` a branch.
    fn label(&mut self, index: usize) -> bool {
        if self.word(index) == "default" {
            self.out.write(self.start(index), "if(0);");
        }
        self.at = index + 2;
        self.frame().is_start = true;
        true
    }

    fn import(&mut self, index: usize) -> bool {
        self.out.write(self.start(index), self.word(index));
        let mut at = index + 1;
        while self.is_in_line(at) && self.word(at) != ";" {
            let bytes = self.tokens[at].bytes.clone();
            match self.word(at) {
                word @ ("static" | "as" | "." | "*") => self.out.write(bytes.start, word),
                _ if self.kind(at) == Some(TokenKind::Word) => self.out.identifier(bytes),
                _ => {}
            }
            at += 1;
        }
        self.out.place(b';', self.start(at));
        self.at = at;
        true
    }

    /// `task name(…) {` and the like become calls of a name with a closure.
    fn named_block(&mut self, index: usize) -> bool {
        let name = index + 1;
        if self.kind(name) != Some(TokenKind::Word) || !self.is_in_line(name) {
            return false;
        }
        let mut brace = name + 1;
        if self.word(brace) == "(" && self.is_in_line(brace) {
            brace = self.partners[brace].unwrap_or(name) + 1;
        }
        if self.word(brace) != "{" || self.partners[brace].is_none() {
            return false;
        }
        let header = self.start(index)..self.tokens[brace - 1].bytes.end;
        if self.text[header.clone()].contains('\n') {
            return false;
        }
        self.frame().is_start = false;
        if self.begin_operand(header.start) {
            self.out.identifier(header);
        }
        self.open_block(brace, Role::Call);
        true
    }

    /// `name = value` and `a.name = value` in a script.
    fn assignment(&mut self, index: usize) -> bool {
        let name = self.path_end(index);
        let is_assignment = matches!(self.word(name + 1), "=" | "+=");
        if is_keyword(self.word(name)) || !is_assignment || !self.is_in_line(name + 1) {
            return false;
        }
        self.out.identifier(self.tokens[name].bytes.clone());
        let bytes = self.tokens[name + 1].bytes.clone();
        self.out.write(bytes.end - 1, "=");
        self.at = name + 2;
        self.frame().is_start = false;
        *self.written() = Written::before_value();
        true
    }
}
