//! Checks that an incrementally updated memory equals a fresh one.
//!
//! The test applies any sequence of changes, feedback, prunes, compactions and searches, and loses or damages the index. Afterwards
//! the memory must have the same entries, index and answers as a new memory in which only the changes that are still in force were
//! made, at the same times. Every change, including failed ones, must also have the effect that a model expects.
//!
//! `AURORA_TEST_CASES` and `AURORA_TEST_EDITS` set the number and the length of the sequences.

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

/// Applies operations to a memory and compares it with a new one.
fn check(is_project: bool, operations: &[Operation]) {
    let mut subject = Subject::new(is_project);
    for operation in operations {
        let done = catch_unwind(AssertUnwindSafe(|| subject.apply(operation)));
        if let Err(panic) = done {
            eprintln!("in {operation:?}");
            resume_unwind(panic);
        }
    }
    subject.heal();
    let fresh = subject.replayed();
    let (kept, made) = (answers(subject.memory(), subject.now()), answers(fresh.memory(), subject.now()));
    for (kept, made) in kept.iter().zip(&made) {
        assert_eq!(kept, made);
    }
    assert_eq!(kept.len(), made.len());
}

#[test]
fn a_memory_kept_up_to_date_equals_a_fresh_one() {
    own_home::run_in("a_memory_kept_up_to_date_equals_a_fresh_one", || {
        let config = ProptestConfig {
            cases: number("AURORA_TEST_CASES").unwrap_or(12) as u32,
            max_shrink_iters: 100,
            source_file: Some(file!()),
            ..ProptestConfig::default()
        };
        let most = number("AURORA_TEST_EDITS").unwrap_or(40).max(2);
        let cases = (any::<bool>(), prop::collection::vec(operation(), 1..most));
        let run = TestRunner::new(config).run(&cases, |(is_project, operations)| {
            check(is_project, &operations);
            Ok(())
        });
        run.unwrap_or_else(|error| panic!("{error}"));
    });
}
