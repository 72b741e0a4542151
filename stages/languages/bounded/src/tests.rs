use std::ops::ControlFlow;
use std::thread;

use tree_sitter::{Language, Parser};

use super::{BoundedParser, Stopped};

const MIB: usize = 1 << 20;

fn go() -> Language {
    tree_sitter_go::LANGUAGE.into()
}

fn javascript() -> Language {
    tree_sitter_javascript::LANGUAGE.into()
}

/// The tree as text, or why there is none.
fn parse(parser: &mut BoundedParser, text: &str) -> Result<String, Stopped> {
    parser.parse(text.as_bytes(), &mut || ControlFlow::Continue(())).map(|tree| tree.root_node().to_sexp())
}

fn bounded(language: &Language) -> BoundedParser {
    let mut parser = BoundedParser::new(4 * MIB);
    parser.set_language(language).expect("the grammar is supported");
    parser
}

/// Texts with an error at each of many nested places.
fn nested_errors() -> [(Language, String); 3] {
    [
        (go(), "%w[".repeat(2_000)),
        (javascript(), "}{a:".repeat(600)),
        (go(), format!(" / See{}sions and\n{}", "%w[".repeat(13_000), "x\n".repeat(10_000))),
    ]
}

#[test]
fn nested_errors_end_at_the_limit_and_the_next_text_is_parsed() {
    for (language, text) in nested_errors() {
        let mut parser = bounded(&language);
        for _ in 0..3 {
            assert_eq!(parse(&mut parser, &text), Err(Stopped::TooManyCopies));
            let short = parse(&mut parser, "a").expect("is short");
            assert_eq!(short, parse(&mut bounded(&language), "a").expect("is short"));
        }
    }
}

#[test]
fn trees_are_those_of_tree_sitter() {
    let deep = "[".repeat(20_000) + &"]".repeat(20_000);
    let errors = "function f( { ) return [1, , }\n class A { b( } \n".repeat(300);
    for text in ["", "f(a, b)", "%w[%w[%w[", "}{a:}{a:}{a:", "let a = `${b}`; /*", &errors, &deep] {
        let mut parser = Parser::new();
        parser.set_language(&javascript()).expect("the grammar is supported");
        let expected = parser.parse(text, None).expect("has no limit").root_node().to_sexp();
        assert_eq!(parse(&mut bounded(&javascript()), text), Ok(expected));
    }
}

#[test]
fn trees_and_parsers_may_be_older_and_younger_than_the_limit() {
    let mut other = Parser::new();
    other.set_language(&go()).expect("the grammar is supported");
    let tree = other.parse("package p; func f() {}", None).expect("has no limit");
    let mut parser = bounded(&go());
    let bounded = parser.parse(b"package p; func f() {}", &mut || {
        other.reset();
        drop(other.parse("package q; func g() { h(1) }", Some(&tree)));
        ControlFlow::Continue(())
    });
    drop(parser);
    drop(tree);
    assert_eq!(bounded.expect("is short").root_node().kind(), "source_file");
}

#[test]
fn a_caller_that_stops_gets_no_tree_and_the_parser_begins_anew() {
    let mut parser = bounded(&go());
    let long = "func f() { g(1) }\n".repeat(1_000);
    let mut asked = 0;
    let stopped = parser.parse(long.as_bytes(), &mut || {
        asked += 1;
        if asked < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!((stopped.err(), asked), (Some(Stopped::ByCaller), 5));
    assert_eq!(parse(&mut parser, "a"), parse(&mut bounded(&go()), "a"));
}

#[test]
fn without_a_language_or_inside_of_a_parse_there_is_no_tree() {
    assert_eq!(parse(&mut BoundedParser::new(MIB), "a"), Err(Stopped::ByCaller));
    let (mut outer, mut inner) = (bounded(&go()), bounded(&go()));
    let mut inside = Vec::new();
    let long = "func f() { g(1) }\n".repeat(100);
    let tree = outer.parse(long.as_bytes(), &mut || {
        inside.push(parse(&mut inner, "a"));
        ControlFlow::Continue(())
    });
    assert!(tree.is_ok_and(|tree| !tree.root_node().has_error()));
    assert!(!inside.is_empty() && inside.iter().all(|result| *result == Err(Stopped::ByCaller)));
    assert!(parse(&mut inner, "a").is_ok());
}

#[test]
fn parsers_of_several_threads_do_not_affect_each_other() {
    let run = || {
        for (language, text) in nested_errors() {
            let mut parser = bounded(&language);
            for _ in 0..5 {
                assert_eq!(parse(&mut parser, &text), Err(Stopped::TooManyCopies));
                assert!(parse(&mut parser, &"f(a)\n".repeat(1_000)).is_ok());
            }
        }
    };
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(run))));
}

/// A hundred texts that reach the limit hold 400 MiB if nothing is freed.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_a_text_that_is_given_up_is_freed() {
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
        let pages: usize =
            pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("has the resident pages");
        pages * 4096
    };
    let [_, (language, text), _] = nested_errors();
    let mut parser = bounded(&language);
    assert!(parse(&mut parser, &text).is_err());
    let before = resident();
    for _ in 0..100 {
        assert!(parse(&mut parser, &text).is_err());
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 * MIB, "{grown} bytes");
}
