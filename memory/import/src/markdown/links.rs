//! Extracts links from Markdown.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// A link in a Markdown text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoteLink {
    /// The destination of `[text](destination)`.
    Destination(String),
    /// The name in `[[name]]`.
    Name(String),
}

/// Returns the links and images in a text, in order. Ignores links in code and automatic links such as `<https://…>`.
pub(super) fn parse_links(text: &str) -> Vec<NoteLink> {
    let options = Options::ENABLE_WIKILINKS | Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let links = Parser::new_ext(text, options).filter_map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. }) => match link_type
        {
            LinkType::WikiLink { .. } => Some(NoteLink::Name(dest_url.into_string())),
            LinkType::Email | LinkType::Autolink => None,
            _ => Some(NoteLink::Destination(dest_url.into_string())),
        },
        _ => None,
    });
    links.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let text = "See [a](a.md) and [b][ref], [[c]], [[d|shown]], ![[e]].\n\n`[f](f.md)` <https://x.org>\n\n\
                    ```\n[[g]]\n```\n\n| [h](<h i.md>) |\n|---|\n\n[ref]: b.md \"B\"\n";
        let found: Vec<String> = parse_links(text)
            .into_iter()
            .map(|link| match link {
                NoteLink::Destination(to) => to,
                NoteLink::Name(name) => format!("[[{name}]]"),
            })
            .collect();
        assert_eq!(found, ["a.md", "b.md", "[[c]]", "[[d]]", "[[e]]", "h i.md"]);
    }
}
