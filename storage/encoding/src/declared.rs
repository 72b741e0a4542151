//! Finds the encodings that a file declares in its text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, X_USER_DEFINED};

/// Number of bytes at the start of a file that are searched for a declaration.
const HEAD_BYTES: usize = 8 << 10;
/// Number of bytes at the end of a file that are searched for editor variables, as in Emacs.
const TAIL_BYTES: usize = 3_000;
/// Number of lines at each end of a file that are searched for modelines, as in Vim.
const MODELINES: usize = 5;
/// Encoding names that are not labels of the WHATWG Encoding Standard.
const ALIASES: &[(&str, &str)] = &[
    ("ansinew", "windows-1252"),
    ("applemac", "macintosh"),
    ("big5hkscs", "big5"),
    ("cp932", "shift_jis"),
    ("cp936", "gbk"),
    ("cp950", "big5"),
    ("euccn", "gbk"),
    ("eucjapan", "euc-jp"),
    ("eucjp", "euc-jp"),
    ("euckorea", "euc-kr"),
    ("euckr", "euc-kr"),
    ("japaneseiso8bit", "euc-jp"),
    ("japaneseshiftjis", "shift_jis"),
    ("koreaniso8bit", "euc-kr"),
    ("latin0", "iso-8859-15"),
    ("latin7", "iso-8859-13"),
    ("latin8", "iso-8859-14"),
    ("latin9", "iso-8859-15"),
    ("latin10", "iso-8859-16"),
    ("macroman", "macintosh"),
    ("maccyrillic", "x-mac-cyrillic"),
    ("tis620", "windows-874"),
    ("uhc", "euc-kr"),
];

/// Returns the ASCII-compatible encodings that a file declares in its text, except UTF-8.
pub(crate) fn declared_encodings(bytes: &[u8]) -> Vec<&'static Encoding> {
    let head = ascii(&bytes[..bytes.len().min(HEAD_BYTES)]);
    let tail = ascii(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
    let labels = [
        in_markup(&head),
        in_first_lines(&head),
        in_modelines(&head, &tail),
        in_local_variables(&tail),
        in_content_type(&head),
        in_directives(&head),
    ];
    let mut found: Vec<_> = labels.into_iter().flatten().filter_map(encoding_of).collect();
    found.dedup();
    found
}

/// Converts ASCII letters to lower case and replaces all non-ASCII bytes with `?`.
fn ascii(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| if byte.is_ascii() { char::from(byte.to_ascii_lowercase()) } else { '?' }).collect()
}

/// Returns the encoding name in an XML declaration, a `meta` element of HTML, a JSP directive or an `@charset` rule of
/// CSS.
fn in_markup(head: &str) -> Option<&str> {
    if let Some(rule) = head.strip_prefix("@charset \"") {
        return Some(label(rule));
    }
    let mut tags = head.match_indices('<').map(|(at, _)| {
        let tag = &head[at..];
        &tag[..tag.find('>').unwrap_or(tag.len())]
    });
    tags.find_map(|tag| {
        let names: &[&str] = match tag {
            _ if tag.starts_with("<?xml") => &["encoding"],
            _ if tag.starts_with("<meta") => &["charset"],
            _ if tag.starts_with("<%@") => &["pageencoding", "charset"],
            _ => return None,
        };
        names.iter().find_map(|name| value(tag, name))
    })
}

/// Returns NAME from `coding: NAME` or `coding=NAME` in the first two lines, as in Python (PEP 263 and PEP 3120), Ruby
/// and Emacs.
fn in_first_lines(head: &str) -> Option<&str> {
    head.lines().take(2).filter(|line| !line.trim_start().starts_with('<')).find_map(|line| unquoted(line, "coding"))
}

/// Returns NAME from `fileencoding=NAME` or `fenc=NAME` in a Vim modeline.
fn in_modelines<'t>(head: &'t str, tail: &'t str) -> Option<&'t str> {
    let lines = head.lines().take(MODELINES).chain(tail.lines().rev().take(MODELINES));
    let is_modeline = |line: &&str| ["vi:", "vim:", "ex:"].iter().any(|word| line.contains(word));
    lines.filter(is_modeline).find_map(|line| unquoted(line, "fileencoding").or_else(|| unquoted(line, "fenc")))
}

/// Returns NAME from `coding: NAME` among the local variables at the end of a file, as in Emacs.
fn in_local_variables(tail: &str) -> Option<&str> {
    tail.rsplit_once("local variables:").and_then(|(_, variables)| unquoted(variables, "coding"))
}

/// Returns NAME from `charset=NAME` in a MIME header, as in gettext catalogues and mail messages.
fn in_content_type(head: &str) -> Option<&str> {
    let mut headers = head.match_indices("content-type:").map(|(at, _)| head[at..].lines().next().unwrap_or_default());
    headers.find_map(|header| value(header, "charset"))
}

/// Returns NAME from `\usepackage[NAME]{inputenc}` in LaTeX, or from `=encoding NAME` in Perl.
fn in_directives(head: &str) -> Option<&str> {
    let package = || {
        let (before, _) = head.split_once("]{inputenc}")?;
        before.rsplit_once('[').map(|(_, name)| label(name))
    };
    head.split_once("\n=encoding ").map(|(_, name)| label(name)).or_else(package)
}

