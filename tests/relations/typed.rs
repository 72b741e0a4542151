//! Relations in languages with declared types.

use aurora_query::{Relation, RelationIndex};

use crate::{check, indexed, name, relations};

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.org/shop\n\ngo 1.20\n"),
    (
        "main.go",
        "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.org/shop/store\"\n)\n\nfunc main() {\n\tshop, err := store.Open(\"x\")\n\tif err != nil {\n\t\tfmt.Println(err)\n\t}\n\tshop.Sell(1)\n\thelp()\n}\n",
    ),
    ("help.go", "package main\n\nfunc help() {\n\thelp()\n}\n"),
    (
        "store/store.go",
        "package store\n\ntype Closer interface {\n\tClose() error\n}\n\ntype base struct{}\n\nfunc (b *base) Close() error {\n\treturn nil\n}\n\ntype Store struct {\n\tbase\n\ttill *Till\n}\n\nfunc Open(name string) (*Store, error) {\n\treturn &Store{till: &Till{}}, nil\n}\n",
    ),
    (
        "store/sell.go",
        "package store\n\ntype Till struct{}\n\nfunc (t *Till) Add(price int) {}\n\nfunc (s *Store) Sell(price int) {\n\ts.till.Add(price)\n\ts.Close()\n}\n",
    ),
];

#[test]
fn go_resolves_packages_results_and_embedded_types() {
    check(
        GO,
        Relation::Callees,
        &[
            "main.go:main -> help.go:help package",
            "main.go:main -> store.go:Open import",
            "main.go:main -> sell.go:Store.Sell receiver",
            "help.go:help -> help.go:help scope",
            "store.go:Open -> sell.go:Till package",
            "store.go:Open -> store.go:Store scope",
            "sell.go:Store.Sell -> sell.go:Till.Add receiver",
            "sell.go:Store.Sell -> store.go:base.Close inherited",
        ],
    );
    let found = relations(GO, Relation::Implementers);
    assert!(found.contains(&"store.go:Closer -> store.go:base methods".to_owned()), "{found:?}");
    assert!(found.contains(&"store.go:Closer -> store.go:Store methods".to_owned()), "{found:?}");
}

const JAVA: &[(&str, &str)] = &[
    (
        "src/org/shop/Store.java",
        "package org.shop;\n\nimport org.money.Till;\n\npublic class Store extends Base {\n    private final Till till = new Till();\n\n    public Store(String name) {\n        super(name);\n    }\n\n    public void sell(int price) {\n        till.add(price);\n        till.add(price, 2);\n        String text = toString();\n        close();\n        text.close();\n    }\n\n    class Seller {\n        void close() {\n            Store.this.close();\n        }\n    }\n}\n",
    ),
    (
        "src/org/shop/Base.java",
        "package org.shop;\n\nabstract class Base {\n    Base(String name) {\n    }\n\n    void close() {\n    }\n}\n",
    ),
    (
        "src/org/money/Till.java",
        "package org.money;\n\npublic class Till {\n    public void add(int price) {\n        add(price, 1);\n    }\n\n    public void add(int price, int count) {\n    }\n}\n",
    ),
];

#[test]
fn java_resolves_overloads_inherited_members_and_constructors() {
    let (_fixture, snapshot) = indexed(JAVA);
    let index = RelationIndex::new(&snapshot);
    let key = |id| snapshot.chunk(id).expect("the index can be read").expect("the chunk is live").key().into_owned();
    let callees = |name: &str| -> Vec<String> {
        let [named] = &index.find(name).expect("the index can be read")[..] else { panic!("{name}") };
        let found = index.related(named.id, Relation::Callees).expect("the index can be read");
        found
            .list
            .iter()
            .map(|other| key(other.id).rsplit(':').next().expect("the key has a name").to_owned())
            .collect()
    };
    assert_eq!(callees("Store.sell"), ["Till.add", "Till.add#2", "Base.close"]);
    assert_eq!(callees("Store.Store"), ["Base.Base"]);
    assert_eq!(callees("Store.Seller.close"), ["Base.close"]);
    let [_, second] = &index.find("Till.add").expect("the index can be read")[..] else {
        panic!("expected two overloads")
    };
    let callers = index.related(second.id, Relation::Callers).expect("the index can be read").list;
    assert_eq!(
        callers.iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(),
        ["Till.java:Till.add", "Store.java:Store.sell"]
    );
}

