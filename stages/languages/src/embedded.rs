//! Finds the parts of a text that are in other languages, such as the scripts and styles of a page or component.

use std::ops::Range;

/// Maximum number of parts of one text. Components and pages have a few parts, and documents up to a few hundred code
/// blocks.
pub(crate) const MAX_PARTS: usize = 1_000;

/// A part of a text that is in another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Embedded<'t> {
    /// The language as the text names it: a name, an alias or an extension.
    pub(crate) language: &'t str,
    pub(crate) bytes: Range<usize>,
}

/// Returns the contents of `<script>` and `<style>` elements outside of comments, in document order.
///
/// The attribute `lang` names the language; if it is missing, the attribute `type` does. Without these attributes,
/// scripts are in `default_script` and styles are in CSS. Data blocks such as `application/json` are omitted. The
/// search takes linear time.
pub(crate) fn scripts_and_styles<'t>(text: &'t str, default_script: &'t str) -> Vec<Embedded<'t>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'<', &text.as_bytes()[at..]).map(|offset| at + offset) {
        let rest = &text[open..];
        if rest.starts_with("<!--") {
            let Some(end) = rest.find("-->") else { break };
            at = open + end;
            continue;
        }
        at = open + 1;
        let Some((element, default)) =
            [("script", default_script), ("style", "css")].into_iter().find(|(name, _)| is_tag(&rest[1..], name))
        else {
            continue;
        };
        let Some(tag) = Tag::new(&rest[1 + element.len()..]) else { break };
        let start = open + 1 + element.len() + tag.length;
        if tag.is_empty_element {
            at = start;
            continue;
        }
        let Some(end) = end_tag(&text[start..], element).map(|offset| start + offset) else { break };
        if let Some(language) = tag.language(default)
            && found.len() < MAX_PARTS
        {
            found.push(Embedded { language, bytes: start..end });
        }
        at = end;
    }
    found
}

/// Whether a text begins with the whole name of an element, ignoring case.
fn is_tag(text: &str, name: &str) -> bool {
    let Some((head, rest)) = text.as_bytes().split_at_checked(name.len()) else { return false };
    head.eq_ignore_ascii_case(name.as_bytes())
        && rest.first().is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

/// Returns the offset of the first end tag of an element.
fn end_tag(text: &str, name: &str) -> Option<usize> {
    memchr::memmem::find_iter(text.as_bytes(), b"</").find(|at| is_tag(&text[at + 2..], name))
}

/// A start tag.
#[derive(Default)]
struct Tag<'t> {
    /// Number of bytes after the name, including `>`.
    length: usize,
    is_empty_element: bool,
    lang: Option<&'t str>,
    content_type: Option<&'t str>,
}

impl<'t> Tag<'t> {
    /// Reads the attributes up to `>`. Returns `None` if the tag has no end.
    fn new(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut tag = Self::default();
        let mut at = 0;
        loop {
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match bytes.get(at)? {
                b'>' => return Some(Self { length: at + 1, ..tag }),
                b'/' => {
                    tag.is_empty_element = bytes.get(at + 1) == Some(&b'>');
                    at += 1;
                    continue;
                }
                _ => {}
            }
            let name_end = at + 1 + bytes[at + 1..].iter().take_while(|byte| is_unquoted(**byte)).count();
            let name = text.get(at..name_end).unwrap_or_default();
            at = name_end;
            if bytes.get(at) != Some(&b'=') {
                continue;
            }
            let (value, length) = attribute_value(&text[at + 1..])?;
            at += 1 + length;
            match name {
                "lang" => tag.lang = Some(value),
                "type" => tag.content_type = Some(value),
                _ => {}
            }
        }
    }

    fn language(&self, default: &'t str) -> Option<&'t str> {
        if let Some(lang) = self.lang {
            return Some(lang);
        }
        match self.content_type.map(|value| value.rsplit_once('/').map_or(value, |(_, subtype)| subtype)) {
            None | Some("" | "module") => Some(default),
            Some("javascript" | "ecmascript" | "x-javascript" | "babel" | "jsx") => Some("javascript"),
            Some(other @ ("typescript" | "css")) => Some(other),
            Some(_) => None,
        }
    }
}

/// Whether a byte may be part of an attribute name or of an unquoted value.
fn is_unquoted(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/')
}

/// Returns the value after `=` and its length including quotes or braces, or `None` if the closing quote or brace is
/// missing.
fn attribute_value(text: &str) -> Option<(&str, usize)> {
    let quote = match text.as_bytes().first()? {
        quote @ (b'"' | b'\'') => *quote,
        b'{' => b'}',
        _ => {
            let length = text.bytes().take_while(|byte| is_unquoted(*byte) || *byte == b'=' || *byte == b'/').count();
            return Some((&text[..length], length));
        }
    };
    let end = 1 + memchr::memchr(quote, &text.as_bytes()[1..])?;
    Some((&text[1..end], end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = scripts_and_styles(text, "javascript");
        let found: Vec<_> = found.iter().map(|part| (part.language, &text[part.bytes.clone()])).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn attributes_name_the_language() {
        check("<script>a</script>", &[("javascript", "a")]);
        check("<script setup lang=\"ts\">a</script>", &[("ts", "a")]);
        check("<SCRIPT LANGUAGE=x lang=tsx>a</Script >", &[("tsx", "a")]);
        check("<script type='module'>a</script><style>b</style>", &[("javascript", "a"), ("css", "b")]);
        check("<script type=\"text/typescript\">a</script>", &[("typescript", "a")]);
        check("<script type=\"application/ld+json\">{}</script><script type=importmap>{}</script>", &[]);
        check("<style lang=\"scss\">a</style>", &[("scss", "a")]);
    }

    #[test]
    fn a_quoted_angle_bracket_does_not_end_a_tag() {
        check("<script generics=\"T extends Map<K, V>\" lang='ts'>a</script>", &[("ts", "a")]);
        check("<style define:vars={{ a }}>b</style>", &[("css", "b")]);
        check("<script\n  src=\"a/b.js\"\n/>\n<script>é</script>", &[("javascript", "é")]);
    }

    #[test]
    fn other_text_is_not_a_script() {
        check("<scripts>a</scripts> <!-- <script>b</script> --> <p>c</p>", &[]);
        check("<script>if (a </b/) '<style>c</style>'</script>", &[("javascript", "if (a </b/) '<style>c</style>'")]);
        check("<script>a", &[]);
        check("<script a=\"", &[]);
        check("<script é=ü>a</script>", &[("javascript", "a")]);
    }
}
