use proptest::prelude::*;

use super::*;

/// Creates the bytes of a model with the given tokens. Component `d` of row `r` is `(r * 7 + d * 3) % 11 - 5`, times `1
/// / (r + 1)`. The weight of row `r` is `r + 0.5`.
fn file(tokens: &[&str], dimensions: usize) -> Vec<u8> {
    let json = br#"{"name":"tiny","fields":{"name":1,"scopes":0.5,"signature":0.5,"body":1,"path":0.25}}"#;
    let mut bytes = MAGIC.to_vec();
    for number in [dimensions, tokens.len(), json.len()] {
        bytes.extend((number as u32).to_le_bytes());
    }
    bytes.extend(json);
    for token in tokens {
        bytes.extend((token.len() as u16).to_le_bytes());
        bytes.extend(token.as_bytes());
    }
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    for row in 0..tokens.len() {
        bytes.extend((1.0 / (row + 1) as f32).to_le_bytes());
    }
    for row in 0..tokens.len() {
        bytes.extend(weight(row).to_le_bytes());
    }
    for row in 0..tokens.len() {
        bytes.extend((0..dimensions).map(|d| value(row, d) as u8));
    }
    bytes
}

fn value(row: usize, d: usize) -> i8 {
    ((row * 7 + d * 3) % 11) as i8 - 5
}

fn weight(row: usize) -> f32 {
    row as f32 + 0.5
}

const TOKENS: [&str; 12] = ["get", "user", "use", "##r", "##s", "data", "https", "connection", "a", "##a", "ab", "9"];

fn tiny() -> StaticModel {
    StaticModel::from_bytes(file(&TOKENS, 10)).expect("the file is valid")
}

#[test]
fn names_are_split_into_pieces_and_pieces_into_the_longest_tokens() {
    let model = tiny();
    let check = |text: &str, expected: &[&str]| assert_eq!(model.tokens(text, 99), expected, "{text}");
    check("getUserData(HTTPSConnection)", &["get", "user", "data", "https", "connection"]);
    check("users USERs", &["user", "##s", "user", "##s"]);
    check("get_zebra, uses", &["get", "use", "##s"]);
    check("aba9 abaa", &["ab", "##a", "9", "ab", "##a", "##a"]);
    check("r s ##r", &[]);
    check("userén “user” get—9", &["user", "get", "9"]);
    check(&"a".repeat(65), &[]);
    assert_eq!(model.tokens("get user data", 2), ["get", "user"]);
}

#[test]
fn a_shorter_token_is_taken_if_the_rest_cannot_be_split_after_the_longest() {
    let model = StaticModel::from_bytes(file(&["ye", "##ye", "yey", "##yey"], 2)).expect("the file is valid");
    assert_eq!(model.tokens("ye", 9), ["ye"]);
    assert_eq!(model.tokens("yey", 9), ["yey"]);
    assert_eq!(model.tokens("yeye", 9), ["ye", "##ye"]);
    assert_eq!(model.tokens("yeyyey", 9), ["yey", "##yey"]);
    assert_eq!(model.tokens("yeyy", 9), [""; 0]);
    let model = StaticModel::from_bytes(file(&["a", "##a", "aa", "##aa"], 2)).expect("the file is valid");
    assert_eq!(model.tokens(&format!("{}b", "a".repeat(63)), 99), [""; 0], "must not try every way to split it");
}

#[test]
fn a_text_vector_is_the_scaled_sum_of_its_tokens() {
    let model = tiny();
    let rows = [0usize, 1, 5, 1];
    let mut expected: Vec<f32> =
        (0..10).map(|d| rows.iter().map(|&row| f32::from(value(row, d)) / (row + 1) as f32).sum()).collect();
    normalise(&mut expected);
    let found = model.embed_query("getUserData user").expect("static models do not fail");
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    assert_eq!(model.embed_query("— zebra").expect("static models do not fail"), vec![0.0; 10]);
}

