//! The program that a stage runs.

/// A program outside of this process that a stage runs. It runs with the rights of the user, so the user has to allow it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Files and directories of the project that belong to the program beside those that the command names.
    pub files: Vec<String>,
    /// Names of the environment variables that the program gets.
    pub environment: Vec<String>,
}
