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

/// Lines that make a definition too long to be part of the text of its type.
fn lines(line: &str) -> String {
    format!("{line}\n").repeat(45)
}

#[test]
fn lines_that_begin_like_comments_are_code_and_comments_without_stars_are_not() {
    let go = "package main\n\nfunc main() {\n\tvar p int\n\tq := &p\n\t*q = starred()\n\t/* see */ afterComment()\n\t/*\n\t  \
              commentedOut()\n\t*/\n\tprintln(\"/*\")\n\tafterString()\n}\n\nfunc starred() int {\n\treturn 1\n}\n\n\
              func afterComment() {\n}\n\nfunc commentedOut() {\n}\n\nfunc afterString() {\n}\n";
    check(&[("go.mod", "module ex.org/m\n"), ("main.go", go)], 0.7, &["main.go:commentedOut only-comments"]);
    let python = "import lib\n\n\ndef _options():\n    return {}\n\n\ndef _plain():\n    return 1\n\n\ndef run():\n    return lib.call(\n        \
                  **_options()\n    )\n\n\nURL = 'http://x'  # _plain\n";
    check(&[("app.py", python)], 0.7, &["app.py:_plain only-comments"]);
    let java = format!(
        "package a;\n\nclass Job {{\n    /* default */ final Start start = new Start();\n\n    int go(int a) {{\n{}        return a\n            * \
         factor();\n    }}\n\n    private int factor() {{\n        return 2;\n    }}\n}}\n\nclass Start {{\n}}\n\nclass Main {{\n    public static \
         void main(String[] args) {{\n        new Job().go(1);\n    }}\n}}\n",
        lines("        a += 1;")
    );
    check(&[("src/a/Job.java", &java)], 0.7, &[]);
    // The second piece of the definition begins inside a comment.
    let long =
        "   This line of the comment is one of many that make the definition long, so that it is cut.\n".repeat(60);
    let cut = format!(
        "package main\n\nfunc main() {{\n\t/*\n{long}   commentedOut() is here.\n\t*/\n}}\n\nfunc commentedOut() {{\n}}\n"
    );
    check(&[("go.mod", "module ex.org/m\n"), ("main.go", &cut)], 0.7, &["main.go:commentedOut only-comments"]);
}

#[test]
fn definitions_that_are_cut_out_of_a_chunk_do_not_hide_its_mentions() {
    let java = format!(
        "package a;\n\nclass Outer {{\n    static final Runnable RUN = new Inner(1), AGAIN = new Plain();\n\n    static class Plain implements Runnable {{\n        Plain() {{\n            \
         this.a = 1;\n        }}\n\n        public void run() {{\n        }}\n    }}\n\n    static class Inner implements Runnable {{\n        \
         Inner(int a) {{\n{}        }}\n\n        public void run() {{\n        }}\n    }}\n\n    static class Dead {{\n        Dead(int a) {{\n            \
         new Dead(2);\n        }}\n    }}\n\n    public static void main(String[] args) {{\n    }}\n}}\n",
        lines("            a += 1;")
    );
    check(&[("src/a/Outer.java", &java)], 0.7, &["Outer.java:Outer.Dead unmentioned"]);
    let rust = format!(
        "fn main() {{\n    outer(1);\n}}\n\nfn outer(arg: u32) -> u32 {{\n    struct Line(u8);\n    impl Line {{\n        fn inner(&self, x: u32) \
         -> u32 {{\n{}            x\n        }}\n    }}\n    Line(0).inner(arg)\n}}\n",
        lines("            let x = x + 1;")
    );
    check(&[("Cargo.toml", "[package]\nname = \"m\"\n"), ("src/main.rs", &rust)], 0.7, &[]);
    let kotlin = format!(
        "package a\n\nprivate class Shop {{\n    fun open(): String = title()\n\n    companion object {{\n        private fun title(): String {{\n{}            \
         return \"\"\n        }}\n    }}\n}}\n\nfun main() {{\n    Shop().open()\n}}\n",
        lines("            println()")
    );
    check(&[("src/a/Shop.kt", &kotlin)], 0.7, &[]);
    let cpp = format!(
        "class Env {{\n public:\n  void run();\n\n private:\n  struct Item {{\n    explicit Item(int a) : a(a) {{}}\n    int a;\n  }};\n{}  \
         Queue<Item> queue;\n}};\n\nint main() {{\n  Env env;\n  env.run();\n}}\n",
        lines("  int filler;")
    );
    check(&[("env.cpp", &cpp)], 0.7, &[]);
}

