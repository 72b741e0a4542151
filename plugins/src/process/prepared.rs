//! The prerequisites for running the program of a stage: consent, command, and fingerprint.

use std::collections::BTreeMap;
use std::path::Path;

use aurora_pipeline::{BuildContext, Fingerprint, ProgramSpec, StageConfig, StageError};

use super::command::{HelperDirectory, ResolvedCommand};
use super::config::Process;
use crate::trust::{Consents, ProgramError, ProgramIdentity, digest_of_inputs};

/// Fingerprint key for the hash of the program.
const PROGRAM: &str = "program";
/// Fingerprint key for the hash of the inputs.
const INPUTS: &str = "inputs";
/// Fingerprint key for the hash of the imported modules.
const MODULES: &str = "modules";

/// The hashes in a stage's fingerprint that describe its program. Stored values are out of date if they were made by a
/// program with different hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramHashes {
    program: String,
    inputs: String,
    modules: Option<String>,
}

impl ProgramHashes {
    /// Computes the hashes of a program in the project at `root`.
    ///
    /// # Errors
    /// Returns an error if an input of the program is outside of the project or cannot be read.
    pub fn new(spec: &ProgramSpec, identity: &ProgramIdentity, root: &Path) -> Result<Self, ProgramError> {
        Ok(Self {
            program: blake3::Hash::from_bytes(identity.program).to_hex().to_string(),
            inputs: blake3::Hash::from_bytes(digest_of_inputs(&spec.inputs, root)?).to_hex().to_string(),
            modules: identity.modules_hash().map(|modules| modules.to_hex().to_string()),
        })
    }

    /// Whether the settings of a fingerprint belong to a stage that runs a program.
    pub fn exist_in(settings: &BTreeMap<String, String>) -> bool {
        settings.contains_key(PROGRAM)
    }

    /// Whether the settings of a fingerprint contain the same hashes.
    pub fn match_settings(&self, settings: &BTreeMap<String, String>) -> bool {
        (settings.get(PROGRAM), settings.get(INPUTS), settings.get(MODULES))
            == (Some(&self.program), Some(&self.inputs), self.modules.as_ref())
    }
}

/// Finds the program of a stage of type `stage_type` and checks that the user has allowed it. Returns its command, and
/// the fingerprint of everything about the program that the output depends on.
///
/// # Errors
/// Returns an error if the program does not exist or is not allowed.
pub(super) fn prepare(
    stage_type: &str,
    config: &Process,
    cx: &BuildContext<'_>,
) -> Result<(ResolvedCommand, Fingerprint), StageError> {
    let spec = config.program().unwrap_or_default();
    let identity = ProgramIdentity::from_spec(&spec, cx.root).map_err(StageError::from_error)?;
    let is_allowed = cx.services.get::<Consents>().is_some_and(|consents| consents.allow(cx.root, &identity));
    if !is_allowed {
        return Err(StageError::new(format!("the program `{}` is not allowed to run", spec.command.join(" "))));
    }
    let hashes = ProgramHashes::new(&spec, &identity, cx.root).map_err(StageError::from_error)?;
    let helper = cx.services.get::<HelperDirectory>();
    let command = ResolvedCommand::new(config, cx.root, helper.as_deref()).map_err(StageError::from_error)?;
    let settings = serde_json::to_string(&config.config).unwrap_or_default();
    let fingerprint = Fingerprint::new(stage_type, 1)
        .with(PROGRAM, hashes.program)
        .with("version", &config.version)
        .with("config", settings)
        .with(INPUTS, hashes.inputs);
    let fingerprint = match hashes.modules {
        Some(modules) => fingerprint.with(MODULES, modules),
        None => fingerprint,
    };
    Ok((command, fingerprint))
}
