//! Tags of code are kept when a file is indexed again, and when the code moves.

use crate::{Fixture, found};

#[test]
fn tags_follow_code_that_is_moved() {
    let fixture = Fixture::git();
    fixture.write("src/auth.py", "def login(user):\n    return check(user)\n\ndef logout(user):\n    return None\n");
    fixture.commit("Login");
    assert_eq!(fixture.aur(&["mem", "index"]).code, Some(0));
    let tagged = fixture.aur(&["mem", "tag", "src/auth.py:1", "security-reviewed", "tested"]);
    assert_eq!(tagged.out, "code:src/auth.py:login: security-reviewed, tested\n", "{tagged:?}");
    let with_tag = || found(&fixture, &["login", "--where", "tags=security-reviewed"]);
    assert_eq!(with_tag(), ["code:src/auth.py:login"]);

    fixture.write(
        "src/auth.py",
        "# Sessions.\n\ndef login(user, key):\n    return check(user, key)\n\ndef logout(user):\n    return None\n",
    );
    assert_eq!(fixture.aur(&["mem", "index"]).code, Some(0));
    assert_eq!(with_tag(), ["code:src/auth.py:login"]);
    assert_eq!(fixture.aur(&["mem", "index", "--force"]).code, Some(0));
    assert_eq!(with_tag(), ["code:src/auth.py:login"]);

    fixture.run_git(&["mv", "src/auth.py", "login.py"]);
    assert_eq!(fixture.aur(&["mem", "index"]).code, Some(0));
    assert_eq!(with_tag(), ["code:login.py:login"]);
    let run = fixture.aur(&["mem", "search", "login", "--format", "json"]).json();
    assert_eq!(run["results"][0]["governance"]["tags"].to_string(), r#"["security-reviewed","tested"]"#, "{run}");

    let untagged =
        fixture.aur(&["mem", "tag", "code:login.py:login", "--remove", "security-reviewed", "--remove", "tested"]);
    assert_eq!(untagged.out, "code:login.py:login: no tags\n", "{untagged:?}");
    assert_eq!(with_tag(), Vec::<String>::new());
}
