//! Configurations in TOML.

use std::ops::Range;

use toml_edit::{Array, Document, InlineTable, Item, Table, Value};

use crate::commands::init::edit::{insert_at, newline, remove_ranges};
use crate::commands::init::entry::{Config, Entry, Found, NAME};

/// A configuration in TOML.
pub(super) struct TomlConfig {
    /// Key of the table that contains the servers.
    pub(super) servers: &'static str,
}

impl Config for TomlConfig {
    fn new_file(&self, entry: &Entry) -> String {
        self.file(entry, "\n")
    }

    fn find_entry(&self, text: &str) -> Result<Found, String> {
        let document = parsed(text)?;
        Ok(self.server_in(&document).map_or(Found::Nothing, |item| read(item).map_or(Found::Other, Found::Entry)))
    }

    fn put(&self, text: &str, entry: &Entry) -> Result<String, String> {
        let document = parsed(text)?;
        if document.get(self.servers).is_some_and(|servers| !servers.is_table_like()) {
            return Err(format!("`{}` is not a table", self.servers));
        }
        let changed = match self.server_in(&document) {
            Some(old) if read(old).is_some() => with_values(text, old, entry),
            Some(_) => {
                let rest = self.take(text)?.unwrap_or_default();
                return self.put(&rest, entry);
            }
            None => match document.get(self.servers).and_then(Item::as_inline_table) {
                Some(servers) => with_inline(text, servers, entry)?,
                None => self.with_table(text, entry),
            },
        };
        match self.find_entry(&changed) {
            Ok(Found::Entry(written)) if written == *entry => Ok(changed),
            _ => Err(format!("no table can be added to `{}`", self.servers)),
        }
    }

    fn take(&self, text: &str) -> Result<Option<String>, String> {
        let document = parsed(text)?;
        let Some(entry) = self.server_in(&document) else { return Ok(Some(text.to_owned())) };
        if let Some(entry) = read(entry) {
            if text == self.file(&entry, newline(text)) {
                return Ok(None);
            }
            if let Some(rest) = self.without_table(text, &entry) {
                return Ok(Some(rest.to_owned()));
            }
        }
        let rest = match document.get(self.servers).and_then(Item::as_inline_table) {
            Some(servers) => without_inline(text, servers)?,
            None => without_lines(text, entry),
        };
        match self.find_entry(&rest) {
            Ok(Found::Nothing) => Ok(Some(rest)),
            _ => Err(format!("`{NAME}` cannot be separated from the text around it")),
        }
    }
}

impl TomlConfig {
    fn server_in<'d>(&self, document: &'d Document<&str>) -> Option<&'d Item> {
        document.get(self.servers)?.as_table_like()?.get(NAME)
    }

    fn file(&self, entry: &Entry, newline: &str) -> String {
        self.table(entry, newline) + newline
    }

    /// Returns the text with a table appended. A text without a final newline stays without one.
    fn with_table(&self, text: &str, entry: &Entry) -> String {
        let newline = newline(text);
        let table = self.table(entry, newline);
        match text {
            "" => table,
            _ if text.ends_with('\n') => format!("{text}{newline}{table}{newline}"),
            _ => format!("{text}{newline}{newline}{table}"),
        }
    }

    /// Returns the text before the table if `text` ends with the table as `with_table` appends it.
    fn without_table<'t>(&self, text: &'t str, entry: &Entry) -> Option<&'t str> {
        let newline = newline(text);
        let table = self.table(entry, newline);
        let whole = text.strip_suffix(newline).and_then(|text| text.strip_suffix(&table));
        let before = match whole {
            Some(before) => before.strip_suffix(newline)?,
            None if text == table => "",
            None => text.strip_suffix(&table)?.strip_suffix(newline)?.strip_suffix(newline)?,
        };
        (self.with_table(before, entry) == text).then_some(before)
    }

    /// Returns the table without a final newline.
    fn table(&self, entry: &Entry, newline: &str) -> String {
        let Entry { command, arguments } = entry;
        let (command, arguments) = (quoted(command), list(arguments));
        format!("[{}.{NAME}]{newline}command = {command}{newline}args = {arguments}", self.servers)
    }
}

fn parsed(text: &str) -> Result<Document<&str>, String> {
    Document::parse(text).map_err(|error| error.message().to_owned())
}

/// Returns the entry in `item` if `item` has exactly the fields that `aur init` writes.
fn read(item: &Item) -> Option<Entry> {
    let table = item.as_table_like().filter(|table| table.len() == 2)?;
    let arguments = table.get("args")?.as_array()?.iter().map(|argument| argument.as_str().map(str::to_owned));
    Some(Entry { command: table.get("command")?.as_str()?.to_owned(), arguments: arguments.collect::<Option<_>>()? })
}

