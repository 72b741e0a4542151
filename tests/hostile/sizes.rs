//! Files that are small but expensive to process. Time and memory must stay within the limits.

use std::process::Command;
use std::time::Duration;

use crate::process::number;
use crate::sandbox::{Sandbox, Start};
use crate::{Attack, INDEX, SEARCH, assert_withstands, ensure};

/// Number of equal names in each file.
const COUNT: usize = 100_000;

/// Creates an attack with one file, whose name is the first word of `name`.
fn file(name: &'static str, text: impl Fn() -> String + 'static) -> Attack {
    Attack::on_fresh(name, move |sandbox| {
        sandbox.write(name.split(' ').next().expect("the name begins with a file name"), text());
    })
}

fn repeated(text: &'static str) -> impl Fn() -> String {
    move || text.repeat(COUNT)
}

#[test]
fn equal_names_take_linear_time() {
    let attacks = [
        file("a.md of equal headings", repeated("# x\n")),
        file("b.md of equal headings with text", repeated("# x\n\ntext\n\n")),
        file("c.md of two levels", || "# x\n## y\n".repeat(COUNT / 2)),
        file("a.py of equal functions", repeated("def f(): pass\n")),
        file("b.py of equal methods", || format!("class A:\n{}", "    def f(self): pass\n".repeat(COUNT))),
        file("c.py of equal classes", repeated("class A: pass\n")),
        file("d.py of equal constants", repeated("X = 1\n")),
        file("a.js of equal functions", repeated("function f() {}\n")),
        file("a.ts of equal interfaces", repeated("interface A {}\n")),
        file("a.go of equal functions", || format!("package a\n{}", "func f() {}\n".repeat(COUNT))),
        file("A.java of equal methods", || format!("class A {{\n{}}}\n", "void f() {}\n".repeat(COUNT))),
        file("a.rs of equal functions", repeated("fn f() {}\n")),
        file("b.rs of equal implementations", repeated("impl A { fn f() {} }\n")),
        file("a.rst of equal headings", repeated("x\n=\n\n")),
        file("a.adoc of equal headings", repeated("== x\n\n")),
        file("a.txt of equal headings", repeated("X\n=\n\n")),
        file("e.py of numbered names that are equal too", || {
            "def f(): pass\ndef f_2(): pass\ndef f__2(): pass\n".repeat(COUNT / 3)
        }),
    ];
    assert_withstands(attacks.into_iter().map(|attack| {
        attack.run(INDEX).expect(|_, outcomes| ensure(matches!(outcomes[0].code, Some(0 | 1)), "the run ends normally"))
    }));
}

#[test]
fn hostile_files_stay_within_the_memory_limit() {
    let attacks = [
        file("a.txt of newlines", || "\n".repeat(4 << 20)),
        file("a.py of newlines", || "\n".repeat(4 << 20)),
        file("a.md of newlines", || "\n".repeat(4 << 20)),
        file("b.py of one-line functions", || (0..200_000).map(|n| format!("def f{n}(): pass\n")).collect()),
        file("b.md of one-line sections", || (0..200_000).map(|n| format!("# s{n}\n")).collect()),
        file("c.py of brackets", || "(".repeat(4 << 20)),
        file("c.js of braces", || "{".repeat(4 << 20)),
        file("c.md of quotes", || ">".repeat(4 << 20)),
        file("d.md of nested lists", || (0..2_000).map(|n| format!("{}- x\n", " ".repeat(n))).collect()),
        file("d.py of operators", || format!("x = {}1\n", "1 + ".repeat(1 << 20))),
        file("d.js of one line", || format!("let a = [{}];\n", "1,".repeat(1 << 20))),
        file("e.py of one name", || format!("def {}(): pass\n", "a".repeat(4 << 20))),
        file("e.md of one heading", || format!("# {}\n", "word ".repeat(800_000))),
        file("f.py of words", || (0..400_000).map(|n| format!("w{n:x} ")).collect()),
        file("g.py of decorators", || format!("{}def f(): pass\n", "@a\n".repeat(1 << 20))),
        file("h.py of nested functions", || (0..900).map(|n| format!("{}def f{n}():\n", " ".repeat(n))).collect()),
        file("i.java of nested classes", || format!("{}{}", "class A {".repeat(100_000), "}".repeat(100_000))),
        file("j.tsx of nested elements", || format!("x = {}{}", "<a>".repeat(100_000), "</a>".repeat(100_000))),
        file("k.go of one string", || format!("package k\nvar s = `{}`\n", "x".repeat(4 << 20))),
        file("l.md of links", || "[a](b)[c]: d\n".repeat(300_000)),
        file("m.md of stars", || "*a **b ".repeat(500_000)),
        file("n.md of table rows", || "|a|b|\n|-|-|\n".repeat(300_000)),
        file("o.rs of generics", || format!("type A = {}u8{};\n", "B<".repeat(200_000), ">".repeat(200_000))),
        file("p.ts of unions", || format!("type A = {}0;\n", "'a' | ".repeat(400_000))),
    ];
    assert_withstands(attacks.into_iter().map(|attack| {
        attack
            .run(&["mem", "index", "--memory", "256MiB", "--format", "json"])
            .run(SEARCH)
            .expect(|_, outcomes| ensure(matches!(outcomes[0].code, Some(0 | 1)), "the run ends normally"))
    }));
}

