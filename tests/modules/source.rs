//! A simple tokenizer of Rust source, which is only precise enough to find paths. It skips comments, literals and
//! lifetimes.

/// A word or a punctuation mark, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// Returns the tokens of a source file, without attributes and without items under `#[cfg(test)]`.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    without_tests(&scan(source))
}

fn scan(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(c) = rest.chars().next() {
        let length = literal(rest).unwrap_or_else(|| match c {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        });
        let (text, after) = rest.split_at(length);
        if literal(rest).is_none() && !c.is_whitespace() && !c.is_ascii_digit() {
            tokens.push(Token { text: text.to_owned(), line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of the comment, string, character or lifetime at the beginning of `text`.
fn literal(text: &str) -> Option<usize> {
    let until = |mark: &str, from: usize| text[from..].find(mark).map_or(text.len(), |at| from + at + mark.len());
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(until("*/", 2));
    }
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| {
            let rest = if prefix.ends_with('r') { rest.trim_start_matches('#') } else { rest };
            rest.starts_with('"')
        })
    });
    if let Some(prefix) = prefix {
        let hashes = text[prefix.len()..].chars().take_while(|c| *c == '#').count();
        let start = prefix.len() + hashes + 1;
        if prefix.ends_with('r') {
            return Some(until(&format!("\"{}", "#".repeat(hashes)), start));
        }
        return Some(end_of_string(text, start));
    }
    let quoted = text.strip_prefix('\'')?;
    let mut chars = quoted.chars();
    match (chars.next()?, chars.next()) {
        ('\\', Some(escaped)) => Some(until("'", 2 + escaped.len_utf8())),
        (c, Some('\'')) => Some(2 + c.len_utf8()),
        _ => Some(1 + quoted.find(|c| !is_word(c)).unwrap_or(quoted.len())),
    }
}

/// Returns the index after a string with escapes. The first character of the string is at `from`.
fn end_of_string(text: &str, from: usize) -> usize {
    let mut escaped = false;
    for (at, c) in text[from..].char_indices() {
        if c == '"' && !escaped {
            return from + at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let attribute = if tokens[at].text == "#" { end_of_attribute(tokens, at) } else { None };
        match attribute {
            Some(end) if is_test(&tokens[at..end]) => at = end_of_item(tokens, end),
            Some(end) => at = end,
            None => {
                kept.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    kept
}

/// Returns the index after `#[…]` or `#![…]`.
fn end_of_attribute(tokens: &[Token], at: usize) -> Option<usize> {
    let open = at + 1 + usize::from(tokens.get(at + 1)?.text == "!");
    if tokens.get(open)?.text != "[" {
        return None;
    }
    let mut depth = 0_i32;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        depth += i32::from(token.text == "[") - i32::from(token.text == "]");
        if depth == 0 {
            return Some(place + 1);
        }
    }
    None
}

fn is_test(attribute: &[Token]) -> bool {
    let text: String = attribute.iter().map(|token| token.text.as_str()).collect();
    ["#[cfg(test)]", "#[cfg(all(test,", "#[cfg(any(test,"].iter().any(|test| text.starts_with(test))
}

/// Returns the index after the item, field or argument that begins at `at`.
fn end_of_item(tokens: &[Token], at: usize) -> usize {
    const KEYWORDS: [&str; 8] = ["fn", "impl", "struct", "enum", "trait", "mod", "use", "type"];
    let mut depth = 0_i32;
    let mut is_item = false;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return place + 1;
                }
            }
            ";" if depth == 0 => return place + 1,
            // A comma ends a field, a variant or an argument. Within an item, it only separates generic parameters.
            "," if depth == 0 && !is_item => return place + 1,
            text => is_item |= KEYWORDS.contains(&text),
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> String {
        tokens(source).into_iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_literals_and_lifetimes_are_skipped() {
        assert_eq!(texts("use a::b; // c::d\nlet x = \"e::\\\"f\";"), "use a :: b ; let x = ;");
        assert_eq!(texts("r#\"a::\"b\"# c /* d */ 'x' '\\'' &'l e br\"f\""), "c & e");
    }

    #[test]
    fn items_of_tests_are_skipped() {
        assert_eq!(
            texts("a; #[cfg(test)] mod t { x::y() } b; #[cfg(test)] use c::d; #[inline] fn e() {}"),
            "a ; b ; fn e ( ) { }"
        );
    }

    #[test]
    fn lines_are_counted() {
        let lines: Vec<usize> = tokens("a\n\"x\ny\"\nb").into_iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 4]);
    }
}
