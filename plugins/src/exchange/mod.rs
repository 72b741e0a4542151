//! The data that a run exchanges with a custom stage, independent of the transport. The run sends rows of a batch as
//! columns; the stage returns values, errors and drops for these rows.
//!
//! A batch is divided into [`RowSet`]s, one for each message. A [`Request`] borrows the values of a set from the batch.
//! A [`Response`] contains the answer. A [`BatchOutcome`] checks responses and writes them to the batch.

mod outcome;
mod payload;
mod pending;
mod request;
mod response;
mod rows;

pub use outcome::BatchOutcome;
pub(crate) use outcome::printable;
pub(crate) use payload::within_bytes;
pub use pending::rows_to_process;
pub use request::Request;
pub use response::{CellValue, ColumnsResponse, Response, RowNote};
pub use rows::{RowSet, row_sets};