#[test]
fn a_passage_vector_is_the_weighted_sum_of_its_fields() {
    let model = tiny();
    let passage = Passage {
        kind: "a",
        path: "data/https.rs",
        name: "get",
        qualified_name: "User.get",
        signature: "get(data)",
        doc: "https users",
        body: "/// https users\nconnection 9 https",
    };
    let part = |text: &str| model.embed_query(text).expect("static models do not fail");
    let fields = [("get", 1.0), ("a user", 0.5), ("get data", 0.5), ("data https", 0.25), ("connection 9 https", 1.0)];
    let mut expected = vec![0.0; 10];
    for (text, weight) in fields {
        expected.iter_mut().zip(part(text)).for_each(|(sum, value)| *sum += weight * value);
    }
    normalise(&mut expected);
    let found = model.embed(&[passage, Passage::default()]);
    for (found, expected) in found[0].as_ref().expect("static models do not fail").iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    assert_eq!(found[1].as_ref().expect("static models do not fail"), &vec![0.0; 10]);

    let names = |rows: &[u16]| rows.iter().map(|&row| TOKENS[usize::from(row)]).collect::<Vec<_>>();
    let sets = model.reader().read(&passage).sets();
    assert_eq!(names(&sets.code), ["get", "user", "data", "https", "connection", "9"]);
    assert_eq!(names(&sets.doc), ["user", "##s", "https"]);
}

#[test]
fn late_interaction_is_the_weighted_mean_of_the_best_cosines() {
    let model = tiny();
    let unit = |row: usize| {
        let mut vector: Vec<f32> = (0..10).map(|d| f32::from(value(row, d)) / (row + 1) as f32).collect();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
        vector
    };
    let query = [0usize, 1, 5];
    let mut late = LateInteraction::new(&model, "get user data user");
    for chunk in [vec![1u16, 7], vec![0, 1, 5], vec![11], vec![6, 8, 9]] {
        let (mut sum, mut total) = (0.0, 0.0);
        for word in query {
            let cosine = |&row: &u16| unit(word).iter().zip(unit(usize::from(row))).map(|(a, b)| a * b).sum::<f32>();
            sum += weight(word) * chunk.iter().map(cosine).fold(f32::NEG_INFINITY, f32::max).max(0.0);
            total += weight(word);
        }
        let found = late.score(chunk.iter().copied()).expect("query and chunk have tokens");
        assert!((found - sum / total).abs() < 1e-6, "{chunk:?} {found}");
    }
    assert!((late.score([0, 1, 5]).expect("query and chunk have tokens") - 1.0).abs() < 1e-6);
    assert_eq!(late.score([]), None);
    assert_eq!(late.score([99]), None, "a token that is not in the table");
    assert_eq!(LateInteraction::new(&model, "zebra").score([1]), None);
}

#[test]
fn damaged_files_are_rejected_without_panic() {
    let valid = file(&TOKENS, 10);
    for length in 0..valid.len() {
        assert!(StaticModel::from_bytes(valid[..length].to_vec()).is_err(), "cut at {length}");
    }
    let header = 20 + 86 + TOKENS.iter().map(|token| token.len() + 2).sum::<usize>();
    for at in 0..header {
        for bit in 0..8 {
            let mut bytes = valid.clone();
            bytes[at] ^= 1 << bit;
            if let Ok(model) = StaticModel::from_bytes(bytes) {
                assert_eq!(model.embed_query("get user").map(|vector| vector.len()).ok(), Some(model.dimensions()));
            }
        }
    }
    let twice = StaticModel::from_bytes(file(&["a", "b", "a"], 4)).err().map(|error| error.to_string());
    assert!(twice.is_some_and(|message| message.contains("token 2 and token 0 are the same")));
    assert!(StaticModel::from_bytes(file(&["a", "##a"], 4)).is_ok());
}

/// Splits a text into pieces by a literal implementation of the rules, one character at a time.
fn pieces_by_rule(text: &str) -> Vec<String> {
    let in_word = |c: char| {
        let separators = [
            (0x80, 0xbf),
            (0xd7, 0xd7),
            (0xf7, 0xf7),
            (0x2000, 0x2bff),
            (0x3000, 0x303f),
            (0xfe00, 0xfe6f),
            (0xff00, 0xff20),
            (0x1f000, 0x1ffff),
        ];
        if c.is_ascii() {
            c.is_ascii_alphanumeric()
        } else {
            !separators.iter().any(|&(a, b)| (a..=b).contains(&(c as u32)))
        }
    };
    let kind = |c: Option<&char>| match c {
        None => '-',
        Some('A'..='Z') => 'U',
        Some('0'..='9') => 'D',
        Some(_) => 'L',
    };
    let mut found = Vec::new();
    for run in text.split(|c| !in_word(c)) {
        let run: Vec<char> = run.chars().collect();
        let mut start = 0;
        for i in 1..=run.len() {
            let [before, here, next, after] = [run.get(i - 1), run.get(i), run.get(i + 1), run.get(i + 2)].map(kind);
            let breaks = match (before, here) {
                (_, '-') => true,
                ('D', here) => here != 'D',
                (_, 'D') => true,
                ('L', here) => here == 'U',
                ('U', 'U') => next == 'L' && !(run.get(i + 1) == Some(&'s') && after != 'L'),
                _ => false,
            };
            if breaks {
                found.push(run[start..i].iter().collect::<String>());
                start = i;
            }
        }
    }
    found.retain(|piece| !piece.is_empty() && piece.is_ascii() && piece.len() <= 64);
    found.iter().map(|piece| piece.to_lowercase()).collect()
}

