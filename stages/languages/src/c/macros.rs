//! Masks macros that hide the structure of a source: `JVM_ENTRY(int, f(int x))`, `NOT_PRODUCT(void verify();)`,
//! `void print() PRODUCT_RETURN;`, `class EXPORT Name {`, `API int f(void);`. Macros are recognized by their form,
//! without a list of names.

use std::ops::Range;

use crate::c::lexer::TokenKind;
use crate::c::qualifiers;
use crate::c::source::{Source, is_any_in};
use crate::c::words::{is_builtin, is_macro, is_statement};
use crate::mask::Mask;

/// Maximum number of consecutive macros and specifiers that are skipped in the search for a declaration.
const MAX_ATTRIBUTES: usize = 32;

/// Masks macros that hide the structure of the source. Arguments that are code remain.
pub(super) fn mask(source: &Source<'_>, mask: &mut Mask) {
    let text = source.text;
    qualifiers::mask(source, mask);
    for at in 0..source.tokens.len() {
        match source.tokens[at].kind {
            TokenKind::Word => {}
            TokenKind::Directive => {
                mask_comments(&text[source.tokens[at].bytes.clone()], source.tokens[at].bytes.start, mask);
                continue;
            }
            _ => continue,
        }
        let is_masked = mask.is_masked(text, source.tokens[at].bytes.start);
        if is_masked
            || source.mask_end(at, mask)
            || source.mask_expression(at, mask)
            || source.mask_numbers(at, mask)
            || source.mask_convention(at, mask)
        {
            continue;
        } else if is_macro(source.word(at)) {
            let _ = source.mask_block(at, mask)
                || source.mask_enumeration(at, mask)
                || source.mask_wrapper(at, mask)
                || source.mask_definition(at, mask)
                || source.mask_suffix(at, mask)
                || source.mask_type_attribute(at, mask)
                || source.mask_specifier(at, mask)
                || source.mask_statement(at, mask);
        } else if source.word(at).starts_with("__") {
            let _ = source.mask_suffix(at, mask) || source.mask_specifier(at, mask);
        }
    }
}