const RUST: &[(&str, &str)] = &[
    (
        "src/lib.rs",
        "mod store;\n\nuse crate::store::{open, Store};\n\npub fn run() {\n    let store = open();\n    store.sell();\n    Store::new();\n}\n",
    ),
    (
        "src/store.rs",
        "pub struct Store;\n\nimpl Store {\n    pub fn new() -> Self {\n        Store\n    }\n\n    pub fn sell(&self) {\n        self.check();\n    }\n\n    fn check(&self) {}\n}\n\npub fn open() -> Store {\n    Store::new()\n}\n",
    ),
];

#[test]
fn rust_resolves_uses_and_methods() {
    check(
        RUST,
        Relation::Callees,
        &[
            "lib.rs:run -> store.rs:open import",
            "lib.rs:run -> store.rs:Store::new receiver",
            "lib.rs:run -> store.rs:Store::sell receiver",
            "store.rs:Store::sell -> store.rs:Store::check scope",
            "store.rs:open -> store.rs:Store::new receiver",
        ],
    );
}

const C: &[(&str, &str)] = &[
    (
        "a.c",
        "#include \"b.h\"\n\nstatic int twice(int x) {\n    return 2 * x;\n}\n\nint run(void) {\n    return twice(shared(1));\n}\n",
    ),
    ("b.c", "static int twice(int x) {\n    return x + x;\n}\n\nint shared(int x) {\n    return twice(x);\n}\n"),
];

#[test]
fn c_prefers_functions_of_the_same_file() {
    check(
        C,
        Relation::Callees,
        &["a.c:run -> a.c:twice scope", "a.c:run -> b.c:shared global", "b.c:shared -> b.c:twice scope"],
    );
}

const PROTOTYPES: &[(&str, &str)] = &[
    ("a.h", "int add(int, int);\ntypedef struct S S;\nstatic inline int one(void) { return 1; }\n"),
    ("b.h", "int add(int a, int b);\n"),
    (
        "a.c",
        "#include \"a.h\"\n\nint add(int a, int b);\n\nstruct S {\n    int x;\n};\n\nint add(int a, int b) {\n    return a + b;\n}\n",
    ),
    ("c.c", "static int add(int a) {\n    return a;\n}\n"),
    ("main.c", "#include \"a.h\"\n\nint main(void) {\n    S s;\n    return add(one(), 2);\n}\n"),
];

#[test]
fn a_prototype_is_not_a_definition() {
    let (_fixture, snapshot) = indexed(PROTOTYPES);
    let index = RelationIndex::new(&snapshot);
    let key = |id| snapshot.chunk(id).expect("the index can be read").expect("the chunk is live").key().into_owned();
    let found = index.find("add").expect("the index can be read");
    assert_eq!(found.iter().map(|named| key(named.id)).collect::<Vec<_>>(), ["code:a.c:add#2", "code:c.c:add"]);
    let places = index.declarations(found[0].id).expect("the index can be read");
    assert_eq!(places.into_iter().map(key).collect::<Vec<_>>(), ["code:a.c:add", "code:a.h:add", "code:b.h:add"]);
    assert_eq!(index.find("S").expect("the index can be read").len(), 1);
    let callers = index.related(found[0].id, Relation::Callers).expect("the index can be read").list;
    assert_eq!(callers.iter().map(|other| key(other.id)).collect::<Vec<_>>(), ["code:main.c:main"]);
    check(PROTOTYPES, Relation::Callees, &["main.c:main -> a.c:add global", "main.c:main -> a.h:one global"]);
}

#[test]
fn a_name_that_is_only_declared_is_found_once() {
    let files = [
        ("a.h", "int add(int, int);\n"),
        ("b.h", "int add(int, int);\n"),
        ("m.c", "int f(void) {\n    return add(1, 2);\n}\n"),
    ];
    let (_fixture, snapshot) = indexed(&files);
    assert_eq!(RelationIndex::new(&snapshot).find("add").expect("the index can be read").len(), 1);
    check(&files, Relation::Callees, &["m.c:f -> a.h:add global"]);
}

