//! The configuration of stages with `use = "wasm"`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path};

use aurora_confined::Directory;
use aurora_pipeline::{
    Access, BuildContext, ByteSize, Fingerprint, Problems, ProgramSpec, Stage, StageConfig, StageError, stage_options,
};
use aurora_plugins::declaration::{self, Declaration, DropRows, WrittenColumn, WrittenType};
use serde_json::{Map, Value};

use crate::compiled::CompiledModules;
use crate::interface::{ColumnDeclaration, Settings};
use crate::limits::Limits;
use crate::module::ModuleOptions;
use crate::stage::WasmStage;

/// Maximum size of a module, in bytes. A module that contains a Python interpreter is about 20 MB large.
const MAX_MODULE_BYTES: u64 = 64 << 20;
/// Maximum linear memory of one call, in bytes: everything that 32-bit addresses can reach.
const MAX_MEMORY_BYTES: u64 = 4 << 30;
/// Minimum linear memory, in bytes: one page.
const MIN_MEMORY_BYTES: u64 = 64 << 10;
/// Maximum fuel of a call. A module needs about a quarter of an hour to consume it.
const MAX_FUEL: u64 = 1_000_000_000_000;
const MAX_ROWS: usize = 65_536;
/// Name of the grant for reading the time. With this grant, the output may depend on when the stage runs.
const CLOCK: &str = "clock";

stage_options! {
    /// Runs a WebAssembly component that fills custom columns or drops rows; see the guide to WebAssembly stages.
    pub struct Wasm {
        /// Path of the component, relative to the root of the project.
        module: String = String::new(), string;
        /// Columns that the module receives.
        reads: Vec<String> = Vec::new(), strings;
        /// Columns that the module fills: `name = "type"`, or a table with `type`, `filter`, `terms`, `embed` and
        /// `boost`.
        writes: BTreeMap<String, WrittenType> = BTreeMap::new(), table;
        /// Languages of the files whose rows the module receives; all languages if empty.
        languages: Vec<String> = Vec::new(), strings;
        /// Rows that the module may drop.
        drops: DropRows = DropRows::None, one_of(DropRows::NAMES);
        /// Configuration that is passed to the module as JSON.
        config: Map<String, Value> = Map::new(), table;
        /// Version of the module. Its author must change it when the same input gives a different output.
        version: String = String::new(), string;
        /// Maximum fuel that one call may consume; an instruction costs about 1.
        fuel: u64 = 10_000_000_000, count_up_to(MAX_FUEL as usize, "instructions");
        /// Maximum linear memory of one call.
        memory: ByteSize = ByteSize(256 << 20), size;
        /// Maximum number of rows in one call.
        rows: usize = 256, count_up_to(MAX_ROWS, "rows");
        /// Parts of the outside world that the module may use: `clock`. By default, it may use nothing.
        grants: Vec<String> = Vec::new(), strings;
    }
}

impl StageConfig for Wasm {
    const TYPE: &'static str = "wasm";

    fn access(&self) -> Access {
        self.declaration().access()
    }

    fn program(&self) -> Option<ProgramSpec> {
        Some(ProgramSpec {
            files: vec![self.module.clone()],
            config: self.config.clone(),
            is_confined: true,
            ..ProgramSpec::default()
        })
    }

    fn check(&self, problems: &mut Problems<'_>) {
        let is_below = Path::new(&self.module).components().all(|part| matches!(part, Component::Normal(_)));
        if self.module.is_empty() {
            problems.error("module", "the stage has no module").help("module = \".aurora/plugins/owner.wasm\"");
        } else if !is_below {
            problems
                .error("module", format!("`{}` is not below the root of the project", self.module))
                .help("the path is relative to the root and contains no `..`");
        }
        if !(1..=MAX_FUEL).contains(&self.fuel) {
            problems.error("fuel", format!("`fuel` must be from 1 to {MAX_FUEL}"));
        }
        if !(MIN_MEMORY_BYTES..=MAX_MEMORY_BYTES).contains(&self.memory.0) {
            problems.error("memory", "`memory` must be a size from 64KiB to 4GiB");
        }
        if !(1..=MAX_ROWS).contains(&self.rows) {
            problems.error("rows", format!("`rows` must be from 1 to {MAX_ROWS}"));
        }
        for grant in self.grants.iter().filter(|grant| *grant != CLOCK) {
            problems.error("grants", format!("`{grant}` cannot be granted")).help("the only possible grant is `clock`");
        }
        declaration::check(&self.reads, &self.writes, self.drops, problems);
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let root = Directory::open_root(cx.root)
            .map_err(|error| StageError::caused(format!("cannot open {}", cx.root.display()), error))?;
        let bytes = root.read(&self.module, MAX_MODULE_BYTES).map_err(|error| self.unreadable(error))?;
        let (declaration, memory) = (self.declaration(), self.memory.0);
        let fingerprint = declaration.fingerprint(self.identity(&bytes));
        let settings = Settings {
            // The worker sets the name when it calls the module.
            name: String::new(),
            config: Value::Object(self.config).to_string(),
            reads: declaration.reads.clone(),
            writes: declaration.written.iter().map(declared).collect(),
        };
        let options = ModuleOptions {
            limits: Limits::new(self.fuel, memory),
            has_clock: self.grants.iter().any(|grant| grant == CLOCK),
            compiled: cx.services.get::<CompiledModules>(),
        };
        Ok(Box::new(WasmStage::new(bytes, options, self.languages, self.rows, declaration, settings, fingerprint)))
    }
}

impl Wasm {
    fn declaration(&self) -> Declaration {
        Declaration::new(&self.reads, &self.writes, self.drops)
    }

    /// Returns the fingerprint of everything that the output depends on, except the declared columns. It includes the
    /// limits, because with less fuel, more calls fail.
    fn identity(&self, module: &[u8]) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1)
            .with("module", blake3::hash(module))
            .with("version", &self.version)
            .with("config", serde_json::to_string(&self.config).unwrap_or_default())
            .with("languages", self.languages.join(","))
            .with("fuel", self.fuel)
            .with("memory", self.memory.0)
            .with("grants", self.grants.join(","))
    }

    fn unreadable(&self, error: io::Error) -> StageError {
        let help = match error.kind() {
            io::ErrorKind::NotFound => "build it, or correct `module`",
            io::ErrorKind::FileTooLarge => "a module has at most 64 MiB",
            _ => "`module` is a regular file below the root",
        };
        StageError::caused(format!("cannot read the module `{}`; {help}", self.module), error)
    }
}

fn declared(column: &WrittenColumn) -> ColumnDeclaration {
    ColumnDeclaration { name: column.name.clone(), value_type: column.kind.to_string() }
}
