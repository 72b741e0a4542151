//! What a word of source code is: keyword, text, comment, number or anything else. A lexer that knows a little of each
//! language: enough to colour by, not to understand.

use std::ops::Range;

/// What a stretch of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A word that the language reserves.
    Keyword,
    /// A literal text.
    Text,
    /// A comment.
    Comment,
    /// A literal number.
    Number,
    /// A heading or other mark of a document.
    Heading,
}

/// How a language writes comments and texts, and its keywords.
struct Syntax {
    line_comments: &'static [&'static str],
    block_comment: Option<(&'static str, &'static str)>,
    /// Delimiters of texts, longer ones first; those that may go on over lines are marked.
    texts: &'static [(&'static str, bool)],
    keywords: &'static [&'static str],
}

static PYTHON: Syntax = Syntax {
    line_comments: &["#"],
    block_comment: None,
    texts: &[("\"\"\"", true), ("'''", true), ("\"", false), ("'", false)],
    keywords: &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def",
        "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
        "match", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try", "while", "with", "yield",
    ],
};

static JAVASCRIPT: Syntax = Syntax {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    texts: &[("`", true), ("\"", false), ("'", false)],
    keywords: &[
        "abstract",
        "as",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "declare",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "from",
        "function",
        "get",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "namespace",
        "new",
        "null",
        "of",
        "private",
        "protected",
        "public",
        "readonly",
        "return",
        "set",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "type",
        "typeof",
        "undefined",
        "var",
        "void",
        "while",
        "with",
        "yield",
    ],
};

static GO: Syntax = Syntax {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    texts: &[("`", true), ("\"", false), ("'", false)],
    keywords: &[
        "break",
        "case",
        "chan",
        "const",
        "continue",
        "default",
        "defer",
        "else",
        "fallthrough",
        "false",
        "for",
        "func",
        "go",
        "goto",
        "if",
        "import",
        "interface",
        "iota",
        "map",
        "nil",
        "package",
        "range",
        "return",
        "select",
        "struct",
        "switch",
        "true",
        "type",
        "var",
    ],
};

static JAVA: Syntax = Syntax {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    texts: &[("\"\"\"", true), ("\"", false), ("'", false)],
    keywords: &[
        "abstract",
        "assert",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "char",
        "class",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extends",
        "false",
        "final",
        "finally",
        "float",
        "for",
        "if",
        "implements",
        "import",
        "instanceof",
        "int",
        "interface",
        "long",
        "native",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "record",
        "return",
        "sealed",
        "short",
        "static",
        "super",
        "switch",
        "synchronized",
        "this",
        "throw",
        "throws",
        "transient",
        "true",
        "try",
        "var",
        "void",
        "volatile",
        "while",
        "yield",
    ],
};

/// A quote may begin a lifetime, so it begins no text.
static RUST: Syntax = Syntax {
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    texts: &[("\"", true)],
    keywords: &[
        "Self", "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
        "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
        "self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while",
    ],
};

fn syntax(language: &str) -> Option<&'static Syntax> {
    match language {
        "python" => Some(&PYTHON),
        "javascript" | "typescript" | "tsx" => Some(&JAVASCRIPT),
        "go" => Some(&GO),
        "java" => Some(&JAVA),
        "rust" => Some(&RUST),
        _ => None,
    }
}

/// Tokens in every line of `text`, as byte ranges within the line, in order and apart; none for an unknown language.
pub(crate) fn tokens(text: &str, language: &str) -> Vec<Vec<(Range<usize>, Token)>> {
    if language == "markdown" {
        return text.lines().map(heading).collect();
    }
    let Some(syntax) = syntax(language) else { return text.lines().map(|_| Vec::new()).collect() };
    let mut open: Option<Open> = None;
    text.lines().map(|line| syntax.line(line, &mut open)).collect()
}

fn heading(line: &str) -> Vec<(Range<usize>, Token)> {
    let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    if is_heading { vec![(0..line.len(), Token::Heading)] } else { Vec::new() }
}

/// What goes on from one line to the next.
#[derive(Clone, Copy)]
struct Open {
    end: &'static str,
    token: Token,
}