const CPP: &[(&str, &str)] = &[
    (
        "k.h",
        "#include <memory>\n\nnamespace n {\n\nstruct B {\n    virtual ~B();\n    // Rests.\n    virtual void rest();\n};\n\nclass K : public ::n::B {\n public:\n    // Makes one.\n    K(int a);\n    // Moves.\n    void move();\n    static int count(int x);\n};\n\ntemplate <typename T>\nstruct G {\n    T get();\n};\n\nstruct D : virtual B, G<int> {};\n\nint max(int a, int b);\n\n}\n",
    ),
    (
        "k.cpp",
        "#include \"k.h\"\n\nnamespace n {\n\nK::K(int a) {}\n\nvoid K::move() {\n    count(1);\n    rest();\n}\n\nint K::count(int x) {\n    return std::max(x, 1);\n}\n\nvoid B::rest() {}\n\nint max(int a, int b) {\n    return a > b ? a : b;\n}\n\n}\n",
    ),
    (
        "main.cpp",
        "#include \"k.h\"\n\nvoid use() {\n    n::K k(1);\n    k.move();\n}\n\nvoid point() {\n    std::unique_ptr<n::K> p = std::make_unique<n::K>(1);\n    p->move();\n    auto q = std::make_shared<n::K>(1);\n    q->rest();\n    std::string s;\n    s.move();\n    std::move(s);\n}\n\nint most() {\n    return ::n::max(n::K::count(1), std::max(1, 2));\n}\n\nstruct Own {\n    typedef n::B Base;\n};\n\nvoid cast(void* p) {\n    static_cast<n::K*>(p)->move();\n    Own::Base* b = nullptr;\n    b->rest();\n}\n",
    ),
];

#[test]
fn cpp_resolves_namespaces_and_pointers() {
    check(
        CPP,
        Relation::Callees,
        &[
            "k.cpp:n::K::move -> k.cpp:n::K::count scope",
            "k.cpp:n::K::move -> k.cpp:n::B::rest inherited",
            "main.cpp:use -> k.cpp:n::K::move receiver",
            "main.cpp:point -> k.cpp:n::K::move receiver",
            "main.cpp:point -> k.cpp:n::B::rest inherited",
            "main.cpp:most -> k.cpp:n::max import",
            "main.cpp:most -> k.cpp:n::K::count receiver",
            "main.cpp:cast -> k.cpp:n::B::rest receiver",
            "main.cpp:cast -> k.cpp:n::K::move receiver",
        ],
    );
    check(
        CPP,
        Relation::Implementers,
        &["k.h:n::B -> k.h:n::D scope", "k.h:n::B -> k.h:n::K scope", "k.h:n::G -> k.h:n::D scope"],
    );
}

const CRATES: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"my-lib\"]\n"),
    ("my-lib/Cargo.toml", "[package]\nname = \"my-lib\"\nversion = \"0.1.0\"\n"),
    (
        "my-lib/src/lib.rs",
        "pub mod net;\nmod util;\n\npub use util::only;\n\npub fn run() {\n    net::send();\n    crate::net::send();\n    self::net::send();\n}\n",
    ),
    (
        "my-lib/src/net/mod.rs",
        "pub mod deep;\n\npub fn send() {\n    super::run();\n    deep::dig();\n}\n\npub trait Shape {\n    fn area(&self) -> i32;\n\n    fn twice(&self) -> i32 {\n        2\n    }\n}\n\npub struct Socket;\n\nimpl Socket {\n    pub fn open() -> Self {\n        Self::new()\n    }\n\n    fn new() -> Self {\n        Socket\n    }\n\n    pub fn close(&self) {\n        <Self as Shape>::area(self);\n        self.twice();\n    }\n}\n\nimpl Shape for Socket {\n    fn area(&self) -> i32 {\n        1\n    }\n}\n\npub fn max(a: i32, b: i32) -> i32 {\n    a\n}\n",
    ),
    (
        "my-lib/src/net/deep.rs",
        "pub fn dig() {\n    super::send();\n    i32::max(1, 2);\n    std::cmp::max(1, 2);\n    String::from(\"a\").close();\n    format!(\"{}\", 1);\n}\n",
    ),
    ("my-lib/src/util.rs", "pub fn send() {}\n\npub fn only() {}\n\npub fn format(x: i32) {}\n"),
    ("app/Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
    (
        "app/src/main.rs",
        "use my_lib::net::Socket;\n\nfn send() {}\n\nfn main() {\n    my_lib::net::send();\n    my_lib::only();\n    Socket::open().close();\n}\n",
    ),
];

