//! Reasons why a store of records is not trusted.

/// The reason why a store of records is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// No record shows that the user has created or accepted the store.
    #[error("you have neither created nor accepted it")]
    Unknown,
    /// Git tracks the store, and it has been written since the user's last change, perhaps by git.
    #[error("git tracks it, and it was written since you last changed it")]
    Tracked,
}
