//! Detects the language of a file by its name, or by its text if the name is ambiguous.

use crate::{LANGUAGES, Language};

/// Number of lines at the beginning and at the end of a text in which editors look for a modeline.
const MODELINE_LINES: usize = 5;
/// Number of bytes at each end of a text that are searched for modelines.
const PROBE_BYTES: usize = 2_000;

/// Returns the language with this name.
pub fn by_name(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().copied().find(|language| language.name == name)
}

/// Returns the language of files with this extension, given without the dot. Ignores case.
pub fn by_extension(extension: &str) -> Option<&'static Language> {
    LANGUAGES.iter().copied().find(|language| language.extensions.iter().any(|e| e.eq_ignore_ascii_case(extension)))
}

/// Returns the language of files with this name, such as `Makefile`, regardless of their extension.
pub fn by_file_name(name: &str) -> Option<&'static Language> {
    let fits = |pattern: &&'static str| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => *pattern == name,
    };
    LANGUAGES.iter().copied().find(|language| language.file_names.iter().any(fits))
}

/// Returns the language for a name, alias or extension, as used by editors and in fenced code. Ignores case.
pub fn by_alias(name: &str) -> Option<&'static Language> {
    let is_alias = |language: &&Language| language.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name));
    let is_name = |language: &&Language| language.name.eq_ignore_ascii_case(name);
    let named = |is: &dyn Fn(&&Language) -> bool| LANGUAGES.iter().copied().find(|language| is(language));
    named(&is_name).or_else(|| named(&is_alias)).or_else(|| by_extension(name))
}

/// Returns the language that a user means by a word. The word may be a name, alias or extension as in [`by_alias`], an
/// interpreter, or a file name. Ignores case.
pub fn by_word(word: &str) -> Option<&'static Language> {
    let has = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    let means = |language: &&Language| has(language.interpreters) || has(language.file_names);
    by_alias(word).or_else(|| LANGUAGES.iter().copied().find(means))
}

/// Returns the language of a text whose file extension is ambiguous or unknown.
///
/// * Returns `None` if the extension belongs to one language and no other language claims it.
/// * If other languages claim the extension, a modeline that names one of these languages decides. Without a modeline,
///   the first language whose test the text passes is chosen.
/// * If the extension belongs to no language, a modeline decides, then the interpreter in the first line, then the
///   tests of the languages that claim the extension.
pub fn by_content(extension: &str, text: &str) -> Option<&'static Language> {
    let claims = || LANGUAGES.iter().copied().filter_map(|language| Some((language, language.claim(extension)?)));
    let claimed = || claims().find_map(|(language, holds)| holds(text).then_some(language));
    let Some(usual) = by_extension(extension) else {
        return modeline(text).or_else(|| interpreter(text)).or_else(claimed);
    };
    claims().next()?;
    let is_possible = |language: &&Language| {
        std::ptr::eq(*language, usual) || claims().any(|(other, _)| std::ptr::eq(*language, other))
    };
    modeline(text).filter(is_possible).or_else(claimed)
}

/// Returns the language that a modeline of Emacs or Vim names.
fn modeline(text: &str) -> Option<&'static Language> {
    let head = &text[..text.floor_char_boundary(PROBE_BYTES)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(PROBE_BYTES))..];
    let lines = || head.lines().take(MODELINE_LINES).chain(tail.lines().rev().take(MODELINE_LINES));
    lines().find_map(|line| by_alias(emacs_mode(line).or_else(|| vim_filetype(line))?))
}

/// Returns the mode of an Emacs modeline: `C++` in `-*- mode: C++; tab-width: 4 -*-` or `-*- C++ -*-`.
fn emacs_mode(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("-*-")?;
    let (variables, _) = rest.split_once("-*-")?;
    let mode = variables.split(';').find_map(|variable| {
        let (name, value) = variable.split_once(':')?;
        name.trim().eq_ignore_ascii_case("mode").then(|| value.trim())
    });
    mode.or_else(|| Some(variables.trim()).filter(|variables| !variables.contains(':')))
}

/// Returns the file type of a Vim modeline: `cpp` in `vim: set ft=cpp:` or `vim: filetype=cpp`.
fn vim_filetype(line: &str) -> Option<&str> {
    let (_, options) = ["vim:", "vi:", "ex:"].iter().find_map(|editor| {
        let (before, options) = line.split_once(editor)?;
        before.chars().next_back().is_none_or(char::is_whitespace).then_some((before, options))
    })?;
    let value = options.split([' ', '\t', ':']).find_map(|option| {
        let (name, value) = option.split_once('=')?;
        matches!(name, "ft" | "filetype" | "syntax" | "syn").then_some(value)
    })?;
    Some(value.split('.').next().unwrap_or(value))
}