#[test]
fn too_little_address_space_is_an_error_and_not_an_abort() {
    let attacks = [1u64, 2, 4].into_iter().map(|gibibytes| {
        file("a.py of one-line functions and little address space", || {
            (0..100_000).map(|n| format!("def f{n}(): pass\n")).collect()
        })
        .run_with(move |sandbox| sandbox.aur_after(&format!("ulimit -v {}", gibibytes << 20), INDEX))
    });
    assert_withstands(attacks);
}

#[test]
fn an_interrupt_ends_a_run_in_a_hostile_file() {
    const TEXTS: &[(&str, &str)] =
        &[("a.md", "# x\n"), ("a.py", "def f(): pass\n"), ("b.py", "("), ("a.txt", "\n"), ("A.java", "class A {")];
    /// Maximum processor time after an interrupt, not counting other processes. It is ten times the time that the
    /// program needs, but far below the time that the file takes if the run ignores the interrupt.
    const MAX_TIME: Duration = Duration::from_secs(5);
    for (name, text) in TEXTS {
        let sandbox = Sandbox::new(Start::default());
        sandbox.write(name, text.repeat((4 << 20) / text.len() - 1));
        let mut running = sandbox.start(&mut sandbox.aur(&["mem", "index", "--jobs", "1"]));
        let lock = sandbox.path(".aurora/writer.lock");
        while std::fs::read_to_string(&lock).unwrap_or_default().is_empty() && running.is_alive() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(number("AURORA_TEST_INTERRUPT_AFTER").unwrap_or(300)));
        let before = running.processor_time();
        let interrupt = Command::new("kill").args(["-INT", &running.id().to_string()]).output();
        assert!(interrupt.is_ok(), "kill runs");
        let outcome = running.wait();
        let spent = outcome.processor_time.saturating_sub(before);
        assert!(matches!(outcome.code, Some(0 | 1 | 130)), "{name}: {}", outcome.summary());
        assert!(spent < MAX_TIME, "{name}: {spent:?} after the interrupt: {}", outcome.summary());
    }
}

#[test]
fn many_files_and_long_names_are_handled() {
    let deep = |sandbox: &Sandbox| {
        let script = "set -e; for i in $(seq 1 2000); do mkdir d; cd d; done; echo 'def deep(): pass' > deep.py";
        let mut shell = Command::new("sh");
        let made = shell.current_dir(sandbox.path("src")).args(["-c", script]).status();
        assert!(made.is_ok_and(|status| status.success()), "deep directories");
    };
    assert_withstands([
        Attack::on_fresh("two thousand directories in one another", deep).run(INDEX).run(SEARCH),
        Attack::on_fresh("names of 255 bytes", |sandbox| {
            let long = "n".repeat(252);
            for parent in ["", "n/", &format!("{long}ddd/{long}ddd/{long}ddd/")] {
                sandbox.write(format!("{parent}{long}.py"), "def long(): pass\n");
            }
        })
        .run(INDEX)
        .run(SEARCH),
        Attack::on_fresh("twenty thousand files in one directory", |sandbox| {
            for number in 0..20_000 {
                std::fs::write(sandbox.path(format!("src/f{number}.py")), "x = 1\n").expect("the file can be written");
            }
        })
        .run(INDEX),
        Attack::on_fresh("ten thousand ignore files", |sandbox| {
            for number in 0..10_000 {
                sandbox.write(format!("i{}/j{number}/.gitignore", number % 100), "*.log\n!x\n");
            }
        })
        .run(INDEX),
        Attack::on_fresh("an ignore file of a million patterns", |sandbox| {
            sandbox.write(".gitignore", (0..1_000_000).map(|n| format!("/a{n}/**/b*\n")).collect::<String>());
        })
        .run(INDEX),
        Attack::on_fresh("patterns that backtrack", |sandbox| {
            sandbox.write(".gitignore", format!("{}b\n", "a*".repeat(2_000)));
            sandbox.write(format!("{}.py", "a".repeat(200)), "def f(): pass\n");
        })
        .run(INDEX),
    ]);
}