#[test]
fn rust_follows_paths_through_modules_and_crates() {
    check(
        CRATES,
        Relation::Callees,
        &[
            "lib.rs:run -> mod.rs:send import",
            "mod.rs:send -> lib.rs:run import",
            "mod.rs:send -> deep.rs:dig import",
            "mod.rs:Socket::open -> mod.rs:Socket::new receiver",
            "mod.rs:Socket::close -> mod.rs:Socket::area receiver",
            "mod.rs:Socket::close -> mod.rs:Shape::twice inherited",
            "deep.rs:dig -> mod.rs:send import",
            "main.rs:main -> mod.rs:send import",
            "main.rs:main -> util.rs:only import",
            "main.rs:main -> mod.rs:Socket::close receiver",
            "main.rs:main -> mod.rs:Socket::open receiver",
        ],
    );
}

#[test]
fn rust_reads_items_of_tuples_and_variants() {
    check(
        &[(
            "src/lib.rs",
            "use std::ops::Deref;\n\nstruct A;\n\nimpl A {\n    fn go(&self) {\n        one();\n    }\n}\n\nstruct B(A);\n\nimpl B {\n    fn go(&self) {\n        self.0.go();\n    }\n}\n\nstruct Held<T> {\n    inner: T,\n}\n\nimpl<T> Deref for Held<T> {\n    type Target = T;\n\n    fn deref(&self) -> &T {\n        &self.inner\n    }\n}\n\nenum Either {\n    Left(Held<A>),\n    Right(Held<B>),\n}\n\nimpl Either {\n    fn run(&self) {\n        match self {\n            Either::Left(x) => x.go(),\n            Self::Right(x) => x.go(),\n        }\n    }\n}\n\ntrait Goes {\n    fn goes(&self) {}\n}\n\nfn bound<T: Goes>(of: T) {\n    of.goes();\n}\n\nfn one() {}\n",
        )],
        Relation::Callees,
        &[
            "lib.rs:A::go -> lib.rs:one scope",
            "lib.rs:B::go -> lib.rs:A::go receiver",
            "lib.rs:Either::run -> lib.rs:A::go receiver",
            "lib.rs:Either::run -> lib.rs:B::go receiver",
            "lib.rs:bound -> lib.rs:Goes::goes receiver",
        ],
    );
}

