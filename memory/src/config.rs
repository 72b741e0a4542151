//! Loads retention policies and decay rates from the configuration files.

use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_diagnostics::{Diagnostic, Diagnostics, code};
use aurora_memory_policy::{ConfigFile, DecayRates, Layer, Policies};
use aurora_project::user;
use aurora_storage::ProjectDirectory;

use crate::rules::MemoryRules;

/// Environment variable with the path of a policy file.
const VARIABLE: &str = "AURORA_LIFESPAN_POLICIES";
/// Maximum size of a configuration file in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

impl MemoryRules {
    /// Loads the rules from all configuration layers. `project` is the root of the project, if there is one.
    ///
    /// The layers are the built-in rules, `~/.aurora/config.toml`, the project's `.aurora/config.toml`, the file at the
    /// path in `AURORA_LIFESPAN_POLICIES`, and the file `flag`. A later layer overrides the earlier layers.
    ///
    /// # Errors
    /// Returns the errors of all layers if a file cannot be read or contains an invalid rule.
    pub fn load(project: Option<&Path>, flag: Option<&Path>) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut files: Vec<(Layer, String, String)> = Vec::new();
        let variable = user::environment().into_iter().find(|(name, value)| name == VARIABLE && !value.is_empty());
        let named = [
            (Layer::Global, user::config(), false),
            (Layer::Environment, variable.map(|(_, path)| PathBuf::from(path)), true),
            (Layer::Flag, flag.map(Path::to_owned), true),
        ];
        for (layer, path, must_exist) in named {
            let Some(path) = path else { continue };
            match read_regular_to_string(&path, MAX_CONFIG_BYTES) {
                Ok(text) => files.push((layer, path.display().to_string(), text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => {}
                Err(error) => drop(errors.push(unreadable(&path, &error))),
            }
        }
        if let Some(root) = project {
            let directory = ProjectDirectory::in_root(root);
            let path = directory.path_of(ProjectDirectory::CONFIG);
            match directory.open().and_then(|home| home.read_to_string(ProjectDirectory::CONFIG, MAX_CONFIG_BYTES)) {
                Ok(text) => files.push((Layer::Project, path.display().to_string(), text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => drop(errors.push(unreadable(&path, &error))),
            }
        }
        let files: Vec<ConfigFile<'_>> =
            files.iter().map(|(layer, name, text)| ConfigFile { layer: *layer, name, text }).collect();
        let policies = Policies::load(&files);
        let rates = DecayRates::load(&files);
        match (policies, rates) {
            (Ok(policies), Ok(rates)) if errors.is_empty() => Ok(Self { policies, rates }),
            (policies, rates) => {
                for found in [policies.err(), rates.err()].into_iter().flatten() {
                    errors.extend(found.iter().cloned());
                }
                Err(errors)
            }
        }
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error(code::UNREADABLE, None, format!("cannot read {}: {error}", path.display()))
}
