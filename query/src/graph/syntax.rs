//! Rules for the resolution of calls in each language.

/// The rules of one language, or of several similar languages.
#[derive(Debug)]
pub(crate) struct Syntax {
    /// Names of the languages, as chunks store them.
    pub(crate) languages: &'static [&'static str],
    /// Number of the group of languages. Definitions can only refer to definitions in languages of the same group.
    pub(crate) group: u8,
    /// Markers that begin a comment.
    pub(crate) comments: &'static [&'static str],
    pub(crate) declarations: Declarations,
    pub(crate) imports: Imports,
    /// Words such as `self` with which a method refers to its object or type.
    pub(crate) own: &'static [&'static str],
    /// Words such as `super` with which a method refers to its base types.
    pub(crate) base: &'static [&'static str],
    /// Whether a bare name can be a member of the enclosing type.
    pub(crate) implicit_members: bool,
    /// Names of constructors; an empty name means the name of the type.
    pub(crate) constructors: &'static [&'static str],
    /// Whether the parentheses around arguments are optional.
    pub(crate) bare_calls: bool,
    /// Whether an arrow precedes a member, as in `pointer->name`. In other languages, an arrow precedes a result or the
    /// body of a lambda.
    pub(crate) arrow_members: bool,
    /// Whether the only argument can be a block after the name: `name { … }`.
    pub(crate) trailing_blocks: bool,
    /// Whether `Type { … }` creates an object.
    pub(crate) literals: bool,
    /// Whether a type implements every interface whose methods it has.
    pub(crate) structural_interfaces: bool,
    /// Whether modules and namespaces inside files have members, like types.
    pub(crate) inner_modules: bool,
    /// The member of a type that constructs an object, such as `new`.
    pub(crate) maker: Option<&'static str>,
    /// Whether a bare word for the base types, such as `super`, calls the overridden method.
    pub(crate) base_calls: bool,
    /// Whether variable names begin with a sigil, so that a bare name is never a variable.
    pub(crate) sigil_variables: bool,
    /// Members of builtin types. Calls of these names without a known receiver are not resolved.
    pub(crate) members: &'static [&'static str],
    pub(crate) names: Names,
    /// Whether a file is a component, whose markup uses other components as elements.
    pub(crate) is_component: bool,
    /// Whether definitions can have separate declarations in other files.
    pub(crate) prototypes: bool,
    /// Whether qualified names begin with namespaces, which any file can extend.
    pub(crate) namespaces: bool,
    /// Whether a type can be defined in several parts, in any file.
    pub(crate) partial_types: bool,
    /// Whether types with the same name are different if they differ in the number of type parameters.
    pub(crate) generic_arity: bool,
    /// Whether the types of receivers and their members do not change at run time.
    pub(crate) fixed_members: bool,
    /// The type of string literals, in languages with extensions of that type.
    pub(crate) string: Option<&'static str>,
    /// Builtin types whose names are keywords or begin with a lower-case letter.
    pub(crate) builtins: &'static [&'static str],
}

impl Syntax {
    /// Returns whether the language has its own rules. Any other language uses the rules of C-like languages, which may
    /// not fit.
    pub(crate) fn is_known(&self) -> bool {
        !self.languages.is_empty()
    }

    /// Returns whether a word refers to the enclosing type rather than the current object.
    pub(crate) fn is_own_type(&self, word: &str) -> bool {
        self.own.contains(&word) && matches!(word, "cls" | "Self" | "static" | "$class" | "__MODULE__" | "__PACKAGE__")
    }
}

/// Characters of names in addition to letters, digits and underscores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// `$`
    Plain,
    /// `$` and `@` at the beginning, `?` and `!` at the end.
    Ruby,
    /// `?` and `!` at the end.
    Elixir,
    /// Dots. `$` is an operator.
    R,
    /// `-`, `:` and dots, as in file names.
    Shell,
    /// `$`; a colon separates a method from its receiver.
    Lua,
}

/// Order of name and type in declarations of variables, parameters and fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declarations {
    /// `name: Type`
    NameColonType,
    /// `name Type`
    NameType,
    /// `Type name`
    TypeName,
    /// Declarations have no types.
    Untyped,
}

/// The way in which a file refers to definitions of other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Imports {
    /// Dotted modules, which are files or directories with `__init__`.
    Python,
    /// Paths of modules, relative to the file.
    Ecma,
    /// Qualified names; a directory is a package, whose files see one another.
    Package,
    /// Paths of directories below the module's name; a directory is a package.
    Go,
    /// Qualified names of modules, which correspond to files.
    Rust,
    /// Dotted modules, which are files or directories with `init`; other names are visible in all files.
    Lua,
    /// Full names of modules that are declared inside files, independent of paths.
    Modules,
    /// No imports of definitions: every name is visible in all files.
    Global,
}

