//! Property tests with all kinds of custom stages: an incremental run gives the same index as a fresh run, and a
//! parallel run the same index as a serial run.
//!
//! `AURORA_TEST_CASES` sets the number of sequences of steps. `AURORA_TEST_EDITS` limits the length of a sequence.

use aurora_pipeline::Silent;
use aurora_stages::index::{self, IndexOptions};
use proptest::prelude::*;

use crate::fixture::Fixture;
use crate::{digest, fresh_digest, options, run};

/// Tables of the pipeline. Each step of a test enables some of them.
const STAGES: [&str; 9] = [
    "[stage.area]\nprefix = \"\"\n",
    "[stage.length]\n",
    "[stage.owner]\nuse = \"process\"\ncommand = [\"python3\", \"tools/owner.py\"]\nreads = [\"file.path\", \"chunk.name\"]\n\
     writes = { owner = { type = \"string\", terms = 2, embed = true } }\ninputs = [\"OWNERS\"]\n",
    "[stage.licence]\nuse = \"process\"\ncommand = [\"python3\", \"tools/licence.py\"]\nreads = [\"file.text\"]\n\
     writes = { \"file.licence\" = \"string\" }\n",
    "[stage.files]\nuse = \"process\"\ncommand = [\"python3\", \"tools/sieve.py\"]\nreads = [\"file.text\"]\ndrops = \"files\"\n",
    "[stage.chunks]\nuse = \"process\"\ncommand = [\"python3\", \"tools/sieve.py\"]\nreads = [\"chunk.text\"]\ndrops = \"chunks\"\n",
    "[stage.discover]\nlanguages = { note = \"note\" }\n\
     [stage.notes]\nuse = \"process\"\ncommand = [\"python3\", \"tools/notes.py\"]\nreads = [\"file.text\"]\n\
     writes = { \"file.definitions\" = \"json\" }\nlanguages = [\"note\"]\n",
    "[stage.tickets]\nuse = \"documents\"\ncommand = [\"python3\", \"tools/tickets.py\"]\n",
    "[stage.embed]\nuse = \"process\"\ncommand = [\"python3\", \"tools/letters.py\"]\nreads = [\"chunk.text\"]\n\
     writes = { \"chunk.embedding\" = { type = \"vector\", dimensions = 26 } }\n[stage.tokens]\n",
];

const OWNER: &str = "from aurora_stage import stage
@stage
def owner(path, name):
    owners = dict(line.split() for line in open('OWNERS'))
    return owners.get(path.split('/')[0], name)
";

const LICENCE: &str = "from aurora_stage import stage
@stage
def licence(text):
    return text.split('SPDX: ')[1].split()[0] if 'SPDX: ' in text else None
";

const SIEVE: &str = "from aurora_stage import Drop, stage
@stage
def sieve(text):
    if 'secret' in text:
        raise Drop('secret')
";

const NOTES: &str = "from aurora_stage import stage
@stage
def definitions(text):
    lines = text.splitlines()
    return [{'name': line[2:], 'kind': 'function', 'line_start': at, 'line_end': at}
            for at, line in enumerate(lines, 1) if line.startswith('> ')]
";

const LETTERS: &str = "from aurora_stage import stage
@stage
def embedding(text):
    return [text.lower().count(chr(97 + letter)) for letter in range(26)] if 'page' not in text else None
";

const TICKETS: &str = "from aurora_stage import Partial, documents
@documents
def tickets(state):
    lines = open('tickets').read().splitlines()
    seen = int(state or 0)
    changed = dict(line.split(' ', 1) for line in lines[seen:])
    for path, text in changed.items():
        yield {'path': path, 'deleted': True} if text == 'closed' else {'path': path, 'text': text}
    return Partial(len(lines)) if state else len(lines)
";

const FILES: [&str; 6] = ["a/one.py", "a/two.py", "b/three.js", "b/four.note", "c/five.note", "c/six.md"];
const BODIES: [&str; 5] = [
    "def parse(card):\n    return card\n\ndef secret(card):\n    return 'secret'\n",
    "# SPDX: MIT\ndef parse(card):\n    return 2 * card\n",
    "> first note\ntext of it\n> second note\nmore\n",
    "# Guide\n\nHow to pay.\n\n## Refunds\n\nsecret\n",
    "function render(page) { return page }\n",
];

#[derive(Clone, Debug)]
enum Step {
    Write(usize, usize),
    Remove(usize),
    Owners(bool),
    Ticket(u8, bool),
    Pipeline(u16),
    Run,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..FILES.len(), 0..BODIES.len()).prop_map(|(file, body)| Step::Write(file, body)),
        1 => (0..FILES.len()).prop_map(Step::Remove),
        1 => any::<bool>().prop_map(Step::Owners),
        2 => (0..4u8, any::<bool>()).prop_map(|(ticket, closed)| Step::Ticket(ticket, closed)),
        2 => (0..1u16 << STAGES.len()).prop_map(Step::Pipeline),
        3 => Just(Step::Run),
    ]
}

fn begin() -> Fixture {
    let fixture = Fixture::git_in_memory();
    let programs = [
        ("owner", OWNER),
        ("licence", LICENCE),
        ("sieve", SIEVE),
        ("notes", NOTES),
        ("tickets", TICKETS),
        ("letters", LETTERS),
    ];
    for (name, source) in programs {
        fixture.write(&format!("tools/{name}.py"), source);
    }
    fixture.write("OWNERS", "a ada\n").write("tickets", "").write("a/one.py", BODIES[0]);
    fixture
}

fn apply(fixture: &Fixture, step: &Step) {
    match step {
        Step::Write(file, body) => drop(fixture.write(FILES[*file], BODIES[*body])),
        Step::Remove(file) if fixture.path(FILES[*file]).exists() => drop(fixture.remove(FILES[*file])),
        Step::Remove(_) => {}
        Step::Owners(other) => drop(fixture.write("OWNERS", if *other { "a alan\nb bob\n" } else { "a ada\n" })),
        Step::Ticket(ticket, closed) => {
            let known = std::fs::read_to_string(fixture.path("tickets")).expect("the file can be read");
            let text =
                if *closed { "closed".to_owned() } else { format!("Ticket after {} others", known.lines().count()) };
            fixture.write("tickets", format!("{known}T-{ticket}.md {text}\n"));
        }
        Step::Pipeline(chosen) => {
            let stages = STAGES.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, stage)| *stage);
            fixture.write(".aurora/pipeline.toml", format!("extends = \"default\"\n{}", stages.collect::<String>()));
        }
        Step::Run => {
            let summary = run(fixture);
            assert!(summary.report.failures.is_empty(), "{:?}", summary.report.failures);
        }
    }
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: number("AURORA_TEST_CASES").unwrap_or(6) as u32,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_index_with_custom_stages_equals_a_fresh_one(
        first in 1..1u16 << STAGES.len(),
        steps in prop::collection::vec(step(), 1..number("AURORA_TEST_EDITS").unwrap_or(12).max(2)),
    ) {
        let fixture = begin();
        apply(&fixture, &Step::Pipeline(first));
        run(&fixture);
        for step in &steps {
            apply(&fixture, step);
        }
        apply(&fixture, &Step::Run);
        let kept = digest(&fixture);
        prop_assert_eq!(&kept, &fresh_digest(&fixture), "a fresh run gives the same index");
        let serial = IndexOptions { jobs: Some(1), force: true, ..options(fixture.root()) };
        index::run(&serial, &Silent).expect("the index run succeeds");
        prop_assert_eq!(&kept, &digest(&fixture), "a serial run gives the same index");
    }
}
