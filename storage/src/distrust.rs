//! Why a store of records is not trusted.

/// Why a store of records is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// There is no record that the user has made or accepted it.
    #[error("you have neither made nor accepted it")]
    Unknown,
    /// Git tracks it, and it has been written since the user's last change: perhaps by git.
    #[error("git tracks it, and it was written since you last changed it")]
    Tracked,
}
