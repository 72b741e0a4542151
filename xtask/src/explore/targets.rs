//! Compiles the tests of the workspace and lists the test programs.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// A test program.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Name of the package.
    pub(crate) package: String,
    /// Name of the target.
    pub(crate) name: String,
    /// Cargo arguments that select only this target.
    pub(crate) selection: Vec<String>,
    /// Directory of the package, in which its tests run.
    pub(crate) directory: PathBuf,
    /// Path of the executable.
    pub(crate) program: PathBuf,
}

impl Target {
    /// Returns the names of the program's tests.
    pub(crate) fn tests(&self) -> Result<Vec<String>, String> {
        let list =
            Command::new(&self.program).current_dir(&self.directory).args(["--list", "--format", "terse"]).output();
        let list = list.map_err(|error| format!("{}: {error}", self.program.display()))?;
        let text = String::from_utf8_lossy(&list.stdout).into_owned();
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }
}

/// Compiles all tests of the workspace.
pub(crate) fn build() -> Result<Vec<Target>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--workspace", "--locked", "--no-run", "--message-format", "json-render-diagnostics"]);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err("the tests do not compile".to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(target).collect())
}

/// Returns the test program that a message of cargo describes.
fn target(line: &str) -> Option<Target> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let program = message["executable"].as_str().filter(|_| is_test)?;
    let directory = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let name = message["target"]["name"].as_str()?.to_owned();
    let kind = message["target"]["kind"][0].as_str()?;
    let selection = if kind == "lib" { vec!["--lib".to_owned()] } else { vec![format!("--{kind}"), name.clone()] };
    // The package id has the form `path+file:///directory/storage#aurora-storage@0.1.0`. The name is missing if it
    // equals the name of the directory.
    let id = message["package_id"].as_str()?;
    let (path, name_and_version) = id.rsplit_once('#')?;
    let package = match name_and_version.split_once('@') {
        Some((package, _)) => package.to_owned(),
        None => path.rsplit('/').next()?.to_owned(),
    };
    Some(Target { package, name, selection, directory, program: program.into() })
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn test_programs_are_recognised_among_artefacts() {
        let line = |test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///p/storage#aurora-storage@0.1.0",
                "manifest_path":"/p/storage/Cargo.toml","target":{{"kind":["test"],"name":"storage"}},
                "profile":{{"test":{test}}},"executable":"/p/target/debug/deps/storage-1"}}"#
            )
            .replace('\n', "")
        };
        let found = target(&line(true)).unwrap();
        assert_eq!((found.package.as_str(), found.name.as_str()), ("aurora-storage", "storage"));
        assert_eq!(found.selection, ["--test", "storage"]);
        assert_eq!(found.directory, std::path::Path::new("/p/storage"));
        assert!(target(&line(false)).is_none() && target("Compiling").is_none());
    }
}
