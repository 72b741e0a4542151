//! Performs several searches of one request on all cores.

use rayon::prelude::*;

use crate::answer::{JsonBuffer, json};
use crate::options::Limits;
use crate::problem::Problem;
use crate::state::RequestWork;

/// Performs the searches of a batch, and returns their answers in the order of the searches as JSON:
/// `{"answers":[…]}`. If a search fails, its problem takes the place of its answer.
///
/// `find` performs a search, and `write` appends its answer.
///
/// # Errors
/// Fails if the batch is empty or has too many searches, or if the request is cancelled.
pub(crate) fn answers<Q: Sync, A: Send>(
    queries: &[Q],
    (limits, request): (&Limits, &RequestWork),
    find: impl Fn(&Q) -> Result<A, Problem> + Sync,
    write: impl Fn(&Q, A, &mut JsonBuffer) -> Result<(), Problem>,
) -> Result<Vec<u8>, Problem> {
    if queries.is_empty() || queries.len() > limits.batch {
        return Err(Problem::invalid(format!("a batch has 1 to {} searches", limits.batch)));
    }
    let mut answers = JsonBuffer::new(limits.answer);
    answers.push_short(b"{\"answers\":[");
    // The number of threads limits the number of results that are in memory at the same time.
    for (window, queries) in queries.chunks(rayon::current_num_threads()).enumerate() {
        request.budget.check()?;
        let found: Vec<Result<A, Problem>> = match answers.is_full {
            // The answer is full, so the remaining searches are not performed.
            true => queries.iter().map(|_| Err(Problem::too_large(limits.answer))).collect(),
            false => queries.par_iter().map(&find).collect(),
        };
        for (at, (query, found)) in queries.iter().zip(found).enumerate() {
            if window + at > 0 {
                answers.push_short(b",");
            }
            let written = found.and_then(|found| match answers.is_full {
                true => Err(Problem::too_large(limits.answer)),
                false => write(query, found, &mut answers),
            });
            if let Err(problem) = written {
                answers.push_short(&json(&problem, usize::MAX)?);
            }
        }
    }
    answers.push_short(b"]}");
    Ok(answers.into_bytes())
}
