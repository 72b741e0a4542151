//! Names and aliases of chunk types.

use aurora_storage::ChunkType;
use aurora_suggest::did_you_mean;

use crate::filter::error::FilterError;

/// Aliases of chunk types, in lower case.
const WORDS: &[(ChunkType, &[&str])] = &[
    (ChunkType::Function, &["def", "fn", "fun", "func", "functions", "proc", "procedure", "sub", "subroutine"]),
    (ChunkType::Method, &["methods"]),
    (ChunkType::Class, &["classes"]),
    (ChunkType::Interface, &["interfaces", "protocol", "trait", "traits"]),
    (ChunkType::Type, &["typedef", "types"]),
    (ChunkType::Struct, &["record", "structs", "structure"]),
    (ChunkType::Enum, &["enumeration", "enums"]),
    (ChunkType::Doc, &["docs", "document", "documentation", "documents"]),
    (ChunkType::Reasoning, &["reas"]),
    (ChunkType::Knowledge, &["know"]),
    (ChunkType::Note, &["notes"]),
    (ChunkType::Turn, &["turns"]),
];

/// Returns the chunk types that a name or an alias denotes.
///
/// # Errors
/// Returns [`FilterError::Type`] for an unknown name.
pub(super) fn parse_type(given: &str) -> Result<Vec<ChunkType>, FilterError> {
    let name = given.to_lowercase();
    let is_source_code = |kind: &ChunkType| kind.is_source_code();
    let named = |kind: &ChunkType| kind.as_str() == name;
    if name == ChunkType::Code.as_str() {
        return Ok(ChunkType::ALL.iter().copied().filter(is_source_code).collect());
    }
    let word = || WORDS.iter().find(|(_, words)| words.contains(&name.as_str())).map(|(kind, _)| *kind);
    match ChunkType::ALL.iter().copied().find(named).or_else(word) {
        Some(kind) => Ok(vec![kind]),
        None => {
            let help = did_you_mean(&name, ChunkType::ALL.iter().map(|kind| kind.as_str()));
            Err(FilterError::Type { given: given.to_owned(), help })
        }
    }
}

/// Returns the type of source code that a keyword such as `struct` declares.
pub(crate) fn declared_type(keyword: &str) -> Option<ChunkType> {
    match parse_type(keyword).ok()?.as_slice() {
        [declared] if declared.is_source_code() => Some(*declared),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_parsed_without_regard_to_case() {
        let types = |name: &str| parse_type(name).expect("a type");
        assert_eq!([types("Function"), types("CLASS")], [[ChunkType::Function], [ChunkType::Class]]);
        assert_eq!([types("know"), types("reas")], [[ChunkType::Knowledge], [ChunkType::Reasoning]]);
        assert_eq!(types("code").len(), 8);
        let declared = ["struct", "def", "docs", "code", "static"].map(declared_type);
        assert_eq!(declared, [Some(ChunkType::Struct), Some(ChunkType::Function), None, None, None]);
        let message = |name: &str| parse_type(name).expect_err("not a type").to_string();
        insta::assert_snapshot!(message("functon"), @"Invalid chunk type 'functon'. Valid types: function, method, class, interface, type, struct, enum, code, kb, doc, reasoning, knowledge, note, turn (did you mean `function`?)");
        assert!(!message("xyzzy").contains("did you mean"));
    }

    #[test]
    fn keywords_are_aliases_of_one_type() {
        for (kind, words) in WORDS {
            for word in *words {
                assert_eq!(parse_type(&word.to_uppercase()).expect("a type"), [*kind], "{word}");
                assert!(word.parse::<ChunkType>().is_err(), "{word}");
            }
        }
    }
}