#[test]
fn rust_resolves_wildcards_and_trait_implementations() {
    let files = [
        ("my-lib/Cargo.toml", "[package]\nname = \"my-lib\"\nversion = \"0.1.0\"\n"),
        ("my-lib/src/lib.rs", "pub mod types;\n"),
        (
            "my-lib/src/types.rs",
            "pub struct Pool;\n\nimpl Pool {\n    pub fn make() -> Self {\n        Pool\n    }\n}\n\npub trait Drive {\n    fn drive(&self);\n}\n\nimpl Drive for Pool {\n    fn drive(&self) {\n        let x = 1;\n    }\n}\n",
        ),
        ("app/Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
        ("app/src/main.rs", "use my_lib::types::*;\n\nfn main() {\n    Pool::make();\n}\n"),
    ];
    check(&files, Relation::Callees, &["main.rs:main -> types.rs:Pool::make receiver"]);
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("Drive.drive").expect("the index can be read")[..] else { panic!("expected one member") };
    let found = index.related_to(named, Relation::Implementers).expect("the index can be read").list;
    assert_eq!(found.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(), ["types.rs:Pool::drive"]);
}

#[test]
fn calls_in_arguments_of_rust_macros_are_found() {
    check(
        &[(
            "a.rs",
            "pub fn check(x: i32) -> bool {\n    x > 1\n}\n\npub struct Own;\n\nimpl Own {\n    pub fn get(&self) -> i32 {\n        1\n    }\n}\n\npub fn run(own: &Own) {\n    assert!(check(1));\n    println!(\"{}\", own.get());\n}\n",
        )],
        Relation::Callees,
        &["a.rs:run -> a.rs:Own::get receiver", "a.rs:run -> a.rs:check scope"],
    );
}

#[test]
fn kotlin_resolves_blocks_companions_and_string_extensions() {
    check(
        &[
            (
                "a.kt",
                "package a\n\nclass Store {\n    fun open() {\n        val x = 1\n    }\n\n    companion object {\n        fun make(): Store {\n            return Store()\n        }\n    }\n}\n\nfun <T> timed(block: () -> T): T {\n    return block()\n}\n\nfun String.slug(): String {\n    return this\n}\n",
            ),
            (
                "b.kt",
                "package a\n\nfun useMake() {\n    Store.make().open()\n}\n\nfun useBlock() {\n    timed { 1 }\n}\n\nfun useText() {\n    \"A b\".slug()\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "a.kt:Store.Companion.make -> a.kt:Store scope",
            "b.kt:useMake -> a.kt:Store.Companion.make receiver",
            "b.kt:useMake -> a.kt:Store.open receiver",
            "b.kt:useBlock -> a.kt:timed package",
            "b.kt:useText -> a.kt:String.slug receiver",
        ],
    );
}

#[test]
fn cpp_resolves_results_of_members_and_names_of_constructors() {
    let files = [
        (
            "k.hpp",
            "namespace n {\nclass K {\npublic:\n    K();\n    K(int a);\n    K& self();\n    void step();\n};\n}\n",
        ),
        (
            "k.cpp",
            "#include \"k.hpp\"\n\nnamespace n {\nK::K() {\n    int a = 1;\n}\n\nK::K(int a) {\n    int b = a;\n}\n\nK& K::self() {\n    return *this;\n}\n\nvoid K::step() {\n    int a = 1;\n}\n}\n",
        ),
        ("other.cpp", "class Other {\n    void step();\n};\n\nvoid Other::step() {\n    int a = 1;\n}\n"),
        ("main.cpp", "#include \"k.hpp\"\n\nvoid run(n::K& k) {\n    k.self().step();\n}\n"),
    ];
    check(
        &files,
        Relation::Callees,
        &["main.cpp:run -> k.cpp:n::K::self receiver", "main.cpp:run -> k.cpp:n::K::step receiver"],
    );
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let found = index.find("K").expect("the index can be read");
    assert_eq!(found.iter().map(|named| name(&snapshot, named.id)).collect::<Vec<_>>(), ["k.hpp:n::K"]);
}

#[test]
fn base_types_in_nested_namespaces_are_not_calls() {
    let files = [(
        "a.cpp",
        "namespace o { namespace i {\nclass Base {\npublic:\n    int open() { return 1; }\n};\n}}\n\nstruct A final : private virtual ::o::i::Base {\n    int one() { return 1; }\n};\n\nstruct B : o::i::Base {};\n",
    )];
    check(&files, Relation::Implementers, &["a.cpp:o::i::Base -> a.cpp:A scope", "a.cpp:o::i::Base -> a.cpp:B scope"]);
    check(&files, Relation::Callees, &[]);
}

#[test]
fn csharp_types_with_other_type_parameters_are_distinct_and_partial_types_are_joined() {
    check(
        &[
            (
                "Box.cs",
                "namespace App;\npublic class Box\n{\n    public Box() { }\n    public void Open() { }\n    public static Box Make() => new Box();\n}\n\npublic class Base\n{\n    public void Close() { }\n}\n",
            ),
            (
                "BoxOf.cs",
                "namespace App;\npublic class Box<T> : Base<T>\n{\n    public Box() { }\n    public void Open() { }\n    public static Box<T> Make() => new Box<T>();\n}\n\npublic class Base<T>\n{\n    public void Close() { }\n}\n",
            ),
            (
                "Part.cs",
                "namespace App;\npublic partial class Part\n{\n    public Box<int> Content { get; } = Box<int>.Make();\n}\n",
            ),
            (
                "Use.cs",
                "namespace App;\npublic partial class Part\n{\n    void Run(Box one, Box<int> other)\n    {\n        one.Open();\n    }\n    void Other(Box<int> other) => other.Open();\n    void Inherited(Box<int> other) => other.Close();\n    void Static() => Box<int>.Make();\n    void Property() => Content.Open();\n    void Through(Part part) => part.Content.Open();\n}\n",
            ),
            (
                "Extensions.cs",
                "namespace App;\npublic static class Extensions\n{\n    public static void Fill(this Box box, int count) { }\n    public static void Fill<T>(this Box<T> box, int count) { }\n    public static void Both(Box<int> box) => box.Fill(1);\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "Box.cs:App.Box.Make -> Box.cs:App.Box.Box scope",
            "BoxOf.cs:App.Box.Make -> BoxOf.cs:App.Box.Box scope",
            "Part.cs:App.Part.Content -> BoxOf.cs:App.Box.Make receiver",
            "Use.cs:App.Part.Run -> Box.cs:App.Box.Open receiver",
            "Use.cs:App.Part.Other -> BoxOf.cs:App.Box.Open receiver",
            "Use.cs:App.Part.Inherited -> BoxOf.cs:App.Base.Close inherited",
            "Use.cs:App.Part.Static -> BoxOf.cs:App.Box.Make receiver",
            "Use.cs:App.Part.Property -> BoxOf.cs:App.Box.Open receiver",
            "Use.cs:App.Part.Through -> BoxOf.cs:App.Box.Open receiver",
            "Extensions.cs:App.Extensions.Both -> Extensions.cs:App.Extensions.Fill receiver",
        ],
    );
}

#[test]
fn overloads_are_selected_by_the_types_of_arguments() {
    let parts = [
        ("Text.cs", "void Add(string text) { }"),
        ("Number.cs", "void Add(int count) { }"),
        ("Own.cs", "void Add(A other) { }"),
        ("One.cs", "void Add(Func<int, int> f) { }"),
        ("Two.cs", "void Add(Func<int, int, int> f) { }"),
        ("Action.cs", "void Add(Action<int> f) { }"),
        ("Task.cs", "void Add(Func<Task> f) { }"),
        ("Generic.cs", "void Add<T>(int count, int more) { }"),
        ("Named.cs", "void Add(int count, int times) { }"),
    ];
    let parts = parts.map(|(path, member)| (path, format!("public partial class A\n{{\n    {member}\n}}\n")));
    let calls = "public partial class A\n{\n    void Text() => Add(\"a\");\n    void Number() => Add(1);\n    void Own(A a) => Add(a);\n    void One() => Add(x => x);\n    void Two() => Add((x, y) => x);\n    void Action() => Add(x => { });\n    void Task() => Add(async () => { await Run(); });\n    void Generic() => Add<int>(1, 2);\n    void Named() => Add(1, times: 2);\n}\n";
    let mut files: Vec<(&str, &str)> = parts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    files.push(("Use.cs", calls));
    let names = ["Text", "Number", "Own", "One", "Two", "Action", "Task", "Generic", "Named"];
    let expected = names.map(|name| format!("Use.cs:A.{name} -> {name}.cs:A.Add scope"));
    assert_eq!(relations(&files, Relation::Callees), expected);
}

#[test]
fn csharp_extensions_follow_constraints_and_external_types() {
    check(
        &[
            (
                "Ext.cs",
                "namespace App;\npublic abstract class Base { public void Stop() { } }\npublic class Builder : Base { }\npublic static class Ext\n{\n    public static TBuilder AddOne<TBuilder>(this TBuilder builder) where TBuilder : Base => builder;\n    public static IServiceCollection AddTwo(this IServiceCollection services, Action<Builder> configure) => services;\n}\n",
            ),
            (
                "Use.cs",
                "namespace App;\npublic class Use\n{\n    void Fluent() { new Builder().AddOne().AddOne().Stop(); }\n    void External() { new ServiceCollection().AddTwo(b => b.AddOne()); }\n    void Generic(IServiceProvider services) { services.GetService<Builder>().Stop(); }\n    void External(ServiceCollection services) { services.AddOne(); }\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "Use.cs:App.Use.Fluent -> Ext.cs:App.Builder package",
            "Use.cs:App.Use.Fluent -> Ext.cs:App.Ext.AddOne receiver",
            "Use.cs:App.Use.Fluent -> Ext.cs:App.Base.Stop inherited",
            "Use.cs:App.Use.External -> Ext.cs:App.Ext.AddOne receiver",
            "Use.cs:App.Use.External -> Ext.cs:App.Ext.AddTwo global",
            "Use.cs:App.Use.Generic -> Ext.cs:App.Base.Stop inherited",
        ],
    );
}

#[test]
fn overloads_of_swift_are_selected_by_labels() {
    check(
        &[
            ("to.swift", "func add(to list: Int) {\n    print(1)\n}\n"),
            ("from.swift", "func add(from list: Int) {\n    print(2)\n}\n"),
            ("run.swift", "func run() {\n    add(to: 1)\n}\n"),
        ],
        Relation::Callees,
        &["run.swift:run -> to.swift:add global"],
    );
}
