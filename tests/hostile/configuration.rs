//! Configuration from a repository: for each value of each key, a run succeeds or reports an error.

use std::fmt::Write;

use aurora_query::Parameter;

use crate::random::{Random, attempts};
use crate::sandbox::Sandbox;
use crate::{Attack, INDEX, SEARCH, assert_withstands, ensure};

const CHECK: &[&str] = &["pipeline", "check"];
const PIPELINE: &str = ".aurora/pipeline.toml";
const CONFIG: &str = ".aurora/config.toml";

/// Keys of a pipeline, by table. All keys are known to the program, which would report an unknown key as an error.
const KEYS: &[(&str, &[&str])] = &[
    ("run", &["memory", "jobs", "batch_files", "queue_batches"]),
    ("stage.discover", &["max_file_size", "skip_directories", "keep_listings", "batch_files", "batch_bytes"]),
    ("stage.incremental-check", &["git", "mtime", "redact", "redact_personal"]),
    ("stage.parse", &["timeout", "max_size"]),
    ("stage.chunk", &["max_size", "min_size", "whole_type_lines", "nested_function_lines", "max_chunks"]),
    ("stage.git-signal", &["tier"]),
    ("stage.embed", &["model"]),
    ("stage.store", &[]),
    ("stage.bm25", &[]),
];
/// Keys of every stage.
const STAGE_KEYS: &[&str] = &["workers", "enabled", "after", "use"];
/// Numbers that exceed the limit of at least one key.
const LARGE: &[&str] = &["100000", "4294967295", "4294967296", "9223372036854775807"];

/// Returns a pipeline that sets a single key.
fn one_key(table: &str, key: &str, value: &str) -> String {
    format!("extends = \"default\"\n\n[{table}]\n{key} = {value}\n")
}

#[test]
fn large_numbers_in_a_pipeline_are_bounded() {
    let mut attacks = Vec::new();
    for (table, keys) in KEYS {
        let stage_keys = STAGE_KEYS.iter().take(usize::from(table.starts_with("stage")));
        for key in keys.iter().chain(stage_keys) {
            for value in LARGE.iter().chain(&["0", "-1", "\"900TiB\"", "\"16EiB\"", "\"0\"", "1e300", "nan"]) {
                let attack = Attack::on_fresh(format!("{table}.{key} = {value}"), move |sandbox| {
                    sandbox.write(PIPELINE, one_key(table, key, value));
                });
                attacks.push(attack.run(CHECK).run(INDEX));
            }
        }
    }
    assert_withstands(attacks);
}

#[test]
fn numbers_of_workers_are_bounded() {
    let jobs = |jobs: &'static str| {
        Attack::on_fresh(format!("--jobs {jobs}"), |_| {})
            .run_with(move |sandbox| sandbox.aur(&["mem", "index", "--jobs", jobs]))
    };
    let workers = |stage: &'static str| {
        Attack::on_fresh(format!("100000 workers of {stage}"), move |sandbox| {
            sandbox.write(PIPELINE, one_key(&format!("stage.{stage}"), "workers", "100000"));
        })
        .run(CHECK)
        .run(INDEX)
    };
    let mut attacks = vec![jobs("100000"), jobs("4294967295"), jobs("18446744073709551615"), jobs("0"), jobs("1000")];
    attacks.extend(
        ["discover", "incremental-check", "parse", "chunk", "git-signal", "embed", "store", "bm25"].map(workers),
    );
    attacks.push(
        Attack::on_fresh("100000 workers in all", |sandbox| {
            sandbox.write(PIPELINE, one_key("run", "jobs", "100000"));
        })
        .run(INDEX),
    );
    assert_withstands(attacks);
}

