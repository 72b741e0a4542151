//! The program that a stage runs.

/// A program outside of this process that a stage runs, or a module that it runs confined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Files and directories of the project that belong to the program beside those that the command names.
    pub files: Vec<String>,
    /// Names of the environment variables that the program gets.
    pub environment: Vec<String>,
    /// Names of the files that its output depends on.
    pub inputs: Vec<String>,
    /// The configuration that the program gets.
    pub config: serde_json::Map<String, serde_json::Value>,
    /// Whether it can reach nothing outside of itself, so that the user need not allow it.
    pub is_confined: bool,
}
