//! A recursive descent parser for conditions.

use std::ops::Range;

use aurora_suggest::did_you_mean;

use crate::condition::error::ConditionError;
use crate::condition::expression::Expression;
use crate::condition::lexer::{Token, TokenKind, tokens};
use crate::condition::operator::Operator;
use crate::condition::predicate::{FIELDS, Field, Predicate};
use crate::lifespan::{MAX_DAYS, parse_days};

/// Maximum nesting depth of parentheses and NOT.
const MAX_DEPTH: usize = 64;
const PREDICATES: &str = "a field, `contains_tag('…')`, `inactive_for_N_days`, true, false, NOT or `(`";
const CONTAINS_TAG: &str = "contains_tag";
const INACTIVE_FOR: &str = "inactive_for_";

pub(super) fn parse(text: &str) -> Result<Expression, ConditionError> {
    if text.trim().is_empty() {
        let expected = "a condition such as `access_count > 10`";
        return Err(ConditionError::new(0..text.len(), "an empty condition", expected));
    }
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, nested: 0 };
    let expression = parser.or()?;
    if parser.peek().kind != TokenKind::End {
        return Err(parser.unexpected_after_predicate("the end"));
    }
    Ok(expression)
}

struct Parser<'t> {
    text: &'t str,
    /// Ends with [`TokenKind::End`].
    tokens: Vec<Token>,
    at: usize,
    nested: usize,
}

