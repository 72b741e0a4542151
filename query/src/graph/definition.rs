//! Definitions, as the resolution of calls sees them.

use std::rc::Rc;

use aurora_storage::{ChunkId, ChunkType};

use super::syntax::{Imports, Syntax};

/// Definitions that a name or an expression may refer to.
pub(crate) type Definitions = Vec<Rc<Definition>>;

/// A definition, or the code of a file outside of definitions. If a definition is split into pieces, the first piece
/// represents it.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) id: ChunkId,
    pub(crate) key: String,
    pub(crate) path: Rc<str>,
    pub(crate) name: String,
    pub(crate) qualified_name: String,
    pub(crate) kind: ChunkType,
    pub(crate) syntax: &'static Syntax,
    /// Whether the chunk is code outside of definitions.
    pub(crate) is_module: bool,
    /// Whether the definition is a function that is not visible in other files, such as a `static` function in C.
    pub(crate) is_local: bool,
}

impl Definition {
    /// Returns whether the definition can have members.
    pub(crate) fn is_type(&self) -> bool {
        use ChunkType::{Class, Enum, Interface, Struct, Type};
        matches!(self.kind, Class | Interface | Struct | Enum | Type) || self.is_namespace()
    }

    /// Returns whether the definition is a module or namespace that is declared inside a file.
    pub(crate) fn is_namespace(&self) -> bool {
        let may_be = self.kind == ChunkType::Code && !self.is_module && self.syntax.inner_modules;
        let is_path = self.name.contains(':') && self.syntax.imports != Imports::Modules;
        may_be && (self.syntax.imports == Imports::Ecma || self.name.starts_with(char::is_uppercase)) && !is_path
    }

    /// Returns whether the definition is the module of a component file, which other files use as one markup element.
    pub(crate) fn is_component(&self) -> bool {
        self.is_module && self.syntax.is_component
    }

    pub(crate) fn is_function(&self) -> bool {
        matches!(self.kind, ChunkType::Function | ChunkType::Method)
    }

    /// Returns whether the definition is an `impl` block in Rust.
    pub(crate) fn is_implementation(&self) -> bool {
        let words = self.name.split(' ').find(|word| !matches!(*word, "unsafe" | "default"));
        let is_block = self.kind == ChunkType::Code && self.syntax.imports == Imports::Rust;
        is_block && words.is_some_and(|word| word == "impl" || word.starts_with("impl<"))
    }

    /// Returns the qualified name without the name itself; empty at the top level of a file.
    pub(crate) fn owner(&self) -> &str {
        let owner = self.qualified_name.strip_suffix(self.name.as_str()).unwrap_or_default();
        owner.trim_end_matches(['.', ':', '\\', '#', '/'])
    }

    /// Returns whether the definition is a constructor that has the name of its type.
    pub(crate) fn is_named_as_its_type(&self) -> bool {
        let owner = self.owner().rsplit(['.', ':', '\\', '#', '/']).next();
        self.syntax.constructors.contains(&"") && owner == Some(self.name.as_str())
    }

    pub(crate) fn directory(&self) -> &str {
        directory(&self.path)
    }
}

/// Returns the directory of a path.
pub(crate) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