/// Expected results, written by the program that trained the model (`xtask/model/export.py`).
#[derive(Deserialize)]
struct Reference {
    text: String,
    tokens: Vec<String>,
    norm: f32,
    vector8: Vec<f32>,
}

#[test]
fn the_built_in_model_matches_its_training_program() {
    let model = StaticModel::built_in().expect("the built-in model is valid");
    let references: Vec<Reference> = serde_json::from_str(include_str!("../../models/static-code-v4.reference.json"))
        .expect("the reference is JSON");
    assert!(references.len() >= 12);
    for reference in references {
        let text = &reference.text;
        assert_eq!(model.tokens(text, TOKEN_BUDGET), reference.tokens, "{text:?}");
        let vector = model.embed_query(text).expect("static models do not fail");
        for (found, expected) in vector.iter().zip(&reference.vector8) {
            assert!((found - expected).abs() < 2e-5, "{found} {expected} of {text:?}");
        }
        let (mut sum, mut rows) = (vec![0f32; model.dimensions()], Vec::new());
        model.rows(text, TOKEN_BUDGET, &mut rows);
        model.table.add(&model.bytes, &rows, &mut sum);
        let length = super::table::norm(&sum);
        assert!((length - reference.norm).abs() <= 1e-4 * reference.norm, "{length} {} of {text:?}", reference.norm);
    }
}

#[test]
fn the_built_in_model_ranks_matching_code_higher() {
    let model = StaticModel::built_in().expect("the built-in model is valid");
    let query = model.embed_query("read and parse a configuration file").expect("static models do not fail");
    let cosine = |name: &str, body: &str| -> f32 {
        let passage = Passage { kind: "function", qualified_name: name, body, ..Passage::default() };
        let vectors = model.embed(&[passage]);
        query.iter().zip(vectors[0].as_ref().expect("static models do not fail")).map(|(a, b)| a * b).sum()
    };
    let right = cosine("load_settings", "with open(path) as f:\n    return toml.load(f)");
    let wrong = cosine("draw_circle", "canvas.arc(x, y, radius, 0, 2 * math.pi)");
    assert!(right > wrong + 0.1, "{right} {wrong}");
}

proptest! {
    #[test]
    fn pieces_follow_the_rules(text in "([aAbBsSxX09_. é日’“]{0,20}|[a-z]{60,70}|[A-Z]{1,3}s?)([aAsS9é .]{0,6}|\\PC{0,4})") {
        let mut found = Vec::new();
        pieces(&text, &mut |piece| {
            found.push(String::from_utf8_lossy(piece).into_owned());
            true
        });
        prop_assert_eq!(found, pieces_by_rule(&text));
    }

    #[test]
    fn every_token_is_found_by_its_text(words in prop::collection::btree_set("[a-z]{1,20}", 1..60)) {
        let tokens: Vec<String> = words.iter().flat_map(|word| [word.clone(), format!("##{word}")]).collect();
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let model = StaticModel::from_bytes(file(&tokens, 2)).expect("the file is valid");
        for word in &words {
            prop_assert_eq!(model.tokens(word, 9), [word.as_str()]);
            let twice = format!("{word}{word}");
            prop_assert_eq!(model.tokens(&twice, 99).concat().replace("##", ""), twice);
        }
    }

    #[test]
    fn vectors_have_unit_or_zero_length(text in "[a-zA-Z9 _]{0,40}") {
        let vector = tiny().embed_query(&text).expect("static models do not fail");
        let length: f32 = vector.iter().map(|value| value * value).sum();
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-5, "{length}");
    }
}
