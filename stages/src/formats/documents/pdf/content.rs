//! The text of pages: the strings that the operators of content streams show, and their positions.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::error::ExtractError;
use super::file::PdfFile;
use super::font::Font;
use super::layout::{IDENTITY, Lines, Matrix, product};
use super::object::{Dict, Lexer, Object};

/// Maximum nesting depth of form XObjects that show other form XObjects.
const MAX_FORMS: usize = 8;
/// Maximum number of saved graphics states.
const MAX_SAVED: usize = 64;
/// Maximum number of operands before an operator. Later operands are ignored. No operator has more than 33 operands.
const MAX_OPERANDS: usize = 64;

/// The fonts that are indirect objects of a document, by object number.
pub(super) type Fonts = HashMap<u32, Rc<Font>>;

/// Returns the lines of a page, with empty lines between paragraphs. `length` is the number of bytes of the document's
/// text before the page.
///
/// # Errors
/// Fails if the text is too large, or the file unpacks to too much data.
pub(super) fn lines<'f>(
    file: &'f PdfFile<'_>,
    fonts: &mut Fonts,
    page: &Dict<'f>,
    resources: &Object<'f>,
    length: usize,
) -> Result<String, ExtractError> {
    let mut content = Vec::new();
    match file.get(page, b"Contents")? {
        Object::Array(parts) => {
            for part in parts.iter() {
                content.extend(file.data(&file.resolve(part)?)?);
                content.push(b' ');
            }
        }
        part => content = file.data(&part)?,
    }
    let mut text = Text { file, fonts, lines: Lines::new(length) };
    text.show(&content, resources, State::default(), 0)?;
    Ok(text.lines.finish())
}

struct Text<'f, 'b, 'd> {
    file: &'f PdfFile<'b>,
    fonts: &'d mut Fonts,
    lines: Lines,
}

/// The part of the graphics state that affects text.
#[derive(Debug, Clone)]
struct State {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
    text: Matrix,
    line: Matrix,
}

impl Default for State {
    fn default() -> Self {
        Self {
            page: IDENTITY,
            font: None,
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            text: IDENTITY,
            line: IDENTITY,
        }
    }
}

impl State {
    fn next_line(&mut self, x: f64, y: f64) {
        self.line = product(&[1.0, 0.0, 0.0, 1.0, x, y], &self.line);
        self.text = self.line;
    }

    fn advance(&mut self, x: f64) {
        self.text = product(&[1.0, 0.0, 0.0, 1.0, x, 0.0], &self.text);
    }
}

/// The fonts and form XObjects that a content stream can refer to.
struct Scope<'f> {
    fonts: Object<'f>,
    known_fonts: HashMap<Vec<u8>, Rc<Font>>,
    forms: Object<'f>,
}

impl<'f> Text<'f, '_, '_> {
    fn show(&mut self, content: &[u8], resources: &Object<'f>, state: State, depth: usize) -> Result<(), ExtractError> {
        let entry = |key: &[u8]| resources.dict().map_or(Ok(Object::Null), |dict| self.file.get(dict, key));
        let mut scope = Scope { fonts: entry(b"Font")?, known_fonts: HashMap::new(), forms: entry(b"XObject")? };
        let (mut state, mut saved, mut lexer, mut operands) = (state, Vec::new(), Lexer::new(content), Vec::new());
        while let Some(object) = lexer.next() {
            let operator = match object {
                Object::Operator(operator) => operator,
                operand => {
                    if operands.len() < MAX_OPERANDS {
                        operands.push(operand);
                    }
                    continue;
                }
            };
            match operator {
                b"q" if saved.len() < MAX_SAVED => saved.push(state.clone()),
                b"Q" => state = saved.pop().unwrap_or(state),
                b"BI" => lexer.skip_inline_image(),
                b"Tf" => {
                    if let [Object::Name(name), size, ..] = &operands[..] {
                        state.size = size.number().unwrap_or_default();
                        state.font = self.font(&mut scope, name)?;
                    }
                }
                b"Do" => {
                    if let Some(name) = operands.first().and_then(Object::name) {
                        self.show_form(&scope, resources, name, &state, depth)?;
                    }
                }
                b"Tj" | b"TJ" | b"'" | b"\"" => self.show_strings(operator, &operands, &mut state)?,
                _ => set_text_state(operator, &operands, &mut state),
            }
            operands.clear();
        }
        Ok(())
    }

