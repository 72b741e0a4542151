//! The filters of a search as a line of text: `type:function lang:rust,go path:'src/**' where:owner=payments`.

use aurora_query::FilterSpec;
use aurora_suggest::nearest;

use crate::context::args::FilterArgs;
use crate::context::place;

/// The names before the colons, as the options of a search are called.
const KEYS: [&str; 6] = ["type", "lang", "path", "where", "grep", "fixed"];

/// The filter that a line asks for; in words what is wrong with the line.
pub(super) fn parse(line: &str) -> Result<FilterSpec, String> {
    let words = shlex::split(line).ok_or("A quotation mark has no second one")?;
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

/// The line that asks for what the arguments ask for.
pub(super) fn line(args: &FilterArgs) -> String {
    let values = [&args.types, &args.lang, &args.path, &args.where_, &args.grep, &args.fixed];
    let words = KEYS.into_iter().zip(values).flat_map(|(key, values)| {
        // No argument of a process holds the character that cannot be quoted, NUL.
        values.iter().filter_map(move |value| Some(format!("{key}:{}", shlex::try_quote(value).ok()?)))
    });
    words.collect::<Vec<_>>().join(" ")
}

fn unknown(given: &str) -> String {
    match nearest(given, KEYS) {
        Some(key) => format!("No filter is called '{given}'; did you mean {key}:?"),
        None => format!("No filter is called '{given}'; there are type: lang: path: where: grep: fixed:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_arguments_are() {
        let filter = parse(r"type:function,method lang:rust path:'a b/**' where:churn>5 grep:'sleep\(\d+\)' fixed:a:b");
        let filter = filter.expect("a filter");
        assert_eq!((filter.types, filter.languages), (vec!["function,method".to_owned()], vec!["rust".to_owned()]));
        assert_eq!((filter.paths, filter.grep), (vec!["a b/**".to_owned()], vec![r"sleep\(\d+\)".to_owned()]));
        assert_eq!((filter.fixed, filter.where_.len()), (vec!["a:b".to_owned()], 1));
        assert_eq!(parse("  ").map(|filter| filter.is_empty()), Ok(true));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, told) in [
            ("type:functoin", "function"),
            ("typ:function", "type:"),
            ("function", "there are type:"),
            ("lang:", "lang: needs a value"),
            ("where:owner", "Invalid condition"),
            ("path:'src", "quotation mark"),
            ("grep:(", "Invalid pattern"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(told), "{line}: {error}");
        }
    }

    #[test]
    fn arguments_become_a_line_that_means_the_same() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let args = FilterArgs {
            grep: texts(&[r"it's (\w+)", "$HOME"]),
            fixed: texts(&["a \"b\""]),
            types: texts(&["function"]),
            lang: texts(&["rust,go"]),
            path: texts(&["src/**"]),
            where_: texts(&["churn>5"]),
        };
        assert_eq!(parse(&line(&args)), Ok(args.spec().expect("a filter")));
    }
}