impl Syntax {
    fn line(&self, line: &str, open: &mut Option<Open>) -> Vec<(Range<usize>, Token)> {
        let mut found = Vec::new();
        let mut at = 0;
        if let Some(Open { end, token }) = *open {
            at = match closing(line, 0, end, token == Token::Text) {
                Some(past) => {
                    *open = None;
                    past
                }
                None => line.len(),
            };
            found.push((0..at, token));
        }
        while at < line.len() {
            let rest = &line[at..];
            let start = at;
            if self.line_comments.iter().any(|mark| rest.starts_with(mark)) {
                found.push((at..line.len(), Token::Comment));
                break;
            }
            if let Some((_, end)) = self.block_comment.filter(|(begin, _)| rest.starts_with(begin)) {
                at = closing(line, at + 2, end, false).unwrap_or_else(|| {
                    *open = Some(Open { end, token: Token::Comment });
                    line.len()
                });
                found.push((start..at, Token::Comment));
            } else if let Some(&(quote, spans)) = self.texts.iter().find(|(quote, _)| rest.starts_with(quote)) {
                at = closing(line, at + quote.len(), quote, true).unwrap_or_else(|| {
                    *open = spans.then_some(Open { end: quote, token: Token::Text });
                    line.len()
                });
                found.push((start..at, Token::Text));
            } else {
                at += word_length(rest);
                let word = &line[start..at];
                if word.starts_with(|c: char| c.is_ascii_digit()) {
                    found.push((start..at, Token::Number));
                } else if self.keywords.binary_search(&word).is_ok() {
                    found.push((start..at, Token::Keyword));
                }
            }
        }
        found
    }
}

/// Where a text or comment that goes on at `from` has ended; `None` where it does not end in this line.
fn closing(line: &str, from: usize, end: &str, escapes: bool) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if bytes[at..].starts_with(end.as_bytes()) {
            return Some(at + end.len());
        }
        at += if escapes && bytes[at] == b'\\' { 2 } else { 1 };
    }
    None
}

/// Bytes of the identifier or number that `rest` begins with, or of its first character.
fn word_length(rest: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    match rest.find(|c| !is_word(c)) {
        Some(0) => rest.chars().next().map_or(1, char::len_utf8),
        Some(end) => end,
        None => rest.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(text: &str, language: &str) -> Vec<Vec<String>> {
        let lines = text.lines().zip(tokens(text, language));
        lines
            .map(|(line, tokens)| {
                tokens.into_iter().map(|(range, token)| format!("{token:?} {}", &line[range])).collect()
            })
            .collect()
    }

    #[test]
    fn words_of_a_line() {
        assert_eq!(
            named("def f(x): # it's\n    return \"a\\\"b\" + 12", "python"),
            [vec!["Keyword def", "Comment # it's"], vec!["Keyword return", "Text \"a\\\"b\"", "Number 12"]]
        );
        assert_eq!(named("fn a<'s>(x: &'s str) {}", "rust"), [["Keyword fn"]]);
        assert_eq!(named("## Title\n#no", "markdown"), [vec!["Heading ## Title"], vec![]]);
        assert_eq!(named("if x", "cobol"), [[""; 0]]);
    }

    #[test]
    fn comments_and_texts_go_on_over_lines() {
        assert_eq!(
            named("a /* b\nc */ return\n`x\n${y}` // z", "typescript"),
            [
                vec!["Comment /* b"],
                vec!["Comment c */", "Keyword return"],
                vec!["Text `x"],
                vec!["Text ${y}`", "Comment // z"]
            ]
        );
        assert_eq!(named("'open\nif", "python"), [["Text 'open"], ["Keyword if"]]);
    }

    #[test]
    fn keywords_can_be_searched() {
        for syntax in [&PYTHON, &JAVASCRIPT, &GO, &JAVA, &RUST] {
            assert!(syntax.keywords.is_sorted());
        }
    }

    proptest! {
        #[test]
        fn tokens_lie_in_their_lines_in_order(text in "[a-c\"'`/*#é日\\\\ \n1]{0,80}", language in "python|go|rust|java|typescript|markdown") {
            let lines: Vec<&str> = text.lines().collect();
            let found = tokens(&text, &language);
            prop_assert_eq!(found.len(), lines.len());
            for (line, tokens) in lines.iter().zip(&found) {
                prop_assert!(tokens.iter().all(|(range, _)| line.get(range.clone()).is_some()), "{:?} {:?}", line, tokens);
                prop_assert!(tokens.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
            }
        }
    }
}
