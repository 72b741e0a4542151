//! Files in any encoding are searched, shown and attributed like UTF-8 files.

use encoding_rs::Encoding;
use serde_json::Value;

use crate::fixture::Fixture;
use crate::run;

/// Path, encoding, a word that occurs in the text, and the text.
const TEXTS: &[(&str, &str, &str, &str)] = &[
    ("latin.py", "latin1", "façade", "# La référence à l'élément désigné\ndef show():\n    return 'façade'\n"),
    ("cyrillic.py", "windows-1251", "утро", "# Возвращает приветствие\ndef greet():\n    return 'доброе утро'\n"),
    ("declared.py", "koi8-r", "вечер", "# -*- coding: koi8-r -*-\ndef evening():\n    return 'вечер'\n"),
    ("sjis.c", "shift_jis", "注釈", "/* これは日本語の注釈です。 */\nint first(void) { return 1; }\n"),
    ("euc.c", "euc-jp", "説明", "/* これは関数の説明です。値を返します。 */\nint second(void) { return 2; }\n"),
    ("gb.c", "gb18030", "总价", "/* 这个函数计算订单的总价 */\nint third(void) { return 3; }\n"),
    ("big5.c", "big5", "名稱", "/* 這個函數會傳回使用者的名稱 */\nint fourth(void) { return 4; }\n"),
    ("korean.c", "euc-kr", "사용자의", "/* 이 함수는 사용자의 이름을 반환한다 */\nint fifth(void) { return 5; }\n"),
    ("le.ps1", "utf-16le", "Grüße", "# Grüße aus der Datei\nfunction Get-First {\n  return 1\n}\n"),
    ("be.ps1", "utf-16be", "Straße", "# Straße und Ort\nfunction Get-Second {\n  return 2\n}\n"),
    ("marked.py", "utf-8", "naïve", "def marked():\n    return 'naïve'\n"),
    (
        "page.html",
        "iso-8859-2",
        "gęś",
        "<html><head><meta charset=\"iso-8859-2\"></head><body><p>gęś</p></body></html>\n",
    ),
];

/// Encodes a text, with a byte order mark in Unicode encodings.
fn encoded(text: &str, label: &str) -> Vec<u8> {
    let marked = format!("\u{feff}{text}");
    match label {
        "utf-8" => marked.into_bytes(),
        "utf-16le" => marked.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => marked.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => Encoding::for_label(label.as_bytes()).expect("the encoding exists").encode(text).0.into_owned(),
    }
}

fn fixture() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n");
    for (path, label, _, text) in TEXTS {
        fixture.write(path, encoded(&text.replace("return", "return "), label));
    }
    fixture.commit("first");
    for (path, label, _, text) in TEXTS {
        fixture.write(path, encoded(text, label));
    }
    fixture.commit("second");
    fixture
}

#[test]
fn words_are_found_and_shown_in_any_encoding() {
    let fixture = fixture();
    let summary = run(&fixture, &["mem", "index", "--format", "json"]).json();
    assert_eq!(summary["files"]["indexed"], TEXTS.len(), "{summary}");
    assert_eq!(summary["warnings"].as_array().map(Vec::len), Some(0), "{summary}");
    for (path, _, word, text) in TEXTS {
        let line = 1 + text.lines().position(|line| line.contains(word)).expect("the word is in a line") as u64;
        for asked in [&[*word][..], &["--grep", word]] {
            let arguments =
                [&["mem", "search"], asked, &["--format", "json", "--show-content", "--snippets=5"]].concat();
            let found = run(&fixture, &arguments).json();
            let hits = found["results"].as_array().expect("the value is a list");
            let hit = hits.iter().find(|hit| hit["file"] == **path).unwrap_or_else(|| panic!("{path}: {found}"));
            assert!(hit["content"].as_str().is_some_and(|content| content.contains(word)), "{path}: {hit}");
            assert_eq!(hit["file_state"], "unchanged", "{path}: {hit}");
            let has_line =
                |shown: &Value| shown["line"] == line && shown["text"].as_str().is_some_and(|text| text.contains(word));
            assert!(hit["snippet"].as_array().into_iter().flatten().any(has_line), "{path}, line {line}: {hit}");
        }
    }
}

/// Returns `<commit> <line>` for each line, according to git.
fn by_git(fixture: &Fixture, path: &str) -> Vec<String> {
    let output = crate::fixture::git(fixture.root()).args(["blame", "--line-porcelain", "--", path]).output();
    let text = output.expect("git runs").stdout;
    let heads = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let (commit, rest) = line.split_at_checked(40)?;
        let is_head = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_head.then(|| format!("{commit} {}", rest.split(' ').nth(2).unwrap_or_default()))
    });
    heads.collect()
}

/// Compares the blame of a file with `git blame`. If bytes follow the last line feed, git counts them as one more line,
/// which is ignored.
fn check_blame(fixture: &Fixture, path: &str, lines: usize) {
    let blamed = run(fixture, &["mem", "blame", path]);
    let mut expected = by_git(fixture, path);
    expected.truncate(lines);
    assert_eq!(blamed.out.lines().collect::<Vec<_>>(), expected, "{path}: {blamed:?}");
}

#[test]
fn blame_compares_the_bytes_before_decoding() {
    let fixture = fixture();
    run(&fixture, &["mem", "index", "-q"]);
    for (path, _, _, text) in TEXTS {
        check_blame(&fixture, path, text.lines().count());
        let found = run(&fixture, &["mem", "search", "--path", path, "--format", "json"]).json();
        for hit in found["results"].as_array().into_iter().flatten() {
            assert!(hit["git"]["commits"].as_u64() > Some(0), "{path}: {hit}");
        }
    }
    for (path, label, _, text) in TEXTS {
        fixture.write(path, encoded(&text.replace("return", "yield"), label));
    }
    run(&fixture, &["mem", "index", "-q"]);
    for (path, _, _, text) in TEXTS {
        check_blame(&fixture, path, text.lines().count());
    }
}

#[test]
fn blame_compares_the_bytes_before_secrets_are_masked() {
    let fixture = Fixture::git();
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    let text = format!("def connect():\n    token = '{token}'\n    return token\n");
    fixture.write(".gitignore", ".aurora/\n").write("a.py", text.replace("connect", "link")).commit("first");
    fixture.write("a.py", &text).commit("second");
    // Secrets are masked after decoding.
    let wide = encoded(&text, "utf-16le");
    fixture.write("wide.py", &wide).commit("third");
    let summary = run(&fixture, &["mem", "index", "--format", "json"]).json();
    assert_eq!(summary["secrets"]["count"], 2, "{summary}");
    for path in ["a.py", "wide.py"] {
        check_blame(&fixture, path, 3);
        assert!(!run(&fixture, &["mem", "blame", path]).out.contains("0000000000"));
    }
    // Only the token changes. The masked text stays the same, but blame must not attribute the line to a commit.
    fixture.write("a.py", text.replace("k3Jd82", "m4Ke93"));
    run(&fixture, &["mem", "index", "-q"]);
    check_blame(&fixture, "a.py", 3);
    assert!(run(&fixture, &["mem", "blame", "a.py"]).out.contains("0000000000"));
    let data = std::fs::read_dir(fixture.path(".aurora/index")).expect("the directory can be read");
    for file in data.flatten().filter(|entry| entry.path().is_file()) {
        let bytes = std::fs::read(file.path()).expect("the file can be read");
        assert!(!bytes.windows(20).any(|part| part == &token.as_bytes()[4..24]), "{file:?}");
    }
}
