//! Definitions that a change affects, and the imports of files.

use aurora_query::{ImpactOptions, Relation, RelationIndex};

use crate::{indexed, name};

/// Asserts the affected definitions of a change of `changed`, each with its relation and the previous definition.
fn check(files: &[(&str, &str)], changed: &str, expected: &[&str]) {
    let (_fixture, snapshot) = indexed(files);
    let index = RelationIndex::new(&snapshot);
    let found = index.find(changed).expect("the index can be read");
    let options = ImpactOptions { depth: 8, min_confidence: 0.5 };
    let impact = index.impact(&found[..1], &options).expect("the index can be read");
    let shown = impact.affected.iter().map(|one| {
        let test = if one.is_test { " (test)" } else { "" };
        format!(
            "{} {} {}{test}",
            name(&snapshot, one.id),
            one.chain[0].effect.as_str(),
            name(&snapshot, one.chain[0].of)
        )
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    assert!(!impact.is_cut);
}

#[test]
fn callers_and_tests_are_found_over_several_steps() {
    check(
        &[
            ("app/rates.py", "def rate(kind):\n    return 1\n\n\ndef price(kind):\n    return rate(kind)\n"),
            (
                "app/shop.py",
                "from app.rates import price, rate\n\n\ndef total(items):\n    return sum(price(item) for item in items)\n\n\ndef table(kinds):\n    return map(rate, kinds)\n",
            ),
            ("tests/test_shop.py", "from app.shop import total\n\n\ndef test_total():\n    assert total([]) == 0\n"),
        ],
        "rate",
        &[
            "shop.py:table uses rates.py:rate",
            "rates.py:price calls rates.py:rate",
            "shop.py:total calls rates.py:price",
            "test_shop.py:test_total calls shop.py:total (test)",
        ],
    );
}

#[test]
fn callers_of_an_interface_depend_on_its_implementations() {
    check(
        &[
            ("go.mod", "module ex.org/m\n"),
            (
                "store/store.go",
                "package store\n\ntype Store interface {\n\tPut(key string) error\n}\n\ntype disk struct{}\n\nfunc (d *disk) Put(key string) error {\n\treturn nil\n}\n\nfunc Save(s Store) error {\n\treturn s.Put(\"a\")\n}\n",
            ),
        ],
        "disk.Put",
        &["store.go:Save calls store.go:disk.Put"],
    );
    let files = [
        ("src/a/Shape.java", "package a;\n\npublic interface Shape {\n    double area();\n}\n"),
        (
            "src/a/Square.java",
            "package a;\n\npublic class Square implements Shape {\n    public double area() {\n        return 1;\n    }\n}\n",
        ),
        (
            "src/a/Sum.java",
            "package a;\n\nclass Sum {\n    double of(Shape shape) {\n        return shape.area();\n    }\n}\n",
        ),
    ];
    check(
        &files,
        "Shape",
        &[
            "Square.java:Square extends Shape.java:Shape",
            "Sum.java:Sum uses Shape.java:Shape",
            "Sum.java:Sum.of uses Shape.java:Shape",
        ],
    );
}

#[test]
fn users_and_subtypes_of_a_type_are_affected() {
    check(
        &[
            (
                "src/item.ts",
                "export class Item {\n  price(): number { return 1 }\n}\n\nexport class Gift extends Item {\n}\n",
            ),
            (
                "src/cart.ts",
                "import { Item } from './item'\n\nexport function sum(items: Item[]): number {\n  return items.length\n}\n",
            ),
        ],
        "Item",
        &["cart.ts:sum uses item.ts:Item", "item.ts:Gift extends item.ts:Item"],
    );
    check(
        &[
            ("Cargo.toml", "[package]\nname = \"m\"\n"),
            (
                "src/lib.rs",
                "pub struct Item {\n    price: u32,\n}\n\npub fn sum(items: &[Item]) -> u32 {\n    items.len() as u32\n}\n\nfn twice(items: &[Item]) -> u32 {\n    2 * sum(items)\n}\n",
            ),
        ],
        "sum",
        &["lib.rs:twice calls lib.rs:sum"],
    );
}

#[test]
fn callers_that_name_a_removed_definition_are_found() {
    let (_fixture, snapshot) = indexed(&[
        ("a.py", "def kept():\n    return gone()\n"),
        ("b.py", "from a import gone\n\n\ndef run():\n    return gone()\n"),
        ("c.py", "from d import gone\n\n\ndef other():\n    return gone()\n"),
        ("d.py", "def gone():\n    return 1\n"),
    ]);
    let index = RelationIndex::new(&snapshot);
    let found = index.callers_of_removed("a.py", "gone", false).expect("the index can be read");
    let shown: Vec<String> = found.affected.iter().map(|one| name(&snapshot, one.id)).collect();
    assert_eq!(shown, ["a.py:kept", "b.py:run"]);
}

#[test]
fn imports_resolve_in_both_directions() {
    let (_fixture, snapshot) = indexed(&[
        ("go.mod", "module ex.org/m\n"),
        ("dot/d.go", "package dot\n\nfunc Dotted() int {\n\treturn 1\n}\n"),
        (
            "main.go",
            "package main\n\nimport (\n\t\"fmt\"\n\n\t\"ex.org/m/dot\"\n)\n\nfunc main() {\n\tfmt.Println(dot.Dotted())\n}\n",
        ),
        ("web/a.ts", "export const one = 1\nexport function two() {\n  return 2\n}\n"),
        ("web/b.ts", "import { one, two } from './a'\nimport fs from 'node:fs'\n\nexport const three = one + two()\n"),
        ("py/pkg/__init__.py", "from .inner import helper\n"),
        ("py/pkg/inner.py", "import os\n\n\ndef helper():\n    return os.name\n"),
        ("jv/x/A.java", "package x;\n\npublic class A {\n}\n"),
        ("jv/y/B.java", "package y;\n\nimport x.A;\nimport java.util.List;\n\nclass B extends A {\n}\n"),
    ]);
    let index = RelationIndex::new(&snapshot);
    let imports = |path: &str| -> Vec<String> {
        let found = index.imports_of(path).expect("the index can be read");
        found.list.iter().map(|import| format!("{} -> {}", import.path, import.files.join(","))).collect()
    };
    assert_eq!(imports("main.go"), ["ex.org/m/dot -> dot", "fmt -> "]);
    assert_eq!(imports("web/b.ts"), ["./a -> web/a.ts", "node:fs -> "]);
    assert_eq!(imports("jv/y/B.java"), ["java.util.List -> ", "x.A -> jv/x/A.java"]);
    let importers = |path: &str| -> Vec<String> {
        let found = index.importers_of(&[path.to_owned()]).expect("the index can be read");
        found.list.into_iter().map(|importer| importer.file).collect()
    };
    assert_eq!(importers("dot"), ["main.go"]);
    assert_eq!(importers("web/a.ts"), ["web/b.ts"]);
    assert_eq!(importers("py/pkg/inner.py"), ["py/pkg/__init__.py"]);
    assert_eq!(importers("jv/x/A.java"), ["jv/y/B.java"]);
}

#[test]
fn a_call_reaches_only_the_overriding_methods_of_its_receiver() {
    let animals = "class Animal:\n    def sound(self):\n        return self._sound()\n\n    def _sound(self):\n        return 1\n\n\nclass Dog(Animal):\n    def _sound(self):\n        return 2\n\n\nclass Cat(Animal):\n    def _sound(self):\n        return super()._sound()\n\n    def purr(self):\n        return self._sound()\n\n\nclass Puppy(Dog):\n    pass\n";
    let uses = "from animals import Animal, Cat, Puppy\n\n\ndef hear_cat():\n    cat = Cat()\n    return cat._sound()\n\n\ndef hear_puppy():\n    puppy = Puppy()\n    return puppy._sound()\n\n\ndef hear_base():\n    animal = Animal()\n    return animal._sound()\n\n\ndef hear(animal: Animal):\n    return animal._sound()\n";
    check(
        &[("animals.py", animals), ("uses.py", uses)],
        "Dog._sound",
        &[
            "uses.py:hear_puppy calls animals.py:Dog._sound",
            "animals.py:Animal.sound calls animals.py:Dog._sound",
            "uses.py:hear calls animals.py:Dog._sound",
        ],
    );
    let printer = "package a;\n\npublic interface Printer {\n    void print(String text);\n}\n";
    let paper = "package a;\n\npublic class Paper implements Printer {\n    public void print(String text) {\n        System.out.println(text);\n    }\n}\n";
    let screen = "package a;\n\npublic class Screen implements Printer {\n    public void print(String text) {\n        System.err.println(text);\n    }\n}\n";
    let office = "package a;\n\nclass Office {\n    void onPaper() {\n        final Printer printer = new Paper();\n        printer.print(\"a\");\n    }\n\n    void onScreen() {\n        final Printer printer = new Screen();\n        printer.print(\"a\");\n    }\n\n    void anywhere(Printer printer) {\n        printer.print(\"a\");\n    }\n}\n";
    let test = "package a;\n\nclass OfficeTest {\n    @Mock\n    private Printer mocked;\n    private Printer real;\n\n    void withMock() {\n        mocked.print(\"a\");\n        mocked.print(\"a longer text than one line of the chunk\");\n    }\n\n    void withReal() {\n        real.print(\"a\");\n        real.print(\"a longer text than one line of the chunk\");\n    }\n}\n";
    check(
        &[
            ("src/main/java/a/Printer.java", printer),
            ("src/main/java/a/Paper.java", paper),
            ("src/main/java/a/Screen.java", screen),
            ("src/main/java/a/Office.java", office),
            ("src/test/java/a/OfficeTest.java", test),
        ],
        "Paper.print",
        &[
            "Office.java:Office.anywhere calls Paper.java:Paper.print",
            "Office.java:Office.onPaper calls Paper.java:Paper.print",
            "OfficeTest.java:OfficeTest.withReal calls Paper.java:Paper.print (test)",
        ],
    );
}

#[test]
fn callers_of_constructors_are_found_by_the_type_and_its_subtypes() {
    let files = [
        (
            "base.py",
            "class Base:\n    def __init__(self, size):\n        self.size = size\n\n    def again(self):\n        self.__init__(2)\n\n\nclass Middle(Base):\n    pass\n",
        ),
        (
            "sub.py",
            "from base import Base, Middle\n\n\nclass Left(Middle):\n    def __init__(self):\n        super().__init__(1)\n\n\nclass Right(Base):\n    def __init__(self):\n        Base.__init__(self, 1)\n\n\ndef make():\n    return Base(3)\n",
        ),
        ("other.py", "class Other:\n    def __init__(self):\n        super().__init__()\n"),
    ];
    check(
        &files,
        "Base.__init__",
        &[
            "sub.py:Left.__init__ overrides base.py:Base.__init__",
            "sub.py:Right.__init__ overrides base.py:Base.__init__",
            "sub.py:make calls base.py:Base.__init__",
            "base.py:Base.again calls base.py:Base.__init__",
        ],
    );
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let found = index.find("Base.__init__").expect("the index can be read");
    let callers = index.related_to(&found[0], Relation::Callers).expect("the index can be read").list;
    let shown: Vec<String> = callers.iter().map(|one| name(&snapshot, one.id)).collect();
    assert_eq!(shown, ["sub.py:make", "base.py:Base.again", "sub.py:Right.__init__", "sub.py:Left.__init__"]);
}

#[test]
fn a_short_type_affects_others_only_by_the_members_that_change() {
    check(
        &[
            ("src/a/Filter.java", "package a;\n\npublic interface Filter {\n    boolean accepts(String name);\n}\n"),
            (
                "src/a/Both.java",
                "package a;\n\npublic interface Both {\n    Filter one(Filter a);\n    int two();\n}\n",
            ),
            (
                "src/a/Module.java",
                "package a;\n\npublic class Module {\n    Filter one(Filter a) { return a; }\n    int two() { return 2; }\n}\n",
            ),
            (
                "src/a/Users.java",
                "package a;\n\nclass Users {\n    void usesBoth(Both both) {\n        both.one(null);\n        both.one(null);\n        both.one(null);\n    }\n\n    void usesOther(Both both) {\n        both.two();\n        both.two();\n        both.two();\n    }\n\n    void constructs() {\n        new Module();\n        new Module();\n        new Module();\n    }\n\n    void usesOne(Module module) {\n        module.one(null);\n        module.one(null);\n        module.one(null);\n    }\n\n    void usesTwo(Module module) {\n        module.two();\n        module.two();\n        module.two();\n    }\n}\n",
            ),
        ],
        "Filter",
        &[
            "Both.java:Both uses Filter.java:Filter",
            "Module.java:Module uses Filter.java:Filter",
            "Module.java:Module.one uses Filter.java:Filter",
            "Users.java:Users.usesBoth calls Both.java:Both",
            "Users.java:Users.usesOne calls Module.java:Module.one",
        ],
    );
}

#[test]
fn a_wildcard_import_names_only_what_its_module_exports() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"m\"\n"),
        ("src/lib.rs", "pub mod builtins;\npub mod prelude;\npub mod ast;\n"),
        ("src/prelude.rs", "pub use crate::builtins::shared;\n"),
        (
            "src/builtins.rs",
            "pub fn jobs() -> u32 {\n    let all = [1, 2, 3];\n    all.len() as u32\n}\n\npub fn shared() -> u32 {\n    let all = [1, 2, 3];\n    all.len() as u32\n}\n",
        ),
        (
            "src/ast.rs",
            "use crate::prelude::*;\n\npub struct Block {\n    pub jobs: u32,\n    pub shared: u32,\n}\n\npub fn run(calls: Vec<u32>) -> Vec<u32> {\n    calls.iter().map(|jobs| matches!(jobs, 1)).map(jobs);\n    vec![]\n}\n\npub fn both() -> u32 {\n    let all = [1, 2, 3];\n    shared() + all.len() as u32\n}\n\npub fn typed() -> u32 {\n    let all = [1, 2, 3];\n    Other::shared() + all.len() as u32\n}\n",
        ),
    ];
    check(&files, "jobs", &[]);
    check(&files, "shared", &["ast.rs:both calls builtins.rs:shared"]);
}

