//! Resolved relations of small repositories, language by language. A comparison with compilers is a bench (`cargo xtask bench graph`).

#[path = "fixture/mod.rs"]
mod fixture;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::Silent;
use aurora_query::{BranchEnd, Relation, RelationIndex, TreeNode, TreeOptions};
use aurora_stages::index::{self, IndexOptions, Trust};
use aurora_storage::{ChunkId, Environment, OpenMode, ProjectDirectory, Snapshot};
use fixture::Fixture;

fn indexed(files: &[(&str, &str)]) -> (Fixture, Snapshot) {
    let fixture = Fixture::plain();
    for (path, text) in files {
        fixture.write(path, text);
    }
    fixture.write(".aurora/pipeline.toml", "extends = \"lexical\"\n");
    let models = ModelDirectory::at(fixture.root().join("no-models"));
    let options = IndexOptions::new(fixture.root().to_owned(), models, Trust::everything());
    index::run(&options, &Silent).expect("an index run");
    let environment = Environment::open(&fixture.root().join(ProjectDirectory::NAME), OpenMode::Existing);
    let snapshot = environment.expect("an index").snapshot().expect("a snapshot");
    (fixture, snapshot)
}

fn name(snapshot: &Snapshot, id: ChunkId) -> String {
    let chunk = snapshot.chunk(id).expect("a sound index").expect("a live chunk");
    let file = chunk.path().rsplit('/').next().expect("a name");
    if chunk.qualified_name() == file { file.to_owned() } else { format!("{file}:{}", chunk.qualified_name()) }
}

/// Every relation of the kind; what calls a definition has it among its callees.
fn relations(files: &[(&str, &str)], relation: Relation) -> Vec<String> {
    let (_fixture, snapshot) = indexed(files);
    let index = RelationIndex::new(&snapshot);
    let (mut forth, mut back) = (Vec::new(), Vec::new());
    for id in files.iter().flat_map(|(path, _)| index.definitions_in(path).expect("a sound index")) {
        for other in index.related(id, relation).expect("a sound index").list {
            forth.push(format!("{} -> {} {}", name(&snapshot, id), name(&snapshot, other.id), other.reason.as_str()));
        }
        if relation == Relation::Callees {
            for other in index.related(id, Relation::Callers).expect("a sound index").list {
                back.push(format!(
                    "{} -> {} {}",
                    name(&snapshot, other.id),
                    name(&snapshot, id),
                    other.reason.as_str()
                ));
            }
        }
    }
    if relation == Relation::Callees {
        let missing: Vec<&String> = forth.iter().filter(|callee| !back.contains(callee)).collect();
        assert!(missing.is_empty(), "callers lack {missing:?}");
    }
    forth
}

fn check(files: &[(&str, &str)], relation: Relation, expected: &[&str]) {
    assert_eq!(relations(files, relation), expected);
}

const PYTHON: &[(&str, &str)] = &[
    ("shop/__init__.py", "from .store import Store as Shop\n"),
    (
        "shop/store.py",
        "from shop import money\n\n\nclass Base:\n    def close(self):\n        pass\n\n    def open(self):\n        pass\n\n\n\
         class Store(Base):\n    def __init__(self, till: money.Till):\n        self.till = till\n\n    def sell(self, price):\n\
        \x20       self.till.add(price)\n        money.rounded(price)\n        self.close()\n        len(price)\n\n    def close(self):\n        super().close()\n",
    ),
    (
        "shop/money.py",
        "class Till:\n    def add(self, amount):\n        return rounded(amount)\n\n\ndef rounded(amount) -> int:\n    return amount\n",
    ),
    (
        "tests/test_store.py",
        "from shop import Shop\nfrom shop.money import Till as Drawer\n\n\ndef test_sell():\n    shop = Shop(Drawer())\n    shop.sell(1)\n    shop.open()\n",
    ),
];

#[test]
fn python_resolves_imports_receivers_and_base_types() {
    check(
        PYTHON,
        Relation::Callees,
        &[
            "store.py:Store.sell -> money.py:rounded import",
            "store.py:Store.sell -> money.py:Till.add receiver",
            "store.py:Store.sell -> store.py:Store.close scope",
            "store.py:Store.close -> store.py:Base.close receiver",
            "money.py:Till.add -> money.py:rounded scope",
            "test_store.py:test_sell -> money.py:Till import",
            "test_store.py:test_sell -> store.py:Store.__init__ import",
            "test_store.py:test_sell -> store.py:Store.sell receiver",
            "test_store.py:test_sell -> store.py:Base.open inherited",
        ],
    );
    check(
        PYTHON,
        Relation::Implementers,
        &["store.py:Base -> store.py:Store scope", "store.py:Base.close -> store.py:Store.close scope"],
    );
}

const TYPESCRIPT: &[(&str, &str)] = &[
    ("src/index.ts", "export * from './queue';\nexport { default as Log } from './log';\n"),
    (
        "src/queue.ts",
        "import Log, { format as asText } from './log';\n\nexport interface Sender {\n  send(item: string): void;\n}\n\nexport class Queue implements Sender {\n  private log: Log;\n\n  constructor() {\n    this.log = new Log();\n  }\n\n  send(item: string): void {\n    this.log.write(asText(item));\n    [item].map(x => x);\n  }\n}\n",
    ),
    (
        "src/log.ts",
        "export default class Log {\n  write(text: string): void {\n    console.log(text);\n  }\n}\n\nexport function format(text: string): string {\n  return text.trim();\n}\n",
    ),
    (
        "src/main.ts",
        "import * as all from './index';\nimport { Queue, Sender } from '.';\n\nexport function main(sender?: Sender) {\n  const queue = sender ?? new Queue();\n  queue.send('a');\n  new all.Log().write('b');\n}\n",
    ),
];

#[test]
fn typescript_follows_exports_fields_and_interfaces() {
    check(
        TYPESCRIPT,
        Relation::Callees,
        &[
            "queue.ts:Queue.constructor -> log.ts:Log import",
            "queue.ts:Queue.send -> log.ts:format import",
            "queue.ts:Queue.send -> log.ts:Log.write receiver",
            "main.ts:main -> log.ts:Log import",
            "main.ts:main -> queue.ts:Queue.constructor import",
            "main.ts:main -> log.ts:Log.write receiver",
            "main.ts:main -> queue.ts:Sender receiver",
        ],
    );
    check(TYPESCRIPT, Relation::Implementers, &["queue.ts:Sender -> queue.ts:Queue scope"]);
}

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.org/shop\n\ngo 1.20\n"),
    (
        "main.go",
        "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.org/shop/store\"\n)\n\nfunc main() {\n\tshop, err := store.Open(\"x\")\n\tif err != nil {\n\t\tfmt.Println(err)\n\t}\n\tshop.Sell(1)\n\thelp()\n}\n",
    ),
    ("help.go", "package main\n\nfunc help() {\n\thelp()\n}\n"),
    (
        "store/store.go",
        "package store\n\ntype Closer interface {\n\tClose() error\n}\n\ntype base struct{}\n\nfunc (b *base) Close() error {\n\treturn nil\n}\n\ntype Store struct {\n\tbase\n\ttill *Till\n}\n\nfunc Open(name string) (*Store, error) {\n\treturn &Store{till: &Till{}}, nil\n}\n",
    ),
    (
        "store/sell.go",
        "package store\n\ntype Till struct{}\n\nfunc (t *Till) Add(price int) {}\n\nfunc (s *Store) Sell(price int) {\n\ts.till.Add(price)\n\ts.Close()\n}\n",
    ),
];

#[test]
fn go_resolves_packages_results_and_embedded_types() {
    check(
        GO,
        Relation::Callees,
        &[
            "main.go:main -> help.go:help package",
            "main.go:main -> store.go:Open import",
            "main.go:main -> sell.go:Store.Sell receiver",
            "help.go:help -> help.go:help scope",
            "store.go:Open -> sell.go:Till package",
            "store.go:Open -> store.go:Store scope",
            "sell.go:Store.Sell -> sell.go:Till.Add receiver",
            "sell.go:Store.Sell -> store.go:base.Close inherited",
        ],
    );
    let found = relations(GO, Relation::Implementers);
    assert!(found.contains(&"store.go:Closer -> store.go:base methods".to_owned()), "{found:?}");
    assert!(found.contains(&"store.go:Closer -> store.go:Store methods".to_owned()), "{found:?}");
}

