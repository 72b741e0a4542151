//! Finding logs by name and by id.

use aurora_logs::Found;

use crate::place::Place;

fn check(place: &Place, given: &str, expected: &str) {
    let found = match place.logs.find(given, &mut |unread| panic!("{unread:?}")).unwrap() {
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
fn names_and_ids() {
    let place = Place::new();
    place.write("alpha", "2025-12-13T08:00:00Z");
    place.write("alpha", "2025-12-13T08:00:01Z");
    let beta = place.write("beta", "2025-12-14T08:00:00Z");
    place.put_packed("2025/11/alpha-2025-11-13.md.gz", b"## Query: 2025-11-13T08:00:00Z | ID: other-7\n");
    place.put("2025/11/other-7.md", "");
    place.put("2025/10/same.md", "");
    place.put("2025/11/same.md", "");
    for given in
        ["alpha-2025-12-13", "alpha-2025-12-13.md", "2025/12/alpha-2025-12-13", "2025/12/alpha-2025-12-13.md.gz"]
    {
        check(&place, given, "alpha-2025-12-13");
    }
    check(&place, beta.id.as_str(), "beta-2025-12-14");
    check(&place, &beta.id.as_str()[..20], "beta-2025-12-14");
    check(&place, "bet", "beta-2025-12-14");
    check(&place, "aurora-20251213-080001", "alpha-2025-12-13-2");
    check(&place, "alpha", "3: alpha-2025-12-13 alpha-2025-12-13-2 alpha-2025-11-13");
    check(&place, "alpha-2025-12", "2: alpha-2025-12-13 alpha-2025-12-13-2");
    // Names take precedence over ids.
    check(&place, "other-7", "other-7");
    check(&place, "2025/11/al", "alpha-2025-11-13");
    check(&place, "same", "2: same same");
    check(&place, "2025/10/same", "same");
    for given in ["", ".md", "gamma", "2025/10/alpha-2025-12-13", "../12/alpha-2025-12-13", "2025/12/", "/", "..", "*"]
    {
        check(&place, given, "-");
    }
}

#[test]
fn many_candidates_are_counted() {
    let place = Place::new();
    for number in 10..40 {
        place.put(&format!("2025/12/log-{number}.md"), "");
    }
    match place.logs.find("log", &mut |_| {}).unwrap() {
        Found::Several(count, first) => assert_eq!((count, first.len()), (30, 20)),
        other => panic!("{other:?}"),
    }
}