/// Returns the encoding name in an attribute, whose value may be quoted.
fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    assignments(text, name)
        .map(|value| label(value.trim_start_matches(['"', '\'', '\\'])))
        .find(|name| !name.is_empty())
}

/// Returns the encoding name in a setting, whose value is not quoted.
fn unquoted<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    assignments(text, name).map(label).find(|name| !name.is_empty())
}

/// Returns the text after each occurrence of `name` that is followed by a colon or an equals sign.
fn assignments<'t>(text: &'t str, name: &str) -> impl Iterator<Item = &'t str> {
    text.match_indices(name).filter_map(move |(at, _)| {
        let rest = text[at + name.len()..].trim_start_matches([' ', '\t']);
        rest.strip_prefix([':', '=']).map(|rest| rest.trim_start_matches([' ', '\t']))
    })
}

/// Returns the encoding name at the start of a text.
fn label(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the encoding for a name that browsers, Python, Emacs, Vim or LaTeX use; `None` for unknown names, ASCII,
/// UTF-8 and UTF-16.
fn encoding_of(name: &str) -> Option<&'static Encoding> {
    // Emacs appends the line ending convention to the name.
    let name = ["-unix", "-dos", "-mac"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    // The WHATWG Encoding Standard would map these labels to windows-1252.
    if matches!(name, "ascii" | "us-ascii") {
        return None;
    }
    let from_label = |label: &str| Encoding::for_label_no_replacement(label.as_bytes());
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == plain).and_then(|(_, label)| from_label(label));
    let numbered = || {
        let number = |prefix: &str| plain.strip_prefix(prefix).filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        let page = number("cp").or_else(|| number("ms")).or_else(|| number("win")).or_else(|| number("windows"));
        let part = || number("iso8859").or_else(|| number("8859"));
        let latin = || number("isolatin").or_else(|| number("latin"));
        page.map(|page| format!("windows-{page}"))
            .or_else(|| part().map(|part| format!("iso-8859-{part}")))
            .or_else(|| latin().map(|latin| format!("latin{latin}")))
            .and_then(|label| from_label(&label))
    };
    let dashed = || from_label(&name.replace('_', "-"));
    let found = from_label(name).or_else(dashed).or_else(alias).or_else(numbered)?;
    (![UTF_8, UTF_16LE, UTF_16BE, X_USER_DEFINED].contains(&found)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_every_kind_are_found() {
        for (text, expected) in [
            ("# -*- coding: koi8-r -*-\n", "KOI8-R"),
            ("#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\n", "windows-1251"),
            ("#!/bin/sh\n# encoding: Windows-1251\n", "windows-1251"),
            ("a\nb\nc\nd\n// vim: ts=4 fenc=euc-jp\n", "EUC-JP"),
            ("line\n\u{c}\n;; Local Variables:\n;; coding: euc-japan-unix\n;; End:\n", "EUC-JP"),
            ("; -*- mode: lisp; coding: iso-latin-2 -*-\n", "ISO-8859-2"),
            ("<?xml version='1.0' encoding='ISO-8859-5'?>\n<a/>", "ISO-8859-5"),
            ("<html><head><meta charset=big5>", "Big5"),
            ("<META http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\">", "GBK"),
            ("<%@ page language=\"java\" pageEncoding=\"EUC-KR\"%>", "EUC-KR"),
            ("@charset \"iso-8859-7\";\n", "ISO-8859-7"),
            ("# Polish.\nmsgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=ISO-8859-2\\n\"\n", "ISO-8859-2"),
            ("\\documentclass{article}\n\\usepackage[latin9]{inputenc}\n", "ISO-8859-15"),
            ("=pod\n\n=encoding koi8-u\n", "KOI8-U"),
        ] {
            let found: Vec<&str> = declared_encodings(text.as_bytes()).iter().map(|found| found.name()).collect();
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn texts_without_a_usable_declaration_declare_nothing() {
        for text in [
            "# -*- coding: utf-8 -*-\n",
            "# -*- coding: ascii -*-\n",
            "# coding: unknown\n",
            "open(path, encoding='koi8-r')\n",
            "a\nb\n# coding: koi8-r\n",
            "<?xml version='1.0' encoding='utf-16'?>",
            "<p charset=koi8-r>",
            "<",
            "coding",
            "content-type:",
            "]{inputenc}",
        ] {
            assert_eq!(declared_encodings(text.as_bytes()), [] as [&Encoding; 0], "{text}");
        }
    }

    #[test]
    fn encoding_names_of_several_programs_are_resolved() {
        for (name, expected) in [
            ("latin-1", "windows-1252"),
            ("latin_1", "windows-1252"),
            ("iso8859_15", "ISO-8859-15"),
            ("iso_8859_2", "ISO-8859-2"),
            ("sjis-dos", "Shift_JIS"),
            ("cp932", "Shift_JIS"),
            ("shift-jis", "Shift_JIS"),
            ("euc_jp", "EUC-JP"),
            ("cp1252", "windows-1252"),
            ("cp949", "EUC-KR"),
            ("cp866", "IBM866"),
            ("mac-roman", "macintosh"),
            ("big5-hkscs", "Big5"),
            ("gb18030", "gb18030"),
        ] {
            assert_eq!(encoding_of(name).map(Encoding::name), Some(expected), "{name}");
        }
    }
}
