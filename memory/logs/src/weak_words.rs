//! Lists of English words that are not specific to the subject of a query.

/// Words that are never keywords: articles, pronouns, prepositions, auxiliary verbs, question words, polite phrases.
const STOP_WORDS: &str = "\
    a about above after again against all also although am an and another any anyone anything are arent around \
    as at be because been before being below between both but by can cannot cant could couldnt did didnt do does \
    doesnt doing done dont down during each either etc every everything few for from further had has hasnt have \
    havent having he hello help her here hers hey hi him his how hows however i if ill im in instead into is \
    isnt it its ive just kindly least less let lets like many may maybe me might mine more most much must my \
    need needs neither no nor not nothing now of off ok okay on once one only onto or other others ought our \
    ours out over own per please quite rather really same shall she should shouldnt since so some someone \
    something still such than thank thanks that thats the their theirs them then there theres these they theyre \
    this those though through to together too under until up upon us very via want wants was wasnt we well were \
    weve what whats when where wheres whether which while who whom whose why will with within without wont would \
    wouldnt yes yet you your youre yours";

/// Base forms of verbs that are common in requests.
const WEAK_VERBS: &str = "\
    add adjust allow analyse analyze apply ask build bring call change check clean come compare consider convert \
    correct create debug define delete describe develop discuss draft drop enable ensure evaluate examine expand \
    explain explore extend figure find finish fix generate get give go handle happen identify implement improve \
    increase insert investigate keep know leave list look make modify move optimise optimize outline perform \
    plan prepare prevent propose provide put read reduce refactor remove rename replace resolve review rewrite \
    run say see set show solve start stop suggest summarise summarize support take tell think try turn \
    understand update use verify walk work write";

/// Nouns and adjectives that often accompany the subject of a query.
const GENERIC_WORDS: &str = "\
    answer approach area aspect bad basic best better big bug case class code codebase component correctly \
    current currently detail different easily easy element error example existing failure fast faster feature \
    file first following function functionality good idea implementation information issue kind large last line \
    lot main manner method missing module multiple new next number old option order part piece place point \
    possible problem process program project properly proper question quick quickly reason request result second \
    several side simple simply single slow small software solution sort source specific stuff support system \
    task thing time tool type unit usage various version way whole wrong";

/// Regular endings of verb forms.
const ENDINGS: &[&str] = &["", "s", "es", "d", "ed", "ing"];

/// Returns `true` if a word is a stop word. The word must be in lower case and without apostrophes.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.split(' ').any(|stop| stop == word)
}

/// Returns `true` if a word is a form of a weak verb.
pub(crate) fn is_weak_verb(word: &str) -> bool {
    WEAK_VERBS.split(' ').any(|base| is_form(word, base))
}

/// Returns `true` if a word or its singular is a generic word.
pub(crate) fn is_generic(word: &str) -> bool {
    GENERIC_WORDS.split(' ').any(|base| word.strip_prefix(base).is_some_and(|rest| matches!(rest, "" | "s" | "es")))
}

/// Returns `true` if `word` is a form of the verb `base`. Examples of forms are `fix`, `fixes`, `fixed` and `fixing`;
/// `use`, `used` and `using`; `modify`, `modifies` and `modified`; `set` and `setting`.
fn is_form(word: &str, base: &str) -> bool {
    if word.strip_prefix(base).is_some_and(|rest| ENDINGS.contains(&rest)) {
        return true;
    }
    let Some((at, last)) = base.char_indices().last() else { return false };
    let (shorter, doubled) = (&base[..at], format!("{base}{last}"));
    match last {
        'e' => word.strip_prefix(shorter) == Some("ing"),
        'y' => word.strip_prefix(shorter).is_some_and(|rest| matches!(rest, "ies" | "ied")),
        _ => word.strip_prefix(doubled.as_str()).is_some_and(|rest| matches!(rest, "ed" | "ing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_weak_words_are_recognised() {
        for word in ["fix", "fixes", "fixed", "fixing", "using", "used", "modifies", "modified", "setting", "planned"] {
            assert!(is_weak_verb(word), "{word}");
        }
        for word in ["rendering", "migration", "user", "settings", "setup", "address", "makefile", "fixture"] {
            assert!(!is_weak_verb(word), "{word}");
        }
        for word in ["component", "components", "issue", "issues", "class", "classes"] {
            assert!(is_generic(word), "{word}");
        }
        assert!(is_stop_word("our") && !is_stop_word("oauth"));
    }
}
