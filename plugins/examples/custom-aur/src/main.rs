//! `aur` with a team's own stage: all commands, and `[stage.todos]` in pipelines.

mod todos;

use std::process::ExitCode;

use aurora::engine::Stateless;

fn main() -> ExitCode {
    let mut registry = aurora::registry();
    registry.register::<Stateless<todos::Todos>>();
    aurora::cli::run(registry)
}