#[test]
fn methods_of_any_trait_implementation_and_inputs_of_macros_in_rust_are_used() {
    let program = "mod other;\n\nstruct Lock;\n\nunsafe impl lock_api::RawMutex for Lock {\n    fn try_lock(&self) -> bool {\n        true\n    \
                   }\n}\n\nimpl lib::Source for () {\n    fn comment_start(&self) -> u32 {\n        1\n    }\n}\n\nimpl lib::Source for [Lock] \
                   {\n    fn comment_end(&self) -> u32 {\n        1\n    }\n}\n\nfn main() {\n    Lock.lock();\n}\n\nfn dead() -> u32 {\n    2\n}\n\n\
                   impl Lock {\n    fn dead_too(&self) -> u32 {\n        3\n    }\n}\n";
    let other = "use crate::Lock;\n\nfn alpha_tail() -> u32 {\n    1\n}\n\nfn beta_tail() -> u32 {\n    2\n}\n\nstruct Ui;\n\nimpl Ui {\n    \
                 fn is_release(&self) -> bool {\n        true\n    }\n}\n\nimpl sciter::EventHandler for Ui {\n    dispatch! {\n        fn \
                 is_release();\n    }\n}\n\n#[cfg(test)]\nmod checks {\n    #[test]\n    fn works() {\n        super::only_checked();\n    \
                 }\n}\n\nfn only_checked() -> u32 {\n    2\n}\n";
    let paste = "macro_rules! tails {\n    ($n:ident) => {\n        paste::paste! { super::other::[<$n _tail>]() }\n    };\n}\n\ntails!(alpha);\n";
    let manifest = ("Cargo.toml", "[package]\nname = \"m\"\n");
    let files = [manifest, ("src/main.rs", program), ("src/other.rs", other), ("src/paste.rs", paste)];
    check(&files, 0.7, &["main.rs:Lock::dead_too unmentioned", "main.rs:dead unmentioned"]);
    check(
        &files,
        0.55,
        &["main.rs:Lock::dead_too unmentioned", "main.rs:dead unmentioned", "other.rs:only_checked only-tests"],
    );
    let library = ("Cargo.toml", "[package]\nname = \"m\"\n\n[lib]\npath = \"src/env.rs\"\n");
    let public = ("src/env.rs", "pub fn open() -> u32 {\n    1\n}\n\nfn hidden() -> u32 {\n    2\n}\n");
    check(&[library, ("src/main.rs", "fn main() {}\n"), public], 0.7, &["env.rs:hidden unmentioned"]);
    check(
        &[manifest, ("src/main.rs", "mod env;\n\nfn main() {}\n"), public],
        0.7,
        &["env.rs:hidden unmentioned", "env.rs:open unmentioned"],
    );
}

#[test]
fn methods_that_an_interface_in_go_requires_and_functions_with_directives_are_used() {
    let text = "package main\n\ntype by interface{ isBy() }\n\ntype name string\n\nfunc (name) isBy() {\n}\n\nfunc (name) dead() {\n}\n\n\
                type holder interface {\n\t// size is documented.\n\tsize() int\n}\n\n\
                func (name) size() int {\n\treturn 1\n}\n\n//export callback\nfunc callback() {\n}\n\n//go:linkname \
                nanotime runtime.nanotime\nfunc nanotime() int64 {\n\treturn 0\n}\n\n// rule is documented.\nfunc rule(m dsl.Matcher) \
                {\n}\n\nfunc main() {\n\tvar b by = name(\"\")\n\tvar h holder\n\tprintln(b, h)\n}\n";
    check(&[("go.mod", "module ex.org/m\n"), ("main.go", text)], 0.7, &["main.go:name.dead unmentioned"]);
}

