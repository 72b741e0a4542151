//! The hooks of a client: a prompt hook that adds recalled context, and a hook that logs a session at its end.

use std::ffi::OsStr;
use std::path::Path;

use jsonc_parser::ast::{Array, Object, Value};

use crate::commands::init::edit::{byte_order_mark, newline};
use crate::commands::init::entry::PROGRAM;
use crate::commands::init::json_document::{Document, Lines, index_of, range};

/// The hooks of a client, in a configuration in JSON with or without comments.
///
/// If a hook is added to a text without this hook and then removed, the result has the original bytes.
pub(super) struct HookConfig {
    /// The events of the client and the hooks for them, in the order in which they are added.
    pub(super) events: &'static [(&'static str, Hook)],
    pub(super) shape: HookShape,
}

/// A hook that `aur init` adds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hook {
    /// Adds recalled context to a prompt.
    Prompt,
    /// Logs a session at its end.
    SessionEnd,
}

/// Format of the hook for an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HookShape {
    /// `{"hooks": [{"type": "command", "command": …, "timeout": …}]}`. The value is the number of time units in a
    /// second.
    Nested(u32),
    /// `{"command": …, "timeout": …}` in a file with `"version": 1`, with timeouts in seconds.
    Flat,
}

/// Key of the object with the events.
const HOOKS: &str = "hooks";

impl Hook {
    /// The arguments of the program. The name of the client follows.
    fn arguments(self) -> &'static str {
        match self {
            Self::Prompt => "mem recall --passive --hook",
            Self::SessionEnd => "log write --hook",
        }
    }

    /// The time limit that the client enforces, in seconds. The program ends before.
    fn timeout(self) -> u32 {
        match self {
            Self::Prompt => 5,
            Self::SessionEnd => 30,
        }
    }
}

impl HookConfig {
    /// Returns the configuration `before` with the hooks, or a new configuration if `before` is `None`. `program` is
    /// the command or path of the program, and `client` the name of the client.
    ///
    /// # Errors
    ///
    /// Returns the reason if the configuration cannot be changed.
    pub(super) fn with_hooks(&self, before: Option<&str>, program: &str, client: &str) -> Result<String, String> {
        let (mark, content) = before.map_or(("", None), |text| {
            let (mark, content) = text.split_at(byte_order_mark(text).len());
            (mark, Some(content.to_owned()))
        });
        let mut content = content;
        for (event, hook) in self.events {
            let program = shlex::try_quote(program).map_err(|error| error.to_string())?;
            let element = self.element(&format!("{program} {} {client}", hook.arguments()), *hook);
            content = Some(self.put(content.as_deref(), event, *hook, client, &element)?);
        }
        Ok(mark.to_owned() + &content.unwrap_or_default())
    }

    /// Returns the configuration without the hooks, or `None` if the file would be empty and `aur init` has created it.
    ///
    /// # Errors
    ///
    /// Returns the reason if the configuration cannot be changed.
    pub(super) fn without_hooks(&self, text: &str, client: &str) -> Result<Option<String>, String> {
        let (mark, content) = text.split_at(byte_order_mark(text).len());
        let mut content = Some(content.to_owned());
        for (event, hook) in self.events.iter().rev() {
            let Some(text) = &content else { break };
            content = self.take(text, event, *hook, client)?;
        }
        Ok(if mark.is_empty() { content } else { Some(mark.to_owned() + &content.unwrap_or_default()) })
    }

    fn put(&self, text: Option<&str>, event: &str, hook: Hook, client: &str, element: &str) -> Result<String, String> {
        let Some(text) = text else { return Ok(self.file(event, element, "\n")) };
        if text.trim().is_empty() {
            // Without the final newline, `take` can distinguish the text from a new file.
            return Ok(text.to_owned() + self.file(event, element, newline(text)).trim_end());
        }
        let document = Document::parse(text)?;
        let root = &document.root;
        if self.shape == HookShape::Flat && index_of(root, "version")?.is_none() {
            return Err("the file has no `version`".to_owned());
        }
        let written = match object_in(root, HOOKS)? {
            None => document.with_property(root, |lines| with_event(event, element, lines)),
            Some((_, hooks)) => match array_in(hooks, event)? {
                None => document.with_property(hooks, |lines| event_property(event, element, lines)),
                Some((_, array)) => match self.position(array, hook, client) {
                    Some(index) => document.with_element_replaced(array, index, element),
                    None => document.with_element(array, element),
                },
            },
        };
        Document::parse(&written).map(|_| written.clone())
    }

