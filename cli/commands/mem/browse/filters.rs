//! Search filters as a line of text: `type:function lang:rust,go path:'src/**' where:owner=payments`.

use aurora_query::FilterSpec;
use aurora_suggest::nearest;

use crate::context::{FilterArgs, place};

/// Names of the filters, which precede the colons. Each filter has the name of the equivalent option of `aur mem
/// search`.
const KEYS: [&str; 6] = ["type", "lang", "path", "where", "grep", "fixed"];

/// Parses a line into a filter. Returns a message for the user if the line is invalid.
pub(super) fn parse(line: &str) -> Result<FilterSpec, String> {
    let words = shlex::split(line).ok_or("A quotation mark is not closed")?;
    let mut filter = FilterSpec { from: place::here(), ..FilterSpec::default() };
    for word in &words {
        let (key, value) = word.split_once(':').ok_or_else(|| unknown(word))?;
        if value.is_empty() && KEYS.contains(&key) {
            return Err(format!("{key}: needs a value"));
        }
        let values = match key {
            "type" => &mut filter.types,
            "lang" => &mut filter.languages,
            "path" => &mut filter.paths,
            "grep" => &mut filter.grep,
            "fixed" => &mut filter.fixed,
            "where" => {
                filter.add_condition(value).map_err(|error| error.to_string())?;
                continue;
            }
            _ => return Err(unknown(key)),
        };
        values.push(value.to_owned());
    }
    filter.check().map_err(|error| error.to_string())?;
    Ok(filter)
}

/// Returns the line that is equivalent to the filter arguments.
pub(super) fn line(args: &FilterArgs) -> String {
    let values = [&args.types, &args.lang, &args.path, &args.where_, &args.grep, &args.fixed];
    let words = KEYS.into_iter().zip(values).flat_map(|(key, values)| {
        // Only NUL cannot be quoted, and arguments of a process never contain it.
        values.iter().filter_map(move |value| Some(format!("{key}:{}", shlex::try_quote(value).ok()?)))
    });
    words.collect::<Vec<_>>().join(" ")
}

fn unknown(given: &str) -> String {
    match nearest(given, KEYS) {
        Some(key) => format!("There is no filter '{given}'; did you mean {key}:?"),
        None => format!("There is no filter '{given}'; the filters are type: lang: path: where: grep: fixed:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parsed_like_arguments() {
        let filter = parse(r"type:function,method lang:rust path:'a b/**' where:churn>5 grep:'sleep\(\d+\)' fixed:a:b");
        let filter = filter.expect("the filter is valid");
        assert_eq!((filter.types, filter.languages), (vec!["function,method".to_owned()], vec!["rust".to_owned()]));
        assert_eq!((filter.paths, filter.grep), (vec!["a b/**".to_owned()], vec![r"sleep\(\d+\)".to_owned()]));
        assert_eq!((filter.fixed, filter.where_.len()), (vec!["a:b".to_owned()], 1));
        assert_eq!(parse("  ").map(|filter| filter.is_empty()), Ok(true));
    }

    #[test]
    fn errors_name_the_problem() {
        for (line, expected) in [
            ("type:functoin", "function"),
            ("typ:function", "type:"),
            ("function", "the filters are type:"),
            ("lang:", "lang: needs a value"),
            ("where:owner", "Invalid condition"),
            ("path:'src", "quotation mark"),
            ("grep:(", "Invalid pattern"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn arguments_become_an_equivalent_line() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let args = FilterArgs {
            grep: texts(&[r"it's (\w+)", "$HOME"]),
            fixed: texts(&["a \"b\""]),
            types: texts(&["function"]),
            lang: texts(&["rust,go"]),
            path: texts(&["src/**"]),
            where_: texts(&["churn>5"]),
        };
        assert_eq!(parse(&line(&args)), Ok(args.spec().expect("the filter is valid")));
    }
}
