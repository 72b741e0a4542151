//! The program that a stage runs.

/// A program that a stage runs as a separate process, or a module that a stage runs in a sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Files and directories of the project that belong to the program, in addition to those in `command`.
    pub files: Vec<String>,
    /// Names of the environment variables that are passed to the program.
    pub environment: Vec<String>,
    /// Names of files that the output of the program depends on.
    pub inputs: Vec<String>,
    /// The configuration that is passed to the program.
    pub config: serde_json::Map<String, serde_json::Value>,
    /// Whether the program runs in a sandbox without access to the system. Such a program needs no consent of the user.
    pub is_confined: bool,
}
