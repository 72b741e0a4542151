//! The text that the grammar reads instead of a source: its definitions, calls, branches and loops at their offsets.
//!
//! Of expressions, only calls, closures and the operators that are branches are left. What they stand in becomes white space,
//! or the operands and separators between them that the grammar asks for.

use crate::groovy::lexer::{Token, TokenKind, Tokens, tokens};
use crate::groovy::output::Output;

/// Texts with more tokens, or with brackets that are nested more deeply, are left to the grammar.
const MOST_TOKENS: usize = 1 << 21;
const DEEPEST: usize = 1000;

const CLOSING: &[&str] = &[")", "]", "}"];

/// Operators that may end a statement.
const POSTFIX: &[&str] = &["++", "--"];

/// Operators that continue the statement of the line before if they begin a line.
const CONTINUATIONS: &[&str] =
    &[".", "?.", "*.", "??.", ".&", ".@", "::", "?", ":", "?:", "&&", "||", "=", "==", "!=", "<=>", "==~", "=~", "->"];

/// Words that join a line and the one before it, wherever they are.
const JOINING: &[&str] = &["as", "in", "instanceof", "new", "implements", "extends", "throws"];

/// What brackets contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// The statements of a file.
    Script,
    /// The statements of a block or closure.
    Block,
    /// The members of a type.
    Members { is_enum: bool },
    /// The arguments of a call.
    Arguments,
    /// The arguments of a call without parentheses, up to the end of the statement.
    Command,
    /// One expression in parentheses, that of a condition or loop.
    Condition,
    /// Brackets that are left out.
    Group,
}

impl Inside {
    pub(super) fn has_statements(self) -> bool {
        matches!(self, Self::Script | Self::Block | Self::Members { .. })
    }
}

/// What the end of a pair of brackets means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It ends a statement.
    Statement,
    /// It ends a call, which a dot may follow.
    Call,
    /// It ends another operand.
    Operand,
}

/// What has been written of an expression.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) has_operand: bool,
    /// The operand is a call, and no other has begun after it.
    pub(super) is_call: bool,
    /// The offset of an operator that waits for its operand.
    operator: Option<usize>,
    /// The value of a variable follows, or has followed.
    pub(super) is_value: bool,
    /// The value is a closure: nothing may follow it.
    is_closure: bool,
    /// A constant of an enumeration was the last.
    pub(super) is_constant: bool,
}

impl Written {
    /// What has been written before the value of a variable.
    pub(super) fn before_value() -> Self {
        Self { is_value: true, ..Self::default() }
    }
}

/// A pair of brackets that is open.
pub(super) struct Frame {
    pub(super) inside: Inside,
    role: Role,
    /// The index of the bracket that opens it.
    open: usize,
    /// The frame whose expression this is a part of: itself, or that around groups.
    base: usize,
    pub(super) written: Written,
    /// Whether the next token begins a statement.
    pub(super) is_start: bool,
}

/// Writes the tokens of a source to the text for the parser.
pub(super) struct Masker<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [Token],
    pub(super) partners: &'t [Option<usize>],
    pub(super) out: Output<'t>,
    pub(super) frames: Vec<Frame>,
    /// The index of the next token.
    pub(super) at: usize,
}

/// The text for the parser.
pub(super) fn masked(text: &str) -> Option<String> {
    let Tokens { tokens, comments, partners } = tokens(text, MOST_TOKENS)?;
    let script = Frame {
        inside: Inside::Script,
        role: Role::Statement,
        open: usize::MAX,
        base: 0,
        written: Written::default(),
        is_start: true,
    };
    let out = Output::new(text, &comments);
    let mut masker = Masker { text, tokens: &tokens, partners: &partners, out, frames: vec![script], at: 0 };
    while masker.at < tokens.len() {
        let before = masker.at;
        masker.step();
        debug_assert!(masker.at > before);
        if masker.frames.len() > DEEPEST {
            return None;
        }
    }
    while masker.frames.len() > 1 {
        masker.pop(text.len());
    }
    masker.end_statement(text.len());
    masker.out.finish()
}