    fn take(&self, text: &str, event: &str, hook: Hook, client: &str) -> Result<Option<String>, String> {
        if text.trim().is_empty() {
            return Ok(Some(text.to_owned()));
        }
        let unchanged = || Ok(Some(text.to_owned()));
        let document = Document::parse(text)?;
        let root = &document.root;
        let Some((outer, hooks)) = object_in(root, HOOKS)? else { return unchanged() };
        let Some((inner, array)) = array_in(hooks, event)? else { return unchanged() };
        let Some(index) = self.position(array, hook, client) else { return unchanged() };
        // `put` may have written more than the hook: the whole file, the content of an empty file, the object of hooks
        // or the list of the event. If that text is unchanged, remove all of it.
        let element = document.text_of(&array.elements[index]);
        let (file, content) = (self.file(event, element, newline(text)), text.trim_start());
        if text == file {
            return Ok(None);
        }
        if content == file.trim_end() {
            return Ok(Some(text[..text.len() - content.len()].to_owned()));
        }
        let is_written = |object: &Object, index: usize, write: &dyn Fn(Option<&Lines>) -> String| {
            let property = &object.properties[index];
            let lines = document.lines_of(object, property);
            [lines.as_ref(), None].iter().any(|lines| text[range(property)] == write(*lines))
        };
        let written = if is_written(root, outer, &|lines| with_event(event, element, lines)) {
            document.without_property(root, outer)
        } else if is_written(hooks, inner, &|lines| event_property(event, element, lines)) {
            document.without_property(hooks, inner)
        } else {
            document.without_element(array, index)
        };
        Document::parse(&written).map(|_| Some(written.clone()))
    }

    /// Returns the index of the hook that `aur init` has written, perhaps for a program at another path.
    fn position(&self, array: &Array, hook: Hook, client: &str) -> Option<usize> {
        let ending = format!(" {} {client}", hook.arguments());
        let is_program = |program: &str| {
            let own = std::env::current_exe().ok();
            let own = own.as_deref().and_then(Path::file_stem).and_then(OsStr::to_str);
            let words = shlex::split(program).filter(|words| words.len() == 1).unwrap_or_default();
            let stem = words.first().and_then(|word| Path::new(word).file_stem()).and_then(OsStr::to_str);
            stem.is_some() && (stem == Some(PROGRAM) || stem == own)
        };
        let is_own = |element: &Value| {
            let command = self.command(element)?;
            Some(is_program(command.strip_suffix(&ending)?))
        };
        array.elements.iter().position(|element| is_own(element).unwrap_or_default())
    }

    /// Returns the command of a hook; `None` if the hook has another form.
    fn command(&self, element: &Value) -> Option<String> {
        let element = element.as_object()?;
        let hook = match self.shape {
            HookShape::Flat => element,
            HookShape::Nested(_) => match element.get(HOOKS)?.value.as_array()?.elements.as_slice() {
                [hook] => hook.as_object()?,
                _ => return None,
            },
        };
        Some(hook.get("command")?.value.as_string_lit()?.value.clone().into_owned())
    }

    fn element(&self, command: &str, hook: Hook) -> String {
        let (command, timeout) = (serde_json::Value::from(command), hook.timeout());
        match self.shape {
            HookShape::Flat => format!(r#"{{"command": {command}, "timeout": {timeout}}}"#),
            HookShape::Nested(unit) => {
                let timeout = timeout * unit;
                format!(r#"{{"hooks": [{{"type": "command", "command": {command}, "timeout": {timeout}}}]}}"#)
            }
        }
    }

    fn file(&self, event: &str, element: &str, newline: &'static str) -> String {
        let lines = Lines { indent: "  ".to_owned(), unit: "  ".to_owned(), newline };
        // A hook is added to an existing file after the version, so the version comes last in a new file, which can then
        // be distinguished.
        let version = match self.shape {
            HookShape::Flat => format!(",{newline}  \"version\": 1"),
            HookShape::Nested(_) => String::new(),
        };
        format!("{{{newline}  {}{version}{newline}}}{newline}", with_event(event, element, Some(&lines)))
    }
}

/// Returns the object of hooks with one event as a property. On one line, it has spaces inside the braces, which
/// distinguish it from an object that existed before the hook was added.
fn with_event(event: &str, element: &str, lines: Option<&Lines>) -> String {
    let content = match lines {
        None => format!(" {} ", event_property(event, element, lines)),
        Some(Lines { indent, unit, newline }) => {
            let inner = Lines { indent: format!("{indent}{unit}"), unit: unit.clone(), newline };
            format!("{newline}{indent}{unit}{}{newline}{indent}", event_property(event, element, Some(&inner)))
        }
    };
    format!("\"{HOOKS}\": {{{content}}}")
}

/// Returns the list of an event as a property. It has white space inside the brackets, as in [`with_event`].
fn event_property(event: &str, element: &str, lines: Option<&Lines>) -> String {
    match lines {
        None => format!("\"{event}\": [ {element} ]"),
        Some(Lines { indent, unit, newline }) => {
            format!("\"{event}\": [{newline}{indent}{unit}{element}{newline}{indent}]")
        }
    }
}

fn object_in<'o, 't>(object: &'o Object<'t>, name: &str) -> Result<Option<(usize, &'o Object<'t>)>, String> {
    let Some(index) = index_of(object, name)? else { return Ok(None) };
    let found = object.properties[index].value.as_object();
    found.map(|found| Some((index, found))).ok_or_else(|| format!("`{name}` is not an object"))
}

fn array_in<'o, 't>(object: &'o Object<'t>, name: &str) -> Result<Option<(usize, &'o Array<'t>)>, String> {
    let Some(index) = index_of(object, name)? else { return Ok(None) };
    let found = object.properties[index].value.as_array();
    found.map(|found| Some((index, found))).ok_or_else(|| format!("`{name}` is not a list"))
}