const JAVA: &[(&str, &str)] = &[
    (
        "src/org/shop/Store.java",
        "package org.shop;\n\nimport org.money.Till;\n\npublic class Store extends Base {\n    private final Till till = new Till();\n\n    public Store(String name) {\n        super(name);\n    }\n\n    public void sell(int price) {\n        till.add(price);\n        till.add(price, 2);\n        String text = toString();\n        close();\n        text.close();\n    }\n\n    class Seller {\n        void close() {\n            Store.this.close();\n        }\n    }\n}\n",
    ),
    (
        "src/org/shop/Base.java",
        "package org.shop;\n\nabstract class Base {\n    Base(String name) {\n    }\n\n    void close() {\n    }\n}\n",
    ),
    (
        "src/org/money/Till.java",
        "package org.money;\n\npublic class Till {\n    public void add(int price) {\n        add(price, 1);\n    }\n\n    public void add(int price, int count) {\n    }\n}\n",
    ),
];

#[test]
fn java_resolves_overloads_inherited_members_and_constructors() {
    let (_fixture, snapshot) = indexed(JAVA);
    let index = RelationIndex::new(&snapshot);
    let key = |id| snapshot.chunk(id).expect("a sound index").expect("a live chunk").key().into_owned();
    let callees = |name: &str| -> Vec<String> {
        let [named] = &index.find(name).expect("a sound index")[..] else { panic!("{name}") };
        let found = index.related(named.id, Relation::Callees).expect("a sound index");
        found.list.iter().map(|other| key(other.id).rsplit(':').next().expect("a name").to_owned()).collect()
    };
    assert_eq!(callees("Store.sell"), ["Till.add", "Till.add#2", "Base.close"]);
    assert_eq!(callees("Store.Store"), ["Base.Base"]);
    assert_eq!(callees("Store.Seller.close"), ["Base.close"]);
    let [_, second] = &index.find("Till.add").expect("a sound index")[..] else { panic!("two overloads") };
    let callers = index.related(second.id, Relation::Callers).expect("a sound index").list;
    assert_eq!(
        callers.iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(),
        ["Till.java:Till.add", "Store.java:Store.sell"]
    );
}

const RUST: &[(&str, &str)] = &[
    (
        "src/lib.rs",
        "mod store;\n\nuse crate::store::{open, Store};\n\npub fn run() {\n    let store = open();\n    store.sell();\n    Store::new();\n}\n",
    ),
    (
        "src/store.rs",
        "pub struct Store;\n\nimpl Store {\n    pub fn new() -> Self {\n        Store\n    }\n\n    pub fn sell(&self) {\n        self.check();\n    }\n\n    fn check(&self) {}\n}\n\npub fn open() -> Store {\n    Store::new()\n}\n",
    ),
];

#[test]
fn rust_resolves_uses_and_methods() {
    check(
        RUST,
        Relation::Callees,
        &[
            "lib.rs:run -> store.rs:open import",
            "lib.rs:run -> store.rs:Store::new receiver",
            "lib.rs:run -> store.rs:Store::sell receiver",
            "store.rs:Store::sell -> store.rs:Store::check scope",
            "store.rs:open -> store.rs:Store::new receiver",
        ],
    );
}

const C: &[(&str, &str)] = &[
    (
        "a.c",
        "#include \"b.h\"\n\nstatic int twice(int x) {\n    return 2 * x;\n}\n\nint run(void) {\n    return twice(shared(1));\n}\n",
    ),
    ("b.c", "static int twice(int x) {\n    return x + x;\n}\n\nint shared(int x) {\n    return twice(x);\n}\n"),
];

#[test]
fn c_prefers_its_own_file() {
    check(
        C,
        Relation::Callees,
        &["a.c:run -> a.c:twice scope", "a.c:run -> b.c:shared global", "b.c:shared -> b.c:twice scope"],
    );
}

#[test]
fn a_tree_ends_where_it_meets_itself() {
    let text =
        "def a():\n    b()\n    c()\n\n\ndef b():\n    c()\n\n\ndef c():\n    a()\n    unknown.c()\n    print()\n";
    let (_fixture, snapshot) = indexed(&[("m.py", text)]);
    let index = RelationIndex::new(&snapshot);
    let [root] = &index.find("a").expect("a sound index")[..] else { panic!("one definition") };
    let options = TreeOptions { relation: Relation::Callees, depth: 5, min_confidence: 0.4 };
    let tree = index.tree(root, &options).expect("a sound index");
    fn shown(snapshot: &Snapshot, node: &TreeNode) -> String {
        let end = match node.end {
            Some(BranchEnd::Cycle) => "!",
            Some(BranchEnd::Repeated) => "*",
            None => "",
        };
        let children: Vec<String> = node.children.iter().map(|child| shown(snapshot, child)).collect();
        format!("{}{end}[{}]", name(snapshot, node.id), children.join(" "))
    }
    assert_eq!(shown(&snapshot, &tree.root), "m.py:a[m.py:b[m.py:c*[]] m.py:c[m.py:a![]]]");
    assert!(!tree.is_cut && tree.external.is_empty());
}

