//! Changes of JSON and TOML that leave everything else as it was written.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// An entry of a server.
pub(super) struct Entry {
    pub(super) kind: Option<&'static str>,
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
}

/// Puts a server into an object of servers. A text that is empty becomes a file of its own.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn add_to_json(text: &str, servers: &str, name: &str, entry: Entry) -> Result<String, String> {
    let Entry { kind, command, arguments } = entry;
    let mut fields = Vec::new();
    fields.extend(kind.map(|kind| ("type".to_owned(), CstInputValue::String(kind.to_owned()))));
    fields.push(("command".to_owned(), CstInputValue::String(command)));
    fields.push(("args".to_owned(), texts(arguments)));
    put(text, servers, name, fields)
}

/// The same for clients whose entries have the program and its arguments in one list.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn add_local_to_json(
    text: &str,
    servers: &str,
    name: &str,
    command: String,
    arguments: Vec<String>,
) -> Result<String, String> {
    let whole = std::iter::once(command).chain(arguments).collect();
    let fields =
        vec![("type".to_owned(), CstInputValue::String("local".to_owned())), ("command".to_owned(), texts(whole))];
    put(text, servers, name, fields)
}

fn texts(texts: Vec<String>) -> CstInputValue {
    CstInputValue::Array(texts.into_iter().map(CstInputValue::String).collect())
}

fn put(text: &str, servers: &str, name: &str, fields: Vec<(String, CstInputValue)>) -> Result<String, String> {
    let (root, object) = parsed(text)?;
    let servers = object.object_value_or_create(servers).ok_or_else(|| format!("`{servers}` is no object"))?;
    let entry = CstInputValue::Object(fields);
    match servers.get(name) {
        Some(old) => old.set_value(entry),
        None => drop(servers.append(name, entry)),
    }
    let text = root.to_string();
    Ok(if text.ends_with('\n') { text } else { text + "\n" })
}

/// Takes a server out of an object of servers, and the object if it is empty then.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn remove_from_json(text: &str, servers: &str, name: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let (root, object) = parsed(text)?;
    let Some(property) = object.get(servers) else { return Ok(text.to_owned()) };
    let Some(entry) = property.object_value().and_then(|servers| servers.get(name)) else { return Ok(text.to_owned()) };
    entry.remove();
    if property.object_value().is_some_and(|servers| servers.properties().is_empty()) {
        property.remove();
    }
    Ok(if object.properties().is_empty() && !text.contains("//") { String::new() } else { root.to_string() })
}

fn parsed(text: &str) -> Result<(CstRootNode, CstObject), String> {
    let text = if text.trim().is_empty() { "{\n}\n" } else { text };
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    let object = root.object_value().ok_or_else(|| "it is no object".to_owned())?;
    Ok((root, object))
}

/// Puts a server into a table of servers.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn add_to_toml(
    text: &str,
    servers: &str,
    name: &str,
    command: &str,
    arguments: &[String],
) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let table = document.entry(servers).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let table = table.as_table_like_mut().ok_or_else(|| format!("`{servers}` is no table"))?;
    let mut entry = Table::new();
    entry.insert("command", value(command));
    entry.insert("args", value(arguments.iter().collect::<Array>()));
    table.insert(name, Item::Table(entry));
    Ok(document.to_string())
}

/// Takes a server out of a table of servers.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn remove_from_toml(text: &str, servers: &str, name: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let removed = document.get_mut(servers).and_then(Item::as_table_like_mut).and_then(|table| table.remove(name));
    Ok(if removed.is_some() { document.to_string() } else { text.to_owned() })
}

/// The lines between what two texts begin with and what they end with: those that go, then those that come.
pub(super) fn differing_lines<'t>(before: &'t str, after: &'t str) -> Vec<(char, &'t str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = rest.take_while(|(old, new)| old == new).count();
    let gone = old[start..old.len() - end].iter().map(|line| ('-', *line));
    gone.chain(new[start..new.len() - end].iter().map(|line| ('+', *line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry { kind: None, command: "aur".to_owned(), arguments: vec!["mcp".to_owned()] }
    }

    #[test]
    fn a_new_file_holds_the_server_only_and_goes_with_it() {
        let text = add_to_json("", "mcpServers", "aurora", entry()).expect("written");
        insta::assert_snapshot!(text, @r#"
        {
          "mcpServers": {
            "aurora": {
              "command": "aur",
              "args": ["mcp"]
            }
          }
        }
        "#);
        assert_eq!(remove_from_json(&text, "mcpServers", "aurora").as_deref(), Ok(""));
    }

    #[test]
    fn what_is_there_stays_as_it_was_written() {
        let before = "{\n    // ours\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}, // keep\n    },\n    \"theme\":  \"dark\"\n}\n";
        let with = add_to_json(before, "mcpServers", "aurora", entry()).expect("written");
        assert!(
            with.contains("// ours") && with.contains("// keep") && with.contains("\"theme\":  \"dark\""),
            "{with}"
        );
        assert!(with.contains("\"aurora\""), "{with}");
        let again = add_to_json(&with, "mcpServers", "aurora", entry()).expect("written");
        assert_eq!(again, with, "writing it twice changes nothing");
        let without = remove_from_json(&with, "mcpServers", "aurora").expect("removed");
        assert!(without.contains("// keep") && !without.contains("aurora"), "{without}");
        assert_eq!(remove_from_json(before, "mcpServers", "aurora").as_deref(), Ok(before));
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        for text in ["[]", "{", "7", "{\"mcpServers\": []}"] {
            assert!(add_to_json(text, "mcpServers", "aurora", entry()).is_err(), "{text}");
        }
        assert!(add_to_toml("= 1", "mcp_servers", "aurora", "aur", &[]).is_err());
        assert!(add_to_toml("mcp_servers = 1", "mcp_servers", "aurora", "aur", &[]).is_err());
    }

    #[test]
    fn toml_keeps_its_comments() {
        let before = "# mine\nmodel = \"x\"\n";
        let with = add_to_toml(before, "mcp_servers", "aurora", "aur", &["mcp".to_owned()]).expect("written");
        insta::assert_snapshot!(with, @r#"
        # mine
        model = "x"

        [mcp_servers.aurora]
        command = "aur"
        args = ["mcp"]
        "#);
        assert_eq!(remove_from_toml(&with, "mcp_servers", "aurora").as_deref(), Ok(before));
    }

    #[test]
    fn only_lines_that_differ_are_shown() {
        assert_eq!(differing_lines("a\nb\nc\n", "a\nx\ny\nc\n"), [('-', "b"), ('+', "x"), ('+', "y")]);
        assert_eq!(differing_lines("", "a\n"), [('+', "a")]);
        assert!(differing_lines("a\n", "a\n").is_empty());
    }
}
