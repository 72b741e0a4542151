//! Relations: rules that apply to several languages, and limits of the analysis.

use aurora_query::{BranchEnd, Relation, RelationIndex, TreeNode, TreeOptions};
use aurora_storage::Snapshot;

use crate::{check, indexed, name, relations};

#[test]
fn a_tree_ends_at_repeated_definitions() {
    let text =
        "def a():\n    b()\n    c()\n\n\ndef b():\n    c()\n\n\ndef c():\n    a()\n    unknown.c()\n    print()\n";
    let (_fixture, snapshot) = indexed(&[("m.py", text)]);
    let index = RelationIndex::new(&snapshot);
    let [root] = &index.find("a").expect("the index can be read")[..] else { panic!("expected one definition") };
    let options = TreeOptions { relation: Relation::Callees, depth: 5, min_confidence: 0.4 };
    let tree = index.tree(root, &options).expect("the index can be read");
    fn node_text(snapshot: &Snapshot, node: &TreeNode) -> String {
        let end = match node.end {
            Some(BranchEnd::Cycle) => "!",
            Some(BranchEnd::Repeated) => "*",
            None => "",
        };
        let children: Vec<String> = node.children.iter().map(|child| node_text(snapshot, child)).collect();
        format!("{}{end}[{}]", name(snapshot, node.id), children.join(" "))
    }
    assert_eq!(node_text(&snapshot, &tree.root), "m.py:a[m.py:b[m.py:c*[]] m.py:c[m.py:a![]]]");
    assert!(!tree.is_cut && tree.external.is_empty());
}

