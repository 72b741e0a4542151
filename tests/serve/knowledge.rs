//! Sessions of knowledge articles: added articles are found immediately and survive crashes, and removed articles are
//! never found again.

use serde_json::{Value, json};

use crate::client::{Answer, Server};
use crate::fixture::Fixture;
use crate::indexed;

fn served() -> (Fixture, Server) {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    (fixture, server)
}

fn new_session(server: &Server) -> u64 {
    let answer = server.post("/api/v1/sessions", &json!({}));
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_u64().expect("the value is a number")
}

fn add(server: &Server, session: u64, title: &str, content: &str) -> u64 {
    let body = json!({"title": title, "url": format!("https://example.org/{title}"), "content": content});
    let answer = server.post(&format!("/api/v1/sessions/{session}/articles"), &body);
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(answer.json()["chunks"].as_u64() >= Some(1), "{answer:?}");
    answer.json()["article_id"].as_u64().expect("the value is a number")
}

fn remove(server: &Server, session: u64, article: u64) -> Answer {
    server.request("DELETE", &format!("/api/v1/sessions/{session}/articles/{article}"), &[], "")
}

fn search(server: &Server, session: u64, body: &Value) -> Answer {
    server.post(&format!("/api/v1/sessions/{session}/search"), body)
}

/// Returns the ids of the articles that a keyword search finds.
fn search_articles(server: &Server, session: u64, query: &str) -> Vec<u64> {
    let answer = search(server, session, &json!({"query": query, "search_mode": "sparse", "top_k": 50}));
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    let results = answer["results"].as_array().expect("the value is a list");
    results.iter().map(|result| result["article_id"].as_u64().expect("the value is a number")).collect()
}

#[test]
fn a_session_that_does_not_exist_has_no_results() {
    let (_fixture, server) = served();
    let answer = search(&server, 999, &json!({"query": "test query"}));
    assert_eq!(answer.status, 200);
    assert_eq!((&answer.json()["results"], &answer.json()["total_chunks_searched"]), (&json!([]), &json!(0)));
    let stats = server.get("/api/v1/sessions/999/search/stats");
    let none = json!({"session_id": 999, "bm25_index_exists": false, "total_chunks": 0, "search_modes_available": []});
    assert_eq!((stats.status, stats.json()), (200, none));
    assert_eq!(remove(&server, 999, 1).status, 404);
    let article = json!({"title": "t", "url": "u", "content": "c"});
    assert_eq!(server.post("/api/v1/sessions/999/articles", &article).status, 404);
    assert_eq!(server.get("/api/v1/sessions/999/articles").status, 404);
}

#[test]
fn requests_are_validated() {
    let (_fixture, server) = served();
    let session = new_session(&server);
    for body in [
        json!({"query": ""}),
        json!({"query": "x".repeat(1_001)}),
        json!({"query": "test", "top_k": 0}),
        json!({"query": "test", "top_k": 51}),
        json!({"query": "test", "top_k": "ten"}),
        json!({"query": "test", "search_mode": "fuzzy"}),
        json!({"query": 7}),
        json!({}),
    ] {
        let answer = search(&server, session, &body);
        assert_eq!(answer.status, 422, "{body}: {answer:?}");
        assert!(answer.json()["error"].is_string(), "{answer:?}");
    }
    assert_eq!(search(&server, session, &json!({"query": "ä".repeat(1_000)})).status, 200);
    let path = format!("/api/v1/sessions/{session}/search");
    assert_eq!(server.request("POST", &path, &["content-type: application/json"], "{").status, 400);
    assert_eq!(server.post("/api/v1/sessions/one/search", &json!({"query": "test"})).status, 422);
    let articles = format!("/api/v1/sessions/{session}/articles");
    for body in [
        json!({"title": "t", "url": "u"}),
        json!({"title": "t", "url": "u", "content": " \n"}),
        json!({"title": "t", "url": "u", "content": "a\u{0}b"}),
        json!({"title": "t".repeat(1_001), "url": "u", "content": "c"}),
    ] {
        assert_eq!(server.post(&articles, &body).status, 422, "{body}");
    }
    assert_eq!(server.get(&articles).json(), json!({"articles": []}));
}