    fn font(&mut self, scope: &mut Scope<'f>, name: &[u8]) -> Result<Option<Rc<Font>>, ExtractError> {
        if let Some(font) = scope.known_fonts.get(name) {
            return Ok(Some(Rc::clone(font)));
        }
        let object = scope.fonts.dict().and_then(|fonts| fonts.get(name));
        let number = object.and_then(Object::reference);
        let mut font = number.and_then(|number| self.fonts.get(&number)).cloned();
        if font.is_none()
            && let Some(object) = object
            && let Some(dict) = self.file.resolve(object)?.dict()
        {
            let read = Rc::new(Font::read(self.file, dict)?);
            if let Some(number) = number {
                self.fonts.insert(number, Rc::clone(&read));
            }
            font = Some(read);
        }
        // Only existing fonts are cached. A page may refer to any number of missing fonts, so caching them would need
        // unbounded memory.
        if let Some(font) = &font {
            scope.known_fonts.insert(name.to_vec(), Rc::clone(font));
        }
        Ok(font)
    }

    /// Shows a form XObject, which has its own content stream.
    fn show_form(
        &mut self,
        scope: &Scope<'f>,
        resources: &Object<'f>,
        name: &[u8],
        state: &State,
        depth: usize,
    ) -> Result<(), ExtractError> {
        let Some(object) = scope.forms.dict().and_then(|forms| forms.get(name)).filter(|_| depth < MAX_FORMS) else {
            return Ok(());
        };
        let form = self.file.resolve(object)?;
        let Some(dict) = form.dict() else { return Ok(()) };
        if self.file.get(dict, b"Subtype")?.name() != Some(b"Form") {
            return Ok(());
        }
        let own = self.file.get(dict, b"Resources")?;
        let resources = if own.dict().is_some() { &own } else { resources };
        let mut state = state.clone();
        if let Some(matrix) = self.file.get(dict, b"Matrix")?.array().and_then(|items| matrix(items)) {
            state.page = product(&matrix, &state.page);
        }
        let content = self.file.data(&form)?;
        self.show(&content, resources, state, depth + 1)
    }

    fn show_strings(
        &mut self,
        operator: &[u8],
        operands: &[Object<'_>],
        state: &mut State,
    ) -> Result<(), ExtractError> {
        if let (b"\"", [word_space, character_space, ..]) = (operator, operands) {
            state.word_space = word_space.number().unwrap_or_default();
            state.character_space = character_space.number().unwrap_or_default();
        }
        if matches!(operator, b"'" | b"\"") {
            state.next_line(0.0, -state.leading);
        }
        match operands.last() {
            Some(Object::String(string)) => self.show_string(string, state),
            Some(Object::Array(items)) => items.iter().try_for_each(|item| match item {
                Object::String(string) => self.show_string(string, state),
                Object::Number(back) => {
                    state.advance(-back / 1000.0 * state.size * state.stretch);
                    Ok(())
                }
                _ => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    fn show_string(&mut self, string: &[u8], state: &mut State) -> Result<(), ExtractError> {
        let Some(font) = state.font.clone() else { return Ok(()) };
        font.glyphs(string, |glyph| {
            let square = [state.size * state.stretch, 0.0, 0.0, state.size, 0.0, state.rise];
            let matrix = product(&square, &product(&state.text, &state.page));
            if !glyph.text.is_empty() {
                self.lines.push(glyph.text, glyph.width, font.height(), &matrix)?;
            }
            let space = state.character_space + if glyph.is_space { state.word_space } else { 0.0 };
            state.advance((glyph.width * state.size + space) * state.stretch);
            Ok(())
        })
    }
}

/// Executes the operators that change the position or the format of text.
fn set_text_state(operator: &[u8], operands: &[Object<'_>], state: &mut State) {
    let number = |at: usize| operands.get(at).and_then(Object::number).unwrap_or_default();
    match operator {
        b"cm" => state.page = matrix(operands).map_or(state.page, |matrix| product(&matrix, &state.page)),
        b"BT" => (state.text, state.line) = (IDENTITY, IDENTITY),
        b"Tm" => {
            state.line = matrix(operands).unwrap_or(state.line);
            state.text = state.line;
        }
        b"Td" => state.next_line(number(0), number(1)),
        b"TD" => {
            state.leading = -number(1);
            state.next_line(number(0), number(1));
        }
        b"T*" => state.next_line(0.0, -state.leading),
        b"Tc" => state.character_space = number(0),
        b"Tw" => state.word_space = number(0),
        b"Tz" => state.stretch = number(0) / 100.0,
        b"TL" => state.leading = number(0),
        b"Ts" => state.rise = number(0),
        _ => {}
    }
}

fn matrix(items: &[Object<'_>]) -> Option<Matrix> {
    let mut matrix = IDENTITY;
    for (at, item) in items.get(..6)?.iter().enumerate() {
        matrix[at] = item.number()?;
    }
    Some(matrix)
}
