//! Common abbreviations in code and their full words.

/// Abbreviations, each with its full words. The full words of a row are not treated as synonyms of each other.
static ABBREVIATIONS: &[(&str, &[&str])] = &[
    ("abs", &["absolute"]),
    ("acc", &["accumulator", "account"]),
    ("addr", &["address"]),
    ("alloc", &["allocate", "allocation", "allocator"]),
    ("app", &["application"]),
    ("arg", &["argument"]),
    ("args", &["arguments"]),
    ("async", &["asynchronous"]),
    ("attr", &["attribute"]),
    ("attrs", &["attributes"]),
    ("auth", &["authentication", "authorization", "authenticate", "authorize"]),
    ("authn", &["authentication"]),
    ("authz", &["authorization"]),
    ("avg", &["average"]),
    ("bg", &["background"]),
    ("bool", &["boolean"]),
    ("btn", &["button"]),
    ("buf", &["buffer"]),
    ("calc", &["calculate", "calculation"]),
    ("cb", &["callback"]),
    ("cert", &["certificate"]),
    ("cfg", &["config", "configuration"]),
    ("char", &["character"]),
    ("cls", &["class"]),
    ("cmd", &["command"]),
    ("cmp", &["compare"]),
    ("col", &["column"]),
    ("cond", &["condition"]),
    ("conf", &["config", "configuration"]),
    ("config", &["configuration", "configure"]),
    ("conn", &["connection"]),
    ("const", &["constant"]),
    ("conv", &["conversion", "convert"]),
    ("coord", &["coordinate"]),
    ("cred", &["credential"]),
    ("creds", &["credentials"]),
    ("ctx", &["context"]),
    ("cur", &["current", "cursor"]),
    ("curr", &["current"]),
    ("db", &["database"]),
    ("decl", &["declaration", "declare"]),
    ("def", &["definition", "define"]),
    ("del", &["delete"]),
    ("dep", &["dependency"]),
    ("deps", &["dependencies"]),
    ("desc", &["description", "descriptor", "descending"]),
    ("dest", &["destination"]),
    ("dev", &["development", "developer", "device"]),
    ("diff", &["difference"]),
    ("dir", &["directory"]),
    ("dirs", &["directories"]),
    ("doc", &["documentation", "document"]),
    ("docs", &["documentation", "documents"]),
    ("dst", &["destination"]),
    ("elem", &["element"]),
    ("env", &["environment"]),
    ("err", &["error"]),
    ("eval", &["evaluate", "evaluation"]),
    ("evt", &["event"]),
    ("exc", &["exception"]),
    ("exec", &["execute", "execution", "executor"]),
    ("expr", &["expression"]),
    ("ext", &["extension", "external"]),
    ("fmt", &["format"]),
    ("fn", &["function"]),
    ("fs", &["filesystem"]),
    ("func", &["function"]),
    ("gen", &["generate", "generator", "generation"]),
    ("hdr", &["header"]),
    ("id", &["identifier"]),
    ("idx", &["index"]),
    ("img", &["image"]),
    ("impl", &["implementation", "implement"]),
    ("info", &["information"]),
    ("init", &["initialize", "initialise", "initialization"]),
    ("int", &["integer"]),
    ("iter", &["iterator", "iterate", "iteration"]),
    ("kw", &["keyword"]),
    ("lang", &["language"]),
    ("len", &["length"]),
    ("lib", &["library"]),
    ("libs", &["libraries"]),
    ("loc", &["location"]),
    ("max", &["maximum"]),
    ("mem", &["memory"]),
    ("mgr", &["manager"]),
    ("min", &["minimum"]),
    ("misc", &["miscellaneous"]),
    ("mod", &["module", "modify"]),
    ("msg", &["message"]),
    ("msgs", &["messages"]),
    ("mux", &["multiplexer"]),
    ("nav", &["navigation", "navigate"]),
    ("num", &["number"]),
    ("obj", &["object"]),
    ("op", &["operation", "operator"]),
    ("opt", &["option", "optional"]),
    ("opts", &["options"]),
    ("orig", &["original"]),
    ("param", &["parameter"]),
    ("params", &["parameters"]),
    ("perf", &["performance"]),
    ("pkg", &["package"]),
    ("pos", &["position"]),
    ("pred", &["predicate", "prediction"]),
    ("prev", &["previous"]),
    ("priv", &["private"]),
    ("proc", &["process", "procedure"]),
    ("prod", &["production"]),
    ("prop", &["property"]),
    ("props", &["properties"]),
    ("ptr", &["pointer"]),
    ("pub", &["public", "publish"]),
    ("pwd", &["password"]),
    ("qty", &["quantity"]),
    ("rand", &["random"]),
    ("rec", &["record"]),
    ("recv", &["receive", "receiver"]),
    ("ref", &["reference"]),
    ("refs", &["references"]),
    ("regex", &["regexp"]),
    ("rel", &["relative", "relation", "release"]),
    ("repo", &["repository"]),
    ("repos", &["repositories"]),
    ("req", &["request", "require", "requirement"]),
    ("res", &["response", "result", "resource"]),
    ("resp", &["response"]),
    ("ret", &["return"]),
    ("rm", &["remove"]),
    ("sched", &["scheduler", "schedule"]),
    ("sec", &["second", "security"]),
    ("sel", &["selection", "select", "selector"]),
    ("seq", &["sequence"]),
    ("spec", &["specification"]),
    ("specs", &["specifications"]),
    ("src", &["source"]),
    ("stat", &["statistic", "status"]),
    ("stats", &["statistics"]),
    ("std", &["standard"]),
    ("stmt", &["statement"]),
    ("str", &["string"]),
    ("sub", &["subscribe", "subscription"]),
    ("sync", &["synchronize", "synchronous", "synchronization"]),
    ("sys", &["system"]),
    ("tbl", &["table"]),
    ("temp", &["temporary"]),
    ("tmp", &["temporary", "temp"]),
    ("ts", &["timestamp"]),
    ("tx", &["transaction"]),
    ("txn", &["transaction"]),
    ("usr", &["user"]),
    ("util", &["utility"]),
    ("utils", &["utilities"]),
    ("val", &["value"]),
    ("var", &["variable"]),
    ("vars", &["variables"]),
    ("vec", &["vector"]),
    ("ver", &["version"]),
    ("win", &["window"]),
];

/// Returns the full words of `word`, and the abbreviations of `word`, in the order of the table. `word` must be in
/// lower case.
pub(crate) fn counterparts(word: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let mut add = |other: &'static str| {
        if other != word && !found.contains(&other) {
            found.push(other);
        }
    };
    for &(short, full) in ABBREVIATIONS {
        if short == word {
            full.iter().copied().for_each(&mut add);
        } else if full.contains(&word) {
            add(short);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counterparts_are_symmetric() {
        for &(short, full) in ABBREVIATIONS {
            for word in full {
                assert!(counterparts(short).contains(word), "{short} {word}");
                assert!(counterparts(word).contains(&short), "{word} {short}");
            }
        }
        assert!(counterparts("authentication").contains(&"auth"));
        assert!(!counterparts("authentication").contains(&"authorization"));
        assert!(counterparts("zebra").is_empty());
    }

    #[test]
    fn the_table_is_sorted_and_in_lower_case() {
        assert!(ABBREVIATIONS.is_sorted_by(|a, b| a.0 < b.0));
        let words = ABBREVIATIONS.iter().flat_map(|(short, full)| full.iter().chain([short]));
        assert!(words.into_iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }
}
