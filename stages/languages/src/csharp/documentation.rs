//! Converts XML documentation to plain text.

use crate::extract::docs::comment_text;

/// Attributes whose value replaces an element that refers to something, such as `<see cref="Name"/>`.
const REFERENCES: &[&str] = &["cref", "langword", "href"];

/// Returns the text of comments without delimiters and tags.
pub(super) fn text(source: &str) -> String {
    plain(comment_text(source))
}

/// Removes the tags from a text. Replaces references with the names that they refer to.
pub(super) fn plain(documentation: String) -> String {
    if !documentation.contains('<') {
        return documentation;
    }
    let mut plain = String::with_capacity(documentation.len());
    let mut rest = documentation.as_str();
    while let Some(start) = rest.find('<') {
        plain.push_str(&rest[..start]);
        let tag = &rest[start + 1..];
        let is_tag = tag.starts_with(|c: char| c == '/' || c.is_ascii_alphabetic());
        match tag.find('>').filter(|_| is_tag) {
            Some(end) => {
                push_tag(&mut plain, &tag[..end]);
                rest = &tag[end + 1..];
            }
            None => {
                plain.push('<');
                rest = tag;
            }
        }
    }
    plain.push_str(rest);
    let plain = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let lines: Vec<&str> = plain.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Appends the text of a tag: the name of a parameter, or the target of a reference.
fn push_tag(plain: &mut String, tag: &str) {
    let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    match name {
        "param" | "typeparam" => {
            if let Some(parameter) = attribute(tag, "name") {
                plain.push_str(parameter);
                plain.push_str(": ");
            }
        }
        "exception" => {
            if let Some(exception) = attribute(tag, "cref") {
                plain.push_str(without_prefix(exception));
                plain.push_str(": ");
            }
        }
        "paramref" | "typeparamref" => plain.push_str(attribute(tag, "name").unwrap_or_default()),
        "see" | "seealso" | "inheritdoc" if tag.ends_with('/') => {
            let target = REFERENCES.iter().find_map(|name| attribute(tag, name)).unwrap_or_default();
            plain.push_str(without_prefix(target));
        }
        _ => {}
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = tag.split_once(&format!("{name}=\""))?;
    value.split('"').next()
}

/// Removes the prefix from names such as `T:System.String`.
fn without_prefix(name: &str) -> &str {
    match name.split_once(':') {
        Some((prefix, rest)) if prefix.len() == 1 => rest,
        _ => name,
    }
}
