//! Observation of the operations of agents, for metrics.

use std::time::Duration;

use aurora_query::QueryError;

use crate::error::MemoryError;

/// An operation of an agent on memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryOperation {
    /// Issues the id of a session.
    Session,
    /// Recalls memory and code for a task.
    Recall,
    /// Searches code and memory.
    Search,
    /// Adds an entry.
    Remember,
    /// Reports the outcome of a task.
    Outcome,
}

impl MemoryOperation {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Recall => "recall",
            Self::Search => "search",
            Self::Remember => "remember",
            Self::Outcome => "outcome",
        }
    }
}

/// The result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationResult {
    /// The operation succeeded.
    Ok,
    /// The call is not allowed or not valid, exceeds a limit, or was cancelled.
    Refused,
    /// A memory or an index cannot be read or written.
    Failed,
}

impl OperationResult {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// An error of an operation.
pub trait OperationError {
    /// Whether the call itself is the reason for the error.
    fn is_refusal(&self) -> bool;
}

impl OperationError for QueryError {
    fn is_refusal(&self) -> bool {
        !matches!(self, Self::Storage(_) | Self::NoRoot)
    }
}

impl OperationError for MemoryError {
    fn is_refusal(&self) -> bool {
        match self {
            Self::NoEntry(_)
            | Self::NoSession(_)
            | Self::Exists(_)
            | Self::NothingToUndo(_)
            | Self::Unfit(_)
            | Self::UnknownSession
            | Self::ReadOnly
            | Self::TooLarge { .. }
            | Self::Quota(_) => true,
            Self::Query(error) => error.is_refusal(),
            _ => false,
        }
    }
}

/// A function that is called after every operation.
pub(super) type Observer = Box<dyn Fn(MemoryOperation, OperationResult, Duration) + Send + Sync>;