impl Source<'_> {
    /// Masks a macro that defines a function: `JVM_ENTRY(int, f(int x)) … JVM_END` and
    /// `JVM_ENTRY(int, f, (int x)) … JVM_END`.
    fn mask_block(&self, at: usize, mask: &mut Mask) -> bool {
        let Some((close, comma)) = self.block_header(at) else { return false };
        let name = comma + 1;
        let mut parameters = name + 1;
        while self.is(parameters, b':') && self.is(parameters + 1, b':') && self.is_word(parameters + 2) {
            parameters += 3;
        }
        let separator = self.is(parameters, b',').then_some(parameters);
        parameters += usize::from(separator.is_some());
        if !self.is_word(name) || self.close(parameters).is_none_or(|end| end + 1 != close) {
            return false;
        }
        if self.is(close + 1, b'{') {
            mask.blank(self.tokens[close].bytes.clone());
        } else {
            let end = self.ends.get(self.ends.partition_point(|end| *end <= close));
            let Some(end) = end.filter(|end| self.begins_line(**end)) else { return false };
            mask.replace(self.tokens[close].bytes.clone(), "{");
            let end = self.tokens[*end].bytes.clone();
            mask.blank(end.clone());
            mask.replace(end.end - 1..end.end, "}");
        }
        replace_specifier(mask, self.bytes(at, at + 1));
        mask.blank(self.tokens[comma].bytes.clone());
        if let Some(separator) = separator {
            mask.blank(self.tokens[separator].bytes.clone());
        }
        true
    }

    /// Masks the macro in `} UNSAFE_END`, which ends a block. [`Self::mask_block`] replaces end macros of blocks that
    /// begin with a macro.
    fn mask_end(&self, at: usize, mask: &mut Mask) -> bool {
        let is_end = self.ends.binary_search(&at).is_ok() && self.is(at.wrapping_sub(1), b'}');
        if is_end {
            mask.blank(self.tokens[at].bytes.clone());
        }
        is_end
    }

    /// Masks a macro with numbers between the type and the name of a function:
    /// `void printflike(3, 4) print(char *format, …)`.
    fn mask_numbers(&self, at: usize, mask: &mut Mask) -> bool {
        let Some(close) = self.close(at + 1).filter(|close| *close > at + 2 && self.follows_type(at)) else {
            return false;
        };
        let is_number = |at: usize| self.tokens[at].kind == TokenKind::Literal || self.is(at, b',');
        let is_attribute = self.is_word(close + 1) && self.is(close + 2, b'(') && (at + 2..close).all(is_number);
        if is_attribute {
            mask.blank(self.bytes(at, close));
        }
        is_attribute
    }

    /// Masks a calling convention before a function pointer: `typedef int (WINAPI *call_t)(void);`.
    fn mask_convention(&self, at: usize, mask: &mut Mask) -> bool {
        let is_pointer =
            self.is(at + 1, b'*') && self.is_word(at + 2) && self.is(at + 3, b')') && self.is(at + 4, b'(');
        let is_convention = is_pointer && self.is(at.wrapping_sub(1), b'(') && is_macro(self.word(at));
        if is_convention {
            mask.blank(self.tokens[at].bytes.clone());
        }
        is_convention
    }

    /// Masks a macro that defines an enumeration: `typedef NS_ENUM(int, Name) {`.
    fn mask_enumeration(&self, at: usize, mask: &mut Mask) -> bool {
        let close = self.close(at + 1).filter(|close| self.is(*close + 1, b'{') && self.is(*close - 2, b','));
        let Some(close) = close.filter(|_| self.word(at.wrapping_sub(1)) == "typedef") else { return false };
        mask.replace(self.bytes(at - 1, close - 2), "enum");
        mask.blank(self.tokens[close].bytes.clone());
        true
    }

    /// Returns the closing parenthesis and the first comma of `MACRO(a, b)` if it begins a line and is not part of a
    /// statement.
    fn block_header(&self, at: usize) -> Option<(usize, usize)> {
        let close = self.close(at + 1).filter(|_| self.begins_line(at))?;
        let is_statement = [b';', b',', b'.', b')'].iter().any(|b| self.is(close + 1, *b));
        if is_statement { None } else { Some((close, self.comma(at + 1, close)?)) }
    }

    /// Masks a macro whose argument is code: `NOT_PRODUCT(void verify();)`.
    fn mask_wrapper(&self, at: usize, mask: &mut Mask) -> bool {
        let Some(close) = self.close(at + 1) else { return false };
        let is_code = self.is(close - 1, b';')
            || (self.is(close - 1, b'}')
                && self.comma(at + 1, close).is_none()
                && is_any_in(&self.semicolons, at..close));
        if is_code {
            mask.blank(self.bytes(at, at + 1));
            mask.blank(self.tokens[close].bytes.clone());
        }
        is_code
    }

    /// Masks a macro at the start of a line that defines a function: `SYSCALL_DEFINE3(name, …) {`.
    fn mask_definition(&self, at: usize, mask: &mut Mask) -> bool {
        let starts_line = self.text[..self.tokens[at].bytes.start].ends_with('\n');
        let Some(close) = self.close(at + 1).filter(|close| starts_line && self.is(*close + 1, b'{')) else {
            return false;
        };
        let Some(comma) = self.comma(at + 1, close).filter(|comma| *comma == at + 3) else { return false };
        let has_types = is_any_in(&self.commas, comma + 1..close);
        if !has_types || !self.is_word(at + 2) || self.word(at).len() < 4 {
            return false;
        }
        mask.replace(self.bytes(at, at + 1), "void");
        mask.replace(self.bytes(comma, close - 1), "(");
        true
    }

    /// Masks a macro after the parameters of a function: `void print() const PRODUCT_RETURN;`.
    fn mask_suffix(&self, at: usize, mask: &mut Mask) -> bool {
        let last = self.close(at + 1).unwrap_or(at);
        let ends = [b';', b'{', b':'].iter().any(|b| self.is(last + 1, *b)) && !self.is(last + 2, b':');
        let is_chained = || self.is_word(last + 1) && (is_macro(self.word(last + 1)) || self.is_final(last + 1));
        let is_attribute = |before: usize| {
            matches!(self.word(before), "const" | "noexcept" | "override" | "final" | "volatile")
                || (self.is_word(before) && (is_macro(self.word(before)) || self.word(before).starts_with("__")))
        };
        let attributes = (1..=MAX_ATTRIBUTES).take_while(|distance| is_attribute(at.wrapping_sub(*distance))).count();
        let before = at.wrapping_sub(attributes + 1);
        if self.ends_declarator(before) && (ends || is_chained()) {
            mask.blank(self.bytes(at, last));
            return true;
        }
        if !self.is(before, b')') || !(ends || is_chained()) {
            return false;
        }
        let name = (self.partners[before] as usize).wrapping_sub(1);
        let names_function = self.is_word(name) && !is_macro(self.word(name)) && !is_statement(self.word(name))
            || self.is(name, b')')
            || self.ends_operator_name(name);
        if names_function {
            mask.blank(self.bytes(at, last));
        }
        names_function
    }

    /// Whether a name follows a type, so that it ends a declarator: `char *name`, `(int)name`, `Type attribute name`.
    fn ends_declarator(&self, name: usize) -> bool {
        let before = name.wrapping_sub(1);
        let is_name = |at: usize| self.is_word(at) && !is_builtin(self.word(at)) && !is_statement(self.word(at));
        is_name(name) && (self.is(before, b'*') || self.is(before, b')') || is_name(before))
    }

    fn is_final(&self, at: usize) -> bool {
        matches!(self.word(at), "const" | "noexcept" | "override" | "final")
    }

    /// Whether the token before parameters ends the name of an operator.
    fn ends_operator_name(&self, at: usize) -> bool {
        (1..4).any(|distance| self.word(at.wrapping_sub(distance)) == "operator")
    }

    /// Masks macros between a type keyword and the name: `class EXPORT ALIGNED(8) Name {`.
    fn mask_type_attribute(&self, at: usize, mask: &mut Mask) -> bool {
        if !matches!(self.word(at.wrapping_sub(1)), "class" | "struct" | "union" | "interface") {
            return false;
        }
        let mut last = self.close(at + 1).unwrap_or(at);
        for _ in 0..MAX_ATTRIBUTES {
            let end = self.close(last + 2).unwrap_or(last + 1);
            let is_attribute = self.is_word(last + 1) && is_macro(self.word(last + 1));
            if !is_attribute || !self.is_word(end + 1) || self.is_final(end + 1) {
                break;
            }
            last = end;
        }
        let mut next = last + 2;
        while self.is(next, b':') && self.is(next + 1, b':') {
            next += 3;
        }
        let is_definition = self.is_word(last + 1)
            && (self.is(next, b'{') || self.is(next, b':') || self.is(next, b'<') || self.word(next) == "final");
        if is_definition {
            mask.blank(self.bytes(at, last));
        }
        is_definition
    }

    /// Masks a macro before a declaration or before its name: `API int f(void);` and `int API f(void);`.
    fn mask_specifier(&self, at: usize, mask: &mut Mask) -> bool {
        let is_before_name = |name: usize| {
            self.is_word(name) && !is_statement(self.word(name)) && (self.is(name + 1, b'(') || self.is_qualified(name))
        };
        if self.is_word(at + 1) && is_before_name(at + 1) && self.follows_type(at) {
            mask.blank(self.tokens[at].bytes.clone());
            return true;
        }
        if let Some(close) = self.close(at + 1).filter(|_| self.begins_declaration(at) && !self.is(at + 2, b'(')) {
            // The argument may be the type: `PUBLIC(char *) f(int x)`.
            let is_type = (at + 2..close).all(|inside| self.is_word(inside) || self.is(inside, b'*')) && close > at + 2;
            if is_type && is_before_name(close + 1) && !is_macro(self.word(close + 1)) && !self.follows_line(at + 2) {
                replace_specifier(mask, self.bytes(at, at + 1));
                mask.blank(self.tokens[close].bytes.clone());
                return true;
            }
        }
        let is_parameter = self.is(at.wrapping_sub(1), b'(') || self.is(at.wrapping_sub(1), b',');
        let is_specifier = (self.begins_declaration(at) || is_parameter) && self.begins_type(at + 1);
        if is_specifier {
            replace_specifier(mask, self.tokens[at].bytes.clone());
        }
        is_specifier
    }

    fn is_qualified(&self, name: usize) -> bool {
        self.is(name + 1, b':') && self.is(name + 2, b':')
    }

    /// Whether a type ends before a token.
    fn follows_type(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        match self.tokens[before].kind {
            TokenKind::Punctuation(b) => matches!(b, b'*' | b'&') && self.is_word(before.wrapping_sub(1)),
            TokenKind::Word => {
                is_builtin(self.word(before)) || !(is_statement(self.word(before)) || is_macro(self.word(before)))
            }
            _ => false,
        }
    }

    /// Whether a type with a declarator begins at a token.
    fn begins_type(&self, at: usize) -> bool {
        let at = at + (at..at + MAX_ATTRIBUTES).take_while(|attribute| self.is_attribute(*attribute)).count();
        if !self.is_word(at) {
            return false;
        }
        let word = self.word(at);
        if is_builtin(word) || matches!(word, "static" | "inline" | "extern" | "struct" | "class" | "virtual" | "enum")
        {
            return true;
        }
        if matches!(word, "const" | "unsigned") {
            return self.is_word(at + 1);
        }
        if is_statement(word) {
            return false;
        }
        let is_between = |next: &usize| {
            self.is(*next, b'*') || self.is(*next, b'&') || self.word(*next) == "const" || self.is_attribute(*next)
        };
        let next = at + 1 + (at + 1..=at + MAX_ATTRIBUTES).take_while(is_between).count();
        let is_declarator = [b'(', b')', b';', b'=', b'[', b','].iter().any(|b| self.is(next + 1, *b));
        next < self.tokens.len() && self.is_word(next) && !is_statement(self.word(next)) && is_declarator
    }

    /// Whether a token is a macro before another word.
    fn is_attribute(&self, at: usize) -> bool {
        self.is_word(at) && is_macro(self.word(at)) && self.is_word(at + 1)
    }

    /// Masks a macro alone on a line without a semicolon: `Q_OBJECT` and `DEFINE_LIST(name)`.
    fn mask_statement(&self, at: usize, mask: &mut Mask) -> bool {
        if !self.begins_line(at) || !self.begins_declaration(at) {
            return false;
        }
        let close = self.close(at + 1);
        let last = close.unwrap_or(at);
        let next = last + 1;
        if !self.follows_line(next) {
            return false;
        }
        let is_next_declaration = match self.tokens.get(next).map(|token| token.kind) {
            None | Some(TokenKind::Directive) => true,
            Some(TokenKind::Punctuation(b)) => matches!(b, b'}' | b'~' | b'@'),
            // If a macro without arguments is followed by a word, it may be the type of a function on the next line.
            Some(TokenKind::Word) => {
                let is_name = self.is(next + 1, b'(') || self.is_qualified(next);
                close.is_some() || !is_name || is_macro(self.word(next))
            }
            Some(TokenKind::Literal) => false,
        };
        if is_next_declaration {
            mask.blank(self.bytes(at, last));
        }
        is_next_declaration
    }
}

/// Masks comments before a line continuation in a `#define`, because the grammar ends the macro at the first comment.
fn mask_comments(directive: &str, start: usize, mask: &mut Mask) {
    let mut at = 0;
    while let Some(open) = directive[at..].find("/*").map(|offset| at + offset) {
        let Some(close) = directive[open..].find("*/").map(|offset| open + offset + 2) else { return };
        let is_one_line = !directive[open..close].contains('\n');
        if is_one_line && directive[close..].contains('\n') {
            mask.blank(start + open..start + close);
        }
        at = close;
    }
}

/// Replaces a macro before a declaration with a specifier, if the macro is long enough, so that its span remains part
/// of the declaration.
fn replace_specifier(mask: &mut Mask, bytes: Range<usize>) {
    match bytes.len() {
        ..5 => mask.blank(bytes),
        5 => mask.replace(bytes, "const"),
        _ => mask.replace(bytes, "inline"),
    }
}
