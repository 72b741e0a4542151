//! Property tests: adding the entry keeps everything else in a generated configuration, and removing it restores the
//! original bytes.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::ast::Value as Ast;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::commands::init::clients::{CLIENTS, Client};
use crate::commands::init::entry::NAME;
use crate::commands::init::hooks::HookConfig;

/// Makes the choices of a text generator from random bytes. When no bytes are left, [`Self::one`] chooses the first
/// value, and [`Self::below`] chooses 0.
struct Choices<'b>(std::slice::Iter<'b, u8>);

impl Choices<'_> {
    /// Chooses one of the values.
    fn one<'v>(&mut self, values: &[&'v str]) -> &'v str {
        values[usize::from(self.0.next().copied().unwrap_or_default()) % values.len()]
    }

    /// Chooses a number below `count`.
    fn below(&mut self, count: u8) -> u8 {
        self.0.next().map_or(0, |byte| byte % count)
    }
}

const KEYS: [&str; 8] = ["\"a\"", "\"b\"", "c", "'d'", "\"aurora2\"", "\"\\u0065\"", "\"$schema\"", "\"{ // é\""];
const LEAVES: [&str; 9] =
    ["1", "\"x\"", "null", "[]", "{}", "\"a, // b\"", "[1, {\"aurora\": 2},]", "[ // }\n]", "{\n \"x\": 1\n}"];
const SPACES: [&str; 12] =
    ["", " ", "\n", "\n  ", "\n\t", "\n    ", "  ", " // c, {\n", "/* d */", "\n// e }\n  ", " /* f\n */ ", "\n\n"];

/// Generates the configuration of a client that uses JSON.
fn json_text(servers: &str, choices: &mut Choices) -> String {
    let text = match choices.below(16) {
        15 => choices.one(&["", " ", "\n", "\n\n", " \n\t"]).to_owned(),
        _ => {
            let (before, after) = (choices.one(&SPACES), choices.one(&["", "\n", " ", " // end", "\n\n"]));
            format!("{before}{}{after}", object(Some(servers), choices))
        }
    };
    vary(text, choices)
}

/// Generates an object. If `servers` is `Some(key)`, the object may have a property `key` that contains the servers.
fn object(servers: Option<&str>, choices: &mut Choices) -> String {
    // Real files mostly use the same layout everywhere, so half of the objects do.
    let regular = ["", " ", "\n  ", "\n    ", "\n\t"][usize::from(choices.below(5))];
    let is_regular = choices.below(2) == 0;
    let space = |choices: &mut Choices| if is_regular { regular } else { choices.one(&SPACES) };
    let (count, first) = (choices.below(4), choices.below(8));
    let with_servers = servers.map(|servers| (choices.below(count + 2), servers));
    let mut properties = Vec::new();
    for index in 0..count {
        let between = if is_regular { " " } else { space(choices) };
        properties.push(format!("{}:{between}{}", KEYS[usize::from(first + index) % 8], choices.one(&LEAVES)));
    }
    if let Some((place, servers)) = with_servers.filter(|(place, _)| *place <= count) {
        properties.insert(usize::from(place), format!("\"{servers}\": {}", object(None, choices)));
    }
    let (count, mut text) = (properties.len(), "{".to_owned());
    for (index, property) in properties.iter().enumerate() {
        let comma = match (index + 1 < count, choices.below(6)) {
            // The parser accepts a missing comma.
            (true, 5) => " ",
            (true, _) | (false, 4 | 5) => ",",
            (false, _) => "",
        };
        text += &[space(choices), property, if is_regular { "" } else { space(choices) }, comma].concat();
    }
    text + choices.one(&["", "", " // g\n"]) + space(choices) + "}"
}

