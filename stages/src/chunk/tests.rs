//! Tests of properties that the chunks of every text have.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use aurora_languages::{
    FileSymbols, LANGUAGES, ParseFailure, ParseLimits, Parser, Symbol, Truncation, by_extension, by_file_name, by_name,
};
use aurora_storage::{Chunk, ChunkType};
use proptest::prelude::*;
use proptest::sample::Index;

use super::definitions::MAX_NAMES;
use super::splitter::weight;
use super::{ChunkOptions, Source, chunks_of};

/// Format, path and text of one sample per language and of two additional texts.
static SAMPLES: LazyLock<Vec<(&str, String, String)>> = LazyLock::new(|| {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("languages/src");
    let directories = std::fs::read_dir(sources).expect("readable").map(|entry| entry.expect("readable").path());
    let files = directories.filter(|path| path.is_dir()).flat_map(|path| std::fs::read_dir(path).expect("readable"));
    let mut samples: Vec<_> = files.filter_map(|file| sample(&file.expect("readable").path())).collect();
    samples.sort_unstable();
    assert!(LANGUAGES.iter().all(|language| samples.iter().any(|(name, ..)| *name == language.name)));
    let prose = "Intro\n\nGUIDE\n\nFirst words.\n\nInstall\n-------\n\n1. Get it\n\n2.1 Run It\n\nDone.\n";
    samples.push(("text", "a/sample.txt".to_owned(), prose.to_owned()));
    let rust = include_str!("../../languages/src/extract/boundaries.rs");
    samples.push(("javascript", "a/pages.js".to_owned(), rust.to_owned()));
    samples
});

/// Reads a sample file. Its name is `sample.EXTENSION`, or a full name that identifies the language.
fn sample(path: &Path) -> Option<(&'static str, String, String)> {
    let name = path.file_name()?.to_str()?;
    let of_extension = || by_extension(name.strip_prefix("sample.")?);
    let language = by_file_name(name).or_else(of_extension)?;
    Some((language.name, format!("a/{name}"), std::fs::read_to_string(path).ok()?))
}

fn chunks(format: &'static str, path: &str, text: &str, options: &ChunkOptions) -> Vec<Chunk> {
    let symbols = Parser::new().parse(by_name(format), text);
    chunks_of(&Source { path, language: format, text, symbols: &symbols }, options, &|| false).chunks
}

/// Asserts the guarantees that hold for the chunks of every file.
fn check(text: &str, chunks: &[Chunk], options: &ChunkOptions) {
    let mut keys = HashSet::new();
    let mut covered = vec![false; text.split('\n').count() + 1];
    for chunk in chunks {
        assert!(keys.insert(&chunk.key), "two chunks have the key `{}`", chunk.key);
        let span =
            text.get(chunk.byte_start as usize..chunk.byte_end as usize).expect("span in the text, on boundaries");
        assert!(!span.trim().is_empty() && !chunk.text.trim().is_empty(), "`{}` is empty", chunk.key);
        let line = |at: u32| text[..at as usize].matches('\n').count() as u32 + 1;
        assert_eq!(chunk.line_start, line(chunk.byte_start), "`{}`", chunk.key);
        assert_eq!(
            chunk.line_end,
            chunk.line_start + span.trim_end_matches('\n').matches('\n').count() as u32,
            "`{}`",
            chunk.key
        );
        covered[chunk.line_start as usize..=chunk.line_end as usize].fill(true);
        // The signature that replaces a member is never cut, even if it exceeds the limit.
        assert!(weight(&chunk.text) <= options.max_size.max(401), "`{}` is too large", chunk.key);
        assert!((0.0..1.0).contains(&chunk.complexity.score));
        let names: HashSet<_> = chunk.definitions.iter().collect();
        assert_eq!(names.len(), chunk.definitions.len(), "`{}` defines a name twice", chunk.key);
    }
    for chunk in chunks {
        for reference in chunk.dependencies.iter().chain(&chunk.parent) {
            assert!(keys.contains(reference), "`{}` refers to `{reference}`", chunk.key);
        }
    }
    for (row, line) in text.split('\n').enumerate() {
        assert!(line.trim().is_empty() || covered[row + 1], "line {} is in no chunk: {line}", row + 1);
    }
}

