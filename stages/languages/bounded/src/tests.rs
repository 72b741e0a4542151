use std::ops::ControlFlow;
use std::thread;

use tree_sitter::{Language, Node, Parser};

use super::{Grammar, Limits, MIN_EXPANDED_BYTES, Stopped, parse};

const MIB: usize = 1 << 20;

fn grammar(language: &Language) -> Grammar {
    Grammar::new(language).expect("the grammar is supported")
}

fn go() -> Grammar {
    grammar(&tree_sitter_go::LANGUAGE.into())
}

fn javascript() -> Grammar {
    grammar(&tree_sitter_javascript::LANGUAGE.into())
}

const LIMITS: Limits = Limits { copied: 4 * MIB, nodes: 10_000, reads: MIB };

/// Returns the tree as an S-expression, or the reason why there is no tree.
fn tree(grammar: &Grammar, text: &str) -> Result<String, Stopped> {
    parse(grammar, text.as_bytes(), LIMITS, &mut || ControlFlow::Continue(())).map(|tree| tree.root_node().to_sexp())
}

/// Returns texts with many nested errors.
fn nested_errors() -> [(Grammar, String); 3] {
    [
        (go(), "%w[".repeat(2_000)),
        (javascript(), "}{a:".repeat(600)),
        (go(), format!(" / See{}sions and\n{}", "%w[".repeat(13_000), "x\n".repeat(10_000))),
    ]
}

#[test]
fn nested_errors_exceed_the_limit() {
    for (language, text) in nested_errors() {
        assert_eq!(tree(&language, &text), Err(Stopped::AtLimit));
    }
}

#[test]
fn deep_stacks_exceed_the_limit() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(tree(&javascript(), &nested(3_000)).is_ok());
    for text in [nested(100_000), "{-".repeat(100_000), "a=".repeat(100_000)] {
        assert_eq!(tree(&javascript(), &text), Err(Stopped::AtLimit));
    }
}

/// The YAML scanner writes four bytes for each open list, and checks for the end of the buffer before it writes.
#[test]
fn a_scanner_state_larger_than_the_buffer_exceeds_the_limit() {
    let yaml = grammar(&tree_sitter_yaml::LANGUAGE.into());
    assert!(tree(&yaml, &"- ".repeat(253)).is_ok());
    for levels in [254, 255, 256, 1_000] {
        assert_eq!(tree(&yaml, &"- ".repeat(levels)), Err(Stopped::AtLimit));
    }
    assert!(tree(&yaml, "a: [b, c]").is_ok_and(|tree| !tree.contains("ERROR")));
}

/// The Kotlin scanner searches for the white space after an annotation, and the Lua scanner for the end of a comment.
/// These texts contain neither.
#[test]
fn a_scanner_that_keeps_reading_exceeds_the_limit() {
    let lua = grammar(&tree_sitter_lua::LANGUAGE.into());
    assert_eq!(tree(&lua, &"{-".repeat(10_000)), Err(Stopped::AtLimit));
    let kotlin = grammar(&tree_sitter_kotlin_ng::LANGUAGE.into());
    for text in ["val a: B\n@T(", "class A\n@T"] {
        assert_eq!(tree(&kotlin, text), Err(Stopped::AtLimit));
        assert!(tree(&kotlin, &format!("{text}\n")).is_ok());
    }
}

#[test]
fn trees_equal_the_trees_of_tree_sitter() {
    let errors = "function f( { ) return [1, , }\n class A { b( } \n".repeat(300);
    let calls = "f(a, b);\n".repeat(50_000);
    for text in ["", "f(a, b)", "%w[%w[%w[", "}{a:}{a:}{a:", "let a = `${b}`; /*", &errors, &calls] {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_javascript::LANGUAGE.into()).expect("the grammar is supported");
        let expected = parser.parse(text, None).expect("the parse has no limit").root_node().to_sexp();
        let javascript = javascript();
        assert_eq!(tree(&javascript, text).as_ref(), Ok(&expected));
        javascript.for_text(MIN_EXPANDED_BYTES);
        assert_eq!(tree(&javascript, text), Ok(expected));
        assert!(javascript.expanded.get().is_some());
    }
}

