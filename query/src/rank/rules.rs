//! Ranking rules: knowledge about code that term statistics do not capture.
//!
//! Lifts and boosts of custom columns add to a chunk's fused score, in units of the best fused score of the query.
//! Penalties subtract a fraction of the score, unless the query asks for that kind of code. `rule_table` has a row for
//! each rule; this module contains the conditions and applies the rules.

use aurora_storage::ChunkType;

use crate::config::RulesConfig;
use crate::path_class::{PathClass, is_reexport_file};
use crate::rank::boosts::ColumnBoost;
use crate::rank::candidate::RankedCandidate;
use crate::rank::features::{Features, FileFeatures, MentionedName, RuleQuery};
use crate::rule_table::ranking_rules;
use crate::understand::Word;

/// Maximum number of lines in a short chunk. Short chunks rarely answer a question.
const MAX_SHORT_LINES: u32 = 2;
/// Name of the rule that lowers the scores of entries of memory by age.
pub(crate) const AGE: &str = "age";
/// Name of the rule that scales all scores down if the best score exceeds 1.
pub(crate) const SCALE: &str = "scale";

/// A ranking rule.
pub(crate) struct Rule {
    /// The key below `search.rules`.
    pub(crate) name: &'static str,
    strength: fn(&RulesConfig) -> f32,
    effect: Effect,
    /// The reason that users see. `{file}` is replaced by the name of the chunk's file.
    reason: &'static str,
    /// The reason for a turn of a conversation, if it differs.
    reason_of_turn: Option<&'static str>,
}

/// Condition and effect of a rule. Rules are applied in the order of these variants.
enum Effect {
    /// Adds the strength, in units of the best fused score, times the degree to which the chunk matches, 0..=1.
    Lift(fn(&RuleQuery<'_>, &Features<'_>) -> f32),
    /// Like `Lift`, with the degree to which the whole file matches.
    FileLift(fn(&FileFeatures) -> f32),
    /// Subtracts a fraction of the score of a chunk of the class, unless the query asks for this class.
    Class(PathClass),
    /// Subtracts a fraction of the score if the condition holds.
    Penalty(fn(&RuleQuery<'_>, &Features<'_>) -> bool),
    /// Of the chunks with the same key, subtracts an increasing fraction from every chunk except the best.
    Repeated(fn(&RuleQuery<'_>, &Features<'_>) -> Option<RepeatKey>),
    /// Applied in a separate ranking step.
    Step,
}

/// The property that repeated chunks share: the number of their file, or their name.
type RepeatKey = (usize, String);