impl<'t> Masker<'t> {
    /// The text of a token; nothing after the last one.
    pub(super) fn word(&self, index: usize) -> &'t str {
        self.tokens.get(index).map_or("", |token| &self.text[token.bytes.clone()])
    }

    pub(super) fn kind(&self, index: usize) -> Option<TokenKind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// Whether a token is in the same line as the one before it.
    pub(super) fn is_in_line(&self, index: usize) -> bool {
        self.tokens.get(index).is_some_and(|token| !token.begins_line)
    }

    pub(super) fn start(&self, index: usize) -> usize {
        self.tokens.get(index).map_or(self.text.len(), |token| token.bytes.start)
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn inside(&self) -> Inside {
        self.frames.last().map_or(Inside::Script, |frame| frame.inside)
    }

    /// What the expression at this place is in.
    fn base(&self) -> Inside {
        self.frames.last().map_or(Inside::Script, |frame| self.frames[frame.base].inside)
    }

    pub(super) fn written(&mut self) -> &mut Written {
        let base = self.frame().base;
        &mut self.frames[base].written
    }

    /// Reads one token, or several that belong together.
    fn step(&mut self) {
        let index = self.at;
        let word = self.word(index);
        if self.kind(index) == Some(TokenKind::Punctuation) && CLOSING.contains(&word) {
            return self.close(index);
        }
        let is_free = self.inside().has_statements() || self.inside() == Inside::Command;
        let ends_other = matches!(word, "else" | "catch" | "finally") && self.word(index.wrapping_sub(1)) != ".";
        if is_free && (ends_other || (self.tokens[index].begins_line && !self.continues(index))) {
            self.end_statement(self.start(index));
        }
        if word == ";" && self.kind(index) == Some(TokenKind::Punctuation) {
            if is_free {
                self.end_statement(self.start(index) + 1);
            }
            self.at += 1;
            return;
        }
        if self.frame().is_start && self.inside().has_statements() && self.statement() {
            return;
        }
        let is_start = std::mem::take(&mut self.frame().is_start);
        self.expression(index, is_start);
    }

    /// Whether the line that begins with a token continues the statement of the line before.
    fn continues(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else { return false };
        let (last, first) = (self.word(before), self.word(index));
        match (self.kind(before), self.kind(index)) {
            (_, Some(TokenKind::Punctuation)) if CONTINUATIONS.contains(&first) => true,
            (Some(TokenKind::Punctuation), _)
                if !CLOSING.contains(&last)
                    && !POSTFIX.contains(&last)
                    && !matches!(last, "{" | ";" | "->" | ":" | ">") =>
            {
                true
            }
            (_, Some(TokenKind::Word)) if JOINING.contains(&first) => true,
            (Some(TokenKind::Word), _) => JOINING.contains(&last),
            _ => false,
        }
    }

    /// Ends the statement before an offset, and begins another.
    pub(super) fn end_statement(&mut self, to: usize) {
        if self.inside() == Inside::Command {
            self.pop(to);
        }
        self.settle(to);
        let written = *self.written();
        let is_member = matches!(self.inside(), Inside::Members { .. });
        if (written.has_operand && !is_member) || written.is_value {
            self.out.place(b';', to);
        }
        let frame = self.frame();
        frame.written = Written { is_constant: written.is_constant, ..Written::default() };
        frame.is_start = true;
    }

    /// Gives the last operator of an expression its operand, and a value or condition its expression.
    fn settle(&mut self, to: usize) {
        let written = *self.written();
        let asks = written.is_value || self.base() == Inside::Condition;
        if written.operator.is_some() || (asks && !written.has_operand) {
            let placed = self.out.place(b'0', to);
            if let (None, Some(at)) = (placed, written.operator) {
                self.out.rewrite(at, b' ');
                self.out.rewrite(at + 1, b' ');
            }
            self.written().operator = None;
            self.written().has_operand = true;
        }
    }

    /// Makes room for an operand that begins at an offset. `false` if it must be left out.
    pub(super) fn begin_operand(&mut self, at: usize) -> bool {
        let written = *self.written();
        if written.is_closure || !self.has_expressions() {
            return false;
        }
        if self.ends_in_line(at) {
            self.end_line(at);
        } else if written.has_operand && written.operator.is_none() && self.out.place(b'+', at).is_none() {
            return false;
        }
        let written = *self.written();
        *self.written() = Written { has_operand: true, is_call: false, operator: None, ..written };
        true
    }

    /// Whether what is written here is part of an expression: not among the members of a type.
    fn has_expressions(&mut self) -> bool {
        self.written().is_value || !matches!(self.base(), Inside::Members { .. })
    }

    /// Whether the parser would end the expression before an offset with its line.
    pub(super) fn ends_in_line(&mut self, at: usize) -> bool {
        let written = *self.written();
        let may_end = written.has_operand && written.operator.is_none();
        may_end && matches!(self.base(), Inside::Script | Inside::Block) && self.out.has_line_feed_before(at)
    }

    /// Ends the expression before an offset; what follows is one of its own.
    fn end_line(&mut self, at: usize) {
        let to = memchr::memrchr(b'\n', &self.text.as_bytes()[..at]).map_or(at, |feed| feed + 1);
        self.out.place(b';', to);
        *self.written() = Written::default();
    }

    /// Writes `&&` or `||` at an offset.
    fn operator(&mut self, at: usize, operator: &str) {
        if self.written().is_closure || !self.has_expressions() {
            return;
        }
        if self.ends_in_line(at) {
            self.end_line(at);
        }
        let written = *self.written();
        if !written.has_operand || written.operator.is_some() {
            let Some(free) = self.out.free_before(at) else { return };
            self.out.write(free, "0");
        }
        let is_free = self.out.is_free(at) && self.out.is_free(at + 1);
        if is_free {
            self.out.write(at, operator);
        }
        *self.written() = Written { has_operand: true, is_call: false, operator: is_free.then_some(at), ..written };
    }

    /// Reads a token of an expression.
    fn expression(&mut self, index: usize, is_start: bool) {
        let bytes = self.tokens[index].bytes.clone();
        self.at = index + 1;
        match self.kind(index) {
            Some(TokenKind::Punctuation) => return self.punctuation(index),
            Some(TokenKind::Word) if self.call(index, is_start) => return,
            Some(TokenKind::Literal) if self.inside() == Inside::Arguments && !self.written().has_operand => {
                let is_short = !self.text[bytes.clone()].contains('\n');
                if is_short && bytes.len() > 1 && self.begin_operand(bytes.start) {
                    self.out.literal(bytes);
                }
                return;
            }
            _ => {}
        }
        self.written().is_call = false;
        let next = self.start(index + 1);
        if is_start && !self.written().is_value && next > bytes.start + 1 && self.out.is_free(bytes.start) {
            // A statement begins in its line, where a text may be divided.
            if self.begin_operand(bytes.start) {
                self.out.write(bytes.start, "0");
            }
        }
    }

    fn punctuation(&mut self, index: usize) {
        let start = self.start(index);
        match self.word(index) {
            "(" | "[" => self.push(index, Inside::Group, Role::Operand),
            "{" => self.brace(index),
            "." | "?." | "*." | "??." | ".@" if self.dotted(index) => {}
            "&&" => self.operator(start, "&&"),
            "||" | "?:" => self.operator(start, "||"),
            "?" if self.out.is_free(start + 1) && self.start(index + 1) > start + 1 => self.operator(start, "||"),
            "," => self.comma(start),
            "." | "?." | "*." | "??." => {}
            _ => self.written().is_call = false,
        }
    }

    fn comma(&mut self, start: usize) {
        self.written().is_call = false;
        if matches!(self.inside(), Inside::Arguments | Inside::Command) && self.written().has_operand {
            self.settle(start);
            self.out.write(start, ",");
            *self.written() = Written::default();
        }
    }

    /// A closure in an expression, or a block as a statement.
    fn brace(&mut self, index: usize) {
        let start = self.start(index);
        let written = *self.written();
        let Some(end) = self.partners[index] else { return self.push(index, Inside::Group, Role::Operand) };
        if written.is_closure {
            self.at = end + 1;
        } else if self.begin_operand(start) {
            self.written().is_closure = written.is_value && !written.has_operand;
            self.open_block(index, Role::Operand);
        } else {
            self.push(index, Inside::Group, Role::Operand);
        }
    }

    /// Writes a brace and begins the statements after the parameters of a closure.
    pub(super) fn open_block(&mut self, index: usize, role: Role) {
        self.out.write(self.start(index), "{");
        self.push(index, Inside::Block, role);
        self.at = index + 1;
        let mut at = index + 1;
        while let Some(token) = self.tokens.get(at) {
            match &self.text[token.bytes.clone()] {
                "->" => {
                    self.at = at + 1;
                    return;
                }
                "{" | "}" | ";" | ")" | "]" => return,
                "(" | "[" => at = self.partners[at].unwrap_or(at) + 1,
                _ if at > index + 1 && token.begins_line && self.word(at - 1) != "," => return,
                _ => at += 1,
            }
        }
    }

    pub(super) fn push(&mut self, open: usize, inside: Inside, role: Role) {
        let index = self.frames.len();
        let base = if inside == Inside::Group { self.frames[index - 1].base } else { index };
        self.frames.push(Frame { inside, role, open, base, written: Written::default(), is_start: true });
        if inside == Inside::Group {
            self.frame().is_start = false;
        }
    }

    /// Ends the innermost frame without a bracket of its own before an offset.
    fn pop(&mut self, to: usize) {
        self.settle(to);
        let Some(frame) = self.frames.pop() else { return };
        match frame.inside {
            Inside::Command if self.out.place(b')', to).is_none() => self.out.rewrite(frame.open, b'+'),
            Inside::Arguments | Inside::Condition => drop(self.out.place(b')', to)),
            Inside::Block | Inside::Members { .. } => drop(self.out.place(b'}', to)),
            _ => {}
        }
    }

    /// Reads a closing bracket.
    fn close(&mut self, index: usize) {
        self.at = index + 1;
        let Some(open) = self.partners[index] else { return };
        let start = self.start(index);
        if !self.frames.iter().rev().any(|frame| frame.open == open && frame.inside != Inside::Command) {
            return;
        }
        while self.inside() == Inside::Command || self.frame().open != open {
            if self.inside().has_statements() {
                self.end_statement(start);
            }
            self.pop(start);
        }
        if self.inside().has_statements() {
            self.end_statement(start);
        } else if self.inside() != Inside::Group {
            self.settle(start);
        }
        let Some(frame) = self.frames.pop() else { return };
        if frame.inside == Inside::Group {
            self.written().is_call = false;
            return;
        }
        self.out.write(start, if frame.inside.has_statements() { "}" } else { ")" });
        self.after(index, &frame);
    }

    /// Reads what belongs to the brackets before it: the closure of a call, the members of a new object, the body of a loop.
    fn after(&mut self, index: usize, frame: &Frame) {
        let has_body = self.word(index + 1) == "{" && self.partners[index + 1].is_some();
        match (frame.inside, frame.role) {
            (Inside::Condition, _) => {
                if has_body {
                    return self.open_block(index + 1, Role::Statement);
                }
                self.out.place(b';', self.start(index + 1));
                self.frame().is_start = true;
            }
            (Inside::Arguments, Role::Call) if has_body && self.is_in_line(index + 1) => {
                self.open_block(index + 1, Role::Call);
            }
            (Inside::Arguments, Role::Operand) if has_body && self.is_in_line(index + 1) => {
                self.out.write(self.start(index + 1), "{");
                self.at = index + 2;
                self.push(index + 1, Inside::Members { is_enum: false }, Role::Call);
            }
            (_, Role::Statement) => {
                self.frame().written = Written { is_constant: self.frame().written.is_constant, ..Written::default() };
                self.frame().is_start = true;
            }
            (_, role) => {
                self.written().has_operand = true;
                self.written().is_call = role == Role::Call || frame.inside == Inside::Arguments;
            }
        }
    }
}
