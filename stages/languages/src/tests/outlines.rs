//! Tests of the formats whose outline is read from lines, with random texts.

use proptest::prelude::*;

use crate::{LANGUAGES, Language, Parser};

fn formats() -> Vec<&'static Language> {
    LANGUAGES.iter().copied().filter(|language| language.grammar.is_none()).collect()
}

/// Lines that begin, end or resemble constructs of the formats.
const LINES: &[&str] = &[
    "",
    "Title",
    "=====",
    "-----",
    "~~~~~",
    "====  ====",
    "= A",
    "== B `c` [[d]]",
    "* E :tag:",
    "** TODO [#A] F",
    "text::",
    "> quoted",
    "  indented",
    ".. _label:",
    ".. code-block:: python",
    "   def f(): pass",
    "   :option:",
    "..",
    "::",
    "----",
    "====",
    "....",
    "--",
    "|===",
    "```rust",
    "fn g() {}",
    "```",
    "[source,python]",
    "[[id]]",
    "[discrete]",
    "// comment",
    ":name: value",
    ":PROPERTIES:",
    ":CUSTOM_ID: x",
    ":END:",
    "#+begin_src python",
    "#+end_src",
    "#+title: T",
    "#+TODO: A | B",
    "<<target>> <<",
    ":role:`x <y>` `` é",
    "日本",
    "====\r",
    "[[a][b]] [[",
    "\u{feff}= A",
    "`*\\",
];

proptest! {
    #[test]
    fn outlines_are_spans_of_the_text_in_order(rows in prop::collection::vec(0..LINES.len(), 0..40), ends_line in any::<bool>()) {
        let mut text = rows.iter().map(|row| LINES[*row]).collect::<Vec<_>>().join("\n");
        text.extend(ends_line.then_some('\n'));
        for language in formats() {
            let found = Parser::new().parse(Some(language), &text);
            prop_assert_eq!(&found.failure, &None);
            let mut previous = 0;
            for symbol in &found.symbols {
                prop_assert!(symbol.bytes.start >= previous && symbol.bytes.start < symbol.bytes.end, "{}", language.name);
                previous = symbol.bytes.start;
                let span = text.get(symbol.bytes.start as usize..symbol.bytes.end as usize);
                prop_assert!(span.is_some() && (1..=6).contains(&symbol.heading_level) && !symbol.name.is_empty());
                let line = text[..symbol.bytes.start as usize].matches('\n').count() as u32 + 1;
                prop_assert_eq!(symbol.lines.0, line);
            }
            // The last section ends with the text.
            prop_assert!(found.symbols.last().is_none_or(|last| last.bytes.end as usize == text.len()));
            prop_assert!(found.constants.is_sorted_by_key(|constant| constant.at));
            prop_assert!(found.constants.iter().all(|constant| text.is_char_boundary(constant.at as usize)));
        }
    }

    #[test]
    fn any_text_has_an_outline(text in "[=\\-~*#.:`\\[\\]<>|/_+ a-c\né日\r]{0,200}") {
        for language in formats() {
            prop_assert_eq!(&Parser::new().parse(Some(language), &text).failure, &None);
        }
    }
}
