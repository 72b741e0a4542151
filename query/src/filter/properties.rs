//! Conditions over built-in properties of chunks: path, language, type, complexity and imports.

use std::path::Path;

use aurora_storage::{ChunkType, ColumnKind, Complexity, Label, Snapshot, StorageError};
use rayon::prelude::*;
use roaring::{MultiOps, RoaringBitmap};

use crate::filter::condition::Condition;
use crate::filter::error::{FilterError, SelectError};
use crate::filter::filtered_index::FilteredIndex;
use crate::filter::paths::PathPatterns;
use crate::filter::typed_condition::TypedCondition;
use crate::filter::types::parse_type;
use crate::work::WorkBudget;

/// Number of chunks whose content a thread reads at a time.
const BATCH: usize = 512;

/// A built-in property. Only chunks of source code have a complexity, branches, loops and imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Path,
    Language,
    Type,
    /// The score from 0 to 1.
    Complexity,
    Branches,
    Loops,
    Imports,
}

impl Property {
    /// Returns the property with this key.
    pub(super) fn from_key(key: &str) -> Option<Self> {
        match key {
            "path" => Some(Self::Path),
            "language" | "lang" => Some(Self::Language),
            "type" => Some(Self::Type),
            "complexity" => Some(Self::Complexity),
            "branches" => Some(Self::Branches),
            "loops" => Some(Self::Loops),
            "imports" => Some(Self::Imports),
            _ => None,
        }
    }

    /// Checks that a condition is valid for the property.
    pub(super) fn check(self, condition: &Condition) -> Result<(), FilterError> {
        let Condition { key, operator, operands } = condition;
        if self.is_number() {
            return TypedCondition::new(condition, ColumnKind::Float).map(drop);
        }
        if operator.is_order() {
            let kind = ColumnKind::String;
            return Err(FilterError::Operator { key: key.clone(), operator: operator.as_str(), kind });
        }
        let texts = || operands.iter().filter(|operand| !operand.is_none()).map(|operand| operand.text.as_str());
        match self {
            Self::Type => texts().try_for_each(|text| parse_type(text).map(drop)),
            Self::Path => PathPatterns::new(texts().map(str::to_owned).collect(), None).map(drop),
            _ => Ok(()),
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Self::Complexity | Self::Branches | Self::Loops)
    }

    /// Returns the live chunks that have the property.
    pub(super) fn chunks(self, snapshot: &Snapshot) -> Result<RoaringBitmap, StorageError> {
        if !self.is_number() && self != Self::Imports {
            return Ok(snapshot.live().clone());
        }
        let types = ChunkType::ALL.iter().filter(|kind| kind.is_source_code());
        Ok(types.map(|kind| snapshot.label(Label::Type(*kind))).union()? & snapshot.live())
    }

    /// Returns the chunks whose property equals one of the operands. Properties that are stored with the content are read
    /// only for chunks in `within` (`None` for all).
    pub(super) fn select_equal(
        self,
        condition: &Condition,
        index: &FilteredIndex<'_>,
        from: Option<&Path>,
        within: Option<&RoaringBitmap>,
        work: &WorkBudget,
    ) -> Result<RoaringBitmap, SelectError> {
        self.check(condition)?;
        if self.is_number() || self == Self::Imports {
            return self.select_by_content(condition, index.snapshot, within, work);
        }
        let texts = condition.operands.iter().filter(|operand| !operand.is_none()).map(|operand| operand.text.as_str());
        if self == Self::Path {
            let patterns = PathPatterns::new(texts.map(str::to_owned).collect(), from.map(Path::to_owned))?;
            return patterns.select(index, work);
        }
        let chunks = |text| match self {
            Self::Type => type_chunks(index.snapshot, text),
            _ => Ok(language_chunks(index.snapshot, text)?),
        };
        texts.map(chunks).union()
    }

    /// Reads the content of chunks on all threads, and returns the chunks whose property equals one of the operands.
    fn select_by_content(
        self,
        condition: &Condition,
        snapshot: &Snapshot,
        within: Option<&RoaringBitmap>,
        work: &WorkBudget,
    ) -> Result<RoaringBitmap, SelectError> {
        let mut possible = self.chunks(snapshot)?;
        if let Some(within) = within {
            possible &= within;
        }
        let kind = if self == Self::Imports { ColumnKind::Strings } else { ColumnKind::Float };
        let typed = TypedCondition::new(condition, kind)?;
        let ids: Vec<u32> = possible.iter().collect();
        let select = |ids: &[u32]| -> Result<Vec<u32>, SelectError> {
            work.check()?;
            let mut found = Vec::new();
            match &typed {
                TypedCondition::Texts(names) => snapshot.for_each_imports(ids, |id, imports| {
                    let is_imported = imports.iter().any(|import| names.iter().any(|name| is_part(import, name)));
                    found.extend(is_imported.then_some(id));
                })?,
                TypedCondition::Numbers(_) => snapshot.for_each_complexity(ids, |id, complexity| {
                    found.extend(typed.accepts_number(&self.number(complexity)).then_some(id));
                })?,
            }
            Ok(found)
        };
        let found = ids.par_chunks(BATCH).map(select).collect::<Result<Vec<_>, _>>()?;
        work.check()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns the number that a condition compares, in decimal notation.
    fn number(self, complexity: Complexity) -> String {
        match self {
            Self::Branches => complexity.branches.to_string(),
            Self::Loops => complexity.loops.to_string(),
            _ => complexity.score.to_string(),
        }
    }
}

/// Whether an import is `name`, or a module or name inside of it: `requests.adapters` is inside of `requests`.
fn is_part(import: &str, name: &str) -> bool {
    import.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '/', ':', '\\']))
}

/// Returns the chunks in a language. Tries the exact name first, then the name in lower case.
pub(super) fn language_chunks(snapshot: &Snapshot, language: &str) -> Result<RoaringBitmap, StorageError> {
    let found = snapshot.label(Label::Language(language))?;
    if found.is_empty() { snapshot.label(Label::Language(&language.to_lowercase())) } else { Ok(found) }
}

/// Returns the chunks of the types that a name denotes.
fn type_chunks(snapshot: &Snapshot, name: &str) -> Result<RoaringBitmap, SelectError> {
    Ok(parse_type(name)?.into_iter().map(|kind| snapshot.label(Label::Type(kind))).union()?)
}