/// Returns the language of the interpreter that a `#!` line names.
fn interpreter(text: &str) -> Option<&'static Language> {
    let command = text.strip_prefix("#!")?.lines().next()?;
    let mut words = command.split_whitespace();
    let program = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let mut name = program(words.next()?);
    if name == "env" {
        name = program(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
    }
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LANGUAGES.iter().copied().find(|language| language.interpreters.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modelines_name_languages() {
        for (line, expected) in [
            ("/* -*- mode: Rust; tab-width: 4 -*- */", Some("rust")),
            ("// -*- Java -*-", Some("java")),
            ("# vim: set ft=python ts=4 :", Some("python")),
            ("// vim:filetype=go", Some("go")),
            ("# -*- mode: shell-script -*-", Some("bash")),
            ("# -*- sh -*-", Some("bash")),
            ("# vim: ft=zsh sw=2", Some("bash")),
            ("-- vim: set filetype=lua :", Some("lua")),
            ("# -*- mode: elixir -*-", Some("elixir")),
            ("-- -*- Haskell -*-", Some("haskell")),
            ("// vim: ft=zig", Some("zig")),
            ("# -*- mode: R -*-", Some("r")),
            ("# -*- cperl -*-", Some("perl")),
            ("# vim: ft=perl", Some("perl")),
            ("# vim: ft=ps1", Some("powershell")),
            ("# vim: set ft=dockerfile:", Some("containerfile")),
            ("# -*- mode: makefile-gmake -*-", Some("make")),
            ("# vim: ft=terraform", Some("hcl")),
            ("# -*- yaml -*-", Some("yaml")),
            ("-- vim: ft=sql", Some("sql")),
            ("<!-- vim: ft=xml -->", Some("xml")),
            ("-*- coding: utf-8 -*-", None),
            ("see vim: ft=unknown", None),
            ("envim: ft=go", None),
        ] {
            let found = by_content("", &format!("first\n{line}\n")).map(|language| language.name);
            assert_eq!(found, expected, "{line}");
            let far = format!("{}{line}", "line\n".repeat(2_000));
            assert_eq!(by_content("", &far).map(|language| language.name), expected, "{line} at the end");
        }
    }

    #[test]
    fn interpreters_name_languages() {
        for (text, expected) in [
            ("#!/usr/bin/python3.11\nx = 1\n", Some("python")),
            ("#!/usr/bin/env -S FOO=1 python -u\n", Some("python")),
            ("#!/usr/bin/env node\n", Some("javascript")),
            ("#!/bin/sh\n", Some("bash")),
            ("#! /bin/bash -eu\n", Some("bash")),
            ("#!/usr/bin/env zsh\n", Some("bash")),
            ("#!/usr/bin/env bats\n", Some("bash")),
            ("#!/bin/ksh93\n", Some("bash")),
            ("#!/usr/bin/lua5.4\n", Some("lua")),
            ("#!/usr/bin/env luajit\n", Some("lua")),
            ("#!/usr/bin/env elixir\n", Some("elixir")),
            ("#!/usr/bin/env runhaskell\n", Some("haskell")),
            ("#!/usr/bin/Rscript --vanilla\n", Some("r")),
            ("#!/usr/bin/env -S perl -w\n", Some("perl")),
            ("#!/usr/bin/perl5.36.0\n", Some("perl")),
            ("#!/usr/bin/env pwsh\n", Some("powershell")),
            ("#!/usr/bin/unknown\n", None),
            ("#! \n", None),
            ("#!", None),
        ] {
            assert_eq!(by_content("", text).map(|language| language.name), expected, "{text}");
        }
    }

    #[test]
    fn an_unambiguous_extension_overrides_the_text() {
        assert!(by_content("ts", "#!/usr/bin/env node\n// -*- Java -*-\n").is_none());
    }

    #[test]
    fn names_and_aliases_ignore_case() {
        assert_eq!(by_alias("Python").map(|language| language.name), Some("python"));
        assert_eq!(by_alias("py").map(|language| language.name), Some("python"));
        assert_eq!(by_alias("golang").map(|language| language.name), Some("go"));
        assert_eq!(by_alias("Shell").map(|language| language.name), Some("bash"));
        assert_eq!(by_alias("pwsh").map(|language| language.name), Some("powershell"));
        assert!(by_alias("").is_none() && by_file_name("").is_none());
    }

    #[test]
    fn file_names_name_languages() {
        for (name, expected) in [
            (".bashrc", Some("bash")),
            ("PKGBUILD", Some("bash")),
            (".Rprofile", Some("r")),
            ("cpanfile", Some("perl")),
            ("Dockerfile.dev", Some("containerfile")),
            ("Containerfile", Some("containerfile")),
            ("GNUmakefile", Some("make")),
            ("Makefile.am", Some("make")),
            ("Kbuild", Some("make")),
            ("CMakeLists.txt", Some("cmake")),
            (".clang-format", Some("yaml")),
            (".prettierrc", Some("yaml")),
            ("Pipfile", Some("toml")),
            ("Jenkinsfile", Some("groovy")),
            (".babelrc", Some("json")),
            ("web.config", Some("xml")),
            ("Makefiles", None),
            ("bashrc.txt", None),
        ] {
            assert_eq!(by_file_name(name).map(|language| language.name), expected, "{name}");
        }
    }

    #[test]
    fn a_language_can_reject_a_text_despite_its_extension() {
        let language = by_extension("pl").unwrap();
        assert_eq!(language.name, "perl");
        assert!((language.rejects)(":- module(lists, []).\n"));
        assert!(!(language.rejects)("use strict;\n"));
    }
}
