//! Direct matches of locations, names and texts rank first.

use crate::corpus::{self, Bag, NOW, Row};
use aurora_query::{Mode, Query, SearchConfig, SearchResults, Searcher};
use aurora_storage::ChunkType;

use ChunkType::{Class, Code, Function, Kb, Method};

fn search(rows: &[Row], text: &str) -> SearchResults {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let snapshot = corpus::write(directory.path(), rows, Some(&Bag::default()));
    let searcher = Searcher::new(snapshot, Some(std::sync::Arc::new(Bag::default())), SearchConfig::default());
    let results = searcher.search(&Query::new(text, NOW)).expect("a valid query");
    assert!(results.hits.iter().map(|hit| hit.score).is_sorted_by(|a, b| a >= b), "{text}");
    for hit in &results.hits {
        let effects: f32 = hit.explanation.rules.iter().map(|rule| rule.effect).sum();
        assert!((hit.scores.fused + effects - hit.score).abs() < 1e-4, "{text}: {}", hit.qualified_name);
    }
    results
}

fn names(rows: &[Row], text: &str) -> Vec<String> {
    search(rows, text).hits.into_iter().map(|hit| hit.qualified_name).collect()
}

fn posts() -> Vec<Row> {
    vec![
        Row::new("src/sum.py", "calculate_total", Function, "def calculate_total(posts): return sum(posts)"),
        Row::new("src/post.py", "Post", Class, "class Post: total = 0; posts = []"),
        Row::new("src/post.py", "Post.page_total", Method, "def page_total(self): return total of posts"),
        Row::new("src/list.py", "list_posts", Function, "def list_posts(): return posts, total"),
        Row::new("src/names.py", "totalPosts", Function, "def totalPosts(): pass"),
        Row::new("tests/t.py", "test_count", Function, "def test_count(): total_posts = Post.count()"),
        Row::new("tests/t.py", "test_case", Function, "def test_case(): TOTAL_POSTS = 1"),
    ]
}

#[test]
fn an_identifier_that_only_a_test_contains_ranks_first() {
    let found = names(&posts(), "total_posts");
    assert_eq!(found[..3], ["test_count", "totalPosts", "test_case"], "{found:?}");
}

#[test]
fn a_definition_ranks_before_chunks_that_contain_its_name() {
    let mut rows = posts();
    rows.push(Row::new("examples/x.py", "total_posts", Function, "def total_posts(): pass"));
    let found = names(&rows, "total_posts");
    assert_eq!(found[..2], ["total_posts", "test_count"], "{found:?}");
}

#[test]
fn a_note_reports_an_identifier_that_no_chunk_contains() {
    let notes = |text: &str| search(&posts(), text).notes.join("; ");
    assert!(notes("posts_total").contains("No chunk contains \"posts_total\""));
    for text in ["total_posts", "Post", "posts", "list the posts", "tests/t.py"] {
        assert!(!notes(text).contains("No chunk contains"), "{text}");
    }
}

#[test]
fn a_constant_is_found_by_any_wording_of_the_question() {
    let user = |name: &str| {
        Row::new(&format!("src/{name}.go"), name, Function, "for n := 0; n < MAX_RETRIES; n++ { wait(MAX_RETRIES) }")
    };
    let mut rows: Vec<Row> = ["retry", "connect", "where_defined", "value"].map(user).into();
    rows.push(Row::new("src/limits.go", "", Code, "const MAX_RETRIES = 5").defines("MAX_RETRIES"));
    for text in [
        "MAX_RETRIES",
        "const MAX_RETRIES",
        "where is MAX_RETRIES defined",
        "MAX_RETRIES value",
        "what is the default value of MAX_RETRIES?",
        "`MAX_RETRIES` constant",
    ] {
        assert_eq!(search(&rows, text).hits[0].file, "src/limits.go", "{text}");
    }
    let mentioned = search(&rows, "what happens when MAX_RETRIES is exceeded");
    assert!(mentioned.hits.iter().any(|hit| hit.explanation.rules.iter().any(|rule| rule.rule == "definition")));
}

#[test]
fn a_constant_of_a_language_without_a_grammar_ranks_before_its_users() {
    let user = |name: &str| {
        Row::new(&format!("src/{name}.jl"), name, ChunkType::Doc, "for i in 1:LIMIT_X\n  wait(LIMIT_X, LIMIT_X)\nend")
    };
    let mut rows: Vec<Row> = ["limit", "const_value"].map(user).into();
    let text = "# of the module\nconst LIMIT_X = 5\nconst another = 6\nconst names = [1, 2, 3]";
    rows.push(Row::new("src/numbers.jl", "numbers", ChunkType::Doc, text));
    for text in ["LIMIT_X", "const LIMIT_X", "LIMIT_X value"] {
        assert_eq!(names(&rows, text)[0], "numbers", "{text}");
    }
}

