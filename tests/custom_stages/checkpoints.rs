//! In a first run with a slow stage, finished files are published before the run ends.

use std::time::Duration;

use aurora_pipeline::Silent;
use aurora_stages::index::{self, IndexOptions};

use crate::fixture::Fixture;
use crate::{digest, fresh_digest, options, text, values};

/// Number of files, which is so small that all files fit into the queues before the slow stage.
const FILES: usize = 16;

const PROGRAM: &str = "
import time
from aurora_stage import stage

@stage
def owner(name):
    time.sleep(0.05)
    return 'team of ' + name
";

const STAGE: &str = "extends = \"default\"

[stage.discover]
batch_files = 1

[stage.owner]
use = \"process\"
command = [\"python3\", \"tools/owner.py\"]
reads = [\"chunk.name\"]
writes = { owner = \"string\" }
languages = [\"python\"]
";

#[test]
fn a_small_tree_is_published_before_a_slow_stage_ends() {
    let fixture = Fixture::plain();
    for number in 0..FILES {
        fixture.write(&format!("src/f{number}.py"), format!("def pay_{number}(card):\n    return card\n"));
    }
    fixture.write("tools/owner.py", PROGRAM).write(".aurora/pipeline.toml", STAGE);
    fixture.write(".gitignore", "tools/\n.aurora/\n");
    let every = IndexOptions { publish_every: Some(Duration::from_millis(100)), ..options(fixture.root()) };
    let summary = index::run(&every, &Silent).expect("the index run succeeds");
    assert!(summary.generation > 1 && summary.complete, "{summary:?}");
    let owners = values(&fixture, "owner");
    let functions: Vec<_> = owners.iter().filter(|(name, _)| name.starts_with("pay_")).collect();
    assert_eq!(functions.len(), FILES, "{owners:?}");
    assert!(functions.iter().all(|(name, owner)| *owner == text(&format!("team of {name}"))), "{owners:?}");
    assert_eq!(digest(&fixture), fresh_digest(&fixture));
}