#[test]
fn an_assignment_refers_to_the_setter() {
    let focus = "export class Focus {\n  private last = 0\n\n  get index(): number {\n    return this.last + 1 - 1\n  }\n\n  set index(value: number) {\n    this.last = value + 1 - 1\n  }\n\n  read(): number {\n    const a = 1\n    return this.index + a\n  }\n\n  write(): void {\n    const a = 1\n    this.index = a\n  }\n\n  step(): void {\n    const a = 1\n    this.index += a\n  }\n}\n";
    let (_fixture, snapshot) = indexed(&[("src/focus.ts", focus)]);
    let index = RelationIndex::new(&snapshot);
    let options = ImpactOptions { depth: 1, min_confidence: 0.5 };
    let found = index.find("Focus.index").expect("the index can be read");
    let shown = found.iter().map(|named| {
        let impact = index.impact(std::slice::from_ref(named), &options).expect("the index can be read");
        impact.affected.iter().map(|one| name(&snapshot, one.id)).collect::<Vec<_>>()
    });
    let getter = ["focus.ts:Focus", "focus.ts:Focus.read", "focus.ts:Focus.step"].map(str::to_owned);
    let setter = ["focus.ts:Focus", "focus.ts:Focus.step", "focus.ts:Focus.write"].map(str::to_owned);
    assert_eq!(shown.collect::<Vec<_>>(), [getter, setter]);
}

#[test]
fn declarations_and_metadata_are_not_uses() {
    check(
        &[(
            "src/mode.ts",
            "export type Mode = 'a' | 'b'\nexport const Mode = { a: 'a', b: 'b' }\n\nexport function run(mode: Mode): Mode {\n  return mode\n}\n",
        )],
        "Mode",
        &["mode.ts:run uses mode.ts:Mode"],
    );
    check(
        &[(
            "doc.py",
            "def task(a):\n    \"\"\"Runs a.\"\"\"\n    return a\n\n\ndef doc():\n    return task.__doc__ or ''\n\n\ndef passes():\n    return map(task, [1])\n",
        )],
        "task",
        &["doc.py:passes uses doc.py:task"],
    );
}