/// Returns the text with new values for the entry `old`.
fn with_values(text: &str, old: &Item, entry: &Entry) -> String {
    let range = |key| old.get(key).and_then(Item::span).unwrap_or_default();
    let mut values = [(range("command"), quoted(&entry.command)), (range("args"), list(&entry.arguments))];
    // Replace the last value first, so that the offset of the other value stays valid.
    values.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    values.into_iter().fold(text.to_owned(), |text, (range, value)| {
        let start = range.start;
        insert_at(&remove_ranges(&text, vec![range]), start, &value)
    })
}

/// Returns the text with an entry added to an inline table.
fn with_inline(text: &str, servers: &InlineTable, entry: &Entry) -> Result<String, String> {
    let braces = line_of(text, servers)?;
    let inner = text[braces.start + 1..braces.end - 1].trim_end();
    let new = format!("{NAME} = {{ command = {}, args = {} }}", quoted(&entry.command), list(&entry.arguments));
    let new = match inner {
        "" => new,
        _ if inner.ends_with(',') => format!(" {new},"),
        _ => format!(", {new}"),
    };
    Ok(insert_at(text, braces.start + 1 + inner.len(), &new))
}

/// Returns the text without the entry of an inline table, the white space before the entry, and the comma that
/// separates it.
fn without_inline(text: &str, servers: &InlineTable) -> Result<String, String> {
    line_of(text, servers)?;
    let key = servers.key(NAME).and_then(toml_edit::Key::span);
    let value = servers.get(NAME).and_then(Value::span);
    let (Some(key), Some(value)) = (key, value) else { return Err(format!("the keys of `{NAME}` have dots")) };
    let (before, after) = (text[..key.start].trim_end(), &text[value.end..]);
    let following = after.trim_start();
    let cut = match (following.strip_prefix(','), before.strip_suffix(',')) {
        (Some(rest), _) => before.len()..text.len() - rest.len(),
        (None, Some(before)) => before.len()..value.end,
        (None, None) => before.len()..value.end,
    };
    Ok(remove_ranges(text, vec![cut]))
}

/// Returns the range of an inline table. Fails if the table spans several lines, because it may then contain comments.
fn line_of(text: &str, table: &InlineTable) -> Result<Range<usize>, String> {
    let braces = table.span().filter(|braces| !text[braces.clone()].contains('\n'));
    braces.ok_or_else(|| "the inline table of servers spans several lines".to_owned())
}

/// Returns the text without the lines of an item. If there are empty lines before and after a table, the empty line
/// before it is removed too.
fn without_lines(text: &str, item: &Item) -> String {
    let mut ranges = Vec::new();
    add_ranges(item, &mut ranges);
    let line = |offset: usize| text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let next = |offset: usize| text[offset..].find('\n').map_or(text.len(), |at| offset + at + 1);
    let cut = |range: Range<usize>| {
        let (start, end) = (line(range.start), next(range.end));
        let is_table = text[range.start..].starts_with('[');
        let before = line(start.saturating_sub(1));
        let is_apart = text[before..start].trim().is_empty() && text[end..next(end)].trim().is_empty();
        if is_table && is_apart { before..end } else { start..end }
    };
    remove_ranges(text, ranges.into_iter().map(cut).collect())
}

/// Adds the ranges of an item to `ranges`: of every value, and of every table from its header to its last value.
fn add_ranges(item: &Item, ranges: &mut Vec<Range<usize>>) {
    match item {
        Item::None => {}
        Item::Value(value) => ranges.extend(value.span()),
        Item::Table(table) => add_ranges_of_table(table, ranges),
        Item::ArrayOfTables(tables) => tables.iter().for_each(|table| add_ranges_of_table(table, ranges)),
    }
}

fn add_ranges_of_table(table: &Table, ranges: &mut Vec<Range<usize>>) {
    if let Some(header) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted()) {
        ranges.push(header.start..last_value(table).unwrap_or(header.end));
    }
    table.iter().for_each(|(_, item)| add_ranges(item, ranges));
}

/// Returns the end of the last value below the header of a table.
fn last_value(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Value(value) => value.span().map(|value| value.end),
        Item::Table(table) if table.is_dotted() => last_value(table),
        _ => None,
    });
    ends.max()
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(texts: &[String]) -> String {
    Value::from(texts.iter().collect::<Array>()).to_string()
}