impl Parser<'_> {
    fn or(&mut self) -> Result<Expression, ConditionError> {
        let mut parts = vec![self.and()?];
        while self.take(&TokenKind::Or) {
            parts.push(self.and()?);
        }
        Ok(Expression::or(parts))
    }

    fn and(&mut self) -> Result<Expression, ConditionError> {
        let mut parts = vec![self.not()?];
        while self.take(&TokenKind::And) {
            parts.push(self.not()?);
        }
        Ok(Expression::and(parts))
    }

    fn not(&mut self) -> Result<Expression, ConditionError> {
        let token = self.next();
        match token.kind {
            TokenKind::Not => {
                self.nest(&token.span)?;
                let part = self.not()?;
                self.nested -= 1;
                Ok(Expression::Not(Box::new(part)))
            }
            TokenKind::Open => {
                self.nest(&token.span)?;
                let part = self.or()?;
                self.nested -= 1;
                if self.take(&TokenKind::Close) {
                    return Ok(part);
                }
                if self.peek().kind == TokenKind::End {
                    return Err(ConditionError::new(token.span, "unclosed `(`", "a closing `)`"));
                }
                Err(self.unexpected_after_predicate("`)`"))
            }
            TokenKind::Word(name) => self.predicate(&name, token.span).map(Expression::Predicate),
            _ => Err(self.unexpected(token.span, PREDICATES)),
        }
    }

    fn nest(&mut self, span: &Range<usize>) -> Result<(), ConditionError> {
        self.nested += 1;
        if self.nested <= MAX_DEPTH {
            return Ok(());
        }
        let cause = format!("parentheses and NOT nest more than {MAX_DEPTH} levels deep");
        Err(ConditionError::new(span.clone(), cause, "less nesting"))
    }

    fn predicate(&mut self, name: &str, span: Range<usize>) -> Result<Predicate, ConditionError> {
        let is_call = self.peek().kind == TokenKind::Open;
        if let Some(value) = parse_bool(name) {
            return Ok(Predicate::Constant(value));
        }
        if name == CONTAINS_TAG {
            return self.contains_tag();
        }
        if let Some((_, field)) = FIELDS.into_iter().find(|(known, _)| *known == name)
            && !is_call
        {
            return self.comparison(name, field);
        }
        if let Some(rest) = name.strip_prefix(INACTIVE_FOR) {
            return inactive_for(rest).ok_or_else(|| {
                let expected = format!("`inactive_for_N_days` with a whole number N from 1 to {MAX_DAYS}");
                ConditionError::new(span, format!("`{name}` has no valid number of days"), expected)
            });
        }
        if is_call {
            let suggestion = did_you_mean(name, [CONTAINS_TAG]);
            let error = ConditionError::new(span, format!("unknown function `{name}`"), "`contains_tag`");
            return Err(error.suggest(suggestion));
        }
        let words = ["inactive_for_90_days", CONTAINS_TAG, "true", "false"];
        let suggestion = did_you_mean(name, FIELDS.into_iter().map(|(known, _)| known).chain(words));
        let canonical = FIELDS.into_iter().filter(|(known, field)| *known == field.name());
        let names: Vec<String> = canonical.map(|(known, _)| format!("`{known}`")).collect();
        let expected = format!("{}, `contains_tag('…')`, `inactive_for_N_days`, true or false", names.join(", "));
        Err(ConditionError::new(span, format!("unknown field `{name}`"), expected).suggest(suggestion))
    }

    fn contains_tag(&mut self) -> Result<Predicate, ConditionError> {
        let open = self.next();
        if open.kind != TokenKind::Open {
            return Err(self.unexpected(open.span, "`(` after `contains_tag`"));
        }
        let argument = self.next();
        let TokenKind::Text(tag) = argument.kind else {
            return Err(self.unexpected(argument.span.clone(), "a tag in quotes").suggest(self.in_quotes(&argument)));
        };
        let close = self.next();
        if close.kind != TokenKind::Close {
            return Err(self.unexpected(close.span, "`)` after the tag"));
        }
        Ok(Predicate::ContainsTag(tag))
    }

    fn comparison(&mut self, name: &str, field: Field) -> Result<Predicate, ConditionError> {
        let token = self.next();
        let TokenKind::Operator(operator) = token.kind else {
            let expected = match field {
                Field::Number(_) => "==, !=, <, <=, > or >=",
                Field::Text(_) | Field::IsPattern => "== or !=",
            };
            let suggestion = (field == Field::IsPattern).then(|| "write `is_pattern == true`".to_owned());
            let error = self.unexpected(token.span, &format!("{expected} after `{name}`"));
            return Err(error.suggest(suggestion));
        };
        let has_order = matches!(field, Field::Number(_));
        if !has_order && !matches!(operator, Operator::Equal | Operator::NotEqual) {
            let what = if field == Field::IsPattern { "true or false" } else { "a string" };
            let cause = format!("`{name}` is {what} and does not support `{operator}`");
            return Err(ConditionError::new(token.span, cause, "== or !="));
        }
        let equal = operator == Operator::Equal;
        let value = self.next();
        match (field, &value.kind) {
            (Field::Number(field), TokenKind::Number(number)) => {
                Ok(Predicate::Number { field, operator, value: *number })
            }
            (Field::Text(field), TokenKind::Text(text)) => Ok(Predicate::Text { field, equal, value: text.clone() }),
            (Field::IsPattern, TokenKind::Word(word)) if parse_bool(word).is_some() => {
                Ok(Predicate::IsPattern(parse_bool(word) == Some(equal)))
            }
            _ => Err(self.wrong_value(name, field, &value)),
        }
    }

    fn wrong_value(&self, name: &str, field: Field, value: &Token) -> ConditionError {
        let (what, expected) = match field {
            Field::Number(_) => ("a number", "a number such as 0.8"),
            Field::Text(_) => ("a string", "a string in quotes"),
            Field::IsPattern => ("true or false", "true or false"),
        };
        let given = &self.text[value.span.clone()];
        let is_value = matches!(value.kind, TokenKind::Number(_) | TokenKind::Text(_) | TokenKind::Word(_));
        if !is_value {
            return self.unexpected(value.span.clone(), &format!("{expected} after the operator"));
        }
        let cause = format!("`{name}` is {what} and cannot be compared with `{given}`");
        let suggestion = if matches!(field, Field::Text(_)) { self.in_quotes(value) } else { None };
        ConditionError::new(value.span.clone(), cause, expected).suggest(suggestion)
    }

    fn in_quotes(&self, value: &Token) -> Option<String> {
        let given = &self.text[value.span.clone()];
        matches!(value.kind, TokenKind::Word(_) | TokenKind::Number(_)).then(|| format!("write '{given}'"))
    }

    /// Returns the error for a token that cannot follow a predicate. `end` names the token that could end the
    /// expression there.
    fn unexpected_after_predicate(&self, end: &str) -> ConditionError {
        let token = self.peek();
        let error = self.unexpected(token.span.clone(), &format!("AND, OR or {end}"));
        let is_second = matches!(token.kind, TokenKind::Operator(_));
        error.suggest(is_second.then(|| "join two comparisons with AND".to_owned()))
    }

    fn unexpected(&self, span: Range<usize>, expected: &str) -> ConditionError {
        let written = &self.text[span.clone()];
        let cause =
            if written.is_empty() { "the condition ends".to_owned() } else { format!("unexpected `{written}`") };
        ConditionError::new(span, cause, expected)
    }

    fn take(&mut self, kind: &TokenKind) -> bool {
        let is_next = self.peek().kind == *kind;
        if is_next {
            self.at += 1;
        }
        is_next
    }

    /// Consumes and returns the next token. At the end it returns [`TokenKind::End`] repeatedly.
    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }
}

fn parse_bool(word: &str) -> Option<bool> {
    [("true", true), ("false", false)].into_iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, is)| is)
}

fn inactive_for(rest: &str) -> Option<Predicate> {
    parse_days(rest.strip_suffix("_days")?).map(Predicate::InactiveFor)
}
