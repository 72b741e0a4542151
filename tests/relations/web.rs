//! Relations in JavaScript, TypeScript and component files.

use aurora_query::{Relation, RelationIndex};

use crate::{check, indexed, name, relations};

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
fn namespaces_default_exports_and_commonjs_modules_are_followed() {
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
    let [named] = &index.find("half").expect("the index can be read")[..] else { panic!("expected one member") };
    let callers = index.related_to(named, Relation::Callers).expect("the index can be read").list;
    assert_eq!(
        callers.into_iter().map(|other| name(&snapshot, other.id)).collect::<Vec<_>>(),
        ["use.py:by_module", "use.py:far", "core.py:near"]
    );
}
