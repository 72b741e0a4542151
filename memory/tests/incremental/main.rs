//! Checks that an incrementally updated memory equals a new memory with the same entries.
//!
//! The test applies random sequences of changes, verdicts, prunes, compactions and searches to a memory. It also
//! deletes or damages the index. Then it creates a new memory and replays only the changes that were neither undone nor
//! superseded by a removal, at the same times. Both memories must have the same entries, index and search results. The
//! test also compares the result of every operation, even of a failed one, with a model.
//!
//! The environment variable `AURORA_TEST_CASES` sets the number of sequences, and `AURORA_TEST_EDITS` their maximum
//! length.

mod answers;
mod chain;
mod content;
mod operation;
mod own_home;
mod recorded;
mod several;
mod subject;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use answers::answers;
use operation::{Operation, operation};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use subject::Subject;

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Applies operations to a memory, and compares the memory with a new memory in which the changes are replayed.
fn check(is_project: bool, operations: &[Operation]) {
    let mut subject = Subject::new(is_project);
    for operation in operations {
        let done = catch_unwind(AssertUnwindSafe(|| subject.apply(operation)));
        if let Err(panic) = done {
            eprintln!("in {operation:?}");
            resume_unwind(panic);
        }
    }
    subject.delete_damaged_index();
    let fresh = subject.replayed();
    let (updated, fresh) = (answers(subject.memory(), subject.now()), answers(fresh.memory(), subject.now()));
    for (updated, fresh) in updated.iter().zip(&fresh) {
        assert_eq!(updated, fresh);
    }
    assert_eq!(updated.len(), fresh.len());
}

#[test]
fn an_incrementally_updated_memory_equals_a_new_memory() {
    own_home::run_in("an_incrementally_updated_memory_equals_a_new_memory", || {
        let config = ProptestConfig {
            cases: number("AURORA_TEST_CASES").unwrap_or(12) as u32,
            max_shrink_iters: 100,
            source_file: Some(file!()),
            ..ProptestConfig::default()
        };
        let max_operations = number("AURORA_TEST_EDITS").unwrap_or(40).max(2);
        let cases = (any::<bool>(), prop::collection::vec(operation(), 1..max_operations));
        let run = TestRunner::new(config).run(&cases, |(is_project, operations)| {
            check(is_project, &operations);
            Ok(())
        });
        run.unwrap_or_else(|error| panic!("{error}"));
    });
}
