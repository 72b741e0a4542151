//! Tests with sources that the grammars misread, so that the syntax tree lacks definitions or contains false ones.

use crate::{Parser, by_name};

/// Compares the qualified names of all symbols.
fn check(language: &str, source: &str, expected: &[&str]) {
    let found = Parser::new().parse(by_name(language), source);
    let names: Vec<&str> = found.symbols.iter().map(|symbol| symbol.qualified_name.as_str()).collect();
    assert_eq!(names, expected, "{language}: {source}");
}

#[test]
fn a_keyword_is_not_the_name_of_a_function() {
    check("cpp", "void h() { MAC switch (x) { } }", &["h"]);
    check("c", "int switch (x) { case 1: break; }\nint f(void) { return 0; }\n", &["f"]);
    check("javascript", "class A { f() { }\n} }\nclass B { g() { } } if (x) { y }\n", &["A", "A.f", "B", "B.g"]);
    check("javascript", "class A { for() { } static if() { } }", &["A", "A.for", "A.if"]);
    check("typescript", "class A { a() { } if (x) { y(); } # }", &["A", "A.a"]);
}

#[test]
fn unsupported_syntax_does_not_hide_later_definitions() {
    check(
        "kotlin",
        "fun a() = b {\n    val c = d()\n    get(\"/e\") { f() }\n    set(\"g\", 1)\n}\nfun h() {}\n",
        &["a", "h"],
    );
    check("csharp", "#:package A@1.0\n#:property B=c\nvoid F() { }\n", &["F"]);
    check("kotlin", "val a = suspend { go() }\nval b = listOf(suspend { 1 })\nfun after() {}\n", &["a", "after"]);
    check(
        "csharp",
        "public ref partial struct S { void M() { } }\nclass A { void N() { } }\n",
        &["S", "S.M", "A", "A.N"],
    );
    check(
        "csharp",
        "unsafe class A { void M() { *p++ = *q++; if (p < e && *(p + 1) == 2) { } *(p + 1) = 3; } void N() { } }",
        &["A", "A.M", "A.N"],
    );
    check("cpp", "auto a = R\"abcdefghijklmnop(\" ) \")abcdefghijklmnop\";\nint f() { return 1; }\n", &["f"]);
    check(
        "cpp",
        "struct A {\n  A(int a)\n      :\n#if X\n        a_(a),\n#endif\n        b_(a) {\n  }\n  int f();\n};\n",
        &["A", "A::A", "A::f"],
    );
    check("c", "#define HEAD(a) \\\nstruct a { \\\n\tint b; /* c */ \\\n}\nint f(void);\n", &["HEAD", "f"]);
    check(
        "typescript",
        "interface A {\n  // one\n  <\n    B extends C,\n  >(b: B): D\n\n  // two\n  <B>(b: B): E[]\n}\nclass F {}\n",
        &["A", "F"],
    );
    check("c", "typedef int (WINAPI *call_t)(void);\nint f(void);\n", &["call_t", "f"]);
    check("c", "static void printflike(3, 4)\nadd(char *a, int b, ...)\n{\n}\n", &["add"]);
}

#[test]
fn annotation_classes_are_found() {
    check("kotlin", "@Target(CLASS)\nannotation class A\n\ninternal annotation class B(val c: Int)\n", &["A", "B"]);
}

#[test]
fn decorators_with_functions_belong_to_the_definition_after_them() {
    let starts = |language: &str, source: &str| {
        let found = Parser::new().parse(by_name(language), source);
        let start = |symbol: &crate::Symbol| {
            let first = source[symbol.bytes.start as usize..].lines().next().unwrap_or_default();
            format!("{} {first}", symbol.qualified_name)
        };
        found.symbols.iter().map(start).collect::<Vec<_>>()
    };
    let source = "class A {\n  b() { return 1 }\n\n  @first()\n  @command('a', { run: r => r.id })\n  private c() { return 2 }\n\n  @debug({ args: ref => { return ref } })\n  d() { return 3 }\n}\n";
    let expected =
        ["A class A {", "A.b b() { return 1 }", "A.c @first()", "A.d @debug({ args: ref => { return ref } })"];
    assert_eq!(starts("typescript", source), expected);
    let source = "@a({ run: function () { return 1 } })\nclass A {\n}\n\nfunction f() { return 1 }\n";
    assert_eq!(
        starts("javascript", source),
        [
            "A @a({ run: function () { return 1 } })",
            "A.run run: function () { return 1 } })",
            "f function f() { return 1 }"
        ]
    );
    let source = "class A {\n    [B(typeof(C))]\n    [D(\"x\", E = 1)]\n    void F() { }\n}\n";
    assert_eq!(starts("csharp", source), ["A class A {", "A.F [B(typeof(C))]"]);
    let source = "class A {\n    @B(run = { x -> x })\n    @C\n    fun f() = 1\n}\n";
    assert_eq!(starts("kotlin", source), ["A class A {", "A.f @B(run = { x -> x })"]);
    let source = "@a(lambda x: x)\n@b\ndef f():\n    return 1\n";
    assert_eq!(starts("python", source), ["f @a(lambda x: x)"]);
}