#[test]
fn a_location_finds_the_chunk_at_its_line() {
    let mut rows = posts();
    rows.push(Row::new("lib/http.c", "send", Function, "int send(int c) { return c; }"));
    rows.push(Row::new("src/c.rs", "c", Function, "pub fn c(http: u8) -> u8 { http }"));
    rows.push(Row::new("web/ui/app.js", "run", Function, "function run(app) { return ui(app) }"));
    rows.push(Row::new("web/core/app.js", "start", Function, "function start(app) { return app }"));
    let place = |text: &str| {
        let hit = search(&rows, text).hits.swap_remove(0);
        (hit.file, hit.qualified_name)
    };
    let post = ("src/post.py".to_owned(), "Post.page_total".to_owned());
    for text in ["src/post.py:22", "post.py:22", "/home/a/project/src/post.py:22:7", "see src/post.py#L22 please"] {
        assert_eq!(place(text), post, "{text}");
    }
    for text in [
        "src/post.py on line 22",
        "line 22 of src/post.py",
        "[src/post.py:22]",
        "src/post.py:L22",
        "at run (http://localhost:80/build/src/post.py?v=1:22:7)",
        "in C:\\project\\src\\post.py:line 22",
    ] {
        assert_eq!(place(text), post, "{text}");
    }
    assert_eq!(place("/bundle/core/app.js:12").0, "web/core/app.js", "a directory of the same name");
    assert_eq!(place("File \"src/post.py\", line 12, in x").1, "Post");
    assert_eq!(place("src/post.py:19").1, "Post.page_total", "the nearest chunk, because no chunk has the line");
    for text in ["lib/http.c", "http.c", "./lib/http.c"] {
        assert_eq!(place(text).0, "lib/http.c", "{text}");
    }
}

#[test]
fn literals_and_phrases_rank_before_fuzzy_matches() {
    let rows = [
        Row::new(
            "src/server.c",
            "expire",
            Function,
            "void expire() { lazy free eviction of activity; defragment 4 29 }",
        ),
        Row::new("src/lazy_free.c", "lazyfree_eviction", Function, "void lazyfree_eviction() { lazy eviction free }"),
        Row::new(
            "src/config.c",
            "configs",
            Function,
            "standardConfig(\"lazyfree-lazy-eviction\", \"activedefrag\", 429)",
        ),
        Row::new("src/db.c", "load", Function, "log(\"Fatal error loading the DB: %s. Exiting.\", strerror(errno))"),
        Row::new("src/fatal.c", "fatal_error", Function, "exit after a fatal error while the DB is loading"),
    ];
    for (text, first) in [
        ("lazyfree-lazy-eviction", "configs"),
        ("activedefrag", "configs"),
        ("429", "configs"),
        ("\"Fatal error loading\"", "load"),
        ("fatal error loading the DB", "load"),
        ("error loading", "load"),
        ("Fatal error loading the DB: 'dump' 3", "load"),
        ("OSError: error loading the DB: 3", "load"),
        ("lazyfree eviction", "lazyfree_eviction"),
    ] {
        assert_eq!(names(&rows, text)[0], first, "{text}");
    }
}

#[test]
fn a_literal_of_common_words_is_found_among_many_chunks_with_them() {
    let row = |n: u32| {
        Row::new(&format!("src/t{n}.py"), &format!("total_{n}"), Function, "def total(posts): posts total posts")
    };
    let mut rows: Vec<Row> = (0..100).map(row).collect();
    rows.push(Row::new("src/site.py", "routes", Function, "return [route('total/posts', view, name, other, words)]"));
    assert_eq!(names(&rows, "total/posts")[0], "routes");
}

