//! Tests of functions and objects inside calls and casts, and of definitions with two names.

use crate::{Parser, by_name};

/// Returns `kind name: calls` for every symbol, followed by the constants.
fn names(language: &str, source: &str) -> Vec<String> {
    let found = Parser::new().parse(by_name(language), source);
    let symbol = |symbol: &crate::Symbol| {
        let (kind, name, calls) = (symbol.kind.as_str(), &symbol.qualified_name, symbol.calls.join(" "));
        format!("{kind} {name}: {calls}").trim_end_matches([':', ' ']).to_owned()
    };
    let constants = found.constants.iter().map(|constant| constant.name.clone());
    found.symbols.iter().map(symbol).chain(constants).collect()
}

fn check(language: &str, source: &str, expected: &[&str]) {
    assert_eq!(names(language, source), expected, "{language}: {source}");
}

#[test]
fn a_constant_that_wraps_a_function_is_a_function() {
    for (language, source, expected) in [
        ("javascript", "const A = forwardRef((p, r) => { style(p); });", "function A: forwardRef style"),
        ("javascript", "export const A = React.memo(React.lazy(() => load()));", "function A: memo lazy load"),
        ("javascript", "const use = create()((set) => ({ bump: set }));", "function use: create"),
        ("javascript", "exports.run = wrap(async function () { go(); });", "function run: wrap go"),
        ("javascript", "class A { run = debounce(() => go(), 9); }", "method A.run: debounce go"),
        ("javascript", "export default memo(() => draw());", "function default: memo draw"),
        ("typescript", "const A = wrap(() => go()) as Handler;", "function A: wrap go"),
        ("typescript", "const A = (() => go()) satisfies Handler;", "function A: go"),
        ("tsx", "const A = memo<P>(() => <B />);", "function A: memo B"),
        ("python", "key = functools.cache(lambda x: go(x))\n", "function key: cache go"),
        ("go", "package a\nvar f = wrap(func() { run() })\n", "function f: wrap run"),
        ("go", "package a\nvar (\n\tf = sync.OnceValue(func() int { return run() })\n)\n", "function f: OnceValue run"),
        ("rust", "static A: LazyLock<B> = LazyLock::new(|| load());", "function A: new load"),
        ("kotlin", "val a by lazy { load() }", "function a: lazy load"),
        ("kotlin", "val a = wrap(fun(x: Int) { go() })", "function a: wrap go"),
        ("swift", "let a = memoize { key in load(key) }", "function a: memoize load"),
        ("swift", "let a: B = { make() }()", "function a: make"),
        ("dart", "final a = debounce(() { go(); });", "function a: debounce go"),
        ("scala", "object O { val f = memoize { (x: Int) => go(x) } }", "method O.f: memoize go"),
        ("csharp", "class A { static readonly Lazy<B> C = new Lazy<B>(() => Load()); }", "method A.C: Lazy Load"),
        ("java", "class A { static final S<B> C = memoize(() -> load()); }", "method A.C: memoize load"),
        ("lua", "local f = wrap(function() go() end)\n", "function f: wrap go"),
        ("lua", "local f <const> = function() go() end\n", "function f: go"),
        ("php", "<?php $f = wrap(function () { go(); });", "function f: wrap go"),
        ("ruby", "F = wrap(->(x) { go(x) })\n", "function F: wrap go"),
        ("ruby", "F = memoize { |x| go(x) }\n", "function F: memoize go"),
        ("cpp", "auto f = memoize([](int x) { return go(x); });", "function f: memoize go"),
        ("groovy", "def f = memoize { go(it) }\n", "function f: go"),
        ("r", "f <- Vectorize(function(x) go(x))\n", "function f: Vectorize go"),
    ] {
        let found = names(language, source);
        assert!(found.iter().any(|symbol| symbol == expected), "{language}: {source}: {found:?}");
    }
}

#[test]
fn other_constants_with_calls_stay_constants() {
    check("javascript", "const A = z.object({ a: z.string() });", &["A"]);
    check("javascript", "const a = styled.h1`x`, b = lazy(load), c = list.map((x) => x.y);", &["a", "b", "c"]);
    check("javascript", "function f() { const a = useCallback(() => {}); return a; }", &["function f: useCallback"]);
    check("python", "a = partial(int, base=2)\nb = list(map(lambda x: x, c))\nT = TypeVar('T')\n", &["a", "b", "T"]);
    check("go", "package a\nvar ErrA = errors.New(\"a\")\n", &["ErrA"]);
    check(
        "rust",
        "static A: LazyLock<B> = LazyLock::new(load);\nfn f() { static B: C = d(|| 1); }",
        &["function f: d", "A"],
    );
    check(
        "rust",
        "thread_local! { static A: B = c(\"}\") }\nlazy_static! { static ref D: E = f('}'); }\nfn g() {}\n",
        &["function g", "A", "D"],
    );
    check("kotlin", "val a = list.map { it.b }\nval c = make()\n", &["a", "c"]);
    check("ruby", "A = %w[a b].map { |x| x }.freeze\n", &["A"]);
}

#[test]
fn calls_in_arguments_of_rust_macros_count() {
    check(
        "rust",
        "fn f() { assert_eq!(g(x), b::h(1)); let y = vec![k, l.m()]; }\n",
        &["function f: assert_eq g h vec m"],
    );
}

#[test]
fn types_that_python_calls_declare_are_types() {
    check(
        "python",
        "P = namedtuple('P', 'x y')\nM = typing.TypedDict('M', {'a': int})\nU = NewType('U', int)\n",
        &["type P: namedtuple", "type M: TypedDict", "type U: NewType"],
    );
}

#[test]
fn a_named_function_expression_has_two_names() {
    check("javascript", "const a = function b() { go(); };", &["function a: go", "b"]);
    check("javascript", "const A = memo(function B() { go(); });", &["function A: memo go", "B"]);
    check("javascript", "const A = class B { c() {} };", &["class A", "method A.c", "B"]);
    check(
        "javascript",
        "a.b = function c() {}; const d = { e: function f() {} };",
        &["method a.b", "method d.e", "c", "d", "f"],
    );
}

#[test]
fn an_object_in_a_call_or_cast_qualifies_its_members() {
    check("javascript", "const a = Object.freeze({ b() {} });", &["method a.b", "a"]);
    check("typescript", "const a = { b() {} } as const;", &["method a.b", "a"]);
    check("typescript", "const a = { b() {} } satisfies T;", &["method a.b", "a"]);
    check("typescript", "const a = Object.freeze({ b() {} } as const);", &["method a.b", "a"]);
}

#[test]
fn a_function_that_returns_a_struct_is_a_type() {
    let source = "pub fn List(comptime T: type) type {\n    return struct {\n        pub fn append(x: T) void { grow(x); }\n    };\n}\n";
    check("zig", source, &["struct List", "method List.append: grow"]);
}
