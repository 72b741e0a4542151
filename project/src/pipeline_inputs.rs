//! Detects changes to the files that determine how a project is indexed, such as its pipeline file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, Metadata};
use aurora_stages::index as indexing;
use aurora_storage::ProjectDirectory;

use crate::programs;
use crate::project::Project;
use crate::user;

/// Metadata of the files that determine the behaviour of a project's pipeline: the pipeline file, the files of its
/// programs, and the user's records of allowed programs. A comparison is cheap enough to be repeated frequently.
#[derive(Debug, Clone)]
pub struct PipelineInputs(Vec<InputFile>);

/// A file or directory, which need not exist.
#[derive(Debug, Clone)]
struct InputFile {
    directory: PathBuf,
    /// Path relative to `directory`.
    path: PathBuf,
    metadata: Option<Metadata>,
}

impl InputFile {
    fn new(directory: &Path, path: &Path) -> Self {
        Self { directory: directory.to_owned(), path: path.to_owned(), metadata: metadata(directory, path) }
    }
}

impl PipelineInputs {
    /// Reads the current metadata of the files.
    pub fn new(project: &Project) -> Self {
        let root = project.root();
        let mut paths = BTreeSet::from([format!("{}/{}", ProjectDirectory::NAME, ProjectDirectory::PIPELINE)]);
        // The programs of an invalid pipeline are unknown. They do not matter until the pipeline file changes.
        if let Ok(options) = project.options_without_programs()
            && let Ok(plan) = indexing::plan(&options)
        {
            paths.extend(programs::files_of(&plan, root));
        }
        let below_root = paths.iter().map(|path| InputFile::new(root, Path::new(path)));
        // The directories with the user's records of allowed programs.
        let records = user::consents().directories().into_iter();
        let records = records.filter_map(|path| Some(InputFile::new(path.parent()?, Path::new(path.file_name()?))));
        Self(below_root.chain(records).collect())
    }

    /// Whether a file was changed, created or removed since the metadata was read.
    pub fn have_changed(&self) -> bool {
        self.0.iter().any(|file| metadata(&file.directory, &file.path) != file.metadata)
    }
}

fn metadata(directory: &Path, path: &Path) -> Option<Metadata> {
    Directory::open_root(directory).ok()?.metadata(path).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_pipeline_and_the_files_of_its_programs_are_compared() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("the path has a parent"))
                .expect("the directory can be created");
            std::fs::write(path, text).expect("the file can be written");
        };
        let project = Project::new(root.path().to_owned(), Arc::new(registry()));
        let inputs = || PipelineInputs::new(&project);
        let pipeline = "extends = \"default\"\n\n[stage.owner]\nuse = \"process\"\nreads = [\"chunk.name\"]\n\
                        command = [\"python3\", \"tools/owner.py\"]\ninputs = [\"OWNERS\"]\nwrites = { owner = \"string\" }\n";
        let before = inputs();
        write("src/pay.py", "");
        assert!(!before.have_changed(), "no pipeline names the file");
        write(".aurora/pipeline.toml", pipeline);
        assert!(before.have_changed(), "the pipeline was created");
        for (path, text) in [("tools/owner.py", "import team\n"), ("tools/team.py", ""), ("OWNERS", "")] {
            let before = inputs();
            // The files of a program are compared even if they do not exist yet.
            write(path, text);
            let is_known = path != "tools/team.py";
            assert_eq!(before.have_changed(), is_known, "{path} was created");
            let before = inputs();
            assert!(!before.have_changed());
            write(path, &format!("{text}\n# Longer.\n"));
            assert!(before.have_changed(), "{path} was changed");
        }
        let before = inputs();
        std::fs::remove_file(root.path().join("tools/team.py")).expect("the file can be removed");
        assert!(before.have_changed(), "a module was removed");
    }

    fn registry() -> aurora_pipeline::Registry {
        let mut registry = aurora_stages::registry();
        registry.register_described::<aurora_plugins::process::Process>();
        registry
    }
}
