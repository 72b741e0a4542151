//! Custom stages that add a language.

use aurora_query::{Relation, RelationIndex};

use crate::{digest, fresh_digest, repository, run, snapshot};

/// A stage that parses a language of tasks: `task NAME [: BASE]`, `needs NAME` and `end`.
const TASKS: &str = "
from aurora_stage import stage

@stage
def definitions(text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if words[:1] == ['task']:
            found.append({'name': words[1], 'kind': 'class', 'line_start': number, 'line_end': number, 'calls': [], 'bases': words[3:]})
        elif words[:1] == ['needs']:
            found[-1]['calls'].append(words[1])
        if found:
            found[-1]['line_end'] = number
    return found
";

#[test]
fn calls_reported_by_a_stage_become_relations() {
    let fixture = repository();
    let pipeline = PIPELINE.replace("protobuf", "tasks").replace("proto = ", "task = ");
    fixture.write("tools/tasks.py", TASKS).write(".aurora/pipeline.toml", pipeline);
    fixture.write(
        "ops/build.task",
        "task fetch-all\n  step\nend\ntask build : Base\n  needs fetch-all\n  needs notify\n  needs pay_1\nend\n\
         task deploy : Job\n  step\nend\n",
    );
    fixture.write("src/job.py", "class Job:\n    def start(self):\n        return 1\n");
    fixture.write("ops/lib/notify.task", "task notify\n  step\nend\ntask Base\n  step\nend\n");
    let summary = run(&fixture);
    assert!(summary.report.failures.is_empty(), "{:?}", summary.report.failures);
    let snapshot = snapshot(fixture.root());
    let relations = RelationIndex::new(&snapshot);
    let related = |name: &str, relation| {
        let found = relations.find(name).expect("the index can be read");
        assert_eq!(found.len(), 1, "{name}");
        let related = relations.related(found[0].id, relation).expect("the index can be read");
        let name = |id| {
            snapshot.chunk(id).expect("the index can be read").expect("the record exists").qualified_name().to_owned()
        };
        let mut names: Vec<String> = related.list.iter().map(|one| name(one.id)).collect();
        names.sort();
        (names, related.external)
    };
    let (callees, external) = related("build", Relation::Callees);
    assert_eq!(
        (callees, external),
        (vec!["fetch-all".to_owned(), "notify".to_owned(), "pay_1".to_owned()], Vec::new())
    );
    for called in ["fetch-all", "notify", "pay_1"] {
        assert_eq!(related(called, Relation::Callers).0, ["build"], "{called}");
    }
    assert_eq!(related("Base", Relation::Implementers).0, ["build"]);
    assert_eq!(related("Job", Relation::Implementers).0, ["deploy"], "a task can have a base in another language");
}

const PIPELINE: &str = "
extends = \"default\"
[stage.discover]
languages = { proto = \"protobuf\" }

[stage.protobuf]
use = \"process\"
command = [\"python3\", \"tools/protobuf.py\"]
reads = [\"file.text\"]
writes = { \"file.definitions\" = \"json\" }
languages = [\"protobuf\"]
";

const STAGE: &str = "
import re
from aurora_stage import stage

KINDS = {'message': 'struct', 'enum': 'enum', 'service': 'interface', 'rpc': 'method'}

@stage
def definitions(text):
    found, open_at = [], []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\\s*(message|enum|service|rpc) (\\w+)', line)
        if match:
            found.append({'name': match[2], 'kind': KINDS[match[1]], 'line_start': number, 'line_end': number,
                          'signature': line.strip(' {')})
        if '{' in line:
            open_at.append(found[-1] if match else None)
        if '}' in line and open_at:
            last = open_at.pop()
            if last:
                last['line_end'] = number
    return found
";

const PROTO: &str = "syntax = \"proto3\";

// A payment by card.
message Payment {
  string card = 1;
  enum State {
    OPEN = 0;
  }
}

service Payments {
  rpc Charge(Payment) returns (Payment);
}
";

#[test]
fn a_stage_supplies_the_definitions_of_a_language() {
    let fixture = repository();
    fixture.write("tools/protobuf.py", STAGE).write("api/pay.proto", PROTO).write(".aurora/pipeline.toml", PIPELINE);
    let summary = run(&fixture);
    assert!(summary.report.failures.is_empty(), "{:?}", summary.report.failures);
    let chunks = || {
        let snapshot = snapshot(fixture.root());
        let file = snapshot.file("api/pay.proto").expect("the index can be read").expect("the file is indexed");
        let chunk = |id| snapshot.whole_chunk(id).expect("the index can be read").expect("the record exists");
        file.chunks.into_iter().map(chunk).collect::<Vec<_>>()
    };
    let found: Vec<(String, &str, String, u32)> = chunks()
        .into_iter()
        .map(|chunk| (chunk.qualified_name, chunk.chunk_type.as_str(), chunk.language, chunk.line_start))
        .collect();
    let row = |name: &str, kind, line| (name.to_owned(), kind, "protobuf".to_owned(), line);
    assert_eq!(
        found,
        [
            row("pay.proto", "code", 1),
            row("Payment", "struct", 4),
            row("Payment.State", "enum", 6),
            row("Payments", "interface", 11),
            row("Payments.Charge", "method", 12),
        ]
    );
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    fixture.write("api/pay.proto", PROTO.replace("Charge", "Refund"));
    run(&fixture);
    assert!(chunks().iter().any(|chunk| chunk.name == "Refund"));
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
    fixture.write("tools/protobuf.py", STAGE.replace("'struct'", "'class'"));
    run(&fixture);
    assert_eq!(chunks()[1].chunk_type.as_str(), "class");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}

#[test]
fn a_definition_beyond_the_end_of_a_file_is_an_error() {
    let fixture = repository();
    let program = "from aurora_stage import stage\n\n@stage\ndef definitions(path):\n    return [{'name': 'A', 'kind': 'struct', 'line_start': 200, 'line_end': 400}]\n";
    let pipeline = PIPELINE.replace("file.text", "file.path");
    fixture.write("tools/protobuf.py", program).write("api/pay.proto", PROTO).write(".aurora/pipeline.toml", pipeline);
    let summary = run(&fixture);
    let reasons: Vec<&str> = summary.report.failures["protobuf"].iter().map(|(reason, _)| reason).collect();
    assert_eq!(reasons, ["column `file.definitions`: `A` begins on line 200 of a file of 13 lines"]);
}
