//! Incremental = fresh.
//!
//! After any sequence of changes, feedback, prunes, compactions and searches, and after an index that was lost or damaged, a memory
//! has the entries, the index and the answers of a new one in which only those changes were made that are still in force, at the
//! same times. Along the way, every change has the effect that a model expects, errors included.
//!
//! `AURORA_TEST_CASES` and `AURORA_TEST_EDITS` ask for more sequences, and longer ones.

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

/// Makes changes in a memory, and compares it with a new one.
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
