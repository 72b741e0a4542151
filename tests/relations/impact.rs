//! Definitions that a change affects, and the imports of files.

use aurora_query::{ImpactOptions, RelationIndex};

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
        format!("{} {} {}{test}", name(&snapshot, one.id), one.effect.as_str(), name(&snapshot, one.of))
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