#[test]
fn modules_that_re_export_each_other_are_asked_once() {
    const MODULES: usize = 40;
    let module = |number: usize| {
        let others = (0..MODULES).filter(|other| *other != number).map(|other| format!("export * from './m{other}'\n"));
        format!("{}export function f{number}() {{}}\n", others.collect::<String>())
    };
    let mut files: Vec<(String, String)> =
        (0..MODULES).map(|number| (format!("m{number}.ts"), module(number))).collect();
    let caller = "import { f39, nothing } from './m0'\nexport function run() {\n  f39()\n  nothing().go()\n}\n";
    files.push(("main.ts".to_owned(), caller.to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    check(&files, Relation::Callees, &["main.ts:run -> m39.ts:f39 import"]);
}

#[test]
fn nested_expressions_are_read_to_a_depth() {
    let nested = |depth: usize| {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        let (choices, either) = ("b || ".repeat(depth), "b ? b : ".repeat(depth));
        format!(
            "class A {{\n  go() {{}}\n  stop() {{}}\n  rest() {{}}\n}}\n\nfunction f(a: A, b) {{\n  {open}a{close}.go()\n  \
             const c = {choices}a\n  c.stop()\n  const d = {either}a\n  d.rest()\n}}\n"
        )
    };
    let found = |depth: usize| relations(&[("a.ts", nested(depth).as_str())], Relation::Callees);
    let all = ["a.ts:f -> a.ts:A.go receiver", "a.ts:f -> a.ts:A.stop receiver", "a.ts:f -> a.ts:A.rest receiver"];
    assert!(all.iter().all(|wanted| found(20).iter().any(|found| found == wanted)), "{:?}", found(20));
    // Beyond the depth the receiver is unknown, and members are found by their name alone.
    assert!(found(900).iter().all(|found| found.starts_with("a.ts:f -> a.ts:A")));
}

#[test]
fn a_name_without_a_chunk_resolves_to_its_enclosing_definition() {
    let (_fixture, snapshot) = indexed(&[
        ("Api.java", "interface Api {\n    void run();\n    void stop();\n}\n"),
        (
            "Job.java",
            "class Job implements Api {\n    public void run() {\n    }\n    public void stop() {\n    }\n}\n",
        ),
        (
            "Use.java",
            "class Use {\n    void go(Api api) {\n        api.run();\n    }\n    void end(Api api) {\n        api.stop();\n    }\n}\n",
        ),
        ("names.py", "LIMIT = make_limit()\n"),
    ]);
    let index = RelationIndex::new(&snapshot);
    let related = |name: &str, relation: Relation| -> Vec<String> {
        let [named] = &index.find(name).expect("a sound index")[..] else { panic!("{name}") };
        let options = TreeOptions { relation, depth: 1, min_confidence: 0.0 };
        let tree = index.tree(named, &options).expect("a sound index");
        tree.root.children.iter().map(|child| self::name(&snapshot, child.id)).collect()
    };
    assert_eq!(related("Api.run", Relation::Callers), ["Use.java:Use.go"]);
    assert_eq!(related("Api.stop", Relation::Callers), ["Use.java:Use.end"]);
    assert_eq!(related("Api.run", Relation::Implementers), ["Job.java:Job.run"]);
    assert!(related("Api.run", Relation::Callees).is_empty());
    assert!(related("limit", Relation::Callees).is_empty());
    assert!(index.find("Job.LIMIT").expect("a sound index").is_empty());
}

#[test]
fn elements_are_calls_of_components() {
    let files = &[
        ("src/Card.jsx", "export function Card(props) {\n  return <div>{props.children}</div>;\n}\n"),
        ("src/Page.jsx", "export default function Layout(props) {\n  return <main>{props.children}</main>;\n}\n"),
        (
            "src/App.jsx",
            "import { Card } from './Card';\nimport * as ui from './Card';\nimport Page from './Page';\n\nexport function App() {\n  return <Page><Card>it's x</Card></Page>;\n}\n\nexport function Other() {\n  return <ui.Card>x</ui.Card>;\n}\n",
        ),
    ];
    check(
        files,
        Relation::Callees,
        &[
            "App.jsx:App -> Card.jsx:Card import",
            "App.jsx:App -> Page.jsx:Layout import",
            "App.jsx:Other -> Card.jsx:Card import",
        ],
    );
}

#[test]
fn scripts_and_markup_of_components_use_imports() {
    for (ending, script, end) in [
        ("vue", "<script setup lang=\"ts\">", "</script>"),
        ("svelte", "<script>", "</script>"),
        ("astro", "---", "---"),
    ] {
        let card = format!("src/Card.{ending}");
        let app = format!("src/App.{ending}");
        let text = format!(
            "{script}\nimport {{ f as run }} from './util'\nimport Card from './Card.{ending}'\n\nfunction go() {{\n  run(1)\n}}\n{end}\n\n<Card a=\"1\">x</Card>\n"
        );
        let markup = "<div>a</div>\n";
        let files = [
            ("src/util.ts", "export function f(x) {\n  return x;\n}\n"),
            (card.as_str(), markup),
            (app.as_str(), &text),
        ];
        let found = relations(&files, Relation::Callees);
        let wanted = [format!("App.{ending}:go -> util.ts:f import"), format!("App.{ending} -> Card.{ending} import")];
        assert!(wanted.iter().all(|wanted| found.contains(wanted)), "{found:?}");
    }
}

#[test]
fn hyphenated_elements_are_vue_components() {
    let app = "<template><my-card/><b/></template>\n<script setup>\nimport MyCard from './MyCard.vue'\n</script>\n";
    check(
        &[("MyCard.vue", "<template><p/></template>\n"), ("App.vue", app)],
        Relation::Callees,
        &["App.vue -> MyCard.vue import"],
    );
}

#[test]
fn namespaces_default_exports_and_modules_of_commonjs() {
    check(
        &[
            (
                "src/ns.ts",
                "export namespace N {\n  export function f() {\n    g();\n  }\n  export function g() {}\n  export class T {\n    m() {}\n  }\n}\n",
            ),
            ("src/bar.ts", "export default function baz() {}\n\nfunction inner() {}\nexport { inner as outer };\n"),
            ("src/again.ts", "export { default } from './bar';\n"),
            (
                "src/main.ts",
                "import Foo, { outer } from './bar';\nimport Again from './again';\nimport { N } from './ns';\n\nexport function a(t: N.T) {\n  N.f();\n  t.m();\n}\nexport function b() {\n  Foo();\n  outer();\n}\nexport function c() {\n  Again();\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "ns.ts:N.f -> ns.ts:N.g scope",
            "main.ts:a -> ns.ts:N.T.m receiver",
            "main.ts:a -> ns.ts:N.f receiver",
            "main.ts:b -> bar.ts:baz import",
            "main.ts:b -> bar.ts:inner import",
            "main.ts:c -> bar.ts:baz import",
        ],
    );
    check(
        &[
            ("lib/one.js", "module.exports = function one() {};\n"),
            ("lib/many.js", "exports.f = function () {};\nexports.g = () => exports.f();\n"),
            (
                "lib/thing.js",
                "class Thing {\n  go() {}\n}\nfunction y() {}\nmodule.exports = Thing;\nmodule.exports.renamed = y;\n",
            ),
            (
                "main.js",
                "const uno = require('./lib/one');\nconst Made = require('./lib/thing');\nconst { renamed } = require('./lib/thing');\nconst gee = require('./lib/many').g;\n\nfunction a() {\n  uno();\n  new Made().go();\n  renamed();\n}\nfunction b() {\n  gee();\n  require('./lib/many').f();\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "many.js:g -> many.js:f import",
            "main.js:a -> one.js:one import",
            "main.js:a -> thing.js:Thing import",
            "main.js:a -> thing.js:y import",
            "main.js:a -> thing.js:Thing.go receiver",
            "main.js:b -> many.js:f import",
            "main.js:b -> many.js:g import",
        ],
    );
}

#[test]
fn objects_that_are_default_exports_have_members() {
    check(
        &[
            ("a.js", "export default {\n  load() {\n    return 1;\n  },\n  save: () => {\n    return 2;\n  },\n};\n"),
            (
                "b.js",
                "import service from './a';\n\nexport function run() {\n  service.load();\n  service.save();\n}\n",
            ),
        ],
        Relation::Callees,
        &["b.js:run -> a.js:load receiver", "b.js:run -> a.js:save receiver"],
    );
    check(
        &[
            (
                "a.js",
                "const service = {\n  load() {\n    return 1;\n  },\n};\n\nexport default service;\n\nexport const other = {\n  load() {\n    return 2;\n  },\n};\n",
            ),
            ("b.js", "import api from './a';\n\nexport function run() {\n  api.load();\n}\n"),
        ],
        Relation::Callees,
        &["b.js:run -> a.js:service.load receiver"],
    );
    check(
        &[
            (
                "a.ts",
                "export class Api {\n  load() {\n    return 1;\n  }\n}\n\nexport class Other {\n  load() {\n    return 2;\n  }\n}\n\nexport default new Api();\n",
            ),
            ("b.ts", "import api from './a';\n\nexport function run() {\n  api.load();\n}\n"),
        ],
        Relation::Callees,
        &["a.ts -> a.ts:Api scope", "b.ts:run -> a.ts:Api.load receiver"],
    );
}

#[test]
fn functions_are_members_of_their_objects() {
    check(
        &[(
            "a.ts",
            "function dec(of) {}\n\nexport const api = {\n  get() {\n    this.put();\n  },\n  put: () => {},\n};\n\n@dec\nexport class A {\n  handler = () => {\n    api.get();\n    this.run();\n  };\n  run() {}\n}\n",
        )],
        Relation::Callees,
        &[
            "a.ts:api.get -> a.ts:api.put scope",
            "a.ts:A -> a.ts:dec scope",
            "a.ts:A.handler -> a.ts:A.run scope",
            "a.ts:A.handler -> a.ts:api.get scope",
        ],
    );
}

#[test]
fn python_packages_generic_bases_and_own_constructors() {
    check(
        &[
            ("a/__init__.py", ""),
            (
                "a/b.py",
                "def f():\n    pass\n\n\nclass K:\n    @classmethod\n    def make(cls):\n        return cls()\n\n    def run(self):\n        pass\n",
            ),
            (
                "main.py",
                "import a.b\n\n\nclass G(a.b.K[int]):\n    def run(self):\n        super(G, self).run()\n\n\ndef one():\n    a.b.f()\n",
            ),
        ],
        Relation::Callees,
        &["b.py:K.make -> b.py:K scope", "main.py:G.run -> b.py:K.run receiver", "main.py:one -> b.py:f import"],
    );
}

#[test]
fn lua_follows_modules_and_their_tables() {
    check(
        &[
            (
                "a/b.lua",
                "local M = {}\n\nlocal function hidden()\nend\n\nfunction M.f()\n  hidden()\nend\n\nfunction M:method()\n  self:other()\nend\n\nfunction M:other()\n  M.f()\nend\n\nM.alias = hidden\n\nreturn M\n",
            ),
            ("a/c.lua", "local C = {}\nfunction C.f()\nend\nfunction C.new()\nend\nfunction C:step()\nend\nreturn C\n"),
            (
                "main.lua",
                "local m = require(\"a.b\")\nlocal C = require 'a.c'\nlocal g = require(\"a.b\").f\n\nlocal function one()\n  m.f()\n  m:method()\n  m.alias()\n  g()\nend\n\nlocal function two()\n  local o = C.new()\n  o:step()\n  C.f()\nend\n",
            ),
        ],
        Relation::Callees,
        &[
            "b.lua:M.f -> b.lua:hidden scope",
            "b.lua:M.method -> b.lua:M.other scope",
            "b.lua:M.other -> b.lua:M.f scope",
            "main.lua:one -> b.lua:M.f import",
            "main.lua:one -> b.lua:M.method import",
            "main.lua:one -> b.lua:hidden import",
            "main.lua:two -> c.lua:C.f import",
            "main.lua:two -> c.lua:C.new import",
            "main.lua:two -> c.lua:C.step import",
        ],
    );
}

#[test]
fn members_of_builtin_types_do_not_resolve_to_the_repository() {
    check(
        &[
            ("a.rb", "class A\n  def each\n  end\n\n  def raise(x)\n  end\n\n  def own\n  end\nend\n"),
            ("b.rb", "def run(list)\n  list.each\n  raise \"x\"\n  list.own\nend\n"),
        ],
        Relation::Callees,
        &["b.rb:run -> a.rb:A.own only-member"],
    );
}

const RUBY: &[(&str, &str)] = &[
    (
        "lib/a.rb",
        "module Mixin\n  def mixed\n  end\nend\n\nclass Base\n  include Mixin\n\n  def step\n  end\nend\n\nclass A < Base\n  def initialize(b)\n    @b = Mod::Klass.new\n  end\n\n  def run(step2)\n    mixed\n    self.step if ready?\n    step2\n    @b.work\n  end\n\n  def ready?\n  end\n\n  def step2\n  end\n\n  def step\n    super\n  end\n\n  def self.create\n    new(1)\n  end\nend\n",
    ),
    (
        "lib/mod.rb",
        "module Mod\n  class Klass\n    def work\n      a = A.new(1)\n      a.step\n      A.create\n      Mod.util\n    end\n  end\n\n  def self.util\n  end\nend\n",
    ),
];

#[test]
fn ruby_resolves_calls_without_brackets_and_mixins() {
    check(
        RUBY,
        Relation::Callees,
        &[
            "a.rb:A.initialize -> mod.rb:Mod::Klass receiver",
            "a.rb:A.run -> a.rb:A.ready? scope",
            "a.rb:A.run -> a.rb:A.step scope",
            "a.rb:A.run -> mod.rb:Mod::Klass.work receiver",
            "a.rb:A.run -> a.rb:Mixin.mixed inherited",
            "a.rb:A.step -> a.rb:Base.step inherited",
            "a.rb:A.create -> a.rb:A.initialize scope",
            "mod.rb:Mod::Klass.work -> a.rb:A.create receiver",
            "mod.rb:Mod::Klass.work -> a.rb:A.step receiver",
            "mod.rb:Mod::Klass.work -> mod.rb:Mod.util receiver",
            "mod.rb:Mod::Klass.work -> a.rb:A.initialize global",
        ],
    );
    let found = relations(RUBY, Relation::Implementers);
    assert!(found.contains(&"a.rb:Mixin -> a.rb:Base scope".to_owned()), "{found:?}");
}

#[test]
fn elixir_counts_piped_arguments_and_follows_aliases() {
    check(
        &[
            (
                "lib/b.ex",
                "defmodule A.B do\n  def f(x), do: x\n\n  def f(x, y) do\n    x + y\n  end\n\n  def g(x), do: x\nend\n",
            ),
            ("lib/e.ex", "defmodule A.E do\n  def imported(x) do\n    x\n  end\n\n  def g(x), do: x\nend\n"),
            (
                "lib/c.ex",
                "defmodule A.C do\n  alias A.{B, E}\n  import A.E\n\n  def run(x) do\n    x |> B.f(2)\n    Enum.map(x, &B.g/1)\n    imported(x)\n    __MODULE__.go(x)\n  end\n\n  def go(x) do\n    x |> E.g\n  end\nend\n",
            ),
        ],
        Relation::Callees,
        &[
            "c.ex:A.C.run -> e.ex:A.E.imported import",
            "c.ex:A.C.run -> b.ex:A.B.f receiver",
            "c.ex:A.C.run -> b.ex:A.B.g receiver",
            "c.ex:A.C.run -> c.ex:A.C.go receiver",
            "c.ex:A.C.go -> e.ex:A.E.g receiver",
        ],
    );
}

#[test]
fn perl_and_r_follow_packages_and_objects() {
    check(
        &[
            (
                "lib/A/B.pm",
                "package A::B;\n\nsub new {\n  my ($class) = @_;\n  return bless {}, $class;\n}\n\nsub step {\n  my $self = shift;\n  $self->inner;\n}\n\nsub inner { return 1 }\n1;\n",
            ),
            (
                "lib/A/C.pm",
                "package A::C;\nuse parent 'A::B';\n\nsub step {\n  my $self = shift;\n  $self->SUPER::step();\n  my $b = A::B->new;\n  $b->inner;\n}\n1;\n",
            ),
        ],
        Relation::Callees,
        &[
            "B.pm:A::B::step -> B.pm:A::B::inner scope",
            "C.pm:A::C::step -> B.pm:A::B::inner receiver",
            "C.pm:A::C::step -> B.pm:A::B::new receiver",
            "C.pm:A::C::step -> B.pm:A::B::step receiver",
        ],
    );
    check(
        &[(
            "a.R",
            "my.f <- function(x) x\n\nStack <- R6::R6Class('Stack', public = list(\n  push = function(x) {\n    self$size()\n    my.f(x)\n  },\n  size = function() 1\n))\n\nrun <- function() {\n  s <- Stack$new()\n  s$push(1)\n}\n",
        )],
        Relation::Callees,
        &[
            "a.R:Stack.push -> a.R:Stack.size scope",
            "a.R:Stack.push -> a.R:my.f scope",
            "a.R:run -> a.R:Stack scope",
            "a.R:run -> a.R:Stack.push receiver",
        ],
    );
}

const PROTOTYPES: &[(&str, &str)] = &[
    ("a.h", "int add(int, int);\ntypedef struct S S;\nstatic inline int one(void) { return 1; }\n"),
    ("b.h", "int add(int a, int b);\n"),
    (
        "a.c",
        "#include \"a.h\"\n\nint add(int a, int b);\n\nstruct S {\n    int x;\n};\n\nint add(int a, int b) {\n    return a + b;\n}\n",
    ),
    ("c.c", "static int add(int a) {\n    return a;\n}\n"),
    ("main.c", "#include \"a.h\"\n\nint main(void) {\n    S s;\n    return add(one(), 2);\n}\n"),
];

#[test]
fn a_prototype_is_not_a_definition() {
    let (_fixture, snapshot) = indexed(PROTOTYPES);
    let index = RelationIndex::new(&snapshot);
    let key = |id| snapshot.chunk(id).expect("a sound index").expect("a live chunk").key().into_owned();
    let found = index.find("add").expect("a sound index");
    assert_eq!(found.iter().map(|named| key(named.id)).collect::<Vec<_>>(), ["code:a.c:add#2", "code:c.c:add"]);
    let places = index.declarations(found[0].id).expect("a sound index");
    assert_eq!(places.into_iter().map(key).collect::<Vec<_>>(), ["code:a.c:add", "code:a.h:add", "code:b.h:add"]);
    assert_eq!(index.find("S").expect("a sound index").len(), 1);
    let callers = index.related(found[0].id, Relation::Callers).expect("a sound index").list;
    assert_eq!(callers.iter().map(|other| key(other.id)).collect::<Vec<_>>(), ["code:main.c:main"]);
    check(PROTOTYPES, Relation::Callees, &["main.c:main -> a.c:add global", "main.c:main -> a.h:one global"]);
}

#[test]
fn python_stubs_are_not_definitions() {
    let files = [
        ("m/util.py", "def top(a):\n    return a\n"),
        ("m/util.pyi", "def top(a: int) -> int: ...\n"),
        ("m/use.py", "from m.util import top\n\n\ndef run():\n    return top(1)\n"),
    ];
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("top").expect("a sound index")[..] else { panic!("one definition") };
    assert_eq!(name(&snapshot, named.id), "util.py:top");
    let callers = index.related(named.id, Relation::Callers).expect("a sound index").list;
    assert_eq!(callers.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(), ["use.py:run"]);
}

#[test]
fn a_name_that_is_only_declared_is_found_once() {
    let files = [
        ("a.h", "int add(int, int);\n"),
        ("b.h", "int add(int, int);\n"),
        ("m.c", "int f(void) {\n    return add(1, 2);\n}\n"),
    ];
    let (_fixture, snapshot) = indexed(&files);
    assert_eq!(RelationIndex::new(&snapshot).find("add").expect("a sound index").len(), 1);
    check(&files, Relation::Callees, &["m.c:f -> a.h:add global"]);
}

const CPP: &[(&str, &str)] = &[
    (
        "k.h",
        "#include <memory>\n\nnamespace n {\n\nstruct B {\n    virtual ~B();\n    // Rests.\n    virtual void rest();\n};\n\nclass K : public ::n::B {\n public:\n    // Makes one.\n    K(int a);\n    // Moves.\n    void move();\n    static int count(int x);\n};\n\ntemplate <typename T>\nstruct G {\n    T get();\n};\n\nstruct D : virtual B, G<int> {};\n\nint max(int a, int b);\n\n}\n",
    ),
    (
        "k.cpp",
        "#include \"k.h\"\n\nnamespace n {\n\nK::K(int a) {}\n\nvoid K::move() {\n    count(1);\n    rest();\n}\n\nint K::count(int x) {\n    return std::max(x, 1);\n}\n\nvoid B::rest() {}\n\nint max(int a, int b) {\n    return a > b ? a : b;\n}\n\n}\n",
    ),
    (
        "main.cpp",
        "#include \"k.h\"\n\nvoid use() {\n    n::K k(1);\n    k.move();\n}\n\nvoid point() {\n    std::unique_ptr<n::K> p = std::make_unique<n::K>(1);\n    p->move();\n    auto q = std::make_shared<n::K>(1);\n    q->rest();\n    std::string s;\n    s.move();\n    std::move(s);\n}\n\nint most() {\n    return ::n::max(n::K::count(1), std::max(1, 2));\n}\n\nstruct Own {\n    typedef n::B Base;\n};\n\nvoid cast(void* p) {\n    static_cast<n::K*>(p)->move();\n    Own::Base* b = nullptr;\n    b->rest();\n}\n",
    ),
];

#[test]
fn cpp_resolves_namespaces_and_pointers() {
    check(
        CPP,
        Relation::Callees,
        &[
            "k.cpp:n::K::move -> k.cpp:n::K::count scope",
            "k.cpp:n::K::move -> k.cpp:n::B::rest inherited",
            "main.cpp:use -> k.cpp:n::K::move receiver",
            "main.cpp:point -> k.cpp:n::K::move receiver",
            "main.cpp:point -> k.cpp:n::B::rest inherited",
            "main.cpp:most -> k.cpp:n::max import",
            "main.cpp:most -> k.cpp:n::K::count receiver",
            "main.cpp:cast -> k.cpp:n::B::rest receiver",
            "main.cpp:cast -> k.cpp:n::K::move receiver",
        ],
    );
    check(
        CPP,
        Relation::Implementers,
        &["k.h:n::B -> k.h:n::D scope", "k.h:n::B -> k.h:n::K scope", "k.h:n::G -> k.h:n::D scope"],
    );
}

const CRATES: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"my-lib\"]\n"),
    ("my-lib/Cargo.toml", "[package]\nname = \"my-lib\"\nversion = \"0.1.0\"\n"),
    (
        "my-lib/src/lib.rs",
        "pub mod net;\nmod util;\n\npub use util::only;\n\npub fn run() {\n    net::send();\n    crate::net::send();\n    self::net::send();\n}\n",
    ),
    (
        "my-lib/src/net/mod.rs",
        "pub mod deep;\n\npub fn send() {\n    super::run();\n    deep::dig();\n}\n\npub trait Shape {\n    fn area(&self) -> i32;\n\n    fn twice(&self) -> i32 {\n        2\n    }\n}\n\npub struct Socket;\n\nimpl Socket {\n    pub fn open() -> Self {\n        Self::new()\n    }\n\n    fn new() -> Self {\n        Socket\n    }\n\n    pub fn close(&self) {\n        <Self as Shape>::area(self);\n        self.twice();\n    }\n}\n\nimpl Shape for Socket {\n    fn area(&self) -> i32 {\n        1\n    }\n}\n\npub fn max(a: i32, b: i32) -> i32 {\n    a\n}\n",
    ),
    (
        "my-lib/src/net/deep.rs",
        "pub fn dig() {\n    super::send();\n    i32::max(1, 2);\n    std::cmp::max(1, 2);\n    String::from(\"a\").close();\n    format!(\"{}\", 1);\n}\n",
    ),
    ("my-lib/src/util.rs", "pub fn send() {}\n\npub fn only() {}\n\npub fn format(x: i32) {}\n"),
    ("app/Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
    (
        "app/src/main.rs",
        "use my_lib::net::Socket;\n\nfn send() {}\n\nfn main() {\n    my_lib::net::send();\n    my_lib::only();\n    Socket::open().close();\n}\n",
    ),
];

#[test]
fn rust_follows_paths_through_modules_and_crates() {
    check(
        CRATES,
        Relation::Callees,
        &[
            "lib.rs:run -> mod.rs:send import",
            "mod.rs:send -> lib.rs:run import",
            "mod.rs:send -> deep.rs:dig import",
            "mod.rs:Socket::open -> mod.rs:Socket::new receiver",
            "mod.rs:Socket::close -> mod.rs:Socket::area receiver",
            "mod.rs:Socket::close -> mod.rs:Shape::twice inherited",
            "deep.rs:dig -> mod.rs:send import",
            "main.rs:main -> mod.rs:send import",
            "main.rs:main -> util.rs:only import",
            "main.rs:main -> mod.rs:Socket::close receiver",
            "main.rs:main -> mod.rs:Socket::open receiver",
        ],
    );
}

#[test]
fn rust_reads_items_of_tuples_and_variants() {
    check(
        &[(
            "src/lib.rs",
            "use std::ops::Deref;\n\nstruct A;\n\nimpl A {\n    fn go(&self) {\n        one();\n    }\n}\n\nstruct B(A);\n\nimpl B {\n    fn go(&self) {\n        self.0.go();\n    }\n}\n\nstruct Held<T> {\n    inner: T,\n}\n\nimpl<T> Deref for Held<T> {\n    type Target = T;\n\n    fn deref(&self) -> &T {\n        &self.inner\n    }\n}\n\nenum Either {\n    Left(Held<A>),\n    Right(Held<B>),\n}\n\nimpl Either {\n    fn run(&self) {\n        match self {\n            Either::Left(x) => x.go(),\n            Self::Right(x) => x.go(),\n        }\n    }\n}\n\ntrait Goes {\n    fn goes(&self) {}\n}\n\nfn bound<T: Goes>(of: T) {\n    of.goes();\n}\n\nfn one() {}\n",
        )],
        Relation::Callees,
        &[
            "lib.rs:A::go -> lib.rs:one scope",
            "lib.rs:B::go -> lib.rs:A::go receiver",
            "lib.rs:Either::run -> lib.rs:A::go receiver",
            "lib.rs:Either::run -> lib.rs:B::go receiver",
            "lib.rs:bound -> lib.rs:Goes::goes receiver",
        ],
    );
}

#[test]
fn rust_wildcards_and_implementations_of_traits() {
    let files = [
        ("my-lib/Cargo.toml", "[package]\nname = \"my-lib\"\nversion = \"0.1.0\"\n"),
        ("my-lib/src/lib.rs", "pub mod types;\n"),
        (
            "my-lib/src/types.rs",
            "pub struct Pool;\n\nimpl Pool {\n    pub fn make() -> Self {\n        Pool\n    }\n}\n\npub trait Drive {\n    fn drive(&self);\n}\n\nimpl Drive for Pool {\n    fn drive(&self) {\n        let x = 1;\n    }\n}\n",
        ),
        ("app/Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
        ("app/src/main.rs", "use my_lib::types::*;\n\nfn main() {\n    Pool::make();\n}\n"),
    ];
    check(&files, Relation::Callees, &["main.rs:main -> types.rs:Pool::make receiver"]);
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("Drive.drive").expect("a sound index")[..] else { panic!("one member") };
    let found = index.related_to(named, Relation::Implementers).expect("a sound index").list;
    assert_eq!(found.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(), ["types.rs:Pool::drive"]);
}

#[test]
fn arguments_of_rust_macros_call() {
    check(
        &[(
            "a.rs",
            "pub fn check(x: i32) -> bool {\n    x > 1\n}\n\npub struct Own;\n\nimpl Own {\n    pub fn get(&self) -> i32 {\n        1\n    }\n}\n\npub fn run(own: &Own) {\n    assert!(check(1));\n    println!(\"{}\", own.get());\n}\n",
        )],
        Relation::Callees,
        &["a.rs:run -> a.rs:Own::get receiver", "a.rs:run -> a.rs:check scope"],
    );
}

#[test]
fn kotlin_blocks_companions_and_extensions_of_strings() {
    check(
        &[
            (
                "a.kt",
                "package a\n\nclass Store {\n    fun open() {\n        val x = 1\n    }\n\n    companion object {\n        fun make(): Store {\n            return Store()\n        }\n    }\n}\n\nfun <T> timed(block: () -> T): T {\n    return block()\n}\n\nfun String.slug(): String {\n    return this\n}\n",
            ),
            (
                "b.kt",
                "package a\n\nfun useMake() {\n    Store.make().open()\n}\n\nfun useBlock() {\n    timed { 1 }\n}\n\nfun useText() {\n    \"A b\".slug()\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "a.kt:Store.Companion.make -> a.kt:Store scope",
            "b.kt:useMake -> a.kt:Store.Companion.make receiver",
            "b.kt:useMake -> a.kt:Store.open receiver",
            "b.kt:useBlock -> a.kt:timed package",
            "b.kt:useText -> a.kt:String.slug receiver",
        ],
    );
}

#[test]
fn results_of_cpp_members_and_names_of_constructors() {
    let files = [
        (
            "k.hpp",
            "namespace n {\nclass K {\npublic:\n    K();\n    K(int a);\n    K& self();\n    void step();\n};\n}\n",
        ),
        (
            "k.cpp",
            "#include \"k.hpp\"\n\nnamespace n {\nK::K() {\n    int a = 1;\n}\n\nK::K(int a) {\n    int b = a;\n}\n\nK& K::self() {\n    return *this;\n}\n\nvoid K::step() {\n    int a = 1;\n}\n}\n",
        ),
        ("other.cpp", "class Other {\n    void step();\n};\n\nvoid Other::step() {\n    int a = 1;\n}\n"),
        ("main.cpp", "#include \"k.hpp\"\n\nvoid run(n::K& k) {\n    k.self().step();\n}\n"),
    ];
    check(
        &files,
        Relation::Callees,
        &["main.cpp:run -> k.cpp:n::K::self receiver", "main.cpp:run -> k.cpp:n::K::step receiver"],
    );
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let found = index.find("K").expect("a sound index");
    assert_eq!(found.iter().map(|named| name(&snapshot, named.id)).collect::<Vec<_>>(), ["k.hpp:n::K"]);
}

#[test]
fn base_types_in_nested_namespaces_are_not_called() {
    let files = [(
        "a.cpp",
        "namespace o { namespace i {\nclass Base {\npublic:\n    int open() { return 1; }\n};\n}}\n\nstruct A final : private virtual ::o::i::Base {\n    int one() { return 1; }\n};\n\nstruct B : o::i::Base {};\n",
    )];
    check(&files, Relation::Implementers, &["a.cpp:o::i::Base -> a.cpp:A scope", "a.cpp:o::i::Base -> a.cpp:B scope"]);
    check(&files, Relation::Callees, &[]);
}

#[test]
fn prefixes_of_imported_files_are_receivers() {
    check(
        &[
            ("lib/b.dart", "int top() {\n  return 1;\n}\n"),
            (
                "lib/a.dart",
                "import 'b.dart' as b;\nimport 'b.dart' show top;\n\nint first() {\n  return b.top();\n}\n\nint second() {\n  return top();\n}\n",
            ),
        ],
        Relation::Callees,
        &["a.dart:first -> b.dart:top import", "a.dart:second -> b.dart:top global"],
    );
    check(
        &[
            ("b.zig", "pub fn helper() void {}\n"),
            ("a.zig", "const b = @import(\"b.zig\");\n\npub fn run() void {\n    b.helper();\n}\n"),
        ],
        Relation::Callees,
        &["a.zig:run -> b.zig:helper import"],
    );
}

#[test]
fn wildcards_import_members_of_types() {
    check(
        &[
            (
                "src/q/U.java",
                "package q;\n\npublic final class U {\n    public static void star(int a) {\n        int b = a;\n    }\n}\n",
            ),
            (
                "src/p/A.java",
                "package p;\n\nimport static q.U.*;\n\nclass A {\n    void run() {\n        star(1);\n    }\n}\n",
            ),
        ],
        Relation::Callees,
        &["A.java:A.run -> U.java:U.star import"],
    );
    check(
        &[
            ("go.mod", "module ex.org/m\n"),
            ("dot/d.go", "package dot\n\nfunc Dotted() int {\n\treturn 1\n}\n"),
            ("main.go", "package main\n\nimport . \"ex.org/m/dot\"\n\nfunc main() {\n\tDotted()\n}\n"),
        ],
        Relation::Callees,
        &["main.go:main -> d.go:Dotted import"],
    );
}

#[test]
fn arrows_precede_calls_in_branches_and_lambdas() {
    check(
        &[(
            "a.kt",
            "package a\n\nfun branch(x: Int) {\n    when (x) {\n        1 -> helper()\n        else -> other()\n    }\n}\n\nfun lambda(list: List<Int>) {\n    list.forEach { item -> helper() }\n}\n\nfun helper(): Int {\n    return 1\n}\n\nfun other(): Int {\n    return 2\n}\n",
        )],
        Relation::Callees,
        &["a.kt:branch -> a.kt:helper scope", "a.kt:branch -> a.kt:other scope", "a.kt:lambda -> a.kt:helper scope"],
    );
    check(
        &[(
            "A.java",
            "class A {\n    int branch(int x) {\n        return switch (x) {\n            case 1 -> helper(x);\n            default -> helper(2);\n        };\n    }\n\n    int helper(int x) {\n        int y = x;\n        return y;\n    }\n}\n",
        )],
        Relation::Callees,
        &["A.java:A.branch -> A.java:A.helper scope"],
    );
}

/// Each file contains only calls that do not resolve to the repository.
#[test]
fn members_of_external_types_do_not_resolve_to_the_repository() {
    let files = [
        (
            "Main.java",
            "class Main {\n    void run(String text) {\n        Math.max(1, 2);\n        Integer.parseInt(\"1\");\n        String.format(\"a\");\n        \"a\".format();\n        text.trim().format();\n    }\n}\n\nclass Own {\n    static int max(int a, int b) {\n        return a;\n    }\n\n    static int parseInt(String s) {\n        return 0;\n    }\n\n    static String format(String s) {\n        return s;\n    }\n}\n",
        ),
        (
            "a.cs",
            "class Program {\n    void Run(string s) {\n        int.TryParse(\"1\");\n        Math.Max(1, 2);\n        s.Split(',');\n        \"a\".Split(',');\n        s.Trim().Split(',');\n    }\n}\n\nstatic class Own {\n    static bool TryParse(string s) => true;\n    static int Max(int a, int b) => a;\n    static string Split(string s) => s;\n}\n",
        ),
        (
            "a.swift",
            "class Own {\n    func split(_ s: String) {}\n    static func parse(_ s: String) {}\n}\n\nfunc run(s: String) {\n    s.split(\",\")\n    \"a\".split(\",\")\n    JSON.parse(\"x\")\n}\n",
        ),
        (
            "a.php",
            "<?php\nnamespace M;\nclass Own {\n    public function format($x) {\n        return $x;\n    }\n}\nfunction run() {\n    $d = new \\DateTime();\n    $d->format('Y');\n    \\DateTime::format('Y');\n}\n",
        ),
        (
            "a.scala",
            "class Own {\n  def max(a: Int, b: Int): Int = a\n}\nclass Use {\n  def run(s: String): Unit = {\n    Math.max(1, 2)\n    s.max(1, 2)\n  }\n}\n",
        ),
        ("a.dart", "class Own {\n  int parse(String s) => 1;\n}\n\nvoid run() {\n  int.parse('1');\n}\n"),
        (
            "a.ts",
            "class Own {\n  last() {\n    return 1;\n  }\n}\n\nfunction run(list: string[]) {\n  list.last();\n}\n",
        ),
        (
            "a.kt",
            "object Own {\n    fun max(a: Int, b: Int): Int = a\n    fun map(f: Any): Any = f\n}\n\nfun run() {\n    Math.max(1, 2)\n    listOf(1).map(2)\n}\n",
        ),
    ];
    for file in files {
        assert_eq!(relations(&[file], Relation::Callees), [""; 0], "{}", file.0);
    }
    let files = [
        ("a.php", "<?php\nnamespace N;\nfunction run() {\n    strlen('x');\n    \\strlen('x');\n}\n"),
        ("b.php", "<?php\nnamespace M;\nfunction strlen($x) {\n    return $x;\n}\n"),
    ];
    assert_eq!(relations(&files, Relation::Callees), [""; 0]);
}

#[test]
fn types_are_named_with_their_packages() {
    check(
        &[
            ("src/org/b/Other.java", "package org.b;\n\npublic class Other {\n    public void go() {\n    }\n}\n"),
            (
                "src/org/a/Main.java",
                "package org.a;\n\nclass Main extends org.b.Other {\n    void run(org.b.Other other) {\n        other.go();\n        new org.b.Other().go();\n        go();\n    }\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "Main.java:Main -> Other.java:Other import",
            "Main.java:Main.run -> Other.java:Other import",
            "Main.java:Main.run -> Other.java:Other.go receiver",
        ],
    );
    check(
        &[
            (
                "a.php",
                "<?php\nnamespace M;\nclass P0 {\n    public function up() {\n    }\n}\nfunction helper() {\n}\n",
            ),
            (
                "b.php",
                "<?php\nnamespace N;\nuse M\\P0;\nclass C extends \\M\\P0 {\n    private \\M\\P0 $p;\n    public function go(P0 $a, \\M\\P0 $b) {\n        $this->p->up();\n        \\M\\helper();\n    }\n}\n",
            ),
        ],
        Relation::Callees,
        &["b.php:N\\C::go -> a.php:M\\helper import", "b.php:N\\C::go -> a.php:M\\P0::up receiver"],
    );
    check(
        &[
            ("a.cs", "namespace App.Core\n{\n    public class Der\n    {\n        public void Run() {}\n    }\n}\n"),
            (
                "b.cs",
                "namespace App.Web\n{\n    class Page\n    {\n        private readonly App.Core.Der _der;\n        void Go(Core.Der other)\n        {\n            _der.Run();\n            other.Run();\n        }\n    }\n}\n",
            ),
        ],
        Relation::Callees,
        &["b.cs:App.Web.Page.Go -> a.cs:App.Core.Der.Run receiver"],
    );
    check(
        &[
            ("a.kt", "package a.b\n\nopen class Base<T> {\n    fun up() {}\n}\n\ninterface I {\n    fun run()\n}\n"),
            (
                "b.kt",
                "package c\n\nclass Der : a.b.Base<Int>(), a.b.I {\n    override fun run() {\n        up()\n    }\n}\n\nfun use(d: a.b.Base<Int>) {\n    d.up()\n}\n",
            ),
        ],
        Relation::Implementers,
        &["a.kt:Base -> b.kt:Der import", "a.kt:I -> b.kt:Der import"],
    );
    check(
        &[
            ("go.mod", "module ex.org/m\n"),
            ("p/p.go", "package p\n\ntype G[X any] struct{}\n\nfunc (g *G[X]) Up() {}\n"),
            (
                "main.go",
                "package main\n\nimport \"ex.org/m/p\"\n\ntype E struct {\n\tp.G[int]\n}\n\nfunc main() {\n\te := E{}\n\te.Up()\n}\n",
            ),
        ],
        Relation::Implementers,
        &["p.go:G -> main.go:E import"],
    );
}

#[test]
fn members_without_chunks_have_names() {
    let files = [(
        "a.ts",
        "export interface Sender {\n  send(item: string): void;\n  stop(): void;\n}\n\nexport class Queue implements Sender {\n  send(item: string): void {}\n  stop(): void {}\n}\n\nexport function run(sender: Sender) {\n  sender.send('a');\n}\n\nexport function end(sender: Sender) {\n  sender.stop();\n}\n",
    )];
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("Sender.send").expect("a sound index")[..] else { panic!("one member") };
    assert_eq!(named.member.as_deref(), Some("send"));
    let related = |relation| {
        let found = index.related_to(named, relation).expect("a sound index").list;
        found.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>()
    };
    assert_eq!(related(Relation::Callers), ["a.ts:run"]);
    assert_eq!(related(Relation::Implementers), ["a.ts:Queue.send"]);
    assert!(related(Relation::Callees).is_empty());
}

#[test]
fn bare_calls_of_abstract_methods_resolve_to_their_types() {
    let files = [(
        "A.java",
        "abstract class A {\n    A() {\n        this(1);\n    }\n\n    A(int x) {\n    }\n\n    abstract void step();\n\n    void run() {\n        step();\n    }\n}\n\nclass B extends A {\n    void step() {\n    }\n\n    void all() {\n        step();\n        run();\n    }\n}\n",
    )];
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("A.step").expect("a sound index")[..] else { panic!("one member") };
    assert_eq!(named.member.as_deref(), Some("step"));
    let callers = index.related_to(named, Relation::Callers).expect("a sound index").list;
    // The constructor calls the type, not its member.
    assert_eq!(callers.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(), ["A.java:A.run"]);
}

#[test]
fn constants_that_wrap_named_functions_have_callers() {
    let files = [
        (
            "m/core.py",
            "from functools import partial\n\n\ndef run(n):\n    return n\n\n\nhalf = partial(run, 2)\n\n\ndef near():\n    return half()\n",
        ),
        (
            "m/use.py",
            "from m.core import half\nimport m.core as c\n\n\ndef far():\n    return half()\n\n\ndef by_module():\n    return c.half()\n\n\ndef local(half):\n    return half()\n",
        ),
    ];
    let (_fixture, snapshot) = indexed(&files);
    let index = RelationIndex::new(&snapshot);
    let [named] = &index.find("half").expect("a sound index")[..] else { panic!("one member") };
    let callers = index.related_to(named, Relation::Callers).expect("a sound index").list;
    assert_eq!(
        callers.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(),
        ["use.py:by_module", "use.py:far", "core.py:near"]
    );
}

#[test]
fn csharp_types_differ_in_type_parameters_and_have_parts() {
    check(
        &[
            (
                "Box.cs",
                "namespace App;\npublic class Box\n{\n    public Box() { }\n    public void Open() { }\n    public static Box Make() => new Box();\n}\n\npublic class Base\n{\n    public void Close() { }\n}\n",
            ),
            (
                "BoxOf.cs",
                "namespace App;\npublic class Box<T> : Base<T>\n{\n    public Box() { }\n    public void Open() { }\n    public static Box<T> Make() => new Box<T>();\n}\n\npublic class Base<T>\n{\n    public void Close() { }\n}\n",
            ),
            (
                "Part.cs",
                "namespace App;\npublic partial class Part\n{\n    public Box<int> Content { get; } = Box<int>.Make();\n}\n",
            ),
            (
                "Use.cs",
                "namespace App;\npublic partial class Part\n{\n    void Run(Box one, Box<int> other)\n    {\n        one.Open();\n    }\n    void Other(Box<int> other) => other.Open();\n    void Inherited(Box<int> other) => other.Close();\n    void Static() => Box<int>.Make();\n    void Property() => Content.Open();\n    void Through(Part part) => part.Content.Open();\n}\n",
            ),
            (
                "Extensions.cs",
                "namespace App;\npublic static class Extensions\n{\n    public static void Fill(this Box box, int count) { }\n    public static void Fill<T>(this Box<T> box, int count) { }\n    public static void Both(Box<int> box) => box.Fill(1);\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "Box.cs:App.Box.Make -> Box.cs:App.Box.Box scope",
            "BoxOf.cs:App.Box.Make -> BoxOf.cs:App.Box.Box scope",
            "Part.cs:App.Part.Content -> BoxOf.cs:App.Box.Make receiver",
            "Use.cs:App.Part.Run -> Box.cs:App.Box.Open receiver",
            "Use.cs:App.Part.Other -> BoxOf.cs:App.Box.Open receiver",
            "Use.cs:App.Part.Inherited -> BoxOf.cs:App.Base.Close inherited",
            "Use.cs:App.Part.Static -> BoxOf.cs:App.Box.Make receiver",
            "Use.cs:App.Part.Property -> BoxOf.cs:App.Box.Open receiver",
            "Use.cs:App.Part.Through -> BoxOf.cs:App.Box.Open receiver",
            "Extensions.cs:App.Extensions.Both -> Extensions.cs:App.Extensions.Fill receiver",
        ],
    );
}

#[test]
fn overloads_differ_in_types_of_arguments() {
    let parts = [
        ("Text.cs", "void Add(string text) { }"),
        ("Number.cs", "void Add(int count) { }"),
        ("Own.cs", "void Add(A other) { }"),
        ("One.cs", "void Add(Func<int, int> f) { }"),
        ("Two.cs", "void Add(Func<int, int, int> f) { }"),
        ("Action.cs", "void Add(Action<int> f) { }"),
        ("Task.cs", "void Add(Func<Task> f) { }"),
        ("Generic.cs", "void Add<T>(int count, int more) { }"),
        ("Named.cs", "void Add(int count, int times) { }"),
    ];
    let parts = parts.map(|(path, member)| (path, format!("public partial class A\n{{\n    {member}\n}}\n")));
    let calls = "public partial class A\n{\n    void Text() => Add(\"a\");\n    void Number() => Add(1);\n    void Own(A a) => Add(a);\n    void One() => Add(x => x);\n    void Two() => Add((x, y) => x);\n    void Action() => Add(x => { });\n    void Task() => Add(async () => { await Run(); });\n    void Generic() => Add<int>(1, 2);\n    void Named() => Add(1, times: 2);\n}\n";
    let mut files: Vec<(&str, &str)> = parts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    files.push(("Use.cs", calls));
    let names = ["Text", "Number", "Own", "One", "Two", "Action", "Task", "Generic", "Named"];
    let expected = names.map(|name| format!("Use.cs:A.{name} -> {name}.cs:A.Add scope"));
    assert_eq!(relations(&files, Relation::Callees), expected);
}

#[test]
fn csharp_extensions_follow_constraints_and_external_types() {
    check(
        &[
            (
                "Ext.cs",
                "namespace App;\npublic abstract class Base { public void Stop() { } }\npublic class Builder : Base { }\npublic static class Ext\n{\n    public static TBuilder AddOne<TBuilder>(this TBuilder builder) where TBuilder : Base => builder;\n    public static IServiceCollection AddTwo(this IServiceCollection services, Action<Builder> configure) => services;\n}\n",
            ),
            (
                "Use.cs",
                "namespace App;\npublic class Use\n{\n    void Fluent() { new Builder().AddOne().AddOne().Stop(); }\n    void External() { new ServiceCollection().AddTwo(b => b.AddOne()); }\n    void Generic(IServiceProvider services) { services.GetService<Builder>().Stop(); }\n    void External(ServiceCollection services) { services.AddOne(); }\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "Use.cs:App.Use.Fluent -> Ext.cs:App.Builder package",
            "Use.cs:App.Use.Fluent -> Ext.cs:App.Ext.AddOne receiver",
            "Use.cs:App.Use.Fluent -> Ext.cs:App.Base.Stop inherited",
            "Use.cs:App.Use.External -> Ext.cs:App.Ext.AddOne receiver",
            "Use.cs:App.Use.External -> Ext.cs:App.Ext.AddTwo global",
            "Use.cs:App.Use.Generic -> Ext.cs:App.Base.Stop inherited",
        ],
    );
}

#[test]
fn properties_are_read_without_parentheses() {
    check(
        &[
            (
                "a.py",
                "class A:\n    def go(self):\n        pass\n\n\nclass B:\n    @property\n    def a(self) -> A:\n        return A()\n\n\ndef run(b: B):\n    b.a.go()\n",
            ),
            (
                "a.ts",
                "class A {\n  go() {}\n}\n\nclass B {\n  get a(): A {\n    return new A()\n  }\n}\n\nfunction run(b: B) {\n  b.a.go()\n}\n",
            ),
        ],
        Relation::Callees,
        &[
            "a.py:B.a -> a.py:A scope",
            "a.py:run -> a.py:A.go receiver",
            "a.ts:B.a -> a.ts:A scope",
            "a.ts:run -> a.ts:A.go receiver",
        ],
    );
}

#[test]
fn ruby_assigns_attributes_in_any_method() {
    check(
        &[
            (
                "lib/a.rb",
                "class A\n  attr_accessor :size\n\n  def name=(value)\n    @name = value\n  end\n\n  def go\n  end\nend\n\nTool = A.new\n",
            ),
            (
                "test/b.rb",
                "class B\n  def initialize\n    @a = nil\n  end\n\n  def setup\n    @a = A.new [1]\n  end\n\n  def run\n    @a.go\n    @a.name = 1\n    @a.size = 1\n  end\nend\n",
            ),
            ("lib/c.rb", "create do\n  def go\n  end\nend\n\nclass C\n  def run(&go)\n    go\n  end\nend\n"),
        ],
        Relation::Callees,
        &[
            "a.rb -> a.rb:A scope",
            "b.rb:B.setup -> a.rb:A global",
            "b.rb:B.run -> a.rb:A receiver",
            "b.rb:B.run -> a.rb:A.go receiver",
            "b.rb:B.run -> a.rb:A.name= receiver",
        ],
    );
}

#[test]
fn lambdas_take_elements_of_their_objects() {
    let item = |text: &str| text.replace('~', "\n");
    let files = [
        ("a.ts", item("class Item {~  go() {}~}~~function run(items: Item[]) {~  items.map(x => x.go());~}~")),
        (
            "a.kt",
            item(
                "class Item {~    fun go() {}~    fun stop() {}~}~~fun run(items: List<Item>, one: Item) {~    items.forEach { it.go() }~    one.let { x -> x.stop() }~}~",
            ),
        ),
        (
            "a.rs",
            item(
                "struct Item;~~impl Item {~    fn go(&self) {}~}~~fn run(items: Vec<Item>) {~    items.iter().for_each(|x| x.go());~}~",
            ),
        ),
        (
            "A.java",
            item(
                "class Item {~    void go() {}~}~~class Use {~    void run(List<Item> items) {~        items.stream().map(x -> x.go());~    }~}~",
            ),
        ),
        (
            "a.cs",
            item(
                "class Item~{~    void Go() {}~}~class Use~{~    void Run(List<Item> items) { items.Where(x => x.Go()); }~}~",
            ),
        ),
    ];
    let expected = [
        "a.ts:run -> a.ts:Item.go receiver",
        "a.kt:run -> a.kt:Item.go receiver",
        "a.kt:run -> a.kt:Item.stop receiver",
        "a.rs:run -> a.rs:Item::go receiver",
        "A.java:Use.run -> A.java:Item.go receiver",
        "a.cs:Use.Run -> a.cs:Item.Go receiver",
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    check(&files, Relation::Callees, &expected);
}

#[test]
fn results_have_the_type_arguments_of_their_receivers() {
    let item = |text: &str| text.replace('~', "\n");
    let files = [
        (
            "A.java",
            item(
                "class Item {~    void go() {}~}~~class Other {~    void go() {}~}~~class Box<T> {~    T get() {~        return null;~    }~}~~class Use {~    void run(Box<Item> box) {~        box.get().go();~    }~}~",
            ),
        ),
        (
            "a.rs",
            item(
                "pub struct Item;~~impl Item {~    pub fn go(&self) {}~}~~pub struct Other;~~impl Other {~    pub fn go(&self) {}~}~~pub struct Lock<'a, T> {~    value: &'a T,~}~~impl<'a, T> Lock<'a, T> {~    pub fn lock(&self) -> Option<&T> {~        None~    }~}~~pub fn run(lock: &Lock<'_, Item>) {~    lock.lock().unwrap().go();~}~",
            ),
        ),
        (
            "a.cs",
            item(
                "class Item~{~    void Go() {}~}~class Other~{~    void Go() {}~}~class Box<T>~{~    public T Value { get; }~}~class Use~{~    void Run(Box<Item> box) { box.Value.Go(); }~}~",
            ),
        ),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let expected = [
        "A.java:Use.run -> A.java:Box.get receiver",
        "A.java:Use.run -> A.java:Item.go receiver",
        "a.rs:run -> a.rs:Item::go receiver",
        "a.rs:run -> a.rs:Lock::lock receiver",
        "a.cs:Use.Run -> a.cs:Item.Go receiver",
    ];
    check(&files, Relation::Callees, &expected);
}