#[test]
fn parsers_of_tree_sitter_work_during_a_bounded_parse() {
    let mut other = Parser::new();
    other.set_language(&tree_sitter_go::LANGUAGE.into()).expect("the grammar is supported");
    let older = other.parse("package p; func f() {}", None).expect("the parse has no limit");
    let text = "func f() { g(1) }\n".repeat(100);
    let bounded = parse(&go(), text.as_bytes(), LIMITS, &mut || {
        other.reset();
        drop(other.parse("package q; func g() { h(1) }", Some(&older)));
        ControlFlow::Continue(())
    });
    drop(other);
    assert_eq!(bounded.expect("the text is short").root_node().kind(), "source_file");
}

#[test]
fn a_walk_visits_the_same_nodes_as_a_cursor() {
    let kotlin = "package a\n// b\nclass C(val d: Int) { fun e(f: G?) = f?.h { it + 1 } ?: \"$d ${e(null)}\" }\n";
    let go_text = "package p\n\nfunc (a *B) C(d, e int) (f F) { g(1, /* h */ i{j: k}); ) }\ntype L struct { M `n` }\n";
    let script = "export class A { #b = `c${d}`; get e() { return /f/ } }\nlet g = , ;\nh?.i(...j)\n";
    let yaml = "a:\n  - b: &c {d: [e, f]}\n    g: |\n      h\n# i\nj: *c\n";
    let texts = [
        (tree_sitter_kotlin_ng::LANGUAGE, kotlin),
        (tree_sitter_go::LANGUAGE, go_text),
        (tree_sitter_javascript::LANGUAGE, script),
        (tree_sitter_yaml::LANGUAGE, yaml),
        (tree_sitter_html::LANGUAGE, "<!-- a --><p b=c>d<br><script>e()</script></p"),
        (tree_sitter_lua::LANGUAGE, "local a <const>, b = {c = [[d]], 1}\nfor e in f() do g:h'i' end end\n"),
    ];
    for (language, text) in texts {
        let language = Language::from(language);
        let text = format!("\n {}", text.repeat(3));
        let tree = parse(&grammar(&language), text.as_bytes(), LIMITS, &mut || ControlFlow::Continue(()))
            .expect("the parse is within the limits");
        let mut expected = Vec::new();
        let mut cursor = tree.root_node().walk();
        'walk: loop {
            expected.push(cursor.node());
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'walk;
                }
            }
        }
        let details = |node: &Node<'_>| (node.id(), node.kind_id(), node.range(), node.child_count());
        let all = vec![true; language.node_kind_count()];
        let visited: Vec<_> = tree.nodes_of(&all).map(|node| details(&node)).collect();
        assert_eq!(visited, expected.iter().map(details).collect::<Vec<_>>());
        let mut some = all;
        some.iter_mut().step_by(2).for_each(|is_visited| *is_visited = false);
        let visited: Vec<_> = tree.nodes_of(&some).map(|node| details(&node)).collect();
        let is_expected = |node: &&Node<'_>| node.is_error() || node.is_missing() || some[usize::from(node.kind_id())];
        assert_eq!(visited, expected.iter().filter(is_expected).map(details).collect::<Vec<_>>());
    }
}

#[test]
fn a_caller_that_stops_gets_no_tree() {
    let text = "func f() { g(1) }\n".repeat(1_000);
    let mut calls = 0;
    let stopped = parse(&go(), text.as_bytes(), LIMITS, &mut || {
        calls += 1;
        if calls < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!((stopped.err(), calls), (Some(Stopped::ByCaller), 5));
}

#[test]
fn a_parse_from_a_progress_callback_is_refused() {
    let mut inside = Vec::new();
    let text = "func f() { g(1) }\n".repeat(100);
    let outer = parse(&go(), text.as_bytes(), LIMITS, &mut || {
        inside.push(tree(&go(), "a"));
        ControlFlow::Continue(())
    });
    assert!(outer.is_ok_and(|tree| !tree.root_node().has_error()));
    assert!(!inside.is_empty() && inside.iter().all(|result| *result == Err(Stopped::ByCaller)));
    assert!(tree(&go(), "a").is_ok());
}

#[test]
fn threads_do_not_affect_each_other() {
    let run = || {
        for (language, text) in nested_errors() {
            for _ in 0..5 {
                assert_eq!(tree(&language, &text), Err(Stopped::AtLimit));
                assert!(tree(&language, &"f(a)\n".repeat(1_000)).is_ok());
            }
        }
    };
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(run))));
}