fn options() -> impl Strategy<Value = ChunkOptions> {
    (20usize..3_000, 0usize..300, 0u32..60, 1u32..40).prop_map(
        |(max_size, min_size, whole_type_lines, nested_function_lines)| ChunkOptions {
            max_size,
            min_size,
            whole_type_lines,
            nested_function_lines,
            ..ChunkOptions::default()
        },
    )
}

/// Generates samples with some lines removed, doubled or swapped, some characters inserted, and the end cut off.
fn damaged() -> impl Strategy<Value = (&'static str, &'static str, String)> {
    let edit = (any::<Index>(), any::<Index>(), 0..5, "[(){}\\[\\]\"'`#/*:;=> a\u{e9}\u{1f600}\n]{1,4}");
    (0..SAMPLES.len(), proptest::collection::vec(edit, 0..6), any::<Index>(), any::<bool>()).prop_map(
        |(sample, edits, end, cut)| {
            let (format, path, text) = &SAMPLES[sample];
            let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
            for (at, other, kind, insert) in edits {
                let (at, other) = (at.index(lines.len()), other.index(lines.len()));
                match kind {
                    0 if lines.len() > 1 => drop(lines.remove(at)),
                    1 => lines.swap(at, other),
                    2 => lines.insert(other, lines[at].clone()),
                    _ => {
                        let line = &mut lines[at];
                        let place = line
                            .char_indices()
                            .map(|(i, _)| i)
                            .nth(other % (line.chars().count() + 1))
                            .unwrap_or(line.len());
                        line.insert_str(place, &insert);
                    }
                }
            }
            let mut text = lines.join("\n");
            if cut {
                let places: Vec<_> = text.char_indices().map(|(i, _)| i).collect();
                text.truncate(if places.is_empty() { 0 } else { places[end.index(places.len())] });
            }
            (*format, path.as_str(), text)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_sources_are_covered_by_valid_chunks((format, path, text) in damaged(), options in options()) {
        check(&text, &chunks(format, path, &text, &options), &options);
    }

    #[test]
    fn a_reused_parser_finds_the_same_symbols((format, path, text) in damaged(), (other, _, before) in damaged()) {
        let options = ChunkOptions::default();
        let parser = Parser::new();
        parser.parse(by_name(other), &before);
        let symbols = parser.parse(by_name(format), &text);
        let again = chunks_of(&Source { path, language: format, text: &text, symbols: &symbols }, &options, &|| false);
        prop_assert_eq!(again.chunks, chunks(format, path, &text, &options));
    }

    #[test]
    fn any_text_is_covered_in_any_language(text in "([a-z#=.{}()\"' ]{0,30}\n?){0,20}", sample in 0..SAMPLES.len(), options in options()) {
        let (format, path, _) = &SAMPLES[sample];
        check(&text, &chunks(format, path, &text, &options), &options);
    }
}

#[test]
fn an_added_definition_changes_no_other_chunk() {
    let additions = [
        ("python", "def added(): pass\n\n\n"),
        ("javascript", "function added() {}\n\n"),
        ("typescript", "function added() {}\n\n"),
        ("java", "class Added {}\n\n"),
        ("rust", "fn added() {}\n\n"),
    ];
    for (format, path, text) in &*SAMPLES {
        let Some((_, addition)) = additions.iter().find(|(of, _)| of == format).filter(|_| !path.ends_with("pages.js"))
        else {
            continue;
        };
        let by_key = |text: &str| -> HashMap<String, (String, Vec<String>)> {
            let found = chunks(format, path, text, &ChunkOptions::default()).into_iter();
            found.filter(|c| c.name != path[2..]).map(|c| (c.key, (c.text, c.calls))).collect()
        };
        let (before, after) = (by_key(text), by_key(&format!("{addition}{text}")));
        assert_eq!(after.len(), before.len() + 1, "{path}");
        for (key, chunk) in before {
            assert_eq!(after.get(&key), Some(&chunk), "{key}");
        }
    }
}

#[test]
fn a_long_function_is_split_between_statements_and_keeps_its_key() {
    let statements: String = (0..40).map(|n| format!("    if ready({n}):\n        start({n})\n")).collect();
    let text = format!("def run():\n    \"\"\"Starts all.\"\"\"\n{statements}");
    let options = ChunkOptions { max_size: 300, ..ChunkOptions::default() };
    let found = chunks("python", "a.py", &text, &options);
    check(&text, &found, &options);
    let keys: Vec<_> = found.iter().map(|chunk| chunk.key.as_str()).collect();
    assert_eq!(keys, ["code:a.py:run", "code:a.py:run~2", "code:a.py:run~3"]);
    for piece in &found[1..] {
        assert!(piece.text.starts_with("    if ready("), "{}", piece.text);
        assert_eq!((piece.chunk_type, piece.parent.as_deref()), (ChunkType::Function, Some("code:a.py:run")));
        assert_eq!(piece.calls, ["ready", "start"]);
    }
    let joined: Vec<_> = found.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(joined.join("\n"), text.trim_end());
}

#[test]
fn a_large_type_shows_the_signatures_of_its_members() {
    let body = "        step()\n".repeat(12);
    let text =
        format!("class Job:\n    limit = 3\n\n    def start(self):\n{body}\n    def stop(self, now=True):\n{body}");
    let options = ChunkOptions { whole_type_lines: 10, ..ChunkOptions::default() };
    let found = chunks("python", "a.py", &text, &options);
    check(&text, &found, &options);
    assert_eq!(found[0].text, "class Job:\n    limit = 3\n\n    def start(self)\n\n    def stop(self, now=True)");
    assert_eq!((found[0].line_start, found[0].line_end), (1, 30));
    assert_eq!(found[2].parent.as_deref(), Some("code:a.py:Job"));
}

#[test]
fn chunks_with_the_same_name_are_numbered_and_long_names_are_cut() {
    let heading = "x".repeat(600);
    let text = format!("# A\n\n# A\n\n# A#2\n\n# {heading}1\n\n# {heading}2\n");
    let keys: Vec<_> = chunks("markdown", "a.md", &text, &ChunkOptions::default()).into_iter().map(|c| c.key).collect();
    assert_eq!(keys[..3], ["kb:a.md:A", "kb:a.md:A#2", "kb:a.md:A#2#2"]);
    assert!(keys[3] != keys[4] && keys[3].len() < 200);
}

#[test]
fn deep_nesting_is_covered_even_if_it_is_not_parsed() {
    for (format, path, _) in &*SAMPLES {
        for unit in ["(", "[", "{", "{a:", "f(", "<", "> ", "- ", "if x {", "\"", "/*", "# ", "a.", "a=>", "!", "<a>"] {
            let text = unit.repeat(1_200 / unit.len());
            check(&text, &chunks(format, path, &text, &ChunkOptions::default()), &ChunkOptions::default());
        }
    }
}

#[test]
fn definitions_that_end_with_blank_lines_are_covered() {
    for (format, text) in [
        ("bash", "d(){=\"\"\n\n"),
        ("elixir", "test\"\"do()\n\n"),
        ("go", "func T({t()\n\n"),
        ("haskell", "f = a\n\n\n"),
    ] {
        check(text, &chunks(format, "a", text, &ChunkOptions::default()), &ChunkOptions::default());
    }
}

#[test]
fn nesting_of_any_depth_does_not_exhaust_the_stack() {
    for (format, path, _) in &*SAMPLES {
        let text = "(".repeat(30_000) + "\n" + &")".repeat(30_000);
        check(&text, &chunks(format, path, &text, &ChunkOptions::default()), &ChunkOptions::default());
    }
}

#[test]
fn a_constant_belongs_to_its_innermost_chunk_and_piece() {
    let rows: String = (0..40).map(|n| format!("ROW_{n} = [{n}, {n}, {n}]\n")).collect();
    let text = format!(
        "{rows}\n\nclass Outer:\n    NAME = 1\n\n    class Inner:\n        DEPTH = 2\n\n    def run(self):\n        LOCAL = 3\n        def step(): pass\n"
    );
    let options = ChunkOptions { max_size: 300, ..ChunkOptions::default() };
    let found = chunks("python", "a.py", &text, &options);
    check(&text, &found, &options);
    let outside: Vec<_> = found.iter().filter(|chunk| chunk.name == "a.py").collect();
    assert!(outside.len() > 2);
    for chunk in &outside {
        let here: Vec<_> = chunk.text.lines().filter_map(|line| line.split(" = ").next()).collect();
        assert_eq!(chunk.definitions, here, "`{}`", chunk.key);
    }
    let of = |name: &str| found.iter().find(|chunk| chunk.name == name).map(|chunk| chunk.definitions.join(" "));
    assert_eq!(of("Outer").as_deref(), Some("NAME"));
    assert_eq!(of("Inner").as_deref(), Some("DEPTH"));
    assert_eq!(of("run").as_deref(), Some("step"));
}

#[test]
fn the_number_of_names_of_one_chunk_is_bounded() {
    let text: String = (0..2_000).map(|n| format!("A{n}=1;")).collect();
    let options = ChunkOptions { max_size: 100_000, ..ChunkOptions::default() };
    let found = chunks("python", "a.py", &text, &options);
    assert_eq!(found.iter().map(|chunk| chunk.definitions.len()).collect::<Vec<_>>(), [MAX_NAMES]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn constants_do_not_change_chunk_boundaries((format, path, text) in damaged(), options in options()) {
        let symbols = Parser::new().parse(by_name(format), &text);
        let nameless = FileSymbols { constants: Vec::new(), ..symbols.clone() };
        let chunks_for = |symbols: &FileSymbols| {
            chunks_of(&Source { path, language: format, text: &text, symbols }, &options, &|| false).chunks
        };
        let without = |chunks: Vec<Chunk>| -> Vec<Chunk> {
            chunks.into_iter().map(|chunk| Chunk { definitions: Vec::new(), ..chunk }).collect()
        };
        prop_assert_eq!(without(chunks_for(&symbols)), without(chunks_for(&nameless)));
    }
}

#[test]
fn blank_lines_between_large_members_are_not_a_chunk() {
    let member =
        |name: &str| format!("    void {name}(String first, String second) {{\n        first();\n    }}\n\n\n");
    let text = format!("class A {{\n{}\n\n{}}}\n", member("begin"), member("end"));
    let options = ChunkOptions { max_size: 20, whole_type_lines: 0, ..ChunkOptions::default() };
    let found = chunks("java", "a.java", &text, &options);
    check(&text, &found, &options);
    assert!(found.iter().any(|chunk| chunk.key == "code:a.java:A~2"));
}

#[test]
fn a_file_with_too_many_chunks_is_truncated_and_the_reason_is_reported() {
    let text = "def f(): pass\n".repeat(30);
    let symbols = Parser::new().parse(by_name("python"), &text);
    let source = Source { path: "a.py", language: "python", text: &text, symbols: &symbols };
    let options = ChunkOptions { max_chunks: 20, ..ChunkOptions::default() };
    let found = chunks_of(&source, &options, &|| false);
    assert_eq!(found.chunks.len(), 20);
    assert!(found.cut.is_some_and(|reason| reason.contains("max_chunks")), "{:?}", found.cut);
    let whole = chunks_of(&source, &ChunkOptions::default(), &|| false);
    assert_eq!((whole.chunks.len(), whole.cut), (30, None));
    assert_eq!(found.chunks[..], whole.chunks[..20], "the chunks before the cut are the same as in the whole file");
}

#[test]
fn references_to_cut_chunks_are_removed() {
    let text = "def f(): z()\n".to_owned() + &"def g(): pass\n".repeat(30) + "def z(): pass\n";
    let symbols = Parser::new().parse(by_name("python"), &text);
    let source = Source { path: "a.py", language: "python", text: &text, symbols: &symbols };
    let dependencies = |max_chunks| {
        let options = ChunkOptions { max_chunks, ..ChunkOptions::default() };
        chunks_of(&source, &options, &|| false).chunks.swap_remove(0).dependencies
    };
    assert_eq!((dependencies(20), dependencies(40)), (vec![], vec!["code:a.py:z".to_owned()]));
}

/// A format, and a function that generates a file with a given number of repetitions.
type Repetitive = (&'static str, fn(usize) -> String);

/// Files whose processing once took quadratic time.
const REPETITIVE: &[Repetitive] = &[
    ("markdown", |n| "# x\n".repeat(n)),
    ("markdown", |n| format!("# {}\n{}", "long ".repeat(n), "## y\n".repeat(n))),
    ("text", |n| "NAME\n\n".repeat(n)),
    ("python", |n| "def f(): pass\n".repeat(n)),
    ("python", |n| "class C:\n  def f(self): f()\n".repeat(n)),
    ("python", |n| (0..n).map(|i| format!("call{i}()\n")).collect()),
    ("python", |n| "def f():\n".to_owned() + &(0..n).map(|i| format!(" call{i}()\n")).collect::<String>()),
    ("python", |n| "def f():\n".to_owned() + &(0..n).map(|i| format!(" def g{i}(): pass\n")).collect::<String>()),
    ("python", |n| (0..n).map(|i| format!("import m{i}\n")).chain((0..n).map(|i| format!("m{i}.x()\n"))).collect()),
    ("python", |n| format!("class A({}): pass\n", (0..n).map(|i| format!("B{i},\n")).collect::<String>())),
    ("python", |n| format!("from {}m import {}b\n", "m.".repeat(1_000 + n), "a,".repeat(n))),
    ("rust", |n| format!("use {}b{};\n", "aaaa::{".repeat(n), "}".repeat(n))),
    ("rust", |n| "mod a {\n".repeat(n) + &"}\n".repeat(n)),
    ("rust", |n| "#[a]\n".repeat(n) + "fn f() {}\n"),
    ("javascript", |n| format!("// x\n{}const {};", "// y\n".repeat(n), "a=()=>1,\n".repeat(n) + "b=()=>1")),
    ("javascript", |n| format!("class {} {{\n{}}}\n", "x".repeat(n), "f(){}\n".repeat(n))),
    ("javascript", |n| "function f(){\n".repeat(n) + &"}\n".repeat(n)),
    ("javascript", |n| "function f(){} ".repeat(n)),
    ("typescript", |n| "function f(a: number): void;\n".repeat(n)),
    ("java", |n| format!("class A {{ {} int {} z; }}\n", "static final ".repeat(n), "a,".repeat(n))),
    ("go", |n| "func f() {}\n".repeat(n)),
    ("hcl", |n| format!("{} {{\n{}}}\n", "a ".repeat(n), "b = 1\n".repeat(n))),
    ("c", |n| "MACRO\n".repeat(8 * n) + &"int a;\n".repeat(n)),
    ("c", |n| "int a; ".to_owned() + &"MACRO * ".repeat(8 * n) + ";"),
    ("c", |n| "MACRO({".repeat(2 * n) + ";" + &"})".repeat(2 * n)),
    ("c", |n| format!("{}{};\n", " ".repeat(20 * n), "MACRO ".repeat(2 * n)) + &"int a;\n".repeat(n)),
    ("c", |n| {
        format!("f(\n{}{});\n", "#if A\n#else\n".repeat(4 * n), "#endif\n".repeat(4 * n)) + &"int a;\n".repeat(n)
    }),
];

/// Returns the CPU time of this thread in nanoseconds, which other processes do not affect.
#[cfg(target_os = "linux")]
fn thread_cpu_time() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(target_os = "linux")]
#[test]
fn time_is_linear_in_the_size_of_the_file() {
    // A file eight times as large takes eight times as long, or 64 times as long if time is quadratic.
    const MAX_RATIO: i64 = 24;
    let took = |format: &'static str, text: &str| {
        let began = thread_cpu_time();
        chunks(format, "a", text, &ChunkOptions::default());
        thread_cpu_time() - began
    };
    for (at, (format, text)) in REPETITIVE.iter().enumerate() {
        let (small, large) = (text(250), text(2_000));
        let is_linear = || (0..3).map(|_| took(format, &small)).min() >= Some(took(format, &large) / MAX_RATIO);
        assert!((0..4).any(|_| is_linear()), "{format} {at}: {}", &text(2));
    }
}

#[test]
fn memory_is_linear_in_the_size_of_the_file() {
    for (at, (format, text)) in REPETITIVE.iter().enumerate() {
        let text = text(4_000);
        let symbols = Parser::new().parse(by_name(format), &text);
        let named = |symbol: &Symbol| symbol.name.len() + symbol.qualified_name.len() + symbol.doc.len();
        let names: usize = symbols.symbols.iter().map(named).sum();
        let imports: usize = symbols.imports.iter().map(|import| import.path.len()).sum();
        let limit = (1 << 20) + 4_000 * 2 * 1_100 + 8 * text.len();
        assert!(names <= limit && imports <= limit, "{format} {at}: {names} {imports} of {}", text.len());
        let source = Source { path: "a", language: format, text: &text, symbols: &symbols };
        let found = chunks_of(&source, &ChunkOptions::default(), &|| false).chunks;
        let bytes: usize = found.iter().map(crate::columns::heap_bytes).sum();
        assert!(bytes <= 16 * text.len() + (64 << 20), "{format} {at}: {bytes} of {}", text.len());
    }
}

#[test]
fn work_on_a_file_stops_soon_after_cancellation() {
    use std::cell::Cell;
    for (at, (format, text)) in REPETITIVE.iter().enumerate() {
        let text = text(4_000);
        let asked = Cell::new(0);
        let stops_after = |limit: usize| {
            let asked = &asked;
            asked.set(0);
            move || {
                asked.set(asked.get() + 1);
                asked.get() > limit
            }
        };
        let symbols = Parser::new().parse_cancellable(by_name(format), &text, &stops_after(usize::MAX));
        let is_plain = *format == "text";
        assert!(is_plain || asked.get() > text.len() / 4_000, "{format} {at} asked {} times", asked.get());
        for limit in [0, 1, 10] {
            let stopped = Parser::new().parse_cancellable(by_name(format), &text, &stops_after(limit));
            let is_stopped = stopped.failure == Some(ParseFailure::Cancelled);
            assert!(
                is_plain || (is_stopped && asked.get() <= limit + 2),
                "{format} {at}: {} after {limit}",
                asked.get()
            );
        }
        let source = Source { path: "a", language: format, text: &text, symbols: &symbols };
        for limit in [0, 1, 10] {
            let found = chunks_of(&source, &ChunkOptions::default(), &stops_after(limit));
            assert!(
                found.chunks.len() <= limit && asked.get() <= limit + 3,
                "{format} {at}: {} after {limit}",
                asked.get()
            );
        }
    }
}

#[test]
fn exceeded_limits_are_reported_and_the_rest_is_indexed_as_text() {
    let text: String = (0..100).map(|n| format!("import m{n}\ndef f{n}(): m{n}()\n")).collect();
    let few = ParseLimits { symbols: 10, ..ParseLimits::default() };
    let symbols = Parser::with_limits(few).parse(by_name("python"), &text);
    assert_eq!((symbols.symbols.len(), symbols.imports.len()), (10, 10));
    assert_eq!(symbols.truncation, Some(Truncation::Definitions));
    let source = Source { path: "a.py", language: "python", text: &text, symbols: &symbols };
    let options = ChunkOptions::default();
    check(&text, &chunks_of(&source, &options, &|| false).chunks, &options);

    for (limits, failure) in [
        (ParseLimits { size: 100, ..ParseLimits::default() }, ParseFailure::TooLarge),
        (ParseLimits { time: std::time::Duration::ZERO, ..ParseLimits::default() }, ParseFailure::TooSlow),
    ] {
        let symbols = Parser::with_limits(limits).parse(by_name("python"), &text);
        assert_eq!((symbols.symbols.len(), &symbols.failure), (0, &Some(failure)));
        check(&text, &chunks_of(&Source { symbols: &symbols, ..source }, &options, &|| false).chunks, &options);
    }
}

#[test]
fn markdown_with_very_many_lines_keeps_its_headings() {
    let text = format!("# One\n{}## Two\nlast\n", "\n".repeat(200_000));
    let symbols = Parser::new().parse(by_name("markdown"), &text);
    let names: Vec<_> = symbols.symbols.iter().map(|symbol| symbol.qualified_name.as_str()).collect();
    assert_eq!(names, ["One", "One > Two"]);
    assert_eq!(symbols.truncation, Some(Truncation::Lines));
}

#[test]
fn functions_in_notebook_cells_are_chunks() {
    let text = "# Load\n\nThe table.\n\n```python\n# not a heading\ndef load_frame(path):\n    # neither\n    return read_csv(path)\n\n\nframe = load_frame('a')\n```\n\n## Model\n\n```python\nclass Model:\n    def fit(self):\n        return load_frame('b')\n```\n";
    let symbols = Parser::new().parse_with_code(text, &|| false);
    let options = ChunkOptions::default();
    let found =
        chunks_of(&Source { path: "a.ipynb", language: "notebook", text, symbols: &symbols }, &options, &|| false);
    check(text, &found.chunks, &options);
    let shown =
        |chunk: &Chunk| format!("{} {}: {}", chunk.chunk_type.as_str(), chunk.qualified_name, chunk.calls.join(" "));
    let shown: Vec<String> = found.chunks.iter().map(shown).collect();
    assert_eq!(
        shown,
        [
            "doc Load: ",
            "function load_frame: read_csv",
            "doc Load > Model: ",
            "class Model: ",
            "method Model.fit: load_frame"
        ]
    );
    assert_eq!(found.chunks[0].definitions, ["frame"]);
}
