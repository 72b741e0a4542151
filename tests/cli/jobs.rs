//! `aur mem index` as a job: reports, thresholds and deadlines.

use std::fs;
use std::path::PathBuf;

use quick_xml::events::Event;
use serde_json::Value;

use crate::fixture::{Fixture, Run};
use crate::{command, repository, run};

/// Thresholds that every run of an unchanged tree meets.
const TIGHT: &str = "min_coverage = 100\nmax_duration = \"1h\"\nmax_index_size = \"1GiB\"\nmax_growth = 0\nmax_loss = 0\n\
                     max_errors = 0\nmax_serial_share = 0\n[[quality]]\ngolden = \"golden.jsonl\"\nmetric = \"mrr@10\"\n\
                     minimum = 0.9\nmax_drop = 0\n";

/// Functions of the generated files, which questions ask for.
const WORDS: [&str; 8] = ["invoice", "parcel", "ticket", "voucher", "receipt", "ledger", "coupon", "shipment"];

/// A repository with a golden set and thresholds outside of it.
struct Project {
    fixture: Fixture,
}

impl Project {
    fn new() -> Self {
        let fixture = repository();
        let mut golden = String::new();
        for word in WORDS {
            let text =
                format!("def gather_{word}(rows):\n    \"\"\"Collect overdue {word} entries.\"\"\"\n    return rows\n");
            fixture.write(&format!("src/{word}.py"), text);
            golden.push_str(&format!(
                "{{\"id\": \"{word}\", \"query\": \"overdue {word} entries\", \"relevant\": [{{\"path\": \"src/{word}.py\"}}]}}\n"
            ));
        }
        fixture.commit("functions");
        let project = Self { fixture };
        project.write_outside("golden.jsonl", &golden);
        project
    }

    /// Writes a file in a directory that is not indexed, and returns its path.
    fn write_outside(&self, name: &str, text: &str) -> PathBuf {
        let path = self.fixture.home().join(name);
        fs::write(&path, text).expect("the file can be written");
        path
    }

    fn report_directory(&self) -> PathBuf {
        self.fixture.home().join("report")
    }

    /// Indexes as a job with the thresholds.
    fn index(&self, thresholds: &str, arguments: &[&str]) -> Run {
        let thresholds = self.write_outside("ci.toml", thresholds);
        let report = self.report_directory();
        let mut command = command(&self.fixture);
        command.args(["mem", "index", "--quiet", "--thresholds"]).arg(thresholds).arg("--report").arg(report);
        Run::from_command(command.args(arguments))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.report_directory().join(name)).expect("the report has the file")
    }

    fn report(&self) -> Value {
        valid_report(&self.fixture, &self.read("report.json"))
    }
}

/// Parses `report.json`, and checks it against the schema that the program prints.
fn valid_report(fixture: &Fixture, text: &str) -> Value {
    let report: Value = serde_json::from_str(text).expect("the report is JSON");
    let schema = run(fixture, &["mem", "schema", "index-report"]).json();
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is valid");
    assert!(!validator.is_valid(&serde_json::json!({"version": 1})));
    let errors: Vec<String> =
        validator.iter_errors(&report).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    report
}

/// Parses XML, and returns the names of the test cases that failed, and all texts and attributes.
fn parse_junit(xml: &str) -> (Vec<String>, String) {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut failed, mut texts, mut case) = (Vec::new(), String::new(), String::new());
    loop {
        match reader.read_event().expect("the XML is well-formed") {
            Event::Start(element) | Event::Empty(element) => {
                for attribute in element.attributes() {
                    let attribute = attribute.expect("the attribute is well-formed");
                    let value = attribute.normalized_value(quick_xml::XmlVersion::Explicit1_0);
                    let value = value.expect("the references are known").into_owned();
                    if element.name().as_ref() == "testcase" && attribute.key.as_ref() == "name" {
                        case.clone_from(&value);
                    }
                    texts.push_str(&value);
                    texts.push('\n');
                }
                if ["failure", "error"].contains(&element.name().as_ref()) {
                    failed.push(case.clone());
                }
            }
            Event::Text(text) => texts.push_str(&text),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                assert!(["lt", "gt", "amp", "quot", "apos"].contains(&name), "{name}");
                texts.push_str(&quick_xml::escape::unescape(&format!("&{name};")).expect("the reference is known"));
            }
            Event::Eof => return (failed, texts),
            _ => {}
        }
    }
}