impl Imports {
    /// Returns whether import paths refer to files.
    pub(crate) fn are_files(self) -> bool {
        matches!(self, Self::Python | Self::Ecma | Self::Lua)
    }
}

const PLAIN: Syntax = Syntax {
    languages: &[],
    group: 0,
    comments: &["//"],
    declarations: Declarations::TypeName,
    imports: Imports::Global,
    own: &["this"],
    base: &["super"],
    implicit_members: true,
    constructors: &[""],
    bare_calls: false,
    arrow_members: false,
    trailing_blocks: false,
    literals: false,
    structural_interfaces: false,
    inner_modules: false,
    maker: None,
    base_calls: false,
    sigil_variables: false,
    members: &[],
    names: Names::Plain,
    is_component: false,
    prototypes: false,
    namespaces: false,
    partial_types: false,
    generic_arity: false,
    fixed_members: false,
    string: None,
    builtins: &[],
};

/// Members of objects, strings, arrays, hashes and files.
#[rustfmt::skip]
const RUBY_MEMBERS: [&str; 74] = [
    "all?", "any?", "call", "class", "clear", "close", "closed?", "collect", "compact", "concat", "count", "delete",
    "detect", "dup", "each", "each_with_index", "empty?", "end_with?", "fetch", "find", "first", "flatten", "freeze",
    "gsub", "gsub!", "has_key?", "hash", "include?", "index", "inject", "inspect", "instance_of?", "is_a?", "join",
    "key?", "keys", "kind_of?", "last", "length", "lines", "map", "match", "max", "merge", "merge!", "method", "min",
    "new", "nil?", "pop", "push", "raise", "read", "reduce", "reject", "replace", "respond_to?", "reverse", "rewind",
    "select", "send", "shift", "size", "sort", "split", "start_with?", "strip", "sub", "to_a", "to_h", "to_s",
    "to_sym", "values", "write",
];

#[rustfmt::skip]
const PYTHON_MEMBERS: [&str; 44] = [
    "add", "append", "capitalize", "clear", "close", "copy", "count", "decode", "discard", "encode", "endswith",
    "extend", "find", "format", "get", "index", "insert", "isdigit", "items", "join", "keys", "lower", "lstrip",
    "partition", "pop", "popitem", "read", "readline", "remove", "replace", "reverse", "rstrip", "setdefault", "sort",
    "split", "splitlines", "startswith", "strip", "title", "translate", "union", "update", "upper", "values",
];

#[rustfmt::skip]
const ECMA_MEMBERS: [&str; 60] = [
    "add", "append", "apply", "at", "bind", "call", "catch", "charAt", "charCodeAt", "clear", "concat", "delete",
    "endsWith", "entries", "every", "exec", "fill", "filter", "finally", "find", "findIndex", "flat", "flatMap",
    "forEach", "get", "has", "hasOwnProperty", "includes", "indexOf", "join", "json", "keys", "lastIndexOf", "map",
    "match", "next", "pop", "push", "reduce", "replace", "reverse", "set", "shift", "slice", "some", "sort", "splice",
    "split", "startsWith", "substring", "test", "text", "then", "toLowerCase", "toString", "toUpperCase", "trim",
    "unshift", "values", "write",
];

/// Common rules of languages that allow calls without parentheses.
const SCRIPT: Syntax = Syntax {
    group: 12,
    comments: &["#"],
    declarations: Declarations::Untyped,
    implicit_members: false,
    constructors: &[],
    bare_calls: true,
    sigil_variables: true,
    ..PLAIN
};

const ECMA: Syntax = Syntax {
    languages: &["typescript", "javascript"],
    group: 2,
    declarations: Declarations::NameColonType,
    imports: Imports::Ecma,
    implicit_members: false,
    constructors: &["constructor"],
    inner_modules: true,
    members: &ECMA_MEMBERS,
    prototypes: true,
    ..PLAIN
};

