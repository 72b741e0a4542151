//! Names and contents that attack a terminal, a human reader or a decompressor.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::process::Outcome;
use crate::sandbox::Sandbox;
use crate::{Attack, INDEX, SEARCH, assert_withstands, ensure};

/// Whether a character must not reach a terminal. Harmful characters are control characters except line feed and tab,
/// and characters that change the direction of text.
fn is_harmful(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

fn is_clean(_: &Sandbox, outcomes: &[Outcome]) -> Result<(), String> {
    for outcome in outcomes {
        if let Some(c) = outcome.out.chars().chain(outcome.err.chars()).find(|c| is_harmful(*c)) {
            return Err(format!("expected: no {c:?} in the output of `{}`", outcome.command));
        }
    }
    Ok(())
}

const NAMES: &[&[u8]] = &[
    b"new\nline.py",
    b"escape\x1b[31m\x1b]0;title\x07.py",
    b"return\rover.py",
    b"bell\x07\x08.py",
    "right\u{202e}yp.tob".as_bytes(),
    "isolate\u{2066}a\u{2069}.py".as_bytes(),
    "nel\u{85}csi\u{9b}31m.py".as_bytes(),
    b"not utf-8 \xff\xfe.py",
    b"-rf.py",
    b"--root=x.py",
    b"a b\tc.py",
    b"back\\slash\\..\\x.py",
    b"colon:12.py",
    b"star*?[a].py",
    b"$(touch ran).py",
    b"'\"`.py",
    b"Case.py",
    b"case.py",
    "caf\u{e9}.py".as_bytes(),
    "cafe\u{301}.py".as_bytes(),
    b"con.py",
    b" leading.py",
    b"....py",
];

#[test]
fn names_and_texts_are_escaped_for_the_terminal() {
    const LOOKS: &[&[&str]] = &[
        &["mem", "index"],
        INDEX,
        &["mem", "search", "hostile_name"],
        &["mem", "search", "hostile_name", "--show-content", "--snippets=5"],
        &["mem", "search", "hostile_name", "--show-scores"],
        &["mem", "search", "hostile_name", "--budget", "4000"],
        &["mem", "search", "hostile_name", "--format", "json"],
        &["mem", "search", "--grep", "hostile", "--limit", "100"],
        &["mem", "blame", "src/a.py"],
        &["mem", "stats"],
        &["mem", "verify"],
        &["mem", "eval", "mine"],
        &["pipeline", "run", "--dry", "src/a.py"],
        &["pipeline", "run", "--dry", "src/a.py", "--format", "json"],
        &["doctor"],
    ];
    let all = |attack: Attack| LOOKS.iter().fold(attack, |attack, look| attack.run(look)).expect(is_clean);
    let texts = "\u{1b}[2J\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7} \u{9b}31m \u{202e}drow \r\u{8}\u{8} \u{2066}x";
    assert_withstands([
        all(Attack::on_fresh("names of all kinds", |sandbox| {
            for name in NAMES {
                sandbox.write(OsStr::from_bytes(name), "def hostile_name():\n    return 1\n");
            }
            sandbox.write("src/a.py", "def hostile_name(): pass\n");
            sandbox.git(&["add", "--all"]);
            sandbox.git(&["commit", "--quiet", "--message", "names"]);
        })),
        all(Attack::on_fresh("texts of all kinds", move |sandbox| {
            sandbox.write(
                "src/a.py",
                format!("def hostile_name(a=\"{texts}\"):\n    \"\"\"Doc {texts}\"\"\"\n    # {texts}\n    return 1\n"),
            );
            sandbox.write("docs/a.md", format!("# hostile_name {texts}\n\n{texts}\n\n```{texts}\nhostile\n```\n"));
            sandbox.write("src/b.js", format!("function hostile_name() {{ return `{texts}`; }}\n"));
            sandbox.git(&["add", "--all"]);
            sandbox.git(&[
                "-c",
                &format!("user.name=A {texts}"),
                "commit",
                "--quiet",
                "--message",
                &format!("hostile {texts}"),
            ]);
        })),
        all(Attack::on_fresh("a branch, a tag and a mailmap of all kinds", move |sandbox| {
            sandbox
                .write("src/a.py", "def hostile_name(): pass\n")
                .write(".mailmap", format!("Eve {texts} <ada@example.org>\n"));
            sandbox.write(".gitignore", format!("{texts}\n")).write(".gitattributes", format!("* {texts}\n"));
            sandbox.git(&["add", "--all"]);
            sandbox.git(&["commit", "--quiet", "--message", "names"]);
            sandbox.git(&["branch", "--move", "\u{202e}niam"]);
        })),
    ]);
}

#[test]
fn queries_and_arguments_are_escaped_for_the_terminal() {
    const HARMFUL: &str = "\u{1b}[2Jx\u{202e}\u{7}";
    let given = |arguments: &'static [&'static str]| {
        Attack::on_indexed(format!("{arguments:?}"), |_| {}).run(arguments).expect(is_clean)
    };
    assert_withstands([
        given(&["mem", "search", HARMFUL]),
        given(&["mem", HARMFUL]),
        given(&[HARMFUL]),
        given(&["mem", "search", "x", "--type", HARMFUL]),
        given(&["mem", "search", "x", "--lang", HARMFUL]),
        given(&["mem", "search", "x", "--path", HARMFUL]),
        given(&["mem", "search", "x", "--where", HARMFUL]),
        given(&["mem", "search", "--grep", "\u{1b}[2J("]),
        given(&["mem", "search", "x", "--root", HARMFUL]),
        given(&["mem", "blame", HARMFUL]),
        given(&["mem", "feedback", "good", HARMFUL]),
        given(&["mem", "index", HARMFUL]),
        given(&["mem", "index", "--pipeline", HARMFUL]),
        given(&["mem", "import", HARMFUL]),
        given(&["pipeline", "check", HARMFUL]),
    ]);
}