/// Checks the lines of OpenMetrics text: comments, and samples with quoted labels.
fn check_metrics(text: &str) {
    assert!(text.ends_with("# EOF\n"), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_at(line.find(['{', ' ']).expect("a sample has a value"));
        assert!(
            name.starts_with("aurora_index_") && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{line}"
        );
        let mut rest = rest;
        if let Some(labels) = rest.strip_prefix('{') {
            let mut chars = labels.char_indices();
            let mut is_quoted = false;
            let end = loop {
                match chars.next().unwrap_or_else(|| panic!("unterminated labels: {line}")) {
                    (_, '\\') if is_quoted => {
                        let (_, escaped) = chars.next().expect("a character follows");
                        assert!(['\\', '"', 'n'].contains(&escaped), "{line}");
                    }
                    (_, '"') => is_quoted = !is_quoted,
                    (at, '}') if !is_quoted => break at,
                    _ => {}
                }
            };
            rest = &labels[end + 1..];
        }
        assert!(rest.trim().parse::<f64>().is_ok(), "{line}");
    }
}

fn warnings(run: &Run) -> Vec<&str> {
    run.err.lines().filter(|line| line.starts_with("Warning:")).collect()
}

#[test]
fn an_unchanged_run_violates_nothing() {
    let project = Project::new();
    // Empty files are in the index, although they are skipped.
    for number in 0..12 {
        project.fixture.write(&format!("src/empty{number}.py"), "");
    }
    for night in 1..=3 {
        let run = project.index(TIGHT, &[]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "night {night}: {run:?}");
        let report = project.report();
        assert_eq!((&report["status"], &report["complete"]), (&"good".into(), &true.into()), "{report}");
        let trend = report["trend"].as_array().expect("the value is a list");
        assert_eq!(trend.len(), night, "unchanged nights are recorded as well");
        assert!(trend.iter().all(|run| run["good"] == true), "{report}");
        assert_eq!(report["run"]["quality"][0]["mean"], 1.0);
        let (failed, _) = parse_junit(&project.read("junit.xml"));
        assert!(failed.is_empty(), "{failed:?}");
        check_metrics(&project.read("metrics.txt"));
    }
    let report = project.report();
    assert_eq!(report["previous"], report["trend"][1]["ended"]);
    let drop =
        report["checks"].as_array().into_iter().flatten().find(|check| check["name"].to_string().contains("drop"));
    assert_eq!(drop.expect("the drop is checked")["measured"], "+0.000 [+0.000, +0.000]");
    let chunks = report["changes"].as_array().into_iter().flatten().find(|change| change["name"] == "chunks");
    let chunks = chunks.expect("chunks are compared");
    assert_eq!(chunks["before"], chunks["now"]);
}

