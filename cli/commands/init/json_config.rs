//! Configurations in JSON, with or without comments.

use jsonc_parser::ast::{Object, Value};

use crate::commands::init::edit::newline;
use crate::commands::init::entry::{Config, Entry, Found, NAME};
use crate::commands::init::json_document::{Document, Lines, index_of, range};

/// A configuration in JSON.
pub(super) struct JsonConfig {
    /// Key of the object that contains the servers.
    pub(super) servers: &'static str,
    pub(super) shape: Shape,
}

/// Format of an entry.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// `{"command": …, "args": […]}`.
    Plain,
    /// As `Plain`, with `"type": "stdio"`.
    Typed,
    /// `{"type": "local", "command": […]}`.
    Local,
}

impl Config for JsonConfig {
    fn new_file(&self, entry: &Entry) -> String {
        self.file(entry, "\n")
    }

    fn find_entry(&self, text: &str) -> Result<Found, String> {
        if text.trim().is_empty() {
            return Ok(Found::Nothing);
        }
        let document = Document::parse(text)?;
        let found = self.server_in(&document)?;
        Ok(found.map_or(Found::Nothing, |(_, servers, entry)| {
            self.read(&servers.properties[entry].value).map_or(Found::Other, Found::Entry)
        }))
    }

    fn put(&self, text: &str, entry: &Entry) -> Result<String, String> {
        if text.trim().is_empty() {
            // Without the final newline, `take` can distinguish the text from a new file.
            return Ok(text.to_owned() + self.file(entry, newline(text)).trim_end());
        }
        let document = Document::parse(text)?;
        let root = &document.root;
        let text = match (self.servers_in(root)?, self.server_in(&document)?) {
            (_, Some((_, servers, index))) => {
                let old = &servers.properties[index];
                let lines = document.lines_of(servers, old).filter(|_| text[range(old)].contains('\n'));
                document.with_value(old, &self.value(entry, lines.as_ref()))
            }
            (Some((_, servers)), None) => document.with_property(servers, |lines| self.property(entry, lines)),
            (None, None) => document.with_property(root, |lines| self.with_servers(entry, lines)),
        };
        Document::parse(&text).map(|_| text.clone())
    }

    fn take(&self, text: &str) -> Result<Option<String>, String> {
        if text.trim().is_empty() {
            return Ok(Some(text.to_owned()));
        }
        let document = Document::parse(text)?;
        let root = &document.root;
        let Some((outer, servers, index)) = self.server_in(&document)? else { return Ok(Some(text.to_owned())) };
        // `new_file` and `put` may have written more than the entry: the whole file, the content of an empty file, or
        // the object of servers. If that text is unchanged, remove all of it.
        if let Some(entry) = self.read(&servers.properties[index].value) {
            let (file, content) = (self.file(&entry, newline(text)), text.trim_start());
            if text == file {
                return Ok(None);
            }
            if content == file.trim_end() {
                return Ok(Some(text[..text.len() - content.len()].to_owned()));
            }
            let whole = &root.properties[outer];
            let lines = document.lines_of(root, whole);
            if [lines.as_ref(), None].iter().any(|lines| text[range(whole)] == self.with_servers(&entry, *lines)) {
                return Ok(Some(document.without_property(root, outer)));
            }
        }
        let text = document.without_property(servers, index);
        Document::parse(&text).map(|_| Some(text.clone()))
    }
}

impl JsonConfig {
    /// Finds the object of servers and its index in the root object.
    fn servers_in<'o, 't>(&self, root: &'o Object<'t>) -> Result<Option<(usize, &'o Object<'t>)>, String> {
        let Some(index) = index_of(root, self.servers)? else { return Ok(None) };
        match root.properties[index].value.as_object() {
            Some(servers) => Ok(Some((index, servers))),
            None => Err(format!("`{}` is not an object", self.servers)),
        }
    }

    /// Finds the object of servers with its index in the root object, and the index of this server in the object of
    /// servers.
    fn server_in<'o, 't>(&self, document: &'o Document<'t>) -> Result<Option<(usize, &'o Object<'t>, usize)>, String> {
        let Some(outer) = index_of(&document.root, self.servers)? else { return Ok(None) };
        let Some(servers) = document.root.properties[outer].value.as_object() else { return Ok(None) };
        Ok(index_of(servers, NAME)?.map(|index| (outer, servers, index)))
    }

    /// Returns the entry in `value` if `value` has exactly the fields that `aur init` writes.
    fn read(&self, value: &Value) -> Option<Entry> {
        let object = value.as_object()?;
        let (kind, keys): (_, &[&str]) = match self.shape {
            Shape::Plain => (None, &["command", "args"]),
            Shape::Typed => (Some("stdio"), &["type", "command", "args"]),
            Shape::Local => (Some("local"), &["type", "command"]),
        };
        let field = |name| object.get(name).map(|property| &property.value);
        let has_all = object.properties.len() == keys.len() && keys.iter().all(|key| field(key).is_some());
        if !has_all || field("type").and_then(text) != kind.map(str::to_owned) {
            return None;
        }
        let command = field("command")?;
        match self.shape {
            Shape::Local => {
                let mut whole = texts(command)?.into_iter();
                Some(Entry { command: whole.next()?, arguments: whole.collect() })
            }
            _ => Some(Entry { command: text(command)?, arguments: texts(field("args")?)? }),
        }
    }

    fn file(&self, entry: &Entry, newline: &'static str) -> String {
        let lines = Lines { indent: "  ".to_owned(), unit: "  ".to_owned(), newline };
        format!("{{{newline}  {}{newline}}}{newline}", self.with_servers(entry, Some(&lines)))
    }

    /// Returns the object of servers as a property. If the object is on one line, it has spaces inside the braces.
    /// These spaces distinguish it from an object that existed before the entry was inserted.
    fn with_servers(&self, entry: &Entry, lines: Option<&Lines>) -> String {
        let property = match lines {
            None => format!(" {} ", self.property(entry, lines)),
            Some(Lines { indent, unit, newline }) => {
                let inner = Lines { indent: format!("{indent}{unit}"), unit: unit.clone(), newline };
                let property = self.property(entry, Some(&inner));
                format!("{newline}{indent}{unit}{property}{newline}{indent}")
            }
        };
        format!("{}: {{{property}}}", quoted(self.servers))
    }

    fn property(&self, entry: &Entry, lines: Option<&Lines>) -> String {
        format!("{}: {}", quoted(NAME), self.value(entry, lines))
    }

    fn value(&self, entry: &Entry, lines: Option<&Lines>) -> String {
        let Entry { command, arguments } = entry;
        let fields = match self.shape {
            Shape::Plain => vec![("command", quoted(command)), ("args", list(arguments))],
            Shape::Typed => vec![("type", quoted("stdio")), ("command", quoted(command)), ("args", list(arguments))],
            Shape::Local => {
                let whole: Vec<String> = std::iter::once(command).chain(arguments).cloned().collect();
                vec![("type", quoted("local")), ("command", list(&whole))]
            }
        };
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{}: {value}", quoted(name))).collect();
        match lines {
            None => format!("{{{}}}", fields.join(", ")),
            Some(Lines { indent, unit, newline }) => {
                let between = format!(",{newline}{indent}{unit}");
                format!("{{{newline}{indent}{unit}{}{newline}{indent}}}", fields.join(&between))
            }
        }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_string_lit().map(|text| text.value.clone().into_owned())
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.elements.iter().map(text).collect()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}