#[test]
fn a_repository_cannot_raise_the_limit_of_file_sizes() {
    let sizes = ["9223372036854775807", "1099511627776", "\"1TiB\""].into_iter().map(|size| {
        Attack::on_fresh(format!("max_file_size = {size}"), move |sandbox| {
            sandbox.write(PIPELINE, one_key("stage.discover", "max_file_size", size));
            sandbox.write("long.py", "x = 1\n".repeat(16 << 20)).sparse("sparse.py", 100 << 30);
            sandbox.write("line.js", "a;".repeat(64 << 20));
        })
        .run(INDEX)
        .expect(|_, outcomes| {
            let indexed = outcomes[0].json()["files"]["indexed"].as_u64();
            ensure(outcomes[0].code == Some(2) || indexed == Some(4), "files beyond the limit are skipped")
        })
    });
    assert_withstands(sizes);
}

#[test]
fn pipelines_that_are_expensive_to_parse_are_refused() {
    let pipeline = |name: &str, text: String| {
        Attack::on_fresh(format!("a pipeline {name}"), move |sandbox| {
            sandbox.write(PIPELINE, &text);
        })
        .run(CHECK)
        .run(&["pipeline", "show"])
        .run(&["pipeline", "graph"])
        .run(INDEX)
        .expect(|_, outcomes| ensure(matches!(outcomes[3].code, Some(0 | 2)), "the run succeeds or reports an error"))
    };
    let stages = (0..20_000).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "[stage.s{n}]\nuse = \"chunk\"\nafter = [\"s{}\"]", n + 1);
        text
    });
    assert_withstands([
        pipeline("of nested lists", format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000))),
        pipeline("of nested tables", format!("a = {}{}", "{a=".repeat(100_000), "}".repeat(100_000))),
        pipeline("with a key of a hundred thousand parts", format!("{}a = 1", "a.".repeat(100_000))),
        pipeline("with a table of a hundred thousand parts", format!("[{}a]\nb = 1", "a.".repeat(100_000))),
        pipeline("of a million keys", (0..1_000_000).map(|n| format!("k{n} = 1\n")).collect()),
        pipeline("of half a million tables", (0..500_000).map(|n| format!("[t{n}]\n")).collect()),
        pipeline("of stages that wait for each other", stages),
        pipeline("that extends itself", "extends = \".aurora/pipeline.toml\"\n".to_owned()),
        pipeline("that extends a secret", "extends = \"../../canary/secret.txt\"\n".to_owned()),
        pipeline("of a string of 32 MiB", format!("a = \"{}\"", "x".repeat(32 << 20))),
        pipeline("of one line of 32 MiB", "a".repeat(32 << 20)),
        pipeline("of control characters", "\x1b[2J\x1b[31m = \"\u{202e}\u{7}\"\n".to_owned()),
        pipeline("of dates", "a = 9999-99-99T99:99:99Z\nb = 0000-00-00\n".to_owned()),
        pipeline(
            "that names a model outside",
            "extends = \"default\"\n[stage.embed]\nmodel = \"../../../canary/directory\"\n".to_owned(),
        ),
        pipeline(
            "that names a process",
            "extends = \"default\"\n[stage.own]\nuse = \"process\"\ncommand = [\"touch\", \"../canary/ran\"]\n"
                .to_owned(),
        ),
    ]);
}

#[test]
fn control_characters_of_a_configuration_are_not_printed() {
    let text = "\"\u{1b}[2J\u{9b}31m\u{202e}\" = 1\n[stage.\"\u{1b}]0;x\u{7}\"]\nuse = \"\u{1b}c\"\n";
    assert_withstands([PIPELINE, CONFIG].map(|file| {
        Attack::on_fresh(format!("control characters in {file}"), move |sandbox| {
            sandbox.write(file, text);
        })
        .run(CHECK)
        .run(&["pipeline", "show"])
        .run(INDEX)
        .run(SEARCH)
        .expect(|_, outcomes| {
            let plain = |text: &str| !text.chars().any(|c| matches!(c, '\u{1b}' | '\u{7}' | '\u{9b}' | '\u{202e}'));
            ensure(
                outcomes.iter().all(|outcome| plain(&outcome.out) && plain(&outcome.err)),
                "no control character is printed",
            )
        })
    }));
}

