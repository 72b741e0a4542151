//! Arguments of the commands about custom stages.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::values::ReportFormat;

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Write a new stage, and add it to the project's pipeline
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// List the custom stages of the project's pipeline, and whether their programs may run
    List(ListPluginsArgs),
    /// Check whether a program speaks the stage protocol
    #[command(after_help = TEST_EXAMPLES)]
    Test(TestPluginArgs),
    /// Allow the program of a stage to run, after showing it
    #[command(after_help = TRUST_EXAMPLES)]
    Trust(TrustPluginArgs),
}

const NEW_EXAMPLES: &str = "\
Examples:
  aur plugin new owner --lang python     .aurora/plugins/owner.py, a column `owner`
  aur plugin new owner --lang rust       a program in Rust, in .aurora/plugins/owner/
  aur plugin new owner --lang wasm       a WebAssembly module, in .aurora/plugins/owner/

The new stage gives every chunk the first directory of its path. Change the function, then:
  aur plugin trust owner && aur mem index
  aur mem \"anything\" --where owner=src";

const TRUST_EXAMPLES: &str = "\
A program runs with your rights. It is allowed by a digest of its command, its files in the
repository, the modules that they import, its configuration, and the names of its inputs and
environment variables: when one of them changes, it has to be allowed again. Where they are the
same, in another clone or work tree, it is allowed already. The record is kept in your own directory.

Examples:
  aur plugin trust owner                     show the program and what has changed, and ask
  aur plugin trust owner --yes               whatever it is, for scripts that trust the checkout
  aur plugin list --digests > ~/allowed      after a review
  aur plugin trust --digest ~/allowed        for CI: the programs of all stages, if the file lists them
  aur plugin trust owner --revoke            forget it";

const TEST_EXAMPLES: &str = "\
The program is run in the current directory, with rows made for the test. Exits with 1 when a check fails.

Examples:
  aur plugin test owner                               the program of a stage of this project
  aur plugin test -- python3 tools/owner.py           any command: it reads file.path and writes a string
  aur plugin test --reads chunk.text --writes todos=integer -- ./count-todos";

#[derive(Debug, Args)]
pub(crate) struct TestPluginArgs {
    /// A stage of the project's pipeline, or a command with its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,

    /// A column that the command reads; may be given more than once
    #[arg(long, value_name = "COLUMN", default_value = "file.path")]
    pub(crate) reads: Vec<String>,

    /// A column that the command writes, with its type; may be given more than once
    #[arg(long, value_name = "COLUMN=TYPE", default_value = "value=string", value_parser = parse_column)]
    pub(crate) writes: Vec<(String, String)>,
}

fn parse_column(text: &str) -> Result<(String, String), String> {
    let (name, kind) = text.split_once('=').ok_or("a column and its type are written as `owner=string`")?;
    Ok((name.to_owned(), kind.to_owned()))
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of the stage and of its column: lower-case letters, digits, `_` and `-`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// The language of the stage
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t = PluginLanguage::Python)]
    pub(crate) lang: PluginLanguage,

    /// The directory of the project [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginLanguage {
    Python,
    Rust,
    /// Python, compiled to WebAssembly: a stage that nobody has to trust
    Wasm,
}

#[derive(Debug, Args)]
pub(crate) struct RootArgs {
    /// The directory of the project [default: the nearest one with an index, or the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ListPluginsArgs {
    /// Format of the list
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,

    /// Print the digests of the programs alone, as `aur plugin trust --digest` reads them
    #[arg(long, conflicts_with = "format")]
    pub(crate) digests: bool,

    #[command(flatten)]
    pub(crate) root: RootArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TrustPluginArgs {
    /// Name of the stage; with --digest, all stages unless one is named
    #[arg(value_name = "NAME", required_unless_present = "digest")]
    pub(crate) name: Option<String>,

    /// Allow only programs whose digests this file lists; it must not be in the checkout
    ///
    /// Each line begins with a digest, as `aur plugin list --digests` prints it. Lines that begin with `#` are comments.
    #[arg(long, value_name = "FILE", conflicts_with = "revoke")]
    pub(crate) digest: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,

    /// Forget what was allowed for this stage
    #[arg(long, conflicts_with = "yes")]
    pub(crate) revoke: bool,

    #[command(flatten)]
    pub(crate) root: RootArgs,
}

/// What an index run does about programs that the user has not allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Untrusted {
    /// Do nothing and exit with 2
    #[default]
    Fail,
    /// Do not run these stages: rows whose text is unchanged keep their values, which are marked as stale
    Keep,
    /// Leave these stages out, remove their columns, and exit with 1
    Skip,
}
