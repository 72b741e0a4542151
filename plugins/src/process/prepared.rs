//! What every stage that is a program needs before its first message: consent, command, fingerprint.

use aurora_pipeline::{BuildContext, Fingerprint, StageConfig, StageError};

use super::command::{HelperDirectory, ResolvedCommand};
use super::config::Process;
use crate::trust::{Consents, ProgramIdentity, digest_of_inputs};

/// A program that is allowed to run.
pub(super) struct PreparedProgram {
    pub(super) command: ResolvedCommand,
    /// Everything about the program that its output depends on.
    pub(super) fingerprint: Fingerprint,
}

impl PreparedProgram {
    /// Finds the program of a stage of the type `stage_type` and makes sure that the user has allowed it.
    ///
    /// # Errors
    /// When there is no such program, or it is not allowed.
    pub(super) fn new(stage_type: &str, config: &Process, cx: &BuildContext<'_>) -> Result<Self, StageError> {
        let spec = config.program().unwrap_or_default();
        let identity = ProgramIdentity::of(&spec, cx.root).map_err(StageError::from_error)?;
        let is_allowed = cx.services.get::<Consents>().is_some_and(|consents| consents.allow(cx.root, &identity));
        if !is_allowed {
            return Err(StageError::new(format!("the program `{}` is not allowed to run", spec.command.join(" "))));
        }
        let inputs = digest_of_inputs(&config.inputs, cx.root).map_err(StageError::from_error)?;
        let helper = cx.services.get::<HelperDirectory>();
        let command = ResolvedCommand::new(config, cx.root, helper.as_deref()).map_err(StageError::from_error)?;
        let settings = serde_json::to_string(&config.config).unwrap_or_default();
        let fingerprint = Fingerprint::new(stage_type, 1)
            .with("program", blake3::Hash::from_bytes(identity.program).to_hex())
            .with("version", &config.version)
            .with("config", settings)
            .with("inputs", blake3::Hash::from_bytes(inputs).to_hex());
        let fingerprint = match identity.modules_hash() {
            Some(modules) => fingerprint.with("modules", modules.to_hex()),
            None => fingerprint,
        };
        Ok(Self { command, fingerprint })
    }
}