macro_rules! rules {
    ($(
        $(#[$about:meta])+
        $rule:ident = $strength:literal, $range:ident, $effect:ident $(($condition:expr))?, $reason:literal
            $(, $reason_of_turn:literal)?;
    )+) => {
        /// Every rule, in the order of the reference.
        static RULES: &[Rule] = &[$(
            Rule {
                name: stringify!($rule),
                strength: |config| config.$rule,
                effect: Effect::$effect $(($condition))?,
                reason: $reason,
                reason_of_turn: [$(Some($reason_of_turn),)? None][0],
            }
        ),+];
    };
}
ranking_rules!(rules);

/// Rules without a strength, with their reasons.
const FIXED: [(&str, &str); 4] = [
    ("exact_identifier", "its name is the query"),
    ("place", "the query gives its location"),
    ("contains_query", "it contains the query"),
    (AGE, "its age"),
];

/// Describes why a rule changed the score of a chunk of this type in the file at `path`.
pub(crate) fn reason(rule: &str, effect: f32, path: &str, chunk_type: ChunkType) -> String {
    if let Some(column) = rule.strip_prefix("boost.") {
        return format!("the value of its column `{column}`");
    }
    if let Some(rule) = RULES.iter().find(|known| known.name == rule) {
        let of_turn = rule.reason_of_turn.filter(|_| chunk_type == ChunkType::Turn);
        return of_turn.unwrap_or(rule.reason).replace("{file}", path.rsplit('/').next().unwrap_or(path));
    }
    match FIXED.iter().find(|(name, _)| *name == rule) {
        Some((_, reason)) => (*reason).to_owned(),
        None => format!("{} `{rule}`", if effect < 0.0 { "lowered by rule" } else { "raised by rule" }),
    }
}

impl Rule {
    /// Returns the share of the strength that applies to a chunk, 0..=1.
    fn share(&self, query: &RuleQuery<'_>, chunk: &Features<'_>) -> f32 {
        let holds = match self.effect {
            Effect::Lift(share) => return share(query, chunk),
            Effect::FileLift(share) => return share(&chunk.file),
            Effect::Class(class) => chunk.classes.contains(class) && !query.requests.classes.contains(class),
            Effect::Penalty(holds) => holds(query, chunk),
            Effect::Repeated(_) | Effect::Step => false,
        };
        f32::from(u8::from(holds))
    }
}

/// Applies every rule to candidates with fused scores. The order of the candidates breaks ties. Scores may exceed 1
/// afterwards.
pub(crate) fn apply<C>(config: &RulesConfig, query: &RuleQuery<'_>, ranked: &mut [RankedCandidate<'_, C>]) {
    let unit = ranked.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
    let of_effect = |is_applied: fn(&Effect) -> bool| RULES.iter().filter(move |rule| is_applied(&rule.effect));
    let lifts = of_effect(|effect| matches!(effect, Effect::Lift(_)));
    let lifts: Vec<_> = lifts.chain(of_effect(|effect| matches!(effect, Effect::FileLift(_)))).collect();
    let penalties = of_effect(|effect| matches!(effect, Effect::Class(_)));
    let penalties: Vec<_> = penalties.chain(of_effect(|effect| matches!(effect, Effect::Penalty(_)))).collect();
    for candidate in ranked.iter_mut() {
        for rule in &lifts {
            let strength = (rule.strength)(config) * rule.share(query, &candidate.features);
            candidate.change(rule.name, unit * strength);
        }
        for ColumnBoost { rule, strength } in std::mem::take(&mut candidate.boosts) {
            // Scores never fall below 0.
            let effect = (unit * strength).max(-candidate.score);
            candidate.change(rule, effect);
        }
        for rule in &penalties {
            let strength = (rule.strength)(config) * rule.share(query, &candidate.features);
            let loss = candidate.score * strength;
            candidate.change(rule.name, -loss);
        }
    }
    for rule in RULES {
        if let Effect::Repeated(key) = rule.effect {
            lower_repeated(rule.name, (rule.strength)(config), ranked, |chunk| key(query, chunk));
        }
    }
}

/// Returns 1 if the chunk is or contains the definition of a symbol that the query names, and otherwise 0.
fn definition(query: &RuleQuery<'_>, chunk: &Features<'_>) -> f32 {
    let kind = chunk.named.chunk_type;
    let is_symbol = kind.is_source_code() && kind != ChunkType::Code;
    let defines = |name: &MentionedName| {
        name.lookups.iter().any(|lookup| folds_to(chunk.named.name, lookup))
            && name.identifier.matches(chunk.named).is_some()
    };
    f32::from(u8::from(chunk.defines_inside || is_symbol && query.mentioned.iter().any(defines)))
}

