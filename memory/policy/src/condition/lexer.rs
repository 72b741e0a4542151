//! Splits a condition into tokens.

use std::ops::Range;

use crate::condition::error::ConditionError;
use crate::condition::operator::Operator;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    And,
    Or,
    Not,
    Open,
    Close,
    Operator(Operator),
    /// A name that consists of ASCII letters, digits, `_` and `.`.
    Word(String),
    Number(f64),
    /// The unescaped content of a quoted string.
    Text(String),
    End,
}

/// A token and its byte range in the condition.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// All operators and punctuation. A symbol comes before its prefixes, so that the longest symbol matches. A symbol with
/// `Err` is common in other languages, but invalid in a condition. `Err` contains the replacement that the error
/// suggests.
const SYMBOLS: [(&str, Result<TokenKind, &str>); 21] = [
    ("&&", Ok(TokenKind::And)),
    ("&", Err("AND")),
    ("||", Ok(TokenKind::Or)),
    ("|", Err("OR")),
    ("(", Ok(TokenKind::Open)),
    (")", Ok(TokenKind::Close)),
    ("==", Ok(TokenKind::Operator(Operator::Equal))),
    ("=>", Err(">=")),
    ("=<", Err("<=")),
    ("=", Ok(TokenKind::Operator(Operator::Equal))),
    ("!=", Ok(TokenKind::Operator(Operator::NotEqual))),
    ("!", Ok(TokenKind::Not)),
    ("<=", Ok(TokenKind::Operator(Operator::LessOrEqual))),
    ("<>", Err("!=")),
    ("<", Ok(TokenKind::Operator(Operator::Less))),
    (">=", Ok(TokenKind::Operator(Operator::GreaterOrEqual))),
    (">", Ok(TokenKind::Operator(Operator::Greater))),
    ("‘", Err("'")),
    ("’", Err("'")),
    ("“", Err("\"")),
    ("”", Err("\"")),
];

/// Returns the tokens of `text`, followed by [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ConditionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let token = match first {
            '\'' | '"' => quoted(text, at, first)?,
            first if first.is_ascii_alphabetic() || first == '_' => word(text, at),
            first if first.is_ascii_digit() || starts_number(&text[at + first.len_utf8()..], first) => {
                number(text, at)?
            }
            _ => symbol(text, at, first)?,
        };
        at = token.span.end;
        tokens.push(token);
    }
    tokens.push(Token { kind: TokenKind::End, span: at..at });
    Ok(tokens)
}

fn quoted(text: &str, start: usize, quote: char) -> Result<Token, ConditionError> {
    let mut content = String::new();
    let mut at = start + 1;
    while let Some(character) = text[at..].chars().next() {
        let end = at + character.len_utf8();
        if character == quote {
            return Ok(Token { kind: TokenKind::Text(content), span: start..end });
        }
        if character != '\\' {
            content.push(character);
            at = end;
            continue;
        }
        let (escaped, length) = escape(&text[end..]).ok_or_else(|| {
            let wrong: String = text[at..].chars().take(2).collect();
            let expected = r#"\\, \', \", \n, \r, \t or \u{N} with the hexadecimal number N of a character"#;
            ConditionError::new(at..at + wrong.len(), format!("`{wrong}` is not an escape sequence"), expected)
        })?;
        content.push(escaped);
        at = end + length;
    }
    Err(ConditionError::new(start..text.len(), "unterminated string", format!("a closing {quote}")))
}

/// Parses an escape sequence. `rest` is the text after the `\`. Returns the character and the length of the sequence in
/// bytes, without the `\`.
fn escape(rest: &str) -> Option<(char, usize)> {
    let character = match rest.chars().next()? {
        same @ ('\\' | '\'' | '"') => same,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let (digits, _) = rest.strip_prefix("u{")?.split_once('}')?;
            let is_hexadecimal = digits.chars().all(|digit| digit.is_ascii_hexdigit());
            let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?;
            return Some((char::from_u32(code)?, "u{}".len() + digits.len()));
        }
        _ => return None,
    };
    Some((character, 1))
}

fn word(text: &str, start: usize) -> Token {
    let span = start..end_of(text, start, |character| character.is_ascii_alphanumeric() || "_.".contains(character));
    let name = &text[span.clone()];
    let keywords = [("AND", TokenKind::And), ("OR", TokenKind::Or), ("NOT", TokenKind::Not)];
    let keyword = keywords.into_iter().find(|(keyword, _)| keyword.eq_ignore_ascii_case(name));
    Token { kind: keyword.map_or_else(|| TokenKind::Word(name.to_owned()), |(_, kind)| kind), span }
}

/// Returns `true` if `first` is a sign or a decimal point that begins a number.
fn starts_number(rest: &str, first: char) -> bool {
    let digits = if first == '-' { rest.strip_prefix('.').unwrap_or(rest) } else { rest };
    matches!(first, '-' | '.') && digits.starts_with(|digit: char| digit.is_ascii_digit())
}

fn number(text: &str, start: usize) -> Result<Token, ConditionError> {
    let span =
        start..end_of(text, start + 1, |character| character.is_ascii_alphanumeric() || "_.".contains(character));
    let written = &text[span.clone()];
    let (whole, fraction) = written.split_once('.').unwrap_or((written, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_decimal = are_digits(whole.strip_prefix('-').unwrap_or(whole)) && are_digits(fraction);
    let value = written.parse::<f64>().ok().filter(|_| is_decimal);
    match value {
        Some(value) if value.is_finite() => Ok(Token { kind: TokenKind::Number(value), span }),
        Some(_) => Err(ConditionError::new(span, "the number is too large", "a number below 1.8 · 10^308")),
        None => {
            let expected = "digits with at most one decimal point between them, such as 0.8";
            Err(ConditionError::new(span, format!("`{written}` is not a decimal number"), expected))
        }
    }
}

fn symbol(text: &str, start: usize, first: char) -> Result<Token, ConditionError> {
    let found = SYMBOLS.into_iter().find(|(symbol, _)| text[start..].starts_with(symbol));
    let Some((symbol, kind)) = found else {
        let shown = first.escape_debug();
        let expected = "a field, an operator, a value, a parenthesis, AND, OR or NOT";
        return Err(ConditionError::new(start..start + first.len_utf8(), format!("unexpected `{shown}`"), expected));
    };
    let span = start..start + symbol.len();
    match kind {
        Ok(kind) => Ok(Token { kind, span }),
        Err(replacement) => Err(ConditionError::new(span, format!("unexpected `{symbol}`"), replacement)),
    }
}

fn end_of(text: &str, start: usize, is_part: impl Fn(char) -> bool) -> usize {
    text[start..].find(|character| !is_part(character)).map_or(text.len(), |length| start + length)
}