#[test]
fn modules_that_re_export_each_other_are_visited_once() {
    const MODULES: usize = 40;
    let module = |number: usize| {
        let others = (0..MODULES).filter(|other| *other != number).map(|other| format!("export * from './m{other}'\n"));
        format!("{}export function f{number}() {{}}\n", others.collect::<String>())
    };
    let mut files: Vec<(String, String)> =
        (0..MODULES).map(|number| (format!("m{number}.ts"), module(number))).collect();
    let caller = "import { f39, nothing } from './m0'\nexport function run() {\n  f39()\n  nothing().go()\n}\n";
    files.push(("main.ts".to_owned(), caller.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    check(&files, Relation::Callees, &["main.ts:run -> m39.ts:f39 import"]);
}

#[test]
fn nested_expressions_are_read_up_to_a_maximum_depth() {
    let nested = |depth: usize| {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        let (choices, either) = ("b || ".repeat(depth), "b ? b : ".repeat(depth));
        format!(
            "class A {{\n  go() {{}}\n  stop() {{}}\n  rest() {{}}\n}}\n\nfunction f(a: A, b) {{\n  {open}a{close}.go()\n  \
             const c = {choices}a\n  c.stop()\n  const d = {either}a\n  d.rest()\n}}\n"
        )
    };
    let found = |depth: usize| relations(&[("a.ts", nested(depth).as_str())], Relation::Callees);
    let all = ["a.ts:f -> a.ts:A.go receiver", "a.ts:f -> a.ts:A.stop receiver", "a.ts:f -> a.ts:A.rest receiver"];
    assert!(all.iter().all(|wanted| found(20).iter().any(|found| found == wanted)), "{:?}", found(20));
    // Beyond the maximum depth, the type of the receiver is unknown, so members are found only by name.
    assert!(found(900).iter().all(|found| found.starts_with("a.ts:f -> a.ts:A")));
}

#[test]
fn a_name_without_a_chunk_resolves_to_its_enclosing_definition() {
    let (_fixture, snapshot) = indexed(&[
        ("Api.java", "interface Api {\n    void run();\n    void stop();\n}\n"),
        (
            "Job.java",
            "class Job implements Api {\n    public void run() {\n    }\n    public void stop() {\n    }\n}\n",
        ),
        (
            "Use.java",
            "class Use {\n    void go(Api api) {\n        api.run();\n    }\n    void end(Api api) {\n        api.stop();\n    }\n}\n",
        ),
        ("names.py", "LIMIT = make_limit()\n"),
    ]);
    let index = RelationIndex::new(&snapshot);
    let related = |name: &str, relation: Relation| -> Vec<String> {
        let [named] = &index.find(name).expect("the index can be read")[..] else { panic!("{name}") };
        let options = TreeOptions { relation, depth: 1, min_confidence: 0.0 };
        let tree = index.tree(named, &options).expect("the index can be read");
        tree.root.children.iter().map(|child| self::name(&snapshot, child.id)).collect()
    };
    assert_eq!(related("Api.run", Relation::Callers), ["Use.java:Use.go"]);
    assert_eq!(related("Api.stop", Relation::Callers), ["Use.java:Use.end"]);
    assert_eq!(related("Api.run", Relation::Implementers), ["Job.java:Job.run"]);
    assert!(related("Api.run", Relation::Callees).is_empty());
    assert!(related("limit", Relation::Callees).is_empty());
    assert!(index.find("Job.LIMIT").expect("the index can be read").is_empty());
}

#[test]
fn members_of_builtin_types_do_not_resolve_to_the_repository() {
    check(
        &[
            ("a.rb", "class A\n  def each\n  end\n\n  def raise(x)\n  end\n\n  def own\n  end\nend\n"),
            ("b.rb", "def run(list)\n  list.each\n  raise \"x\"\n  list.own\nend\n"),
        ],
        Relation::Callees,
        &["b.rb:run -> a.rb:A.own only-member"],
    );
}

#[test]
fn prefixes_of_imported_files_are_receivers() {
    check(
        &[
            ("lib/b.dart", "int top() {\n  return 1;\n}\n"),
            (
                "lib/a.dart",
                "import 'b.dart' as b;\nimport 'b.dart' show top;\n\nint first() {\n  return b.top();\n}\n\nint second() {\n  return top();\n}\n",
            ),
        ],
        Relation::Callees,
        &["a.dart:first -> b.dart:top import", "a.dart:second -> b.dart:top global"],
    );
    check(
        &[
            ("b.zig", "pub fn helper() void {}\n"),
            ("a.zig", "const b = @import(\"b.zig\");\n\npub fn run() void {\n    b.helper();\n}\n"),
        ],
        Relation::Callees,
        &["a.zig:run -> b.zig:helper import"],
    );
}

#[test]
fn wildcards_import_members_of_types() {
    check(
        &[
            (
                "src/q/U.java",
                "package q;\n\npublic final class U {\n    public static void star(int a) {\n        int b = a;\n    }\n}\n",
            ),
            (
                "src/p/A.java",
                "package p;\n\nimport static q.U.*;\n\nclass A {\n    void run() {\n        star(1);\n    }\n}\n",
            ),
        ],
        Relation::Callees,
        &["A.java:A.run -> U.java:U.star import"],
    );
    check(
        &[
            ("go.mod", "module ex.org/m\n"),
            ("dot/d.go", "package dot\n\nfunc Dotted() int {\n\treturn 1\n}\n"),
            ("main.go", "package main\n\nimport . \"ex.org/m/dot\"\n\nfunc main() {\n\tDotted()\n}\n"),
        ],
        Relation::Callees,
        &["main.go:main -> d.go:Dotted import"],
    );
}

#[test]
fn calls_after_arrows_in_branches_and_lambdas_are_found() {
    check(
        &[(
            "a.kt",
            "package a\n\nfun branch(x: Int) {\n    when (x) {\n        1 -> helper()\n        else -> other()\n    }\n}\n\nfun lambda(list: List<Int>) {\n    list.forEach { item -> helper() }\n}\n\nfun helper(): Int {\n    return 1\n}\n\nfun other(): Int {\n    return 2\n}\n",
        )],
        Relation::Callees,
        &["a.kt:branch -> a.kt:helper scope", "a.kt:branch -> a.kt:other scope", "a.kt:lambda -> a.kt:helper scope"],
    );
    check(
        &[(
            "A.java",
            "class A {\n    int branch(int x) {\n        return switch (x) {\n            case 1 -> helper(x);\n            default -> helper(2);\n        };\n    }\n\n    int helper(int x) {\n        int y = x;\n        return y;\n    }\n}\n",
        )],
        Relation::Callees,
        &["A.java:A.branch -> A.java:A.helper scope"],
    );
}

/// Each file contains only calls that must not resolve to the repository.
#[test]
fn members_of_external_types_do_not_resolve_to_the_repository() {
    let files = [
        (
            "Main.java",
            "class Main {\n    void run(String text) {\n        Math.max(1, 2);\n        Integer.parseInt(\"1\");\n        String.format(\"a\");\n        \"a\".format();\n        text.trim().format();\n    }\n}\n\nclass Own {\n    static int max(int a, int b) {\n        return a;\n    }\n\n    static int parseInt(String s) {\n        return 0;\n    }\n\n    static String format(String s) {\n        return s;\n    }\n}\n",
        ),
        (
            "a.cs",
            "class Program {\n    void Run(string s) {\n        int.TryParse(\"1\");\n        Math.Max(1, 2);\n        s.Split(',');\n        \"a\".Split(',');\n        s.Trim().Split(',');\n    }\n}\n\nstatic class Own {\n    static bool TryParse(string s) => true;\n    static int Max(int a, int b) => a;\n    static string Split(string s) => s;\n}\n",
        ),
        (
            "a.swift",
            "class Own {\n    func split(_ s: String) {}\n    static func parse(_ s: String) {}\n}\n\nfunc run(s: String) {\n    s.split(\",\")\n    \"a\".split(\",\")\n    JSON.parse(\"x\")\n}\n",
        ),
        (
            "a.php",
            "<?php\nnamespace M;\nclass Own {\n    public function format($x) {\n        return $x;\n    }\n}\nfunction run() {\n    $d = new \\DateTime();\n    $d->format('Y');\n    \\DateTime::format('Y');\n}\n",
        ),
        (
            "a.scala",
            "class Own {\n  def max(a: Int, b: Int): Int = a\n}\nclass Use {\n  def run(s: String): Unit = {\n    Math.max(1, 2)\n    s.max(1, 2)\n  }\n}\n",
        ),
        ("a.dart", "class Own {\n  int parse(String s) => 1;\n}\n\nvoid run() {\n  int.parse('1');\n}\n"),
        (
            "a.ts",
            "class Own {\n  last() {\n    return 1;\n  }\n}\n\nfunction run(list: string[]) {\n  list.last();\n}\n",
        ),
        (
            "a.kt",
            "object Own {\n    fun max(a: Int, b: Int): Int = a\n    fun map(f: Any): Any = f\n}\n\nfun run() {\n    Math.max(1, 2)\n    listOf(1).map(2)\n}\n",
        ),
    ];
    for file in files {
        assert_eq!(relations(&[file], Relation::Callees), [""; 0], "{}", file.0);
    }
    let files = [
        ("a.php", "<?php\nnamespace N;\nfunction run() {\n    strlen('x');\n    \\strlen('x');\n}\n"),
        ("b.php", "<?php\nnamespace M;\nfunction strlen($x) {\n    return $x;\n}\n"),
    ];
    assert_eq!(relations(&files, Relation::Callees), [""; 0]);
}

#[test]
fn types_are_named_with_their_packages() {
    check(
        &[
            ("src/org/b/Other.java", "package org.b;\n\npublic class Other {\n    public void go() {\n    }\n}\n"),
            (
                "src/org/a/Main.java",
                "package org.a;\n\nclass Main extends org.b.Other {\n    void run(org.b.Other other) {\n        other.go();\n        new org.b.Other().go();\n        go();\n    }\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "Main.java:Main -> Other.java:Other import",
            "Main.java:Main.run -> Other.java:Other import",
            "Main.java:Main.run -> Other.java:Other.go receiver",
        ],
    );
    check(
        &[
            (
                "a.php",
                "<?php\nnamespace M;\nclass P0 {\n    public function up() {\n    }\n}\nfunction helper() {\n}\n",
            ),
            (
                "b.php",
                "<?php\nnamespace N;\nuse M\\P0;\nclass C extends \\M\\P0 {\n    private \\M\\P0 $p;\n    public function go(P0 $a, \\M\\P0 $b) {\n        $this->p->up();\n        \\M\\helper();\n    }\n}\n",
            ),
        ],
        Relation::Callees,
        &["b.php:N\\C::go -> a.php:M\\helper import", "b.php:N\\C::go -> a.php:M\\P0::up receiver"],
    );
    check(
        &[
            ("a.cs", "namespace App.Core\n{\n    public class Der\n    {\n        public void Run() {}\n    }\n}\n"),
            (
                "b.cs",
                "namespace App.Web\n{\n    class Page\n    {\n        private readonly App.Core.Der _der;\n        void Go(Core.Der other)\n        {\n            _der.Run();\n            other.Run();\n        }\n    }\n}\n",
            ),
        ],
        Relation::Callees,
        &["b.cs:App.Web.Page.Go -> a.cs:App.Core.Der.Run receiver"],
    );
    check(
        &[
            ("a.kt", "package a.b\n\nopen class Base<T> {\n    fun up() {}\n}\n\ninterface I {\n    fun run()\n}\n"),
            (
                "b.kt",
                "package c\n\nclass Der : a.b.Base<Int>(), a.b.I {\n    override fun run() {\n        up()\n    }\n}\n\nfun use(d: a.b.Base<Int>) {\n    d.up()\n}\n",
            ),
        ],
        Relation::Implementers,
        &["a.kt:Base -> b.kt:Der import", "a.kt:I -> b.kt:Der import"],
    );
    check(
        &[
            ("go.mod", "module ex.org/m\n"),
            ("p/p.go", "package p\n\ntype G[X any] struct{}\n\nfunc (g *G[X]) Up() {}\n"),
            (
                "main.go",
                "package main\n\nimport \"ex.org/m/p\"\n\ntype E struct {\n\tp.G[int]\n}\n\nfunc main() {\n\te := E{}\n\te.Up()\n}\n",
            ),
        ],
        Relation::Implementers,
        &["p.go:G -> main.go:E import"],
    );
}

#[test]
fn members_without_chunks_are_found_by_name() {
    let files = [(
        "a.ts",
        "export interface Sender {\n  send(item: string): void;\n  stop(): void;\n}\n\nexport class Queue implements Sender {\n  send(item: string): void {}\n  stop(): void {}\n}\n\nexport function run(sender: Sender) {\n  sender.send('a');\n}\n\nexport function end(sender: Sender) {\n  sender.stop();\n}\n",
    )];
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("Sender.send").expect("the index can be read")[..] else { panic!("expected one member") };
    assert_eq!(named.member.as_deref(), Some("send"));
    let related = |relation| {
        let found = index.related_to(named, relation).expect("the index can be read").list;
        found.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>()
    };
    assert_eq!(related(Relation::Callers), ["a.ts:run"]);
    assert_eq!(related(Relation::Implementers), ["a.ts:Queue.send"]);
    assert!(related(Relation::Callees).is_empty());
}

#[test]
fn bare_calls_of_abstract_methods_resolve_to_their_types() {
    let files = [(
        "A.java",
        "abstract class A {\n    A() {\n        this(1);\n    }\n\n    A(int x) {\n    }\n\n    abstract void step();\n\n    void run() {\n        step();\n    }\n}\n\nclass B extends A {\n    void step() {\n    }\n\n    void all() {\n        step();\n        run();\n    }\n}\n",
    )];
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("A.step").expect("the index can be read")[..] else { panic!("expected one member") };
    assert_eq!(named.member.as_deref(), Some("step"));
    let callers = index.related_to(named, Relation::Callers).expect("the index can be read").list;
    // The constructor calls the type itself, not the member.
    assert_eq!(callers.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(), ["A.java:A.run"]);
}

#[test]
fn properties_are_read_without_parentheses() {
    check(
        &[
            (
                "a.py",
                "class A:\n    def go(self):\n        pass\n\n\nclass B:\n    @property\n    def a(self) -> A:\n        return A()\n\n\ndef run(b: B):\n    b.a.go()\n",
            ),
            (
                "a.ts",
                "class A {\n  go() {}\n}\n\nclass B {\n  get a(): A {\n    return new A()\n  }\n}\n\nfunction run(b: B) {\n  b.a.go()\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "a.py:B.a -> a.py:A scope",
            "a.py:run -> a.py:A.go receiver",
            "a.ts:B.a -> a.ts:A scope",
            "a.ts:run -> a.ts:A.go receiver",
        ],
    );
}

#[test]
fn parameters_of_lambdas_have_the_types_of_elements() {
    let item = |text: &str| text.replace('~', "\n");
    let files = [
        ("a.ts", item("class Item {~  go() {}~}~~function run(items: Item[]) {~  items.map(x => x.go());~}~")),
        (
            "a.kt",
            item(
                "class Item {~    fun go() {}~    fun stop() {}~}~~fun run(items: List<Item>, one: Item) {~    items.forEach { it.go() }~    one.let { x -> x.stop() }~}~",
            ),
        ),
        (
            "a.rs",
            item(
                "struct Item;~~impl Item {~    fn go(&self) {}~}~~fn run(items: Vec<Item>) {~    items.iter().for_each(|x| x.go());~}~",
            ),
        ),
        (
            "A.java",
            item(
                "class Item {~    void go() {}~}~~class Use {~    void run(List<Item> items) {~        items.stream().map(x -> x.go());~    }~}~",
            ),
        ),
        (
            "a.cs",
            item(
                "class Item~{~    void Go() {}~}~class Use~{~    void Run(List<Item> items) { items.Where(x => x.Go()); }~}~",
            ),
        ),
    ];
    let expected = [
        "a.ts:run -> a.ts:Item.go receiver",
        "a.kt:run -> a.kt:Item.go receiver",
        "a.kt:run -> a.kt:Item.stop receiver",
        "a.rs:run -> a.rs:Item::go receiver",
        "A.java:Use.run -> A.java:Item.go receiver",
        "a.cs:Use.Run -> a.cs:Item.Go receiver",
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    check(&files, Relation::Callees, &expected);
}

#[test]
fn results_have_the_type_arguments_of_their_receivers() {
    let item = |text: &str| text.replace('~', "\n");
    let files = [
        (
            "A.java",
            item(
                "class Item {~    void go() {}~}~~class Other {~    void go() {}~}~~class Box<T> {~    T get() {~        return null;~    }~}~~class Use {~    void run(Box<Item> box) {~        box.get().go();~    }~}~",
            ),
        ),
        (
            "a.rs",
            item(
                "pub struct Item;~~impl Item {~    pub fn go(&self) {}~}~~pub struct Other;~~impl Other {~    pub fn go(&self) {}~}~~pub struct Lock<'a, T> {~    value: &'a T,~}~~impl<'a, T> Lock<'a, T> {~    pub fn lock(&self) -> Option<&T> {~        None~    }~}~~pub fn run(lock: &Lock<'_, Item>) {~    lock.lock().unwrap().go();~}~",
            ),
        ),
        (
            "a.cs",
            item(
                "class Item~{~    void Go() {}~}~class Other~{~    void Go() {}~}~class Box<T>~{~    public T Value { get; }~}~class Use~{~    void Run(Box<Item> box) { box.Value.Go(); }~}~",
            ),
        ),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let expected = [
        "A.java:Use.run -> A.java:Box.get receiver",
        "A.java:Use.run -> A.java:Item.go receiver",
        "a.rs:run -> a.rs:Item::go receiver",
        "a.rs:run -> a.rs:Lock::lock receiver",
        "a.cs:Use.Run -> a.cs:Item.Go receiver",
    ];
    check(&files, Relation::Callees, &expected);
}