const ROOT_LINES: [&str; 8] = [
    "model = \"x\" # y\n",
    "# [mcp_servers.aurora]\n",
    "\n",
    "list = [\n  1, # [x]\n]\n",
    "text = \"\"\"\n[mcp_servers.aurora]\ncommand = \"aur\"\"\"\"\n",
    "a.b = 'c'\n",
    "  d = 1.5  \n",
    "\"é\" = true\n",
];
const SERVERS: [&str; 7] = [
    "",
    "mcp_servers.other = { command = \"x\" }\n",
    "mcp_servers = {}\n",
    "mcp_servers = { other = {}, }# z\n",
    "mcp_servers = {other.command = \"x\"}\n",
    "mcp_servers = { other = { args = [\"},\"] } , more = {} }\n",
    "mcp_servers.other.command = \"x\"\n",
];
const TABLES: [&str; 7] = [
    "[t]\nx = 1\n",
    "\n[mcp_servers.third]\ncommand = \"y\"\n",
    "[mcp_servers]\n",
    "\n# of u\n[[u]]\n  y = 1\n",
    "[mcp_servers.fourth.env]\nA = \"b\"\n\n",
    "[ v . w ] # [z]\n",
    "\n\n",
];

/// Generates the configuration of a client that uses TOML.
fn toml_text(choices: &mut Choices) -> String {
    let mut text = String::new();
    for line in ROOT_LINES {
        text += if choices.below(3) == 1 { line } else { "" };
    }
    text += choices.one(&SERVERS);
    for table in TABLES {
        text += if choices.below(3) == 1 { table } else { "" };
    }
    vary(text, choices)
}

/// Varies the line endings, the byte order mark and the final newline of a text.
fn vary(text: String, choices: &mut Choices) -> String {
    let text = match choices.below(4) {
        3 => text.trim_end_matches('\n').to_owned(),
        _ => text,
    };
    let text = match choices.below(8) {
        1 | 2 => text.replace('\n', "\r\n"),
        3 => text.replacen('\n', "\r\n", 1),
        4 => text.replace("\n\n", "\n\r\n"),
        _ => text,
    };
    if choices.below(16) == 15 { format!("\u{feff}{text}") } else { text }
}

fn text(client: &Client, choices: &mut Choices) -> String {
    let fresh = client.with_entry(None, Path::new("/app")).expect("the entry can be added").text;
    if fresh.starts_with('{') {
        json_text(fresh.split('"').nth(1).expect("the file begins with a key"), choices)
    } else {
        toml_text(choices)
    }
}

/// Parses a text and returns its values, or `None` if the text is invalid.
fn values(text: &str, is_json: bool) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}');
    if !is_json {
        return serde_json::to_value(text.parse::<toml::Table>().ok()?).ok();
    }
    if text.trim().is_empty() {
        return Some(json!({}));
    }
    jsonc_parser::parse_to_ast(text, &Default::default(), &ParseOptions::default()).ok()?.value.map(plain)
}

fn plain(ast: Ast) -> Value {
    match ast {
        Ast::StringLit(text) => text.value.into_owned().into(),
        Ast::NumberLit(number) => json!([number.value]),
        Ast::BooleanLit(boolean) => boolean.value.into(),
        Ast::NullKeyword(_) => Value::Null,
        Ast::Array(array) => array.elements.into_iter().map(plain).collect(),
        Ast::Object(object) => {
            let properties = object.properties.into_iter();
            properties
                .map(|property| (property.name.as_str().to_owned(), plain(property.value)))
                .collect::<Map<_, _>>()
                .into()
        }
    }
}

/// Removes the server's entry from `values`, after checking that it equals the entry in `fresh`, the values of a newly
/// created file. Also removes the object of servers if it is empty afterwards.
fn without_server(mut values: Value, fresh: &Value) -> Value {
    let (key, servers) = fresh.as_object().and_then(|fresh| fresh.iter().next()).expect("servers");
    let root = values.as_object_mut().expect("an object");
    let held = root.get_mut(key).and_then(Value::as_object_mut).expect("servers");
    assert_eq!(held.remove(NAME).as_ref(), servers.get(NAME));
    without_empty(values, key)
}

fn without_empty(mut values: Value, key: &str) -> Value {
    if values[key].as_object().is_some_and(Map::is_empty) {
        values.as_object_mut().expect("an object").remove(key);
    }
    values
}