#[test]
fn every_kind_of_violation_is_caught() {
    let project = Project::new();
    assert_eq!(project.index(TIGHT, &[]).code, Some(0));
    let check = |thresholds: &str, expected: &[(&str, &str)]| {
        let thresholds = project.write_outside("ci.toml", thresholds);
        let mut command = command(&project.fixture);
        command.args(["mem", "index", "--quiet", "--thresholds"]).arg(thresholds).arg("--report");
        command.arg(project.report_directory()).env("GITHUB_ACTIONS", "true");
        let run = Run::from_command(&mut command);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert_eq!(warnings(&run).len(), expected.len(), "{run:?}");
        let annotations = run.err.lines().filter(|line| line.starts_with("::error title=aur mem index::"));
        assert_eq!(annotations.count(), expected.len(), "{run:?}");
        let report = project.report();
        assert_eq!((&report["status"], &report["run"]["good"]), (&"violations".into(), &false.into()), "{report}");
        let (failed, texts) = parse_junit(&project.read("junit.xml"));
        let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
        assert_eq!(failed, names, "{texts}");
        for (_, message) in expected {
            assert!(run.err.contains(message), "{message} in {run:?}");
            assert!(texts.contains(message), "{message} in {texts}");
            assert!(report["run"]["violations"].to_string().contains(message), "{message} in {report}");
        }
    };
    check("max_duration = \"1ms\"\n", &[("max_duration", "longer than 1 ms")]);
    check("max_index_size = \"1KiB\"\n", &[("max_index_size", "more than 1.00 KiB")]);
    let wrong =
        "{\"id\": \"a\", \"query\": \"overdue parcel entries\", \"relevant\": [{\"path\": \"src/ledger.py\"}]}\n";
    project.write_outside("wrong.jsonl", wrong);
    let quality = |golden: &str, rule: &str| format!("[[quality]]\ngolden = \"{golden}\"\nmetric = \"r@1\"\n{rule}\n");
    check(&quality("wrong.jsonl", "minimum = 1"), &[("quality wrong.jsonl R@1", "R@1 ≥ 1.000 is required")]);

    // The last good run is the first one, because the runs since then violate thresholds.
    for word in WORDS {
        project.fixture.remove(&format!("src/{word}.py"));
    }
    check(
        "max_loss = 10\n",
        &[
            ("max_loss: number of files", "number of files shrank by 66.7% since the last good run, from 12 to 4"),
            ("max_loss: number of chunks", "number of chunks shrank by"),
        ],
    );
    let drop = "[[quality]]\ngolden = \"golden.jsonl\"\nmetric = \"mrr@10\"\nmax_drop = 0.1\n";
    check(drop, &[("quality golden.jsonl MRR@10: drop", "the mean changed by -1.000")]);
    let many: String = (0..200).map(|number| format!("def function_{number}():\n    return {number}\n\n\n")).collect();
    project.fixture.write("src/many.py", many);
    check(
        "max_growth = 50\n",
        &[
            ("max_growth: size of the tables", "size of the tables grew by"),
            ("max_growth: number of chunks", "number of chunks grew by"),
        ],
    );
    let bad = project.report();
    assert_eq!(bad["last_good"], bad["trend"][0]["ended"]);
}

