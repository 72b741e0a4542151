//! Tests for syntax highlighting.

use proptest::prelude::*;

use crate::highlight::Highlight;
use crate::lexical_tables::TABLES;
use crate::{LANGUAGES, by_name};

fn highlighted(text: &str, language: &str) -> Vec<Vec<String>> {
    let language = by_name(language).unwrap();
    let shown = |line: &str, Highlight { bytes, class }: Highlight| format!("{class:?} {}", &line[bytes]);
    let lines = text.lines().zip(language.highlight(text));
    lines.map(|(line, found)| found.into_iter().map(|highlight| shown(line, highlight)).collect()).collect()
}

#[test]
fn the_tokens_of_a_line_are_classified() {
    assert_eq!(
        highlighted("def f(x): # it's\n    return \"a\\\"b\" + 12", "python"),
        [vec!["Keyword def", "Comment # it's"], vec!["Keyword return", "String \"a\\\"b\"", "Number 12"]]
    );
    assert_eq!(highlighted("fn a<'s>(x: &'s str) {}", "rust"), [["Keyword fn"]]);
    assert_eq!(highlighted("## Title\n#no", "markdown"), [vec!["Heading ## Title"], vec![]]);
}

#[test]
fn comments_and_strings_span_lines() {
    assert_eq!(
        highlighted("a /* b\nc */ return\n`x\n${y}` // z", "typescript"),
        [
            vec!["Comment /* b"],
            vec!["Comment c */", "Keyword return"],
            vec!["String `x"],
            vec!["String ${y}`", "Comment // z"]
        ]
    );
    assert_eq!(highlighted("'open\nif", "python"), [["String 'open"], ["Keyword if"]]);
}

#[test]
fn keywords_are_sorted_and_longer_quotes_come_first() {
    for table in TABLES {
        assert!(table.keywords.split(' ').is_sorted(), "{}", table.languages);
        let lengths = table.strings.iter().map(|(quote, _)| quote.len());
        assert!(lengths.rev().is_sorted(), "{}", table.languages);
    }
}

proptest! {
    #[test]
    fn highlights_are_disjoint_spans_of_their_lines(text in "[a-c\"'`/*#é日\\\\ \n1]{0,80}", index in 0..LANGUAGES.len()) {
        let lines: Vec<&str> = text.lines().collect();
        let found = LANGUAGES[index].highlight(&text);
        prop_assert_eq!(found.len(), lines.len());
        for (line, found) in lines.iter().zip(&found) {
            prop_assert!(found.iter().all(|h| line.get(h.bytes.clone()).is_some()), "{:?} {:?}", line, found);
            prop_assert!(found.windows(2).all(|pair| pair[0].bytes.end <= pair[1].bytes.start));
        }
    }
}
