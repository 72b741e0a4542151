//! Tests of finding logs by name and by id.

use aurora_logs::Found;

use crate::test_directory::TestDirectory;

fn check(test: &TestDirectory, given: &str, expected: &str) {
    let found = match test.logs.find(given, &mut |unread| panic!("{unread:?}")).unwrap() {
        Found::One(log) => log.name,
        Found::Several(count, first) => {
            let names: Vec<_> = first.iter().map(|candidate| candidate.log.name.as_str()).collect();
            format!("{count}: {}", names.join(" "))
        }
        Found::Nothing => "-".to_owned(),
    };
    assert_eq!(found, expected, "{given}");
}

#[test]
fn logs_are_found_by_name_and_id() {
    let test = TestDirectory::new();
    test.write("alpha", "2025-12-13T08:00:00Z");
    test.write("alpha", "2025-12-13T08:00:01Z");
    let beta = test.write("beta", "2025-12-14T08:00:00Z");
    test.put_packed("2025/11/alpha-2025-11-13.md.gz", b"## Query: 2025-11-13T08:00:00Z | ID: other-7\n");
    test.put("2025/11/other-7.md", "");
    test.put("2025/10/same.md", "");
    test.put("2025/11/same.md", "");
    for given in
        ["alpha-2025-12-13", "alpha-2025-12-13.md", "2025/12/alpha-2025-12-13", "2025/12/alpha-2025-12-13.md.gz"]
    {
        check(&test, given, "alpha-2025-12-13");
    }
    check(&test, beta.id.as_str(), "beta-2025-12-14");
    check(&test, &beta.id.as_str()[..20], "beta-2025-12-14");
    check(&test, "bet", "beta-2025-12-14");
    check(&test, "aurora-20251213-080001", "alpha-2025-12-13-2");
    check(&test, "alpha", "3: alpha-2025-12-13 alpha-2025-12-13-2 alpha-2025-11-13");
    check(&test, "alpha-2025-12", "2: alpha-2025-12-13 alpha-2025-12-13-2");
    // Names take precedence over ids.
    check(&test, "other-7", "other-7");
    check(&test, "2025/11/al", "alpha-2025-11-13");
    check(&test, "same", "2: same same");
    check(&test, "2025/10/same", "same");
    for given in ["", ".md", "gamma", "2025/10/alpha-2025-12-13", "../12/alpha-2025-12-13", "2025/12/", "/", "..", "*"]
    {
        check(&test, given, "-");
    }
}

#[test]
fn many_candidates_are_counted() {
    let test = TestDirectory::new();
    for number in 10..40 {
        test.put(&format!("2025/12/log-{number}.md"), "");
    }
    match test.logs.find("log", &mut |_| {}).unwrap() {
        Found::Several(count, first) => assert_eq!((count, first.len()), (30, 20)),
        other => panic!("{other:?}"),
    }
}