#[test]
fn a_search_returns_sources_and_both_ranks() {
    let (_fixture, server) = served();
    let session = new_session(&server);
    let guide = add(
        &server,
        session,
        "auth",
        "Authentication in web applications uses tokens like JWT.\n\n# Claims\n\nJWTs hold claims.",
    );
    add(&server, session, "db", "Database connections should use connection pooling.");
    let body = json!({"query": "How does JWT authentication work?", "top_k": 3});
    let answer = search(&server, session, &body).json();
    assert_eq!((&answer["query"], &answer["search_mode"]), (&body["query"], &json!("hybrid")));
    assert_eq!(answer["total_chunks_searched"], 3);
    assert!(answer["timing_ms"].is_u64(), "{answer}");
    let best = &answer["results"][0];
    assert_eq!(best["article_id"], guide, "{answer}");
    assert_eq!(best["chunk_id"], format!("doc_{guide}:chunk_0"));
    assert_eq!(best["content"], "Authentication in web applications uses tokens like JWT.");
    assert_eq!((&best["source_title"], &best["source_url"]), (&json!("auth"), &json!("https://example.org/auth")));
    // The result is first in both rankings, so its score is .7 / (60 + 1) + .3 / (60 + 1).
    assert_eq!((&best["dense_rank"], &best["sparse_rank"]), (&json!(1), &json!(1)));
    assert!((best["score"].as_f64().expect("the value is a number") - 1.0 / 61.0).abs() < 1e-6, "{best}");
    let scores: Vec<f64> = answer["results"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .map(|hit| hit["score"].as_f64().expect("the value is a number"))
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");

    let sparse =
        search(&server, session, &json!({"query": "pooling", "search_mode": "sparse", "include_content": false}));
    let sparse = sparse.json();
    assert_eq!(sparse["results"].as_array().map(Vec::len), Some(1), "{sparse}");
    assert_eq!((&sparse["results"][0]["content"], &sparse["results"][0]["dense_rank"]), (&Value::Null, &Value::Null));
    let dense = search(&server, session, &json!({"query": "login credentials", "search_mode": "dense"})).json();
    assert_eq!(
        (&dense["results"][0]["article_id"], &dense["results"][0]["sparse_rank"]),
        (&json!(guide), &Value::Null)
    );
    let reranked = json!({"query": "how are claims about a user represented", "rerank": true});
    assert_eq!(search(&server, session, &reranked).json()["results"][0]["chunk_id"], format!("doc_{guide}:chunk_1"));
    let stats = server.get(&format!("/api/v1/sessions/{session}/search/stats")).json();
    assert_eq!((&stats["bm25_index_exists"], &stats["total_chunks"]), (&json!(true), &json!(3)));
    assert_eq!(stats["search_modes_available"], json!(["dense", "sparse", "hybrid"]));
}

#[test]
fn keyword_matches_are_ranked_by_relevance() {
    let (_fixture, server) = served();
    let session = new_session(&server);
    add(&server, session, "one", "Python is a programming language.");
    add(&server, session, "two", "Java is also a programming language.");
    let frequent = add(&server, session, "three", "Python Python Python - many mentions.");
    assert_eq!(search_articles(&server, session, "Python")[0], frequent);
    let title = add(&server, session, "Marsupials", "They carry their young in a pouch.");
    assert_eq!(search_articles(&server, session, "marsupials"), [title], "titles are searched too");
    // Articles with equal texts are separate articles.
    let twin = add(&server, session, "four", "Python is a programming language.");
    assert!(search_articles(&server, session, "programming language").contains(&twin));
    assert_eq!(search_articles(&server, session, "programming").len(), 3);
}

#[test]
fn articles_are_added_and_removed_and_sessions_are_separate() {
    let (_fixture, server) = served();
    let (one, other) = (new_session(&server), new_session(&server));
    assert_ne!(one, other);
    let zebra = add(&server, one, "zebra", "Zebras have stripes.");
    let okapi = add(&server, one, "okapi", "Okapis have stripes on their legs.");
    add(&server, other, "tiger", "Tigers have stripes, too.");
    assert_eq!(search_articles(&server, one, "stripes").len(), 2);
    assert_eq!(remove(&server, one, zebra).status, 204);
    assert_eq!(search_articles(&server, one, "stripes"), [okapi]);
    assert_eq!(remove(&server, one, zebra).status, 404);
    let listed = server.get(&format!("/api/v1/sessions/{one}/articles")).json();
    assert_eq!(listed["articles"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(
        (&listed["articles"][0]["article_id"], &listed["articles"][0]["title"]),
        (&json!(okapi), &json!("okapi"))
    );
    // An id is never assigned again, even if the article with the highest id was removed.
    assert_eq!(remove(&server, one, okapi).status, 204);
    assert!(search_articles(&server, one, "stripes").is_empty());
    assert!(add(&server, one, "zorilla", "Zorillas have stripes.") > okapi);
    assert_eq!(server.get("/api/v1/sessions").json(), json!({"sessions": [one, other]}));
    assert_eq!(server.request("DELETE", &format!("/api/v1/sessions/{one}"), &[], "").status, 204);
    assert_eq!(server.request("DELETE", &format!("/api/v1/sessions/{one}"), &[], "").status, 404);
    assert!(search_articles(&server, one, "stripes").is_empty());
    assert!(new_session(&server) > other);
}

#[test]
fn acknowledged_changes_survive_a_kill() {
    let fixture = indexed();
    let server = Server::start(&fixture, &["--rate", "0"]);
    let session = new_session(&server);
    let first = add(&server, session, "first", "Wombats dig burrows.");
    let path = format!("/api/v1/sessions/{session}/articles");
    let article = json!({"title": "burrows", "url": "u", "content": "Wombats dig more burrows."});
    let add_until_the_end = || {
        let added = std::iter::from_fn(|| server.try_post(&path, &article).filter(|answer| answer.status == 201));
        added.map(|answer| answer.json()["article_id"].as_u64().expect("the value is a number")).collect::<Vec<u64>>()
    };
    let kept: Vec<u64> = std::thread::scope(|scope| {
        let adders: Vec<_> = (0..3).map(|_| scope.spawn(add_until_the_end)).collect();
        while search_articles(&server, session, "burrows").len() < 12 {}
        assert_eq!(remove(&server, session, first).status, 204);
        rustix::process::kill_process(server.process(), rustix::process::Signal::KILL).expect("the process is running");
        adders.into_iter().flat_map(|adder| adder.join().expect("the thread does not panic")).collect()
    });
    drop(server);
    assert!(kept.len() >= 11, "{kept:?}");
    let server = Server::start(&fixture, &[]);
    let list = || {
        let listed = server.get(&format!("/api/v1/sessions/{session}/articles")).json();
        let articles = listed["articles"].as_array().expect("the value is a list").clone();
        articles
            .iter()
            .map(|article| article["article_id"].as_u64().expect("the value is a number"))
            .collect::<Vec<u64>>()
    };
    let listed = list();
    assert!(kept.iter().all(|article| listed.contains(article)), "{kept:?} {listed:?}");
    assert!(!listed.contains(&first), "a removed article does not come back");
    // Articles that were being added when the server was killed may exist as well. There are at most three of them, one
    // for each thread.
    assert!(listed.len() <= kept.len() + 3, "{kept:?} {listed:?}");
    let next = add(&server, session, "last", "Wombats sleep.");
    assert!(listed.iter().all(|article| *article < next));
    assert_eq!(list().len(), listed.len() + 1);
}

#[test]
fn concurrently_added_articles_are_all_stored() {
    let (_fixture, server) = served();
    let session = new_session(&server);
    let mut added: Vec<u64> = std::thread::scope(|scope| {
        let adders: Vec<_> = (0..8)
            .map(|adder| {
                let server = &server;
                let text = move |n: u64| format!("Quokka number {n} of adder {adder}.");
                scope.spawn(move || (0..10).map(|n| add(server, session, "quokka", &text(n))).collect::<Vec<u64>>())
            })
            .collect();
        adders.into_iter().flat_map(|adder| adder.join().expect("the thread does not panic")).collect()
    });
    added.sort_unstable();
    assert_eq!(added, (1..=80).collect::<Vec<u64>>());
    let stats = server.get(&format!("/api/v1/sessions/{session}/search/stats")).json();
    assert_eq!(stats["total_chunks"], 80);
    assert_eq!(search_articles(&server, session, "quokka").len(), 50);
}

#[test]
fn one_server_changes_the_sessions_and_others_follow() {
    let (fixture, server) = served();
    let session = new_session(&server);
    let article = add(&server, session, "Caches", "A cache keeps the pages that were read last.");
    let second = Server::start(&fixture, &[]);
    assert_eq!(search_articles(&second, session, "cache"), [article]);
    let queue = add(&server, session, "Queues", "A queue keeps what waits.");
    assert_eq!(search_articles(&second, session, "keeps").len(), 2);
    assert_eq!(remove(&server, session, article).status, 204);
    assert_eq!(search_articles(&second, session, "keeps"), [queue]);
    for refused in [second.post("/api/v1/sessions", &json!({})), remove(&second, session, queue)] {
        assert_eq!(refused.status, 503, "{refused:?}");
        assert!(refused.json()["error"].as_str().is_some_and(|text| text.contains("another process")), "{refused:?}");
    }
    let gone = new_session(&server);
    add(&server, gone, "Stacks", "A stack keeps what came last.");
    assert_eq!(search_articles(&second, gone, "stack").len(), 1);
    assert_eq!(server.request("DELETE", &format!("/api/v1/sessions/{gone}"), &[], "").status, 204);
    assert!(search_articles(&second, gone, "stack").is_empty());
    assert_eq!(second.get(&format!("/api/v1/sessions/{gone}/articles")).status, 404);
    // After the first server has ended, another server may change the sessions.
    drop(server);
    assert_eq!(remove(&second, session, queue).status, 204);
    let stack = add(&second, session, "Stacks", "A stack keeps what came last.");
    assert_eq!(search_articles(&second, session, "keeps"), [stack]);
}

#[test]
fn servers_with_separate_directories_share_no_sessions() {
    let (fixture, server) = served();
    assert_eq!(new_session(&server), 1);
    let elsewhere = fixture.path("elsewhere").display().to_string();
    let other = Server::start(&fixture, &["--knowledge", &elsewhere]);
    assert_eq!(new_session(&other), 1);
}

#[test]
fn a_read_only_server_changes_no_session() {
    let (fixture, server) = served();
    let session = new_session(&server);
    let reader = Server::start(&fixture, &["--read-only"]);
    assert_eq!(reader.post("/api/v1/sessions", &json!({})).status, 403);
    assert_eq!(remove(&reader, session, 1).status, 403);
    assert_eq!(search(&reader, session, &json!({"query": "x"})).status, 200);
}

/// Returns a path below the directory of a session of the fixture's server.
fn session_path(fixture: &Fixture, session: u64, below: &str) -> std::path::PathBuf {
    fixture.user_directory().join(format!("knowledge/sessions/{session}")).join(below)
}

fn delete(server: &Server, session: u64) -> u16 {
    server.request("DELETE", &format!("/api/v1/sessions/{session}"), &[], "").status
}

#[test]
fn a_session_deleted_while_articles_are_added_stays_deleted() {
    let fixture = indexed();
    let server = Server::start(&fixture, &["--rate", "0"]);
    for _ in 0..5 {
        let session = new_session(&server);
        let path = format!("/api/v1/sessions/{session}/articles");
        let article = json!({"title": "t", "content": "Numbats eat termites."});
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let add = || {
                let answers = std::iter::repeat_with(|| server.post(&path, &article).status);
                let mut is_over = false;
                answers.take_while(|status| !std::mem::replace(&mut is_over, *status != 201)).collect::<Vec<u16>>()
            };
            let adders: Vec<_> = (0..6).map(|_| scope.spawn(add)).collect();
            while search_articles(&server, session, "termites").is_empty() {}
            assert_eq!(delete(&server, session), 204);
            adders.into_iter().flat_map(|adder| adder.join().expect("the thread does not panic")).collect()
        });
        assert!(statuses.contains(&201) && statuses.iter().all(|status| [201, 404].contains(status)), "{statuses:?}");
        assert_eq!((delete(&server, session), search_articles(&server, session, "termites").len()), (404, 0));
    }
}

/// A kind of damage: its name, and a function that applies it.
type Kind<F> = (&'static str, F);
/// A function that damages a session of the fixture's server.
type SessionDamage = fn(&Fixture, u64);

#[test]
fn a_damaged_article_is_skipped_and_reported() {
    use std::fs;
    let damages: [Kind<fn(&std::path::Path)>; 8] = [
        ("empty", |file| fs::write(file, "").expect("the file can be written")),
        ("cut", |file| fs::write(file, r#"{"title":"two","content":"Pang"#).expect("the file can be written")),
        ("another object", |file| fs::write(file, r#"{"name": 7}"#).expect("the file can be written")),
        ("not UTF-8", |file| fs::write(file, b"{\"content\":\"\xff\"}").expect("the file can be written")),
        ("deep", |file| fs::write(file, "[".repeat(100_000)).expect("the file can be written")),
        ("a directory", |file| {
            fs::remove_file(file).expect("the file can be removed");
            fs::create_dir_all(file.join("inside")).expect("the directory can be created");
        }),
        ("a link", |file| {
            fs::rename(file, file.with_extension("moved")).expect("the path can be renamed");
            std::os::unix::fs::symlink(file.with_extension("moved"), file).expect("the link can be created");
        }),
        ("a pipe", |file| {
            fs::remove_file(file).expect("the file can be removed");
            let made = std::process::Command::new("mkfifo").arg(file).status().expect("the command runs");
            assert!(made.success());
        }),
    ];
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let sessions: Vec<u64> = damages
        .iter()
        .map(|_| {
            let session = new_session(&server);
            for name in ["one", "two", "three"] {
                add(&server, session, name, &format!("Pangolins have scales, says {name}."));
            }
            session
        })
        .collect();
    drop(server);
    for ((_, damage), session) in damages.iter().zip(&sessions) {
        damage(&session_path(&fixture, *session, "articles/2.json"));
    }
    let server = Server::start(&fixture, &[]);
    for ((name, _), session) in damages.iter().zip(sessions) {
        let mut ids = search_articles(&server, session, "pangolins");
        ids.sort_unstable();
        assert_eq!(ids, [1, 3], "{name}");
        let path = format!("/api/v1/sessions/{session}/articles");
        let listed = server.get(&path).json();
        assert_eq!(listed["articles"].as_array().map(Vec::len), Some(2), "{name}: {listed}");
        assert_eq!(listed["unreadable"][0]["article_id"], 2, "{name}: {listed}");
        assert!(listed["unreadable"][0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{listed}");
        assert_eq!(add(&server, session, "four", "Pangolins sleep."), 4, "{name}");
        assert_eq!(remove(&server, session, 2).status, 204, "{name}");
        assert_eq!((remove(&server, session, 2).status, server.get(&path).json().get("unreadable")), (404, None));
        assert_eq!(delete(&server, session), 204, "{name}");
    }
}

#[test]
fn damage_to_other_files_of_a_session_loses_no_articles() {
    use std::fs;
    let damages: [Kind<SessionDamage>; 8] = [
        ("the next number is text", |fixture, session| {
            fs::write(session_path(fixture, session, "next"), "many").expect("the file can be written");
        }),
        ("the next number is the largest", |fixture, session| {
            fs::write(session_path(fixture, session, "next"), u64::MAX.to_string()).expect("the file can be written");
        }),
        ("the next number is a directory", |fixture, session| {
            fs::create_dir(session_path(fixture, session, "next")).expect("the directory can be created");
        }),
        ("files with numbers that no article has", |fixture, session| {
            for name in ["18446744073709551615", "+7", "007", "0", "-1", "x"] {
                fs::write(session_path(fixture, session, &format!("articles/{name}.json")), "{}")
                    .expect("the file can be written");
            }
        }),
        ("the index is rubbish", |fixture, session| {
            fs::write(session_path(fixture, session, ".aurora/index/data.mdb"), [0xa5; 50_000])
                .expect("the file can be written");
        }),
        ("the index is cut", |fixture, session| {
            let file = fs::File::options().write(true).open(session_path(fixture, session, ".aurora/index/data.mdb"));
            file.and_then(|file| file.set_len(5_000)).expect("the file can be shortened");
        }),
        ("the index is a file", |fixture, session| {
            fs::remove_dir_all(session_path(fixture, session, ".aurora")).expect("the directory can be removed");
            fs::write(session_path(fixture, session, ".aurora"), "x").expect("the file can be written");
        }),
        ("the index is a link", |fixture, session| {
            let index = session_path(fixture, session, ".aurora");
            fs::rename(&index, fixture.home().join(format!("moved-{session}"))).expect("the path can be renamed");
            std::os::unix::fs::symlink(fixture.home().join(format!("moved-{session}")), index)
                .expect("the link can be created");
        }),
    ];
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let sessions: Vec<u64> = damages
        .iter()
        .map(|_| {
            let session = new_session(&server);
            add(&server, session, "one", "Echidnas lay eggs.");
            session
        })
        .collect();
    drop(server);
    for ((_, damage), session) in damages.iter().zip(&sessions) {
        damage(&fixture, *session);
    }
    fs::write(fixture.user_directory().join("knowledge/next"), "many").expect("the file can be written");
    let server = Server::start(&fixture, &[]);
    for ((name, _), session) in damages.iter().zip(&sessions) {
        let added = add(&server, *session, "two", "Echidnas dig.");
        let mut ids = search_articles(&server, *session, "echidnas");
        ids.sort_unstable();
        assert_eq!(ids, [1, added], "{name}");
    }
    assert!(!sessions.contains(&new_session(&server)));
}

#[test]
fn a_manually_deleted_session_is_gone() {
    let (fixture, server) = served();
    let (one, other) = (new_session(&server), new_session(&server));
    for session in [one, other] {
        add(&server, session, "one", "Quolls hunt at night.");
    }
    std::fs::remove_dir_all(session_path(&fixture, one, "")).expect("the directory can be removed");
    assert!(search_articles(&server, one, "quolls").is_empty());
    let article = json!({"title": "t", "content": "Quolls climb."});
    assert_eq!(server.post(&format!("/api/v1/sessions/{one}/articles"), &article).status, 404);
    assert_eq!(server.get(&format!("/api/v1/sessions/{one}/articles")).status, 404);
    assert_eq!((remove(&server, one, 1).status, delete(&server, one)), (404, 404));
    assert_eq!(search_articles(&server, other, "quolls"), [1]);
    // Files and links in the directory of sessions are not sessions.
    std::fs::write(fixture.user_directory().join("knowledge/sessions/98"), "").expect("the file can be written");
    std::os::unix::fs::symlink(
        session_path(&fixture, other, ""),
        fixture.user_directory().join("knowledge/sessions/99"),
    )
    .expect("the link can be created");
    for session in [98, 99] {
        assert!(search_articles(&server, session, "quolls").is_empty());
        assert_eq!(server.get(&format!("/api/v1/sessions/{session}/articles")).status, 404);
    }
    assert_eq!(server.get("/api/v1/sessions").json(), json!({"sessions": [other]}));
    // If the directory of a session is restored from a copy, the session is available again.
    let copy = std::process::Command::new("cp")
        .arg("-r")
        .args([session_path(&fixture, other, ""), session_path(&fixture, one, "")])
        .status();
    assert!(copy.expect("cp runs").success());
    assert_eq!(add(&server, one, "two", "Quolls have spots."), 2);
    let mut ids = search_articles(&server, one, "quolls");
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
}

/// Number of times that a server is killed while it creates a session, unless `AURORA_TEST_KILLS` overrides it.
const KILLS: u64 = 4;

#[test]
fn a_server_killed_while_creating_a_session_starts_again() {
    let kills = std::env::var("AURORA_TEST_KILLS").map_or(KILLS, |kills| kills.parse().expect("the text is a number"));
    let fixture = indexed();
    let article = json!({"title": "t", "url": "https://example.org/t", "content": "a zeppelin over the lake"});
    let mut server = Server::start(&fixture, &[]);
    for round in 0..kills {
        let session = new_session(&server);
        let directory = fixture.user_directory().join(format!("knowledge/sessions/{session}"));
        let articles = format!("/api/v1/sessions/{session}/articles");
        std::thread::scope(|scope| {
            let added = scope.spawn(|| server.try_post(&articles, &article));
            while !directory.join(".aurora/index/data.mdb").exists() && !added.is_finished() {
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
            // The kill comes between 0 and 6 milliseconds later.
            std::thread::sleep(std::time::Duration::from_micros(round * 937 % 6_000));
            server.kill();
        });
        server = Server::start(&fixture, &[]);
        let added = server.post(&articles, &article);
        assert_eq!(added.status, 201, "{round}: {added:?}");
        let id = added.json()["article_id"].as_u64().expect("the value is a number");
        assert!(search_articles(&server, session, "zeppelin").contains(&id), "{round}");
    }
}

#[test]
fn a_batch_answers_its_searches_in_order() {
    let (_fixture, server) = served();
    let session = new_session(&server);
    add(&server, session, "Animals", "Zebras have stripes.");
    let path = format!("/api/v1/sessions/{session}/search/batch");
    let queries = [json!({"query": "stripes"}), json!({"query": ""}), json!({"query": "zebras", "top_k": 1})];
    let answers = server.post(&path, &json!({"queries": queries})).json();
    let answers = answers["answers"].as_array().expect("the value is a list");
    assert_eq!(answers.len(), 3);
    for (at, query) in [(0, "stripes"), (2, "zebras")] {
        let alone = search(&server, session, &queries[at]).json();
        assert_eq!((&answers[at]["query"], &answers[at]["results"]), (&json!(query), &alone["results"]), "{answers:?}");
    }
    assert!(answers[1]["error"].is_string(), "{answers:?}");
    for body in [json!({"queries": []}), json!({"queries": vec![json!({"query": "x"}); 101]}), json!({})] {
        assert_eq!(server.post(&path, &body).status, 422, "{body}");
    }
    let missing = server.post("/api/v1/sessions/999/search/batch", &json!({"queries": [{"query": "x"}]})).json();
    assert_eq!(missing["answers"][0]["results"], json!([]));
}