/// Returns 1 if the query contains the path of the chunk's file or the end of this path, 0.5 if the query contains
/// another part of the path with a `/`, and otherwise 0.
fn path(query: &RuleQuery<'_>, chunk: &Features<'_>) -> f32 {
    if query.query.paths.is_empty() {
        return 0.0;
    }
    let path = chunk.named.path.to_lowercase();
    let given = |word: &Word| {
        let ends = path.strip_suffix(word.folded.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let is_inside = word.folded.contains('/') && path.contains(word.folded.as_str());
        if ends {
            1.0
        } else if is_inside {
            0.5
        } else {
            0.0
        }
    };
    query.query.paths.iter().map(given).fold(0.0, f32::max)
}

/// Returns 1 if the query asks for a class of code, such as tests or examples, to which the chunk belongs, and
/// otherwise 0.
fn requested(query: &RuleQuery<'_>, chunk: &Features<'_>) -> f32 {
    f32::from(u8::from(!chunk.classes.and(query.requests.classes).is_empty()))
}

/// Returns whether the chunk is code between definitions that does not itself define a mentioned name.
fn fragment(_: &RuleQuery<'_>, chunk: &Features<'_>) -> bool {
    chunk.named.chunk_type == ChunkType::Code && !chunk.defines_inside
}

/// Returns whether the chunk is a section of a document, unless the query asks for prose.
fn prose(query: &RuleQuery<'_>, chunk: &Features<'_>) -> bool {
    matches!(chunk.named.chunk_type, ChunkType::Kb | ChunkType::Doc) && !query.requests.prose
}

/// Returns whether the chunk is a type without behaviour, unless the query asks for types or mentions the type's name.
fn shape(query: &RuleQuery<'_>, chunk: &Features<'_>) -> bool {
    let kind = chunk.named.chunk_type;
    matches!(kind, ChunkType::Interface | ChunkType::Type | ChunkType::Struct | ChunkType::Enum)
        && !query.requests.shapes
        && definition(query, chunk) == 0.0
}

/// Returns whether the chunk has at most [`MAX_SHORT_LINES`] lines. Entries of memory, and chunks that contain the
/// definition of a mentioned name, do not count as short.
fn short(_: &RuleQuery<'_>, chunk: &Features<'_>) -> bool {
    chunk.lines <= MAX_SHORT_LINES && !chunk.named.chunk_type.is_memory() && !chunk.defines_inside
}

/// Returns whether the chunk is code outside of definitions in a file that usually only re-exports, unless the query
/// asks for exports.
fn reexports(query: &RuleQuery<'_>, chunk: &Features<'_>) -> bool {
    chunk.named.chunk_type == ChunkType::Code && is_reexport_file(chunk.named.path) && !query.requests.exports
}

/// Of the candidates with the same `key`, lowers all except the best, each by a larger share than the one before, so
/// that one file, or the implementations of one method, do not fill the list of results. Candidates without a key do
/// not change.
fn lower_repeated<C>(
    rule: &'static str,
    weight: f32,
    ranked: &mut [RankedCandidate<'_, C>],
    key: impl Fn(&Features<'_>) -> Option<RepeatKey>,
) {
    let keys = ranked.iter().enumerate().filter_map(|(at, candidate)| Some((key(&candidate.features)?, at)));
    let mut keys: Vec<(RepeatKey, usize)> = keys.collect();
    let score = |at: usize| ranked[at].score;
    keys.sort_unstable_by(|(k, a), (l, b)| k.cmp(l).then(score(*b).total_cmp(&score(*a))).then(a.cmp(b)));
    for group in keys.chunk_by(|(k, _), (l, _)| k == l) {
        for (before, &(_, at)) in group.iter().enumerate() {
            let share = (1.0 - weight).powi(before as i32);
            let loss = ranked[at].score * (1.0 - share);
            ranked[at].change(rule, -loss);
        }
    }
}

/// Returns the lower-case name, which is the key of repeated definitions. `None` if the query mentions the name and
/// thereby asks for all of its definitions.
fn repeatable_name(query: &RuleQuery<'_>, chunk: &Features<'_>) -> Option<String> {
    let name = chunk.named.name;
    // Turns of one speaker are not definitions of one name.
    let is_definition = !name.is_empty() && !chunk.named.chunk_type.is_memory();
    (is_definition && definition(query, chunk) == 0.0).then(|| name.to_lowercase())
}

/// If the best score exceeds 1, scales all scores so that the best score is 1. The loss is recorded like a rule, so
/// that the fused score and the effects add up to the final score.
pub(crate) fn scale_to_one<C>(ranked: &mut [RankedCandidate<'_, C>]) {
    let best = ranked.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
    if best > 1.0 {
        for candidate in ranked {
            let scaled = candidate.score / best;
            candidate.change(SCALE, scaled - candidate.score);
            candidate.score = scaled;
        }
    }
}

/// Returns whether `text` equals `lower` after conversion to lower case.
fn folds_to(text: &str, lower: &str) -> bool {
    if text.is_ascii() { text.eq_ignore_ascii_case(lower) } else { text.to_lowercase() == lower }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;
    use crate::rank::candidate::AppliedRule;
    use crate::rank::features::{Facts, FileShares};
    use crate::retrieve::ChunkName;
    use crate::understand::ParsedQuery;

    fn query(text: &str) -> ParsedQuery {
        ParsedQuery::parse(text).expect("words")
    }

    fn chunk<'a>(name: &'a str, path: &'a str, chunk_type: ChunkType) -> ChunkName<'a> {
        ChunkName { name, qualified_name: name, chunk_type, exported: true, path, line_start: 1, is_generated: false }
    }

    /// Creates candidates with the given fused scores.
    fn with_scores<'a>(
        query: &RuleQuery<'_>,
        chunks: &[ChunkName<'a>],
        scores: &[f32],
    ) -> Vec<RankedCandidate<'a, ()>> {
        let facts = |&named: &ChunkName<'a>| Facts {
            root: 0,
            named,
            lines: 9,
            defines_inside: false,
            doc_words: 0.0,
            file: FileShares::default(),
        };
        let features = query.read(chunks.iter().map(facts));
        let fused = features.into_iter().zip(scores).map(|(features, &score)| RankedCandidate {
            fused: score,
            score,
            ..RankedCandidate::new((), None, features)
        });
        fused.collect()
    }

    /// Returns the final scores and rule names of chunks that all start from the same fused score.
    fn ranked(text: &str, chunks: &[ChunkName<'_>]) -> Vec<(f32, Vec<&'static str>)> {
        let name = |rule: &AppliedRule| match rule.rule {
            Cow::Borrowed(name) => name,
            Cow::Owned(_) => "boost",
        };
        let query = query(text);
        let query = RuleQuery::new(&query, &vec![Some(1.0); query.terms.len()]);
        let mut ranked = with_scores(&query, chunks, &vec![0.5; chunks.len()]);
        apply(&SearchConfig::default().rules, &query, &mut ranked);
        let names = |applied: &[AppliedRule]| applied.iter().map(name).collect();
        ranked.iter().map(|candidate| (candidate.score, names(&candidate.applied))).collect()
    }

    #[test]
    fn rules_outside_of_the_table_have_reasons() {
        assert_eq!(reason("boost.churn", 0.1, "a", ChunkType::Function), "the value of its column `churn`");
        assert_eq!(reason("novel", 0.1, "a", ChunkType::Function), "raised by rule `novel`");
    }

    #[test]
    fn a_definition_ranks_above_a_mention() {
        let found = ranked(
            "where is QueueManager created",
            &[
                chunk("QueueManager", "a.go", ChunkType::Struct),
                chunk("run", "b.go", ChunkType::Function),
                chunk("Queues", "c.md", ChunkType::Kb),
            ],
        );
        assert!(found[0].1.contains(&"definition") && found[0].0 > found[1].0 && found[1].0 > found[2].0);
    }

    #[test]
    fn side_code_is_lowered_unless_requested() {
        let chunks = [
            chunk("parse", "tests/parse.py", ChunkType::Function),
            chunk("parse", "src/parse.py", ChunkType::Function),
            chunk("parse", "vendor/x/parse.py", ChunkType::Function),
            chunk("parse", "examples/parse.py", ChunkType::Function),
            chunk("parse", "src/parse.gen.py", ChunkType::Function),
            chunk("parse", "src/parse.d.ts", ChunkType::Function),
        ];
        let plain = ranked("parse", &chunks);
        for (other, rule) in [(0, "tests"), (2, "vendored"), (3, "examples"), (4, "generated"), (5, "declarations")] {
            assert!(plain[other].0 < plain[1].0 && plain[other].1.contains(&rule), "{rule}");
        }
        let requested = ranked("parse test", &chunks);
        assert!(!requested[0].1.contains(&"tests") && requested[0].0 > requested[1].0);
    }

    #[test]
    fn words_of_names_and_stems_lift() {
        let found = ranked(
            "delete expired sessions",
            &[
                chunk("delete_expired", "x.py", ChunkType::Function),
                chunk("run", "session.py", ChunkType::Function),
                chunk("start", "y.py", ChunkType::Function),
            ],
        );
        let rules: Vec<_> = found.iter().map(|(_, rules)| rules.clone()).collect();
        assert_eq!(rules, [vec!["name_words"], vec!["file_stem"], vec![]]);
        assert!(found[..2].iter().all(|(score, _)| *score > found[2].0));
    }

    #[test]
    fn every_chunk_of_a_good_file_is_lifted_and_repeated_chunks_are_lowered() {
        let query = query("query");
        let query = RuleQuery::new(&query, &[Some(1.0)]);
        let good = FileShares { keywords: 1.0, coverage: 0.5, meaning: 1.0, doc_words: 0.0 };
        let fact = |named, file| Facts { root: 0, named, lines: 9, defines_inside: false, doc_words: 0.0, file };
        let chunks = [("a", "good.py", good), ("b", "good.py", good), ("c", "other.py", FileShares::default())];
        let facts = chunks.map(|(name, path, file)| fact(chunk(name, path, ChunkType::Function), file));
        let features = query.read(facts.into_iter());
        let mut ranked: Vec<_> =
            features.into_iter().map(|features| RankedCandidate::new((), None, features)).collect();
        ranked.iter_mut().for_each(|candidate| (candidate.fused, candidate.score) = (0.5, 0.5));
        apply(&SearchConfig::default().rules, &query, &mut ranked);
        let rules = |at: usize| ranked[at].applied.iter().map(|rule| &*rule.rule).collect::<Vec<_>>();
        let lifts = ["file_keywords", "file_coverage", "file_meaning"];
        assert_eq!((rules(0), rules(1)), (lifts.to_vec(), [&lifts[..], &["repeated_file"]].concat()));
        assert!(rules(2).is_empty() && ranked[0].score > ranked[1].score && ranked[1].score > ranked[2].score);
    }

    #[test]
    fn repeated_definitions_of_a_name_are_lowered_unless_mentioned() {
        let chunks = ["a.rs", "b.rs", "c.rs"].map(|path| chunk("fmt", path, ChunkType::Method));
        let plain = ranked("how an error is shown", &chunks);
        assert!(plain[0].1.is_empty() && plain[1].1 == ["repeated_name"] && plain[1].0 > plain[2].0);
        let requested =
            ranked("what does `Error::fmt` show", &chunks.map(|chunk| ChunkName { name: "Error::fmt", ..chunk }));
        assert!(requested.iter().all(|(_, rules)| !rules.contains(&"repeated_name")), "{requested:?}");
    }

    #[test]
    fn fragments_and_reexports_are_lowered() {
        let found = ranked(
            "query",
            &[
                chunk("", "src/index.ts", ChunkType::Code),
                chunk("", "src/query.ts", ChunkType::Code),
                chunk("x", "src/index.js", ChunkType::Function),
            ],
        );
        assert_eq!(found[0].1, ["reexports", "fragments"]);
        assert!(found[1].1.contains(&"fragments") && found[2].1.is_empty());
    }

    proptest! {
        #[test]
        fn effects_add_up_to_the_change_and_scores_stay_in_bounds(scores in prop::collection::vec(0.0f32..=1.0, 1..20), picks in prop::collection::vec(0usize..6, 20), boosts in prop::collection::vec(-1.0f32..=1.0, 20)) {
            let paths = ["src/parse.py", "tests/parse.py", "vendor/parse.py", "src/other.py", "CHANGELOG.md", "src/__init__.py"];
            let chunks: Vec<_> = scores.iter().zip(&picks).map(|(_, &pick)| chunk(["parse_query", "x"][pick % 2], paths[pick], ChunkType::Function)).collect();
            let query = query("parse the query");
            let query = RuleQuery::new(&query, &[Some(2.0), Some(0.1), Some(1.0)]);
            let config = RulesConfig { repeated_file: 0.3, ..SearchConfig::default().rules };
            let mut ranked = with_scores(&query, &chunks, &scores);
            for (candidate, &strength) in ranked.iter_mut().zip(&boosts) {
                candidate.boosts.push(ColumnBoost { rule: "boost.churn".into(), strength });
            }
            apply(&config, &query, &mut ranked);
            scale_to_one(&mut ranked);
            for candidate in &ranked {
                prop_assert!((0.0..=1.0).contains(&candidate.score));
            }
            for (before, after) in scores.iter().zip(&ranked) {
                let effects: f32 = after.applied.iter().map(|rule| rule.effect).sum();
                prop_assert!((before + effects - after.score).abs() < 1e-5);
            }
        }
    }
}