static SYNTAXES: [Syntax; 22] = [
    Syntax {
        languages: &["python", "notebook"],
        group: 1,
        comments: &["#"],
        declarations: Declarations::NameColonType,
        imports: Imports::Python,
        own: &["self", "cls"],
        implicit_members: false,
        constructors: &["__init__", "__new__"],
        members: &PYTHON_MEMBERS,
        prototypes: true,
        ..PLAIN
    },
    ECMA,
    Syntax { languages: &["vue", "svelte", "astro"], is_component: true, ..ECMA },
    Syntax {
        languages: &["go"],
        fixed_members: true,
        group: 3,
        declarations: Declarations::NameType,
        imports: Imports::Go,
        own: &[],
        base: &[],
        implicit_members: false,
        constructors: &[],
        literals: true,
        structural_interfaces: true,
        ..PLAIN
    },
    Syntax { languages: &["java"], group: 4, imports: Imports::Package, fixed_members: true, ..PLAIN },
    Syntax { languages: &["groovy"], group: 4, imports: Imports::Package, trailing_blocks: true, ..PLAIN },
    Syntax {
        languages: &["kotlin", "scala"],
        string: Some("String"),
        trailing_blocks: true,
        fixed_members: true,
        group: 4,
        declarations: Declarations::NameColonType,
        imports: Imports::Package,
        constructors: &["constructor", "this"],
        ..PLAIN
    },
    Syntax {
        languages: &["rust"],
        string: Some("str"),
        fixed_members: true,
        group: 5,
        literals: true,
        declarations: Declarations::NameColonType,
        imports: Imports::Rust,
        own: &["self", "Self"],
        base: &[],
        implicit_members: false,
        constructors: &[],
        builtins: &[
            "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64",
            "bool", "char", "str",
        ],
        ..PLAIN
    },
    Syntax {
        languages: &["c", "cpp", "objc"],
        arrow_members: true,
        fixed_members: true,
        group: 6,
        literals: true,
        own: &["this", "self"],
        prototypes: true,
        namespaces: true,
        ..PLAIN
    },
    Syntax {
        languages: &["csharp"],
        partial_types: true,
        generic_arity: true,
        arrow_members: true,
        string: Some("string"),
        fixed_members: true,
        group: 7,
        base: &["base"],
        namespaces: true,
        builtins: &[
            "bool", "byte", "sbyte", "char", "decimal", "double", "float", "int", "uint", "nint", "nuint", "long",
            "ulong", "short", "ushort", "object", "string", "dynamic",
        ],
        ..PLAIN
    },
    Syntax {
        languages: &["dart"],
        group: 8,
        string: Some("String"),
        builtins: &["int", "double", "num", "bool"],
        ..PLAIN
    },
    Syntax {
        languages: &["swift"],
        string: Some("String"),
        trailing_blocks: true,
        fixed_members: true,
        group: 9,
        declarations: Declarations::NameColonType,
        own: &["self", "Self"],
        constructors: &["init"],
        ..PLAIN
    },
    Syntax {
        languages: &["php"],
        arrow_members: true,
        group: 10,
        comments: &["#", "//"],
        own: &["$this", "self", "static"],
        base: &["parent"],
        implicit_members: false,
        constructors: &["__construct"],
        sigil_variables: true,
        namespaces: true,
        ..PLAIN
    },
    Syntax {
        languages: &["ruby"],
        partial_types: true,
        group: 11,
        comments: &["#"],
        declarations: Declarations::Untyped,
        members: &RUBY_MEMBERS,
        own: &["self"],
        constructors: &["initialize"],
        bare_calls: true,
        inner_modules: true,
        maker: Some("new"),
        base_calls: true,
        names: Names::Ruby,
        ..PLAIN
    },
    Syntax { languages: &["bash", "powershell"], own: &["$this"], names: Names::Shell, ..SCRIPT },
    Syntax {
        languages: &["perl"],
        arrow_members: true,
        group: 15,
        imports: Imports::Modules,
        own: &["$self", "$class", "$this", "__PACKAGE__"],
        base: &["SUPER"],
        inner_modules: true,
        maker: Some("new"),
        ..SCRIPT
    },
    Syntax {
        languages: &["r"],
        group: 16,
        own: &["self", "private"],
        constructors: &["initialize"],
        maker: Some("new"),
        sigil_variables: false,
        names: Names::R,
        ..SCRIPT
    },
    Syntax {
        languages: &["elixir"],
        group: 17,
        imports: Imports::Modules,
        own: &["__MODULE__"],
        base: &[],
        inner_modules: true,
        sigil_variables: false,
        names: Names::Elixir,
        ..SCRIPT
    },
    Syntax {
        languages: &["lua"],
        group: 13,
        imports: Imports::Lua,
        comments: &["--"],
        maker: Some("new"),
        own: &["self"],
        sigil_variables: false,
        names: Names::Lua,
        ..SCRIPT
    },
    Syntax { languages: &["haskell"], group: 18, comments: &["--"], own: &[], sigil_variables: false, ..SCRIPT },
    Syntax {
        languages: &["zig"],
        group: 14,
        declarations: Declarations::NameColonType,
        own: &["self"],
        constructors: &[],
        ..PLAIN
    },
    Syntax { arrow_members: true, ..PLAIN },
];

/// Returns the rules of a language, or the rules of C-like languages if the language is unknown.
pub(crate) fn for_language(language: &str) -> &'static Syntax {
    let [.., plain] = &SYNTAXES;
    SYNTAXES.iter().find(|syntax| syntax.languages.contains(&language)).unwrap_or(plain)
}
