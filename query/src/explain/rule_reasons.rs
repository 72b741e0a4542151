//! Descriptions of ranking rules in words.

use aurora_storage::ChunkType;

/// Describes why a rule changed the score of a chunk of this type in the file at `path`.
pub(crate) fn rule_reason(rule: &str, effect: f32, path: &str, chunk_type: ChunkType) -> String {
    let is_turn = chunk_type == ChunkType::Turn;
    let file = path.rsplit('/').next().unwrap_or(path);
    if let Some(column) = rule.strip_prefix("boost.") {
        return format!("the value of its column `{column}`");
    }
    let unless = |what: &str| format!("{what}, not asked for by the query");
    match rule {
        "definition" => "defines what the query names".to_owned(),
        "exact_identifier" => "its name is the query".to_owned(),
        "place" => "the query gives its location".to_owned(),
        "contains_query" => "it contains the query".to_owned(),
        "name_words" if is_turn => "the query names its speaker".to_owned(),
        "doc_words" | "file_docs" if is_turn => "its date or nearby turns have words of the query".to_owned(),
        "name_words" => "its name has words of the query".to_owned(),
        "file_stem" => format!("its file `{file}` is named after words of the query"),
        "path" => "the query gives its path".to_owned(),
        "asked_for" => "the query asks for such code".to_owned(),
        "doc_words" => "its documentation has words of the query".to_owned(),
        "file_keywords" => format!("the whole of `{file}` has words of the query"),
        "file_coverage" => format!("`{file}` has many of the query's words"),
        "file_docs" => format!("the documentation in `{file}` has words of the query"),
        "file_meaning" => format!("the whole of `{file}` is about the query"),
        "conversation" => "nearby turns have words of the query".to_owned(),
        "age" => "its age".to_owned(),
        "rerank" => "the reranking model finds that it answers the query".to_owned(),
        "repeated_file" => "its file already has a better result".to_owned(),
        "repeated_name" => "a definition of the same name is a better result".to_owned(),
        "tests" => unless("test code"),
        "generated" => unless("generated code"),
        "vendored" => unless("a copy of another project's code"),
        "examples" => unless("example code"),
        "declarations" => unless("declarations without code"),
        "changelogs" => unless("a changelog"),
        "data" => unless("data"),
        "superseded" => unless("code kept for compatibility"),
        "reexports" => format!("`{file}` only re-exports what other files define"),
        "fragments" => "code between definitions".to_owned(),
        "prose" => unless("a section of a document"),
        "shapes" => unless("data without behaviour"),
        "short" => "a definition of one or two lines".to_owned(),
        other => format!("{} `{other}`", if effect < 0.0 { "lowered by rule" } else { "raised by rule" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SearchConfig;

    #[test]
    fn every_configured_rule_has_a_description() {
        let rules = serde_json::to_value(SearchConfig::default().rules).expect("serialisable");
        for rule in rules.as_object().expect("a table").keys() {
            let reason = rule_reason(rule, -0.1, "src/a.py", ChunkType::Function);
            assert!(!reason.contains("by rule"), "{rule}: {reason}");
        }
        assert_eq!(rule_reason("boost.churn", 0.1, "a", ChunkType::Function), "the value of its column `churn`");
        assert_eq!(rule_reason("novel", 0.1, "a", ChunkType::Function), "raised by rule `novel`");
    }
}
