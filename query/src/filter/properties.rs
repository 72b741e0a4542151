//! Conditions over built-in properties of chunks: path, language and type.

use std::path::Path;

use aurora_storage::{ColumnKind, Label, Snapshot, StorageError};
use roaring::{MultiOps, RoaringBitmap};

use crate::filter::condition::Condition;
use crate::filter::error::{FilterError, SelectError};
use crate::filter::filtered_index::FilteredIndex;
use crate::filter::paths::PathPatterns;
use crate::filter::types::parse_type;
use crate::work::WorkBudget;

/// A built-in property, which every chunk has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Path,
    Language,
    Type,
}

impl Property {
    /// Returns the property with this key.
    pub(super) fn from_key(key: &str) -> Option<Self> {
        match key {
            "path" => Some(Self::Path),
            "language" | "lang" => Some(Self::Language),
            "type" => Some(Self::Type),
            _ => None,
        }
    }

    /// Checks that a condition is valid for the property.
    pub(super) fn check(self, condition: &Condition) -> Result<(), FilterError> {
        let Condition { key, operator, operands } = condition;
        if operator.is_order() {
            let kind = ColumnKind::String;
            return Err(FilterError::Operator { key: key.clone(), operator: operator.as_str(), kind });
        }
        let texts = || operands.iter().filter(|operand| !operand.is_none()).map(|operand| operand.text.as_str());
        match self {
            Self::Type => texts().try_for_each(|text| parse_type(text).map(drop)),
            Self::Path => PathPatterns::new(texts().map(str::to_owned).collect(), None).map(drop),
            Self::Language => Ok(()),
        }
    }

    /// Returns the chunks whose property equals one of the operands.
    pub(super) fn select_equal(
        self,
        condition: &Condition,
        index: &FilteredIndex<'_>,
        from: Option<&Path>,
        work: &WorkBudget,
    ) -> Result<RoaringBitmap, SelectError> {
        self.check(condition)?;
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