#[test]
fn a_name_is_found_without_its_sigil_brackets_or_owner() {
    let rows = [
        Row::new("deploy/run.sh", "run", Function, "run() { echo \"${ZORK_HOME:-/tmp}\"; }"),
        Row::new("src/home_zork.py", "home_zork", Function, "def home_zork(zork): return home of zork"),
        Row::new("src/job.py", "job", Function, "def job(worker): worker.fetch_rows_now(1)"),
        Row::new("src/fetch_now.py", "fetch_now", Function, "def fetch_now(rows): return fetch rows now"),
        Row::new("conf/app.yaml", "", Code, "datasource:\n  max-pool-size: 10"),
        Row::new("src/pool_size.py", "pool_size", Function, "def pool_size(max): max pool size of datasource"),
    ];
    for (text, first) in [
        ("$ZORK_HOME", "deploy/run.sh"),
        ("${ZORK_HOME}", "deploy/run.sh"),
        ("%ZORK_HOME%", "deploy/run.sh"),
        ("env ZORK_HOME", "deploy/run.sh"),
        ("fetch_rows_now()", "src/job.py"),
        ("self.fetch_rows_now", "src/job.py"),
        ("datasource.max-pool-size", "conf/app.yaml"),
    ] {
        assert_eq!(search(&rows, text).hits[0].file, first, "{text}");
    }
    for text in ["where is fetch_rows_now used", "fetch_rows_now usage", "grep fetch_rows_now"] {
        assert_eq!(names(&rows, text)[0], "job", "{text}");
    }
    let notes = search(&rows, "self.fetch_rows_now").notes.join("; ");
    assert!(notes.contains("No chunk contains \"self.fetch_rows_now\""), "{notes}");
}

#[test]
fn tests_of_a_name_rank_before_its_definition() {
    let rows = [
        Row::new("src/parse.py", "parse_header", Function, "def parse_header(line): return line.split(':')"),
        Row::new("src/read.py", "read", Function, "def read(line): parse_header(line)"),
        Row::new("tests/check.py", "test_lines", Function, "assert parse_header('a:b') == ['a', 'b']")
            .calls("parse_header"),
        Row::new("tests/check.py", "", Code, "from parse import parse_header"),
        Row::new("tests/other.py", "test_parse", Function, "assert parse('a:b') == ['a', 'b']"),
        Row::new("tests/mocks.py", "Mock.parse_header", Method, "def parse_header(self, line): pass"),
    ];
    for text in [
        "test for parse_header",
        "parse_header tests",
        "where is `parse_header` tested",
        "which tests cover parse_header",
        "unit tests for parse_header()",
        "tests for Parser.parse_header",
    ] {
        assert_eq!(names(&rows, text)[0], "test_lines", "{text}");
    }
    assert_eq!(names(&rows, "parse_header")[0], "parse_header");
}

#[test]
fn tests_of_a_file_have_its_name() {
    let rows = [
        Row::new("src/cart.ts", "cart.ts", Code, "export const cart = {}"),
        Row::new("src/deep/cart.test.ts", "cart.test.ts", Code, "it('adds', () => { add(1) })"),
        Row::new("test/other.test.ts", "other.test.ts", Code, "import './cart.ts'"),
        Row::new("src/other.ts", "other", Function, "tests of cart.ts"),
    ];
    for text in ["tests for cart.ts", "test of src/cart.ts", "cart.ts tests"] {
        assert_eq!(names(&rows, text)[0], "cart.test.ts", "{text}");
    }
}

#[test]
fn language_names_and_single_ideographs_are_words() {
    let rows = [
        Row::new("src/c.go", "c", Function, "func c(x int) int { return x }"),
        Row::new("langs.md", "Languages", Kb, "Written in C++ and C#"),
        Row::new("src/shop.py", "shop", Function, "return \"ｔｏｔａｌ สวัสดีชาวโลก 仕様書\""),
        Row::new("src/wide.py", "wide", Function, "return \"ｐａｇｅ＿ｎｕｍｂｅｒ\""),
        Row::new("src/page.py", "page_of", Function, "def page_of(number): page = number; return page"),
    ];
    for text in ["C++", "c++", "C#", "c#"] {
        assert_eq!(names(&rows, text)[0], "Languages", "{text}");
    }
    assert_eq!(names(&rows, "page_number")[0], "wide");
    for text in ["total", "ｔｏｔａｌ", "ชาวโลก", "仕", "書", "様"] {
        assert_eq!(names(&rows, text).first().map(String::as_str), Some("shop"), "{text}");
    }
}

#[test]
fn dense_mode_ignores_literal_matches() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let snapshot = corpus::write(directory.path(), &posts(), Some(&Bag::default()));
    let searcher = Searcher::new(snapshot, Some(std::sync::Arc::new(Bag::default())), SearchConfig::default());
    let results = searcher.search(&Query { mode: Mode::Dense, ..Query::new("total_posts", NOW) }).expect("valid");
    assert!(results.hits.iter().all(|hit| hit.explanation.rules.iter().all(|rule| rule.rule != "contains_query")));
}