#[test]
fn members_in_java_that_frameworks_or_subtypes_use_are_not_reported() {
    let main = "class Main {\n    public static void main(String[] args) {\n        new Settings().ssl = null;\n        new Shop().open();\n        \
                Plugins.load(args[0]);\n    }\n}\n";
    let settings = "package a;\n\n@ConfigurationProperties(\"shop\")\nclass Settings {\n    Ssl ssl;\n\n    static class Ssl {\n        private \
                    boolean verify;\n\n        void assignVerify(boolean verify) {\n            check(verify);\n            this.verify = verify;\n        \
                    }\n    }\n}\n";
    let shop = "package a;\n\nclass Shop {\n    private int size;\n\n    public int getSize() {\n        return size;\n    }\n\n    public \
                Shop setSize(int size) {\n        this.size = size;\n        return this;\n    }\n\n    public int getTotal() {\n        return \
                size + 1;\n    }\n\n    native void start0();\n\n    private static final ThreadLocal<Shop> LOCAL = new \
                ThreadLocal<Shop>() {\n        protected Shop initialValue() {\n            return null;\n        }\n    };\n\n    void open() \
                {\n        LOCAL.get();\n    }\n}\n";
    let plugins = "package a;\n\nclass Plugins {\n    static Plugin load(String name) {\n        return \
                   Class.forName(name).asSubclass(Plugin.class).newInstance();\n    }\n}\n\ninterface Plugin {\n}\n\nclass Udp \
                   implements Plugin {\n}\n\nclass Tcp implements Runnable {\n}\n";
    let base = "package a;\n\nabstract class Base {\n    public void renew() {\n        check();\n    }\n\n    private void check() {\n    \
                }\n}\n";
    let derived = "package a;\n\npublic class Derived extends Base {\n}\n";
    let values = "package a;\n\nclass Values {\n    static Object find(String from, String to) {\n        return \
                  LOOKUP.findStatic(Values.class, from + \"To\" + to, TYPE);\n    }\n\n    static double byteToDouble(byte x) {\n        return \
                  x;\n    }\n}\n\nclass Uses {\n    Object x = Values.find(\"byte\", \"double\");\n\n    public static void main(String[] a) \
                  {\n    }\n}\n";
    let files = [
        ("src/a/Main.java", main),
        ("src/a/Settings.java", settings),
        ("src/a/Shop.java", shop),
        ("src/a/Plugins.java", plugins),
        ("src/a/Base.java", base),
        ("src/a/Derived.java", derived),
        ("src/a/Values.java", values),
    ];
    check(&files, 0.7, &["Plugins.java:Tcp unmentioned", "Shop.java:Shop.getTotal unmentioned"]);
    check(
        &files,
        0.0,
        &[
            "Base.java:Base.renew exported",
            "Derived.java:Derived exported",
            "Plugins.java:Tcp unmentioned",
            "Shop.java:Shop.getSize accessor",
            "Shop.java:Shop.getTotal unmentioned",
            "Shop.java:Shop.setSize accessor",
        ],
    );
}

#[test]
fn enumerators_declarators_and_pasted_names_in_cpp_use_their_definitions() {
    let text = "#define HOOK(name) register_hook(#name, my##name)\n\nenum Color { RED, GREEN };\n\nenum Dead { NORTH, SOUTH };\n\n\
                struct Item {\n  int a;\n} first_item;\n\nstruct Lost {\n  int a;\n};\n\ntypedef struct tag {\n  struct tag *next;\n} \
                Node;\n\nstatic void mySwap(int a) {\n  a = 1;\n}\n\nstatic void lost(int a) {\n  a = 2;\n}\n\nRegistrar \
                registrar(factory);\n\nstruct Walk {\n  typedef int iterator_category;\n  int step();\n};\n\nint main() {\n  Walk walk;\n  \
                HOOK(Swap);\n  struct tag *one = nullptr;\n  return walk.step() + GREEN + first_item.a;\n}\n";
    check(
        &[("main.cpp", text)],
        0.0,
        &["main.cpp:Dead exported", "main.cpp:Lost exported", "main.cpp:lost unmentioned"],
    );
}

#[test]
fn function_expressions_and_ambient_declarations_in_typescript_are_used() {
    let text = "import { register } from 'lib'\n\nregister(function filter(x: number) {\n  return x + 1\n});\n\ndeclare namespace host {\n  \
                function update(): void\n}\n\nfunction dead() {\n  return 2\n}\n\nclass Home {\n  @command('open')\n  @debug({\n    args: (x) => {\n      return x\n    \
                },\n  })\n  private open(x: number) {\n    return x\n  }\n\n  private gone(x: number) {\n    return x\n  }\n}\n\n\
                register(Home)\n";
    check(&[("src/app.ts", text)], 0.7, &["app.ts:Home.gone unmentioned", "app.ts:dead unmentioned"]);
}

#[test]
fn source_files_that_are_not_indexed_make_the_report_incomplete() {
    let minified = "function f(){return 1};".repeat(3_000);
    let count = |path: &str| {
        let (_fixture, snapshot) = indexed(&[("a.js", "function dead() {\n  return 1\n}\n"), (path, &minified)]);
        let found = RelationIndex::new(&snapshot).unused(&UnusedOptions::default()).expect("the index can be read");
        found.not_indexed
    };
    assert_eq!((count("b.js"), count("vendor/b.js")), (1, 0));
}
