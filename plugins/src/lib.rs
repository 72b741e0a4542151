//! Support for custom stages: running external programs, consent of the user, and tests of stages written in Rust.
//!
//! [`testkit`] runs one stage with rows from a test and returns the columns that the stage wrote. The pipeline's checks
//! are active: a stage that accesses an undeclared column fails the test.
//!
//! Deliberately absent: the traits that a stage implements, which [`aurora_pipeline`] defines.
//!
//! ```
//! use aurora_pipeline::{Access, BatchView, Column, Fingerprint, StageContext, StageError, Stateless, Transform};
//! use aurora_plugins::testkit::StageTest;
//!
//! const TEXT: Column<String> = Column::new("file.text");
//! const TODOS: Column<u32> = Column::new("file.todos");
//!
//! #[derive(serde::Deserialize)]
//! struct Todos {
//!     marker: String,
//! }
//!
//! impl Transform for Todos {
//!     const TYPE: &'static str = "todos";
//!     fn access(&self) -> Access {
//!         Access::transform().reads([TEXT]).writes([TODOS])
//!     }
//!     fn fingerprint(&self) -> Fingerprint {
//!         Fingerprint::new(Self::TYPE, 1).with("marker", &self.marker)
//!     }
//!     fn process(&self, batch: &mut BatchView<'_>, _: &StageContext<'_>) -> Result<(), StageError> {
//!         let texts = batch.read(TEXT)?;
//!         let todos = texts.iter().map(|text| text.matches(&self.marker).count() as u32).collect();
//!         Ok(batch.write(TODOS, todos)?)
//!     }
//! }
//!
//! let outcome = StageTest::new::<Stateless<Todos>>("marker = 'TODO'")?
//!     .column(TEXT, vec!["// TODO: a TODO".to_owned(), "fine".to_owned()])
//!     .run()?;
//! assert_eq!(outcome.read(TODOS), [2, 0]);
//! # Ok::<(), aurora_plugins::testkit::TestError>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![warn(missing_docs)]

pub mod declaration;
pub mod exchange;
pub mod process;
pub mod python;
pub mod testkit;
pub mod trust;

pub use process::conformance;
