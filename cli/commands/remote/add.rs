//! `aur remote add`: adds a remote to a configuration.

use std::io::Write;
use std::path::PathBuf;

use aurora_confined::Directory;
use aurora_project::user;
use aurora_remote::{RemoteUrl, add_remote};
use aurora_storage::ProjectDirectory;
use clap::Args;

use crate::context::remotes::{MAX_CONFIG_BYTES, failure};
use crate::context::{Failure, Outcome, Program};
use crate::output::sanitize;

/// Add a remote to the project's configuration
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur remote add nightly s3://indexes/app       credentials come from AWS_* variables
  aur remote add nightly file:///mnt/share/app --user

Schemes: file, s3, gs, az and https. An https remote can only be pulled. URLs with credentials are
refused; the environment provides them.")]
pub(crate) struct AddRemoteArgs {
    /// Name of the remote: letters, digits, `-` and `_`
    pub(crate) name: String,

    /// Location of the remote
    pub(crate) url: String,

    /// Add it to your own configuration, for all projects
    #[arg(long)]
    pub(crate) user: bool,

    /// Project directory [default: the nearest enclosing directory with an index, or the top of the work tree]
    #[arg(long, value_name = "PATH", conflicts_with = "user")]
    pub(crate) root: Option<PathBuf>,
}

pub(crate) fn run(args: &AddRemoteArgs, program: &Program) -> Outcome {
    let url = RemoteUrl::parse(&args.url).map_err(failure)?;
    let (directory, path) = if args.user {
        let user = user::absolute_directory().ok_or_else(|| Failure::new("no home directory is known"))?;
        (Directory::create_private_root(user.path()), user.config())
    } else {
        let project = ProjectDirectory::in_root(program.find(args.root.as_deref())?.root());
        (project.create(), project.path_of(ProjectDirectory::CONFIG))
    };
    let failed = |error| Failure::new(format!("cannot change {}: {error}", path.display()));
    let directory = directory.map_err(failed)?;
    let text = match directory.read_to_string(ProjectDirectory::CONFIG, MAX_CONFIG_BYTES) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        text => text.map_err(failed)?,
    };
    let shown = sanitize::line(&path.display().to_string());
    match add_remote(&path, &text, &args.name, &url).map_err(failure)? {
        None => program.terminal.line(&format!("{shown} already has the remote {}", args.name)),
        Some(text) => {
            directory.replace(ProjectDirectory::CONFIG, |file| file.write_all(text.as_bytes())).map_err(failed)?;
            program.terminal.line(&format!("Added the remote {} to {shown}", args.name))
        }
    }
}
