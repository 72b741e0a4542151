//! The captures that queries may use, which [`crate::language`] documents.

use crate::symbols::SymbolKind;

/// The meaning of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaptureKind {
    Definition(SymbolKind),
    /// A definition that is ignored inside local scopes.
    Declaration(SymbolKind),
    DefinitionConstant,
    DefinitionVariable,
    Namespace {
        to_end: bool,
    },
    Name,
    Body,
    Value,
    ValueFunction,
    ValueWrapper,
    ValueWrapped,
    Owner,
    OpenEnd,
    Wrapper {
        exported: bool,
    },
    Wrapped,
    Export,
    Section,
    Attribute,
    SignatureOmit,
    Comment,
    LocalScope,
    LocalName,
    ReferenceCall,
    ReferenceMacro,
    ReferenceName,
    ReferenceBase,
    ReferenceBases,
    ReferenceNone,
    Branch,
    Loop,
    Import,
    Heading,
    Error,
    /// `@_name`, used only by predicates. The number identifies the name within one query.
    Ignored(u8),
}

impl CaptureKind {
    /// Returns the capture with this name, given without its `@`. `ignored` collects the names that begin with `_`, in
    /// order of first appearance.
    pub(crate) fn by_name(name: &str, ignored: &mut Vec<String>) -> Option<Self> {
        if name.starts_with('_') {
            let number = ignored.iter().position(|seen| seen == name).unwrap_or_else(|| {
                ignored.push(name.to_owned());
                ignored.len() - 1
            });
            return Some(Self::Ignored(number as u8));
        }
        Some(match name {
            "definition.function" => Self::Definition(SymbolKind::Function),
            "definition.method" => Self::Definition(SymbolKind::Method),
            "definition.class" => Self::Definition(SymbolKind::Class),
            "definition.interface" => Self::Definition(SymbolKind::Interface),
            "definition.type" => Self::Definition(SymbolKind::Type),
            "definition.struct" => Self::Definition(SymbolKind::Struct),
            "definition.enum" => Self::Definition(SymbolKind::Enum),
            "definition.module" => Self::Definition(SymbolKind::Module),
            "definition.implementation" => Self::Definition(SymbolKind::Implementation),
            "definition.block" => Self::Definition(SymbolKind::Block),
            "declaration.function" => Self::Declaration(SymbolKind::Function),
            "declaration.method" => Self::Declaration(SymbolKind::Method),
            "declaration.type" => Self::Declaration(SymbolKind::Type),
            "definition.constant" => Self::DefinitionConstant,
            "definition.variable" => Self::DefinitionVariable,
            "namespace" => Self::Namespace { to_end: false },
            "namespace.rest" => Self::Namespace { to_end: true },
            "name" => Self::Name,
            "body" => Self::Body,
            "value" => Self::Value,
            "value.function" => Self::ValueFunction,
            "value.wrapper" => Self::ValueWrapper,
            "value.wrapped" => Self::ValueWrapped,
            "owner" => Self::Owner,
            "open_end" => Self::OpenEnd,
            "wrapper" => Self::Wrapper { exported: false },
            "wrapper.exported" => Self::Wrapper { exported: true },
            "wrapped" => Self::Wrapped,
            "export" => Self::Export,
            "section" => Self::Section,
            "attribute" => Self::Attribute,
            "signature.omit" => Self::SignatureOmit,
            "comment" => Self::Comment,
            "local.scope" => Self::LocalScope,
            "local.name" => Self::LocalName,
            "reference.name" => Self::ReferenceName,
            "reference.call" => Self::ReferenceCall,
            "reference.macro" => Self::ReferenceMacro,
            "reference.base" => Self::ReferenceBase,
            "reference.bases" => Self::ReferenceBases,
            "reference.none" => Self::ReferenceNone,
            "branch" => Self::Branch,
            "loop" => Self::Loop,
            "import" => Self::Import,
            "heading" => Self::Heading,
            "error" => Self::Error,
            _ => return None,
        })
    }
}