/// Returns a compressed log with a run of about `length` equal bytes.
fn gzip(length: usize) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(b"# Conversation: Bomb\nDate: 2025-12-13\n\n## Phase 1: Assess\n").expect("memory can be written");
    let block = vec![b'a'; 1 << 20];
    for _ in 0..length / block.len() {
        packed.write_all(&block).expect("memory can be written");
    }
    packed.finish().expect("memory can be written")
}

/// An entry of an archive: its name, and a function that writes its content.
type Part<'p> = (&'p str, &'p dyn Fn(&mut dyn Write));

/// Creates a document from archive entries.
fn docx(sandbox: &Sandbox, name: &str, entries: &[Part<'_>]) {
    let file = File::create(sandbox.prepare_path(name)).expect("the file can be created");
    let mut archive = zip::ZipWriter::new(file);
    for (name, write) in entries {
        let options = zip::write::SimpleFileOptions::default().large_file(true);
        archive.start_file(*name, options).expect("the entry can be written");
        write(&mut archive);
    }
    archive.finish().expect("the archive can be written");
}

fn spaces(count: usize) -> impl Fn(&mut dyn Write) {
    move |out| {
        let block = vec![b' '; 1 << 20];
        for _ in 0..count >> 20 {
            out.write_all(&block).expect("an entry can be written");
        }
    }
}

fn text(text: String) -> impl Fn(&mut dyn Write) {
    move |out| out.write_all(text.as_bytes()).expect("an entry can be written")
}

#[test]
fn hostile_documents_and_logs_do_no_harm() {
    const DOCUMENT: &str = "word/document.xml";
    let looks = |attack: Attack| {
        attack
            .run(INDEX)
            .run(SEARCH)
            .expect(|_, outcomes| ensure(matches!(outcomes[0].code, Some(0 | 1)), "the run ends normally"))
    };
    assert_withstands(
        [
            Attack::on_fresh("a document of 2 GiB", |sandbox| docx(sandbox, "docs/a.docx", &[(DOCUMENT, &spaces(2 << 30))])),
            Attack::on_fresh("a document of nested elements", |sandbox| {
                docx(sandbox, "docs/a.docx", &[(DOCUMENT, &text(format!("{}{}", "<w:p>".repeat(1 << 20), "</w:p>".repeat(1 << 20))))]);
            }),
            Attack::on_fresh("a document of entities", |sandbox| {
                let mut entities = String::from("<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a0 \"ha\">");
                for n in 1..40 {
                    entities.push_str(&format!("<!ENTITY a{n} \"&a{0};&a{0};\">", n - 1));
                }
                entities.push_str("<!ENTITY f SYSTEM \"file:///etc/passwd\">]><w:p><w:t>&a39;&f;</w:t></w:p>");
                docx(sandbox, "docs/a.docx", &[(DOCUMENT, &text(entities.clone()))]);
            }),
            Attack::on_fresh("a document with an entry outside of it", |sandbox| {
                docx(sandbox, "docs/a.docx", &[("../../canary/made", &text("x".into())), (DOCUMENT, &text("<w:p/>".into()))]);
            }),
            Attack::on_fresh("a document that is cut short", |sandbox| {
                docx(sandbox, "docs/a.docx", &[(DOCUMENT, &text("<w:p><w:t>x</w:t></w:p>".repeat(1000)))]);
                let whole = std::fs::read(sandbox.path("docs/a.docx")).expect("the file can be read");
                sandbox.write("docs/b.docx", &whole[..whole.len() / 2]).write("docs/c.docx", [&whole[..40], &whole].concat());
            }),
            Attack::on_fresh("a document of thirty thousand entries", |sandbox| {
                let names: Vec<String> = (0..30_000).map(|n| format!("e{n}")).collect();
                let nothing: &dyn Fn(&mut dyn Write) = &|_| {};
                let entries: Vec<_> = names.iter().map(|name| (name.as_str(), nothing)).collect();
                docx(sandbox, "docs/a.docx", &entries);
            }),
            Attack::on_fresh("conversations of 2 GiB", |sandbox| {
                sandbox.write("../home/.aurora/logs/conversations/a.md.gz", gzip(2 << 30));
            }),
            Attack::on_fresh("conversations that are a pipe, a link and a sparse file", |sandbox| {
                let logs = "../home/.aurora/logs/conversations";
                sandbox.fifo(format!("{logs}/a.md")).link(format!("{logs}/b.md"), "/dev/zero").sparse(format!("{logs}/c.md"), 100 << 30);
            }),
            Attack::on_fresh("reasoning of nested lists", |sandbox| {
                sandbox.write(".aurora/reasoning/a.json", format!("{}{}", "[".repeat(1 << 20), "]".repeat(1 << 20)));
                sandbox.write(".aurora/reasoning/b.json", "{\"a\":".repeat(1 << 20));
            }),
            Attack::on_fresh("reasoning of many keywords", |sandbox| {
                let words = vec!["\"word\""; 500_000].join(",");
                let json = format!("{{\"id\": \"a\", \"content\": {{\"success_score\": 0.9, \"pattern\": \"p\"}}, \"metadata\": {{\"keywords\": [{words}]}}}}");
                sandbox.write(".aurora/reasoning/a.json", json);
            }),
            Attack::on_fresh("reasoning of 100 GiB", |sandbox| {
                sandbox.sparse(".aurora/reasoning/a.json", 100 << 30);
            }),
            Attack::on_fresh("reasoning in directories without end", |sandbox| {
                sandbox.link(".aurora/reasoning/up", "../..").link(".aurora/reasoning/root", "/");
            }),
        ]
        .map(looks),
    );
}

#[test]
fn hostile_questions_do_no_harm() {
    let questions = |name: &str, text: String| {
        Attack::on_indexed(format!("questions: {name}"), move |sandbox| {
            sandbox.write("questions.jsonl", &text).write("questions.yaml", &text);
        })
        .run(&["mem", "eval", "questions.jsonl"])
        .run(&["mem", "eval", "questions.yaml"])
        .run(&["mem", "tune", "--golden", "questions.yaml", "--budget", "2"])
    };
    let aliases =
        (1..60).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| text + &format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1));
    assert_withstands([
        questions("nested lists", format!("{}{}", "[".repeat(200_000), "]".repeat(200_000))),
        questions("aliases that double", aliases),
        questions("one line of 16 MiB", format!("{{\"query\": \"{}\"}}", "a ".repeat(8 << 20))),
        questions("nothing that fits", "\u{1b}[2J: \u{0}\n".repeat(1000)),
    ]);
}
