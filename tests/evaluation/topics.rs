//! Questions about the topic of a file.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::fixture::{Fixture, git};
use crate::lines;

/// A function without documentation, long enough to be indexed.
const PYTHON: &str = "def gather(path, limit):\n    rows = read_rows(path)\n    kept = [row for row in rows if row.amount > limit]\n    return sorted(kept, key=lambda row: row.amount)\n\n\ndef read_rows(path):\n    with open(path) as lines:\n        return [parse_row(line) for line in lines]\n";
const RUST: &str = "use std::path::Path;\n\npub fn gather(path: &Path, limit: u32) -> Vec<Row> {\n    let rows = read_rows(path);\n    rows.into_iter().filter(|row| row.amount > limit).collect()\n}\n\nfn read_rows(path: &Path) -> Vec<Row> {\n    Vec::new()\n}\n";
const GO: &str = "import \"os\"\n\nfunc Gather(path string, limit int) []Row {\n\trows := readRows(path)\n\tkept := rows[:0]\n\tfor _, row := range rows {\n\t\tkept = append(kept, row)\n\t}\n\treturn kept\n}\n\nfunc readRows(path string) []Row {\n\treturn nil\n}\n";
const JAVA: &str = "class VoucherLedger {\n    private final java.util.List<String> entries = new java.util.ArrayList<>();\n\n    void record(String voucher, int amount) {\n        entries.add(voucher + amount);\n    }\n\n    int total() {\n        return entries.size();\n    }\n}\n";
const TYPESCRIPT: &str = "import { Row } from './rows';\n\nexport function gather(rows: Row[], limit: number): Row[] {\n  const kept = rows.filter((row) => row.amount > limit);\n  return kept.sort((one, other) => one.amount - other.amount);\n}\n\nexport function total(rows: Row[]): number {\n  return rows.length;\n}\n";
const ELIXIR: &str = "  def gather(rows, limit) do\n    rows |> Enum.filter(fn row -> row.amount > limit end) |> Enum.sort_by(fn row -> row.amount end)\n  end\n\n  def total(rows, factor) do\n    Enum.reduce(rows, 0, fn row, sum -> sum + row.amount * factor end)\n  end\nend\n";
const BASH: &str = "set -eu\n\ngather() {\n  local path=$1 limit=$2\n  sort --numeric-sort \"$path\" | head --lines \"$limit\"\n}\n\ntotal() {\n  gather \"$1\" 100000 | awk '{ sum += $2 } END { print sum }'\n}\n\ntotal \"$1\"\n";
const LICENCE: &str = "Copyright (c) 2020 The Authors. All rights reserved.";

/// Returns files that begin with a sentence about their purpose, with this sentence as the expected question.
fn described_files() -> BTreeMap<&'static str, (&'static str, String)> {
    BTreeMap::from([
        (
            "src/parcels.py",
            (
                "parcels that wait for customs before their journey continues",
                format!(
                    "# {LICENCE}\n\"\"\"\nParcels\n=======\n\nThis module contains parcels that wait for customs before their\njourney continues. Slowly.\n\"\"\"\n\n{PYTHON}"
                ),
            ),
        ),
        (
            "src/invoices.rs",
            (
                "Invoices of suppliers, matched against orders before payment",
                format!(
                    "// {LICENCE}\n\n//! Invoices of suppliers, matched against\n//! orders before payment.\n\n{RUST}"
                ),
            ),
        ),
        (
            "src/refunds/refunds.go",
            (
                "returns money for damaged goods within fourteen days",
                format!(
                    "// {LICENCE}\n\n// Package refunds returns money for damaged goods within\n// fourteen days.\npackage refunds\n\n{GO}"
                ),
            ),
        ),
        (
            "src/VoucherLedger.java",
            (
                "Remembers which coupons were redeemed by whom",
                format!(
                    "/*\n * {LICENCE}\n */\npackage shop;\n\n/**\n * Remembers which coupons were redeemed by whom.\n *\n * @author Ada\n */\n{JAVA}"
                ),
            ),
        ),
        (
            "src/receipts.ts",
            (
                "Printed receipts for customers without electronic mail",
                format!(
                    "/**\n * @license {LICENCE}\n */\n\n/**\n * @fileoverview Printed receipts for customers without electronic mail.\n */\n{TYPESCRIPT}"
                ),
            ),
        ),
        (
            "lib/shipment.ex",
            (
                "Tracks containers across oceans and their harbours",
                format!(
                    "defmodule Shop.Shipment do\n  @moduledoc ~S\"\"\"\n  Tracks containers across oceans and their harbours.\n  \"\"\"\n\n{ELIXIR}"
                ),
            ),
        ),
        (
            "bin/balance.sh",
            (
                "Prints outstanding amounts of every debtor at night",
                format!("#!/bin/bash\n# Prints outstanding amounts of every debtor at night.\n\n{BASH}"),
            ),
        ),
    ])
}

fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n");
    for (path, (_, content)) in described_files() {
        fixture.write(path, content);
    }
    let python = |doc: &str| format!("\"\"\"{doc}\"\"\"\n\n{PYTHON}");
    for (path, content) in [
        // Files from here on yield no questions. The first ones are tests and generated files.
        ("tests/test_ledger.py", python("Ledgers are balanced against accounts of every customer.")),
        (
            "src/schema.py",
            format!(
                "# Code generated by a program. DO NOT EDIT.\n{}",
                python("Tables and columns of every known database.")
            ),
        ),
        // The next files yield no questions for other reasons: too few words, a sentence about the licence, a sentence
        // with the name of the file, the same sentence in two files, a sentence that also occurs elsewhere, and a file
        // that consists only of documentation.
        ("src/ticket.py", python("This file contains functions.")),
        (
            "src/account.rs",
            format!(
                "// {LICENCE}\n// Use of this source code is governed by a licence that can be found elsewhere.\n\n{RUST}"
            ),
        ),
        ("src/order_book.py", python("Everything that an order_book of the market remembers.")),
        ("src/one.py", python("Customers are greeted politely when they return.")),
        ("src/other.py", python("Customers are greeted politely when they return.")),
        ("src/told.py", python("Warehouses are counted every winter by students.")),
        ("README.md", "# Shop\n\nWarehouses are counted\nevery winter by students.\n".to_owned()),
        ("src/doc.go", "// Package src sells nearly everything that fits into boxes.\npackage src\n".to_owned()),
        // Here, the comment documents a function, not the file.
        (
            "src/lonely.ts",
            format!(
                "/** Sorts unpaid rows beneath the amount of paid ones. */\n{}",
                TYPESCRIPT.split_once("\n\n").expect("the text begins with an import").1
            ),
        ),
    ] {
        fixture.write(path, content);
    }
    fixture.commit("Sell things of every kind");
    fixture
}

#[test]
fn questions_about_files_come_from_their_descriptions() {
    let fixture = repository();
    let mine = |out: &str, more: &[&str]| {
        let run = fixture.aur(&[&["mem", "eval", "mine", "--out", out, "--held-out", "0"], more].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.out.contains("topics "), "{run:?}");
    };
    mine("mined", &[]);
    let questions = lines(&fixture, "mined/topics.jsonl");
    let found: BTreeMap<&str, &str> = questions
        .iter()
        .map(|question| {
            assert_eq!(question["relevant"].as_array().map(Vec::len), Some(1));
            let answer = &question["relevant"][0];
            assert_eq!(answer["line_start"], Value::Null, "the whole file answers: {question}");
            (
                answer["path"].as_str().expect("the value is a string"),
                question["query"].as_str().expect("the value is a string"),
            )
        })
        .collect();
    let asked = described_files();
    let expected: BTreeMap<&str, &str> = asked.iter().map(|(path, (query, _))| (*path, *query)).collect();
    assert_eq!(found, expected);
    for (path, (query, content)) in &asked {
        let read = |tree: &str| {
            std::fs::read_to_string(fixture.path(&format!("mined/trees/{tree}/{path}"))).expect("the file can be read")
        };
        let (first, stripped) =
            (query.split_once(' ').expect("the query has several words").0, read("stripped-topics"));
        assert!(!stripped.contains(first), "{stripped}");
        assert_eq!(stripped.lines().count(), content.lines().count(), "{stripped}");
        assert_eq!(stripped.starts_with("#!"), content.starts_with("#!"), "{stripped}");
        assert_eq!(stripped.lines().last(), content.lines().last());
        assert_eq!(&read("head"), content);
    }
    let log = git(&fixture.path("mined/trees/stripped-topics")).args(["log", "--all", "--format=%s"]).output();
    assert_eq!(String::from_utf8_lossy(&log.expect("git runs").stdout).trim_end(), "Sell things of every kind");

    // Mining the same repository again yields the same set, and a smaller set is a subset.
    mine("again", &[]);
    let read = |file: &str| std::fs::read_to_string(fixture.path(file)).expect("the file can be read");
    assert_eq!(read("mined/topics.jsonl"), read("again/topics.jsonl"));
    mine("few", &["--max", "3"]);
    let few = lines(&fixture, "few/topics.jsonl");
    assert_eq!(few.len(), 3);
    assert!(few.iter().all(|question| questions.contains(question)), "{few:?}");
}

#[test]
fn topics_are_evaluated_by_file_and_used_for_tuning() {
    let fixture = repository();
    assert_eq!(fixture.aur(&["mem", "eval", "mine", "--held-out", "40"]).code, Some(0));
    let held_out = lines(&fixture, ".aurora/eval/topics.held-out.jsonl").len();
    assert_eq!(held_out + lines(&fixture, ".aurora/eval/topics.jsonl").len(), described_files().len());
    assert!(held_out > 0 && held_out < described_files().len(), "{held_out}");
    let eval = fixture.aur(&["mem", "eval", ".aurora/eval", "--sets", "topics", "--format", "json"]);
    assert_eq!(eval.code, Some(0), "{eval:?}");
    let report = eval.json();
    let sets = report["sets"].as_array().expect("the value is a list");
    assert_eq!(sets[0]["set"], "topics", "{report}");
    assert_eq!(sets[0]["questions"], described_files().len() - held_out);
    let floor = |floor: &str| {
        fixture.aur(&["mem", "eval", ".aurora/eval", "--sets", "topics,topics.held-out", "--floor", floor]).code
    };
    assert_eq!((floor("topics:ndcg@10=0"), floor("topics:p@5=0.9")), (Some(0), Some(1)));
    let tuned = fixture.aur(&[
        "mem",
        "tune",
        "--golden",
        ".aurora/eval",
        "--mode",
        "sparse",
        "--keys",
        "bm25.k1",
        "--folds",
        "2",
        "--rounds",
        "1",
        "--force",
        "--out",
        "learned.toml",
    ]);
    let file = std::fs::read_to_string(fixture.path("learned.toml")).unwrap_or_default();
    assert!(file.contains("topics") && tuned.out.contains("topics"), "{tuned:?}\n{file}");
}