/// Returns a random value, whose type may be wrong for the key.
fn value(random: &mut Random) -> String {
    const VALUES: &[&str] = &[
        "true",
        "false",
        "\"\"",
        "\"static\"",
        "\"auto\"",
        "[]",
        "{}",
        "[1, \"a\"]",
        "nan",
        "inf",
        "-inf",
        "1e308",
        "-0.0",
        "0.5",
        "-1",
        "\"line\"",
        "\"none\"",
        "1979-05-27T07:32:00Z",
        "\"\\u0000\"",
        "\"../..\"",
        "\"/dev/zero\"",
        "[\"discover\"]",
        "[\"bm25\"]",
        "[\"chunk\", \"chunk\"]",
        "\"0B\"",
        "\"-1GiB\"",
        "\"999999999999TiB\"",
        "\"1.5GiB\"",
        "\"chunk\"",
        "'''\n\n'''",
        "0x7fffffffffffffff",
        "18446744073709551616",
        "[[[[[[[[1]]]]]]]]",
        "\"weighted\"",
        "\"rrf\"",
    ];
    match random.below(4) {
        0 => random.boundary().to_string(),
        1 => format!("{}", random.any() as f64 / (1u64 << 63) as f64),
        2 => format!("\"{}\"", "x".repeat(random.below(3_000))),
        _ => (*random.pick(VALUES)).to_owned(),
    }
}

/// Returns a pipeline with real keys and random values.
fn pipeline(random: &mut Random) -> String {
    let mut text = String::new();
    if random.below(4) > 0 {
        let base: &str =
            random.pick(&["\"default\"", "\"lexical\"", "\"nightly\"", "\"none\"", "1", "\".aurora/pipeline.toml\""]);
        let _ = writeln!(text, "extends = {base}");
    }
    for _ in 0..random.below(5) {
        let (table, keys) = KEYS[random.below(KEYS.len())];
        let _ = writeln!(text, "[{table}]");
        for _ in 0..random.below(4) {
            let all = [keys, STAGE_KEYS].concat();
            let _ = writeln!(text, "{} = {}", random.pick(&all), value(random));
        }
    }
    text
}

/// Returns a search configuration with real keys and random values.
fn configuration(random: &mut Random) -> String {
    let mut keys: Vec<String> = Parameter::numbers().map(|number| number.key.to_string()).collect();
    keys.extend(
        ["search.hybrid.fusion", "search.rerank", "search.folding.near_copies", "search", "search.hybrid", "other"]
            .map(String::from),
    );
    let mut text = String::new();
    for _ in 0..random.below(8) {
        let key = &keys[random.below(keys.len())];
        let _ = writeln!(text, "{key} = {}", value(random));
    }
    text
}

#[test]
fn mutated_configurations_end_in_a_result_or_a_message() {
    let test = "mutated_configurations_end_in_a_result_or_a_message";
    attempts(test, 60, |random| {
        let (mut pipeline, mut config) = (pipeline(random).into_bytes(), configuration(random).into_bytes());
        for text in [&mut pipeline, &mut config] {
            if random.below(6) == 0 {
                random.damage(text);
            }
        }
        let shown = format!("{}\n---\n{}", String::from_utf8_lossy(&pipeline), String::from_utf8_lossy(&config));
        let start = if random.below(2) == 0 { Attack::on_fresh } else { Attack::on_indexed };
        let attack = start(shown, move |sandbox: &Sandbox| {
            sandbox.write(PIPELINE, &pipeline).write(CONFIG, &config);
        });
        assert_withstands([attack
            .run(CHECK)
            .run(INDEX)
            .run(SEARCH)
            .run(&["mem", "search", "parse token", "--show-scores"])
            .run(&["doctor"])]);
    });
}
