//! A JSON text, with or without comments, and edits of single properties.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use crate::commands::init::edit::{insert_at, newline, remove_ranges};

/// Characters that end a line or a line comment.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// A JSON text whose value is an object.
pub(super) struct Document<'t> {
    text: &'t str,
    /// All tokens, including comments.
    tokens: Vec<TokenAndRange<'t>>,
    pub(super) root: Object<'t>,
}

/// Layout of a property that starts its own line. A property without a layout is written on one line.
pub(super) struct Lines {
    /// Indentation of the property.
    pub(super) indent: String,
    /// Additional indentation of nested lines.
    pub(super) unit: String,
    pub(super) newline: &'static str,
}

impl<'t> Document<'t> {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// Returns a description of the mistake if the text is not a JSON object.
    pub(super) fn parse(text: &'t str) -> Result<Self, String> {
        let collected = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collected, &ParseOptions::default()).map_err(|error| error.to_string())?;
        match parsed.value {
            Some(Value::Object(root)) => Ok(Self { text, tokens: parsed.tokens.unwrap_or_default(), root }),
            _ => Err("the value is not an object".to_owned()),
        }
    }

    /// Returns the text with a property added at the end of an object. The only other change is a comma after the
    /// previous property, if it has no comma.
    ///
    /// The new property starts its own line if the last property does. In an object without properties, the new
    /// property is always written without line breaks, which distinguishes it from a property that was written together
    /// with its object.
    pub(super) fn with_property(&self, object: &Object, write: impl Fn(Option<&Lines>) -> String) -> String {
        let Some(last) = object.properties.last() else { return self.with_first_property(object, write) };
        let lines = self.lines_of(object, last);
        self.with_item_after(last.range.end, lines.as_ref(), &write(lines.as_ref()))
    }

    /// Returns the text with an element added at the end of an array, on one line. It starts its own line if the last
    /// element does.
    pub(super) fn with_element(&self, array: &Array, element: &str) -> String {
        let Some(last) = array.elements.last() else { return insert_at(self.text, array.range.start + 1, element) };
        let lines = self.lines_at(last.range().start, array.range.start);
        self.with_item_after(last.range().end, lines.as_ref(), element)
    }

    /// Returns the text with an element of an array replaced.
    pub(super) fn with_element_replaced(&self, array: &Array, index: usize, element: &str) -> String {
        let range = array.elements[index].range();
        [&self.text[..range.start], element, &self.text[range.end..]].concat()
    }

    /// Returns the text with an item after the last item of an object or array, which ends at `last`.
    fn with_item_after(&self, last: usize, lines: Option<&Lines>, item: &str) -> String {
        let comma = self.comma_after(last);
        let end = comma.as_ref().map_or(last, |comma| comma.end);
        let (at, space) = match lines {
            Some(lines) => (self.end_of_line(end), format!("{}{}", lines.newline, lines.indent)),
            None => (end, " ".to_owned()),
        };
        match comma {
            Some(_) => insert_at(self.text, at, &format!("{space}{item},")),
            None => {
                let (before, between) = (&self.text[..end], &self.text[end..at]);
                [before, ",", between, &space, item, &self.text[at..]].concat()
            }
        }
    }

    fn with_first_property(&self, object: &Object, write: impl Fn(Option<&Lines>) -> String) -> String {
        let (open, close) = (object.range.start + 1, object.range.end - 1);
        let at = self.token_before(close).map_or(open, |token| token.range.end);
        let space = if self.text[open..close].contains(LINE_ENDS) {
            let outer = self.indent_at(open);
            format!("{}{outer}{}", newline(self.text), unit(outer, ""))
        } else if at > open {
            " ".to_owned()
        } else {
            String::new()
        };
        insert_at(self.text, at, &(space + &write(None)))
    }

    /// Returns the text without a property of an object, the white space before the property, and the comma that
    /// separates it.
    pub(super) fn without_property(&self, object: &Object, index: usize) -> String {
        let previous = index.checked_sub(1).map(|previous| object.properties[previous].range.end);
        self.without_item(range(&object.properties[index]), previous)
    }

    /// Returns the text without an element of an array, the white space before the element, and the comma that
    /// separates it.
    pub(super) fn without_element(&self, array: &Array, index: usize) -> String {
        let previous = index.checked_sub(1).map(|previous| array.elements[previous].range().end);
        let element = array.elements[index].range();
        self.without_item(element.start..element.end, previous)
    }

    /// Returns the text without an item of an object or array. `previous` is the end of the item before it.
    fn without_item(&self, item: Range<usize>, previous: Option<usize>) -> String {
        let Range { start, mut end } = item;
        let before = self.token_before(start);
        let mut cuts = Vec::new();
        match self.comma_after(end) {
            Some(comma) if self.text[end..comma.start].trim().is_empty() => end = comma.end,
            Some(comma) => cuts.push(comma),
            None => {
                cuts.extend(previous.and_then(|previous| self.comma_after(previous)));
            }
        }
        let is_last_on_line = self.text[end..].split(LINE_ENDS).next().is_none_or(|rest| rest.trim().is_empty());
        let from = match before.map(|token| (&token.token, token.range.end)) {
            // The text after the property must not become part of a line comment.
            Some((Token::CommentLine(_), _)) if !is_last_on_line => start,
            Some((_, end)) => end,
            None => start,
        };
        cuts.push(from..end);
        remove_ranges(self.text, cuts)
    }

    /// Returns the text with the value of a property replaced.
    pub(super) fn with_value(&self, property: &ObjectProp, value: &str) -> String {
        let range = property.value.range();
        [&self.text[..range.start], value, &self.text[range.end..]].concat()
    }

    /// Returns the layout of a property that starts a line, or `None` if other text precedes the property on its line.
    pub(super) fn lines_of(&self, object: &Object, property: &ObjectProp) -> Option<Lines> {
        self.lines_at(property.range.start, object.range.start)
    }

    /// Returns the text of a value.
    pub(super) fn text_of(&self, value: &Value) -> &'t str {
        let range = value.range();
        &self.text[range.start..range.end]
    }

    /// Returns the layout of an item that starts a line at `start`, in an object or array that starts at `outer`.
    fn lines_at(&self, start: usize, outer: usize) -> Option<Lines> {
        let line = self.text[..start].rfind('\n')? + 1;
        let indent = &self.text[line..start];
        let unit = unit(indent, self.indent_at(outer));
        let is_first_in_line = indent.trim().is_empty();
        is_first_in_line.then(|| Lines { indent: indent.to_owned(), unit, newline: newline(self.text) })
    }

    /// Returns the end of the comments that follow `offset` on the same line, or `offset` if anything else follows.
    fn end_of_line(&self, offset: usize) -> usize {
        let mut end = offset;
        for token in &self.tokens[self.tokens.partition_point(|token| token.range.start < offset)..] {
            let is_comment = matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
            if self.text[end..token.range.start].contains('\n') {
                return end;
            }
            if !is_comment || token.text(self.text).contains('\n') {
                return offset;
            }
            end = token.range.end;
        }
        offset
    }

    /// Returns the range of the first token after `offset` that is not a comment, if this token is a comma.
    fn comma_after(&self, offset: usize) -> Option<Range<usize>> {
        let following = &self.tokens[self.tokens.partition_point(|token| token.range.start < offset)..];
        let is_comment = |token: &&TokenAndRange| matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
        let next = following.iter().find(|token| !is_comment(token))?;
        matches!(next.token, Token::Comma).then_some(next.range.start..next.range.end)
    }

    /// Returns the last token before `offset`, which may be a comment.
    fn token_before(&self, offset: usize) -> Option<&TokenAndRange<'t>> {
        self.tokens[..self.tokens.partition_point(|token| token.range.start < offset)].last()
    }

    /// Returns the white space at the start of the line that contains `offset`.
    fn indent_at(&self, offset: usize) -> &'t str {
        let line = &self.text[self.text[..offset].rfind('\n').map_or(0, |at| at + 1)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

/// Returns the index of the property called `name`.
///
/// # Errors
///
/// Fails if the object has the property twice.
pub(super) fn index_of(object: &Object, name: &str) -> Result<Option<usize>, String> {
    let mut found = (0..object.properties.len()).filter(|index| object.properties[*index].name.as_str() == name);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(format!("`{name}` appears twice")),
        (found, None) => Ok(found),
    }
}

/// Returns the byte range of a property.
pub(super) fn range(property: &ObjectProp) -> Range<usize> {
    property.range.start..property.range.end
}

/// Returns the additional indentation of `inner` relative to `outer`.
fn unit(inner: &str, outer: &str) -> String {
    let deeper = inner.strip_prefix(outer).filter(|deeper| !deeper.is_empty());
    deeper.unwrap_or("  ").to_owned()
}
