//! Damage to the stored attributions (the commit of each line) is reported and repaired, and never changes an answer.

use std::fs;

use crate::fixture::Fixture;
use crate::pages::Layout;

#[test]
fn a_damaged_attribution_is_reported_and_repaired() {
    let fixture = Fixture::git();
    for number in 0..40 {
        let text = format!(
            "def parse_{number}(text):\n    return text.split()\n\n\ndef more_{number}():\n    return {number}\n"
        );
        fixture.write(&format!("m{}/f{number}.py", number % 5), text);
    }
    fixture.commit("first");
    assert_eq!(fixture.aur(&["mem", "index", "-q"]).code, Some(0));
    let blames = || (0..40).map(|number| fixture.aur(&["mem", "blame", &format!("m{}/f{number}.py", number % 5)]));
    let right: Vec<String> = blames().map(|run| run.out).collect();
    assert!(right.iter().all(|lines| lines.lines().count() == 6), "{right:?}");
    let digest = fixture.aur(&["mem", "verify", "--digest"]).out;

    let file = fixture.path(".aurora/index/data.mdb");
    let mut data = fs::read(&file).expect("the file can be read");
    let value = Layout::from_data(&data).table("blames").value();
    data[value.start + value.len() / 2] ^= 0x10;
    fs::write(&file, data).expect("the file can be written");

    let refused: Vec<_> = blames().zip(&right).filter(|(run, right)| run.out != **right).map(|(run, _)| run).collect();
    assert!(!refused.is_empty());
    for run in &refused {
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.err.contains(".aurora") && run.err.contains("--force"), "{run:?}");
    }
    assert_eq!(fixture.aur(&["mem", "verify"]).code, Some(1));
    // Searches do not need attributions.
    assert_eq!(fixture.aur(&["mem", "search", "parse_7", "--format", "json"]).json()["results"][0]["name"], "parse_7");
    assert_eq!(fixture.aur(&["mem", "index", "-q", "--force"]).code, Some(0));
    assert_eq!(blames().map(|run| run.out).collect::<Vec<_>>(), right);
    assert_eq!(fixture.aur(&["mem", "verify", "--digest"]).out, digest);
}