#[test]
fn free_pages_of_earlier_runs_are_not_growth() {
    let project = Project::new();
    let many: String = (0..400).map(|number| format!("def function_{number}():\n    return {number}\n\n\n")).collect();
    let rules = "max_growth = 60\nmax_loss = 10\n";
    project.fixture.write("src/many.py", &many);
    assert_eq!(project.index(rules, &[]).code, Some(0));
    project.fixture.remove("src/many.py");
    assert_eq!(project.index(rules, &[]).code, Some(1), "the loss is a violation, so the first run stays the baseline");
    project.fixture.write("src/many.py", &many);
    let restored = project.index(rules, &[]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    let trend = project.report()["trend"].clone();
    let size = |night: usize| trend[night]["index_bytes"].as_f64().expect("the size is a number");
    assert!(size(2) > 1.6 * size(0), "the index file has grown: {trend}");
}

#[test]
fn the_option_for_the_coverage_overrides_the_file() {
    let project = Project::new();
    let run = project.index("min_coverage = 100\n", &["--min-coverage", "50"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = project.report();
    let coverage = report["checks"].as_array().into_iter().flatten().find(|check| check["name"] == "min_coverage");
    assert_eq!(coverage.expect("the coverage is checked")["required"], "at least 50 %");
}

#[test]
fn a_run_that_fails_writes_a_report_that_says_so() {
    let project = Project::new();
    let wrong = "min_covrage = 3\n[column.owner]\nmin_values = 101\n";
    let run = project.index(wrong, &[]);
    assert_eq!(run.code, Some(2), "{run:?}");
    for message in ["ci.toml:1:1", "unknown key `min_covrage`", "ci.toml:2:9", "writes a column `owner`", "ci.toml:3:1"]
    {
        assert!(run.err.contains(message), "{message} in {run:?}");
    }
    let report = project.report();
    assert_eq!((&report["status"], &report["complete"]), (&"failed".into(), &false.into()), "{report}");
    assert!(report["error"].as_str().is_some_and(|error| error.contains("has 3 errors")), "{report}");
    let (failed, texts) = parse_junit(&project.read("junit.xml"));
    assert!(failed == ["run"] && texts.contains("unknown key `min_covrage`"), "{failed:?} {texts}");
    check_metrics(&project.read("metrics.txt"));
    assert!(project.read("metrics.txt").contains("\naurora_index_run_good 0.0\n"));
    assert!(project.read("report.md").contains("failed") && project.read("index.html").contains("failed"));
    assert!(!project.fixture.path(".aurora/index").exists(), "nothing was indexed");

    assert_eq!(project.index("", &[]).code, Some(0));
    project.fixture.write(".aurora/pipeline.toml", "stages = 3\n");
    assert_eq!(project.index("", &[]).code, Some(2));
    assert_eq!(project.report()["status"], "failed");
    project.fixture.remove(".aurora/pipeline.toml");
    assert_eq!(project.index("", &[]).code, Some(0));
    let trend = project.report()["trend"].clone();
    let errors: Vec<bool> = trend.as_array().into_iter().flatten().map(|run| run["error"].is_string()).collect();
    assert_eq!(errors, [false, true, false], "{trend}");
    let missing = run_with(&project, &["--thresholds", "absent.toml"]);
    assert!(missing.code == Some(2) && missing.err.contains("absent.toml"), "{missing:?}");
}

fn run_with(project: &Project, arguments: &[&str]) -> Run {
    run(&project.fixture, &[&["mem", "index", "--quiet"], arguments].concat())
}

/// Names of files that could become markup, commands or other lines in a report.
#[cfg(unix)]
const HOSTILE: [&str; 6] = [
    "<script>alert(1)<",
    "]]>&<!--\"'",
    "a\n::error::b\r\n# EOF\n| x |",
    "::error::c##[add-mask]d",
    "\u{202e}gnp.exe",
    "\u{1b}[31m`x` @user [y](http:z) www.w",
];

#[cfg(unix)]
#[test]
fn hostile_names_stay_text_in_every_format() {
    let fixture = Fixture::plain();
    let root = fixture.path("<b>\"r\\o\"|`o`\nt@x\u{202e}");
    fs::create_dir(&root).expect("the directory can be created");
    fs::write(root.join("a.py"), "def f():\n    return 1\n").expect("the file can be written");
    for name in HOSTILE {
        fs::write(root.join(format!("{name}.png")), [0x89, b'P', b'N', b'G', 0]).expect("the file can be written");
    }
    let report = fixture.home().join("report");
    let mut command = command(&fixture);
    command.args(["mem", "index"]).arg(&root).arg("--report").arg(&report).args(["--thresholds"]);
    let thresholds = fixture.home().join("ci.toml");
    fs::write(&thresholds, "max_duration = \"1ms\"\n").expect("the file can be written");
    let run = Run::from_command(command.arg(thresholds).env("GITHUB_ACTIONS", "true"));
    assert_eq!(run.code, Some(1), "{run:?}");
    let commands = run.out.lines().chain(run.err.lines()).filter(|line| line.trim_start().starts_with("::"));
    assert_eq!(commands.count(), 1, "the only command is the annotation: {run:?}");

    let read = |name: &str| fs::read_to_string(report.join(name)).expect("the report has the file");
    let json = valid_report(&fixture, &read("report.json"));
    let examples: Vec<&str> = json["skipped"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|skipped| skipped["examples"].as_array().into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    for name in HOSTILE {
        assert!(examples.contains(&format!("{name}.png").as_str()), "{name:?} in {examples:?}");
    }
    for name in ["report.json", "report.md", "junit.xml", "metrics.txt", "index.html"] {
        let text = read(name);
        assert!(!text.contains(['\u{202e}', '\u{1b}', '\r']), "{name}: {text}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{name}: {text}");
    }
    let page = read("index.html");
    assert!(
        !page.contains("<script") && !page.contains("<b>\"") && page.contains("&lt;script&gt;alert(1)&lt;"),
        "{page}"
    );
    assert!(page.contains("default-src 'none'") && !page.contains(" style=") && !page.contains("http:z\""), "{page}");
    let (_, texts) = parse_junit(&read("junit.xml"));
    assert!(texts.contains("<script>alert(1)<.png") && texts.contains("]]>&<!--\"'.png"), "{texts}");
    let markdown = read("report.md");
    assert!(!markdown.contains(['@', '`', '[']) && !markdown.contains("<script"), "{markdown}");
    let tables = markdown.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| requirement"));
    for row in tables {
        assert!([4, 5].contains(&row.matches('|').count()), "{row}");
    }
    assert!(!markdown.contains("www."), "{markdown}");
    let metrics = read("metrics.txt");
    check_metrics(&metrics);
    assert!(metrics.contains("r\\\\o\\\"|`o`␊t@x\u{fffd}"), "{metrics}");
}

#[cfg(unix)]
#[test]
fn a_report_is_written_below_its_directory_and_is_not_indexed() {
    let fixture = repository();
    let outside = fixture.home().join("outside");
    fs::write(&outside, "unchanged").expect("the file can be written");
    let first = run(&fixture, &["mem", "index", "--quiet", "--report", "out/report"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    for name in ["report.json", "index.html", "report.md", "junit.xml", "metrics.txt"] {
        let path = fixture.path(&format!("out/report/{name}"));
        fs::remove_file(&path).expect("the report has the file");
        std::os::unix::fs::symlink(&outside, &path).expect("the link can be created");
    }
    let second = run(&fixture, &["mem", "index", "--format", "json", "--report", "out/report"]);
    assert_eq!((second.code, &second.json()["nothing_changed"]), (Some(0), &true.into()), "{second:?}");
    assert_eq!(fs::read_to_string(&outside).expect("the file exists"), "unchanged");
    let text = fs::read_to_string(fixture.path("out/report/report.json")).expect("the link was replaced");
    assert_eq!(valid_report(&fixture, &text)["status"], "good");
    let names: Vec<String> = fs::read_dir(fixture.path("out/report"))
        .expect("the directory can be read")
        .map(|entry| entry.expect("the entry can be read").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 6, "no temporary files remain: {names:?}");
    fixture.write("file", "not a directory");
    let wrong = run(&fixture, &["mem", "index", "--quiet", "--report", "file"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("cannot write the report to file"), "{wrong:?}");
}

#[test]
fn a_run_that_a_deadline_stops_is_resumed() {
    let fixture = Fixture::git();
    for number in 0..60 {
        let functions = (0..40).map(|at| format!("def f_{number}_{at}(rows):\n    return rows[{at}]\n\n\n"));
        fixture.write(&format!("src/m{number}.py"), functions.collect::<String>());
    }
    fixture.write(".gitignore", ".aurora/\n").commit("many");
    let fresh = fixture.duplicate();
    assert_eq!(fresh.aur(&["mem", "index", "--quiet"]).code, Some(0));
    let digest = |fixture: &Fixture| fixture.aur(&["mem", "verify", "--digest"]).out;
    let report = fixture.home().join("report");
    let mut stopped = 0;
    for attempt in 1.. {
        let deadline = format!("{}ms", attempt * attempt * 100);
        let mut command = command(&fixture);
        command.args(["mem", "index", "--format", "json", "--deadline", &deadline, "--report"]).arg(&report);
        let run = Run::from_command(&mut command);
        let text = fs::read_to_string(report.join("report.json")).expect("there is a report");
        let report = valid_report(&fixture, &text);
        if run.code == Some(0) {
            assert_eq!((&run.json()["complete"], &report["status"]), (&true.into(), &"good".into()), "{report}");
            break;
        }
        assert_eq!(run.code, Some(1), "{run:?}");
        assert_eq!(run.json()["complete"], false, "{run:?}");
        assert!(run.err.contains("the deadline stopped the run before it was complete"), "{run:?}");
        let shown = (&report["status"], &report["stopped"], &report["complete"], &report["run"]["good"]);
        assert_eq!(shown, (&"stopped".into(), &"deadline".into(), &false.into(), &false.into()), "{report}");
        stopped += 1;
    }
    assert!(stopped > 0, "100 ms do not suffice");
    assert_eq!(digest(&fixture), digest(&fresh));
    for wrong in ["45", "0s", "-1m", "soon"] {
        let run = run(&fixture, &["mem", "index", &format!("--deadline={wrong}")]);
        assert!(run.code == Some(2) && run.err.contains("expected a duration such as 45m"), "{run:?}");
    }
}
