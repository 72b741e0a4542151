//! Masks macros inside expressions: `"size " SIZE_FORMAT " bytes"`, `__ move(a, b)`, `limit DEBUG_ONLY(* 3)`,
//! `va_arg(list, int)`.

use crate::c::lexer::TokenKind;
use crate::c::source::Source;
use crate::c::words::{is_builtin, is_macro};
use crate::mask::Mask;

impl Source<'_> {
    /// Masks the word at `at` if it is a macro inside an expression. Returns whether the word was masked.
    pub(super) fn mask_expression(&self, at: usize, mask: &mut Mask) -> bool {
        let word = self.word(at);
        let is_masked = word == "__" && self.is_word(at + 1)
            || word == "template" && matches!(self.word(at + 1), "class" | "struct")
            || is_macro(word) && self.is_between_strings(at);
        if is_masked {
            mask.blank(self.tokens[at].bytes.clone());
            return true;
        }
        let Some(close) = self.close(at + 1) else { return false };
        if is_macro(word) && self.is_fragment(at, close) {
            mask.blank(self.bytes(at, close));
            return true;
        }
        if is_macro(word) || word == "va_arg" {
            self.mask_type_arguments(at + 1, close, mask);
        }
        false
    }

    fn is_string(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Literal) && self.word(at).ends_with('"')
    }

    /// Whether a macro is next to a string: `"a" FORMAT "b"`, `"a" FORMAT)` or `(FORMAT "b"`.
    fn is_between_strings(&self, at: usize) -> bool {
        let before = at.wrapping_sub(1);
        let begins = self.is(before, b'(') || self.is(before, b',');
        !self.is(at + 1, b'(') && (self.is_string(before) || (begins && self.is_string(at + 1)))
    }

    /// Whether the arguments are not a complete expression, as in `LOG_ONLY(&& is_open)` and `LOG_ONLY(is_open ? 1 :)`,
    /// or whether the macro directly follows another one, as in `WIDE_ONLY(a) NARROW_ONLY(b)`.
    fn is_fragment(&self, at: usize, close: usize) -> bool {
        if close == at + 2 {
            return false;
        }
        let operators = [b'/', b'+', b'%', b'|', b',', b'=', b'<', b'>', b'?', b':', b'.'];
        let begins = operators.iter().any(|b| self.is(at + 2, *b)) && !(self.is(at + 2, b':') && self.is(at + 3, b':'))
            || self.is(at + 2, b'&') && self.is(at + 3, b'&')
            || self.is(at + 2, b'*') && !self.is_word(at + 3);
        let ends =
            [b',', b':', b'?', b'&', b'|', b'+'].iter().any(|b| self.is(close - 1, *b)) && !self.is(close - 1, b'*');
        let before = at.wrapping_sub(1);
        let follows_macro = self.is(before, b')') && {
            let name = (self.partners[before] as usize).wrapping_sub(1);
            self.is_word(name) && is_macro(self.word(name)) && !self.follows_line(at)
        };
        let is_last = [b';', b',', b')'].iter().any(|b| self.is(close + 1, *b));
        begins || ends && is_macro_argument_list(self, at, close) || follows_macro && is_last
    }

    /// Replaces built-in types in arguments with names, because types are not expressions: `va_arg(list, int)`,
    /// `NEW_ARRAY(char*, n)`.
    fn mask_type_arguments(&self, open: usize, close: usize, mask: &mut Mask) {
        for at in open + 1..close.min(open + 64) {
            if !is_builtin(self.word(at)) || !(self.is(at - 1, b'(') || self.is(at - 1, b',')) {
                continue;
            }
            let mut end = at + 1;
            while self.is(end, b'*') {
                end += 1;
            }
            let is_argument = end == close || self.is(end, b',') && end < close;
            if is_argument && (self.is(at - 1, b',') || end != close) {
                mask.replace(self.bytes(at, end - 1), "_");
            }
        }
    }
}

/// Whether an argument list that ends with an operator is the argument list of a macro, and not the parameters of a
/// declaration with references.
fn is_macro_argument_list(source: &Source<'_>, at: usize, close: usize) -> bool {
    !source.is(close - 1, b'&') || source.is(close - 2, b'&') || !source.is_word(at.wrapping_sub(1))
}
