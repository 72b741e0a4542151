//! Definitions that nothing uses.

use aurora_query::{RelationIndex, UnusedOptions};

use crate::{indexed, name};

/// Asserts the unused definitions of a repository, each with its reason.
fn check(files: &[(&str, &str)], min_confidence: f32, expected: &[&str]) {
    let (_fixture, snapshot) = indexed(files);
    let index = RelationIndex::new(&snapshot);
    let options = UnusedOptions { min_confidence, ..UnusedOptions::default() };
    let found = index.unused(&options).expect("the index can be read");
    let shown = found.list.iter().map(|one| format!("{} {}", name(&snapshot, one.id), one.reason.as_str()));
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    assert!(!found.is_cut);
}

#[test]
fn private_python_functions_without_mentions_are_unused() {
    let text = "import handlers\n\n\ndef _dead(n):\n    return _dead(n - 1)\n\n\ndef _only_noted():\n    return 1\n\n\n\
                # _only_noted was replaced\ndef _value():\n    return 2\n\n\ndef _named_in_text():\n    return 3\n\n\n\
                @handlers.register\ndef _registered():\n    return 4\n\n\ndef _visit_list():\n    return 5\n\n\n\
                def _tested():\n    return 6\n\n\ndef public():\n    return handlers.call('_visit_' + 'x'), \
                [_value], '_named_in_text'\n";
    let files = [("app.py", text), ("tests/test_app.py", "import app\n\n\ndef test_it():\n    assert app._tested()\n")];
    check(&files, 0.7, &["app.py:_dead unmentioned", "app.py:_only_noted only-comments"]);
    check(
        &files,
        0.0,
        &[
            "app.py:_dead unmentioned",
            "app.py:_only_noted only-comments",
            "app.py:_tested only-tests",
            "app.py:public exported",
        ],
    );
}

#[test]
fn exported_functions_of_a_go_program_can_be_unused() {
    check(
        &[
            ("go.mod", "module ex.org/m\n"),
            (
                "main.go",
                "package main\n\nfunc main() {\n\tused()\n}\n\nfunc used() {\n}\n\nfunc Dead() int {\n\treturn 1\n}\n\nfunc init() {\n}\n",
            ),
            ("lib/lib.go", "package lib\n\nfunc Open() int {\n\treturn 1\n}\n\nfunc closeAll() int {\n\treturn 2\n}\n"),
        ],
        0.7,
        &["lib.go:closeAll unmentioned", "main.go:Dead unmentioned"],
    );
}

#[test]
fn overriding_and_annotated_members_in_java_are_used() {
    let filler = "        int a = 1;\n".repeat(45);
    let text = format!(
        "package a;\n\nimport lib.Task;\n\npublic class Job extends Task {{\n    private int dead() {{\n{filler}        return a;\n    }}\n\n    \
         void onStart() {{\n    }}\n\n    @Inject\n    private void setUp() {{\n    }}\n\n    private void \
         readObject(Object in) {{\n    }}\n\n    private static void log() {{\n    }}\n\n    public void go() {{\n        \
         log();\n    }}\n}}\n"
    );
    check(&[("src/a/Job.java", text.as_str())], 0.7, &["Job.java:Job.dead unmentioned"]);
}

#[test]
fn members_of_objects_and_exports_in_typescript_are_not_reported() {
    check(
        &[(
            "src/plugin.ts",
            "export function plugin() {\n  return {\n    transform() {\n      return 1\n    },\n  }\n}\n\nfunction dead() {\n  return 2\n}\n\n\
             function listed() {\n  return 3\n}\n\nexport const all = [listed]\n",
        )],
        0.7,
        &["plugin.ts:dead unmentioned"],
    );
}

#[test]
fn trait_implementations_and_public_items_of_a_rust_library_are_used() {
    let library = "pub struct Item;\n\nimpl Default for Item {\n    fn default() -> Self {\n        Item\n    }\n}\n\nimpl \
                   std::fmt::Display for Item {\n    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result \
                   {\n        Ok(())\n    }\n}\n\npub fn open() -> u32 {\n    1\n}\n\nfn dead() -> u32 {\n    \
                   2\n}\n\n#[no_mangle]\nextern \"C\" fn entry() -> u32 {\n    3\n}\n\npub(crate) fn hidden() -> u32 {\n    \
                   4\n}\n";
    check(
        &[("Cargo.toml", "[package]\nname = \"m\"\n"), ("src/lib.rs", library)],
        0.7,
        &["lib.rs:dead unmentioned", "lib.rs:hidden unmentioned"],
    );
}
