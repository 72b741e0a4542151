//! Conditions over what every chunk has without being metadata: its path, its language and its type.

use std::path::Path;

use aurora_storage::{ColumnKind, Label, Snapshot, StorageError};
use roaring::RoaringBitmap;

use crate::filter::condition::Condition;
use crate::filter::error::{FilterError, SelectError};
use crate::filter::filtered_index::FilteredIndex;
use crate::filter::paths::PathPatterns;
use crate::filter::types::parse_type;
use crate::work::WorkBudget;

/// A property of every chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Path,
    Language,
    Type,
}

impl Property {
    /// The property of this name.
    pub(super) fn of(key: &str) -> Option<Self> {
        match key {
            "path" => Some(Self::Path),
            "language" | "lang" => Some(Self::Language),
            "type" => Some(Self::Type),
            _ => None,
        }
    }

    /// Makes sure that a condition fits the property.
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

    /// The chunks whose property equals an operand.
    pub(super) fn equal(
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
        let mut equal = RoaringBitmap::new();
        for text in texts {
            equal |=
                if self == Self::Type { of_type(index.snapshot, text)? } else { of_language(index.snapshot, text)? };
        }
        Ok(equal)
    }
}

/// The chunks in a language, whose name may be given in capitals.
pub(super) fn of_language(snapshot: &Snapshot, language: &str) -> Result<RoaringBitmap, StorageError> {
    let found = snapshot.label(Label::Language(language))?;
    if found.is_empty() { snapshot.label(Label::Language(&language.to_lowercase())) } else { Ok(found) }
}

fn of_type(snapshot: &Snapshot, name: &str) -> Result<RoaringBitmap, SelectError> {
    let chunks = parse_type(name)?.into_iter().map(|kind| snapshot.label(Label::Type(kind)));
    Ok(chunks.collect::<Result<Vec<_>, StorageError>>()?.into_iter().fold(RoaringBitmap::new(), |all, some| all | some))
}