/// Whether `longer` is `shorter` with bytes inserted anywhere.
fn extends(longer: &str, shorter: &str) -> bool {
    let mut rest = longer.bytes();
    shorter.bytes().all(|byte| rest.any(|other| other == byte))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn adding_and_removing_the_entry_restores_the_file(client in 0..CLIENTS.len(), bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let (client, root) = (&CLIENTS[client], Path::new("/app"));
        let fresh = client.with_entry(None, root).expect("the entry can be added").text;
        let is_json = fresh.starts_with('{');
        let before = text(client, &mut Choices(bytes.iter()));
        let Some(old) = values(&before, is_json) else {
            prop_assert!(client.with_entry(Some(&before), root).is_err(), "{before:?}");
            return Ok(());
        };
        let written = match client.with_entry(Some(&before), root) {
            Ok(written) => written,
            Err(reason) => return Err(TestCaseError::fail(format!("{reason}: {before:?}"))),
        };
        prop_assert!(!written.replaces_foreign_entry);
        prop_assert!(extends(&written.text, &before), "{before:?} {:?}", written.text);
        let new = values(&written.text, is_json).expect("the written configuration is valid");
        let fresh = values(&fresh, is_json).expect("the written configuration is valid");
        let key = fresh.as_object().and_then(|fresh| fresh.keys().next()).expect("servers");
        prop_assert_eq!(without_server(new, &fresh), without_empty(old, key), "{:?}", written.text);
        let again = client.with_entry(Some(&written.text), root).expect("the entry can be added");
        prop_assert_eq!(&again.text, &written.text);
        prop_assert_eq!(client.without_entry(&written.text), Ok(Some(before.clone())), "{:?}", written.text);
        prop_assert_eq!(client.without_entry(&before), Ok(Some(before)));
    }

    #[test]
    fn adding_and_removing_hooks_restores_the_file(client in 0..CLIENTS.len(), bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let client = &CLIENTS[client];
        let Some(hooks) = &client.hooks else { return Ok(()) };
        let mut choices = Choices(bytes.iter());
        let before = hooks_text(hooks, &mut choices);
        let written = match hooks.with_hooks(Some(&before), "aur", client.name) {
            Ok(written) => written,
            // The text is invalid, or another value has the name of the hooks.
            Err(_) => return Ok(()),
        };
        prop_assert!(extends(&written, &before), "{before:?} {written:?}");
        let new = values(&written, true).expect("the written configuration is valid");
        let commands = new["hooks"].to_string();
        prop_assert_eq!(commands.matches(&format!("--hook {}", client.name)).count(), hooks.events.len());
        prop_assert_eq!(hooks.with_hooks(Some(&written), "aur", client.name), Ok(written.clone()));
        let moved = hooks.with_hooks(Some(&written), "/opt/my programs/aur", client.name).expect("the hooks are replaced");
        prop_assert_eq!(hooks.without_hooks(&moved, client.name), Ok(Some(before.clone())), "{:?}", moved);
        prop_assert_eq!(hooks.without_hooks(&before, client.name), Ok(Some(before)));
    }
}

/// Generates a configuration that may have hooks for the events of a client.
fn hooks_text(hooks: &HookConfig, choices: &mut Choices) -> String {
    if choices.below(3) == 0 {
        return json_text("hooks", choices);
    }
    let mut events = Vec::new();
    for (event, _) in hooks.events {
        let space = choices.one(&SPACES);
        let elements: Vec<&str> = (0..choices.below(3)).map(|_| choices.one(&LEAVES)).collect();
        let comma = if elements.is_empty() { "" } else { choices.one(&["", ",", " // g\n"]) };
        let array = format!("[{space}{}{comma}{}]", elements.join(&format!(",{space}")), choices.one(&SPACES));
        if choices.below(4) > 0 {
            events.push(format!("{}\"{event}\":{array}", choices.one(&SPACES)));
        }
    }
    let version = choices.one(&["\"version\": 1,", "\n  \"version\": 1,", ""]);
    let text =
        format!("{{{version}\"hooks\": {{{}{}}}{}}}", events.join(","), choices.one(&SPACES), choices.one(&SPACES));
    vary(text, choices)
}
