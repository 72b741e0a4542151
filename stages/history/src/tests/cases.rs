//! Compares blame with `git blame` on small histories, one for each rule.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::fixture::{Repo, lines, url};
use crate::{History, HistoryError, Options, Unattributed};

#[test]
fn follows_a_rename() {
    let repo = Repo::new();
    let first = repo.commit_file("old/name.rs", lines("alpha", 20));
    repo.git(&["mv", "old/name.rs", "name.rs"]);
    repo.write("name.rs", lines("alpha", 20).replace("alpha 3\n", "beta\n"));
    repo.write("decoy.rs", lines("gamma", 20));
    let second = repo.commit("rename");
    let blame = repo.blame("name.rs");
    let id_of = |line| blame.commit_of(line).unwrap().id.to_string();
    assert_eq!((id_of(0), id_of(3)), (first, second));
    repo.check();
}

#[test]
fn prefers_the_same_file_name_among_identical_and_similar_sources() {
    let repo = Repo::new();
    for directory in ["a", "b", "c", "d", "e", "f"] {
        repo.commit_file(&format!("{directory}/{directory}.rs"), lines("same", 12));
        repo.commit_file(&format!("{directory}/part.rs"), lines("part", 12) + directory);
    }
    for directory in ["a", "b", "c", "d", "e", "f"] {
        repo.git(&["rm", "-q", "-r", directory]);
    }
    repo.write("new/d.rs", lines("same", 12));
    repo.write("new/x.rs", lines("same", 12));
    repo.write("new/part.rs", lines("part", 13));
    repo.write("new/other.rs", lines("part", 11));
    repo.commit("move all");
    repo.check();
}

#[test]
fn searches_only_a_hundred_identical_sources_for_the_same_name() {
    for (others, is_found) in [(99, true), (100, false)] {
        let repo = Repo::new();
        for number in 0..others {
            repo.write(&format!("old/{number}.rs"), lines("same", 12));
        }
        let first = repo.commit("others");
        let namesake = repo.commit_file("old/x.rs", lines("same", 12));
        repo.git(&["rm", "-q", "-r", "old"]);
        repo.write("new/x.rs", lines("same", 12));
        repo.commit("move one");
        let found = repo.blame("new/x.rs").commit_of(0).unwrap().id.to_string();
        assert_eq!(found, if is_found { namesake } else { first });
        repo.check();
    }
}

#[test]
fn passes_lines_to_both_sides_of_a_merge() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 30));
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.commit_file("file", lines("base", 30).replace("base 5\n", "side\n"));
    repo.git(&["checkout", "-q", "main"]);
    repo.commit_file("file", lines("base", 30).replace("base 25\n", "main\n"));
    repo.git(&["merge", "-q", "side", "-m", "merge"]);
    assert_eq!(repo.blame("file").commits.len(), 3);
    repo.check();
}

#[test]
fn attributes_lines_added_by_an_evil_merge_to_the_merge() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 30));
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.commit_file("file", lines("base", 30).replace("base 5\n", "side\n"));
    repo.commit_file("only-side", "here\n");
    repo.git(&["checkout", "-q", "main"]);
    repo.commit_file("file", lines("base", 30).replace("base 25\n", "main\n"));
    repo.git(&["merge", "-q", "--no-commit", "side"]);
    repo.write("file", lines("base", 30).replace("base 5\n", "side\n").replace("base 15\n", "evil\n"));
    let merge = repo.commit("evil merge");
    assert_eq!(repo.blame("file").commit_of(15).unwrap().id.to_string(), merge);
    repo.check();
}

#[test]
fn a_reverted_change_has_a_new_key_and_a_new_attribution() {
    let repo = Repo::new();
    let old = lines("base", 10);
    let first = repo.commit_file("file", &old);
    repo.commit_file("other", "other\n");
    let key = repo.open().1.latest("file").unwrap();
    let other_key = repo.open().1.latest("other").unwrap();
    repo.commit_file("file", old.replace("base 4\n", ""));
    let back = repo.commit_file("file", &old);
    let (_, index) = repo.open();
    assert_ne!(index.latest("file").unwrap(), key);
    assert_eq!(index.latest("other").unwrap(), other_key);
    assert_eq!(index.event_count("file"), 3);
    let blame = repo.blame("file");
    let id_of = |line| blame.commit_of(line).unwrap().id.to_string();
    assert_eq!((id_of(3), id_of(4)), (first, back));
    repo.check();
}

#[test]
fn commits_at_a_shallow_boundary_are_roots() {
    let repo = Repo::new();
    for line in 0..6 {
        repo.commit_file("file", lines("base", 10 + line));
    }
    let clone = repo.at(repo.root.with_file_name("shallow"));
    repo.git(&["clone", "-q", "--depth", "3", &url(&repo.root), clone.root.to_str().unwrap()]);
    let (history, index) = clone.open();
    assert!(history.info().is_shallow);
    assert_eq!(index.commit_count(), 3);
    let (full, _) = repo.open();
    assert_ne!(full.config_fingerprint(), history.config_fingerprint());
    clone.check();
}

#[test]
fn partial_clones_attribute_lines_of_missing_versions_to_the_newer_commit() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 10));
    repo.commit_file("file", lines("base", 12));
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let clone = repo.at(repo.root.with_file_name("partial"));
    repo.git(&["clone", "-q", "--filter=blob:none", &url(&repo.root), clone.root.to_str().unwrap()]);
    let (history, index) = clone.open();
    assert!(history.info().is_partial);
    let blame = history.blame(&index, "file").unwrap();
    assert!(blame.incomplete);
    assert_eq!(blame.commits.len(), 1);

    let bare = repo.at(repo.root.with_file_name("bare"));
    repo.git(&["clone", "-q", "--bare", "--filter=blob:none", &url(&repo.root), bare.root.to_str().unwrap()]);
    let (history, index) = bare.open();
    assert!(history.info().is_bare);
    assert!(matches!(history.blame(&index, "file"), Err(Unattributed::Unavailable { .. })));

    let treeless = repo.at(repo.root.with_file_name("treeless"));
    repo.git(&["clone", "-q", "--filter=tree:0", &url(&repo.root), treeless.root.to_str().unwrap()]);
    let (history, index) = treeless.open();
    let blame = history.blame(&index, "file").unwrap();
    assert!(blame.incomplete && index.is_incomplete());
}

#[test]
fn a_repository_without_commits_has_no_attribution() {
    let repo = Repo::new();
    repo.write("file", "text\n");
    let (history, index) = repo.open();
    assert!(history.head().is_none());
    assert_eq!(index.latest("file"), None);
    assert_eq!(history.blame(&index, "file"), Err(Unattributed::Untracked));
    assert!(history.worktree_index().unwrap().file("file").is_none());
}

#[test]
fn reads_a_detached_head() {
    let repo = Repo::new();
    let first = repo.commit_file("file", lines("base", 5));
    repo.commit_file("file", lines("base", 9));
    repo.git(&["checkout", "-q", "--detach", &first]);
    let (history, _) = repo.open();
    assert_eq!(history.head().unwrap().to_string(), first);
    repo.check();
}

#[test]
fn bare_repositories_and_linked_worktrees_are_attributed() {
    let repo = Repo::new();
    repo.write(".mailmap", "Ada Lovelace <ada@example.com>\n");
    repo.commit_file("file", lines("base", 5));
    repo.commit_file("file", lines("base", 9));
    let bare = repo.at(repo.root.with_file_name("bare.git"));
    repo.git(&["clone", "-q", "--bare", &url(&repo.root), bare.root.to_str().unwrap()]);
    assert!(bare.open().0.info().is_bare);
    bare.check();
    let linked = repo.at(repo.root.with_file_name("linked"));
    repo.git(&["worktree", "add", "-q", "-b", "second", linked.root.to_str().unwrap()]);
    linked.commit_file("file", lines("linked", 3));
    linked.check();
    repo.check();
}

#[test]
fn alternates_and_sha256_repositories_are_read() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 5));
    let shared = repo.at(repo.root.with_file_name("shared"));
    repo.git(&["clone", "-q", "--shared", repo.root.to_str().unwrap(), shared.root.to_str().unwrap()]);
    shared.commit_file("file", lines("base", 7));
    shared.check();
    let wide = repo.at(repo.root.with_file_name("wide"));
    repo.git(&["init", "-q", "-b", "main", "--object-format=sha256", wide.root.to_str().unwrap()]);
    wide.commit_file("old", lines("base", 9));
    wide.git(&["mv", "old", "new"]);
    wide.commit_file("new", lines("base", 11));
    assert_eq!(wide.open().0.info().hash, gix::hash::Kind::Sha256);
    wide.check();
}

#[test]
fn only_regular_files_are_attributed() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 5));
    repo.commit_file("untracked-later", "x\n");
    repo.git(&["rm", "-q", "--cached", "untracked-later"]);
    repo.write(".git/info/exclude", "untracked-later\n");
    let link = repo.git_with_input(&["hash-object", "-w", "--stdin"], b"file");
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("120000,{},link", link.trim())]);
    let head = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},module", head.trim())]);
    repo.git(&["commit", "-q", "-m", "link and module"]);
    let (history, index) = repo.open();
    for path in ["untracked-later", "never", "link", "module", "", "file/below"] {
        assert_eq!(history.blame(&index, path), Err(Unattributed::Untracked), "{path}");
        assert_eq!(index.latest(path), None, "{path}");
    }
    assert_eq!(history.worktree_index().unwrap().submodules(), ["module"]);
    repo.check();
}

#[test]
fn changes_of_mode_and_type_are_attributed_as_in_git() {
    let repo = Repo::new();
    repo.commit_file("tool", lines("base", 9));
    repo.git(&["update-index", "--chmod=+x", "tool"]);
    repo.git(&["commit", "-q", "-m", "executable"]);
    assert_eq!(repo.open().1.event_count("tool"), 1);
    let link = repo.git_with_input(&["hash-object", "-w", "--stdin"], b"elsewhere");
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("120000,{},tool", link.trim())]);
    repo.git(&["commit", "-q", "-m", "link"]);
    repo.git(&["checkout", "-q", "-f", "HEAD~1"]);
    repo.git(&["reset", "-q", "--soft", "main"]);
    repo.commit("file again");
    repo.check();
}

#[test]
fn mailmap_renames_people_and_changes_the_fingerprint() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 5));
    let before = repo.open().0.config_fingerprint();
    repo.write(".mailmap", "Ada Lovelace <countess@example.org> <ada@example.com>\n");
    let (history, index) = repo.open();
    assert_ne!(history.config_fingerprint(), before);
    let blame = history.blame(&index, "file").unwrap();
    assert_eq!(blame.commits[0].author.name, "Ada Lovelace");
    assert_eq!(blame.commits[0].author.email, "countess@example.org");
    repo.check();
}

#[test]
fn ignored_commits_pass_their_lines_to_their_parents() {
    let repo = Repo::new();
    let old: String = (0..40).map(|line| format!("let value_{line} = compute({line});\n")).collect();
    repo.commit_file("file", &old);
    repo.commit_file("file", old.replace("compute(7)", "compute(7, 8)"));
    let mut formatted = old.replace("compute(7)", "compute(7, 8)").replace("let ", "    let  ").replace(" = ", "=");
    formatted.insert_str(0, "// a heading that no line resembles\n");
    formatted = formatted.replace("value_20=compute(20);\n", "value_20=\n        compute(\n 20);\n");
    let ignored = repo.commit_file("file", &formatted);
    let reordered: String = formatted.lines().rev().map(|line| format!("{}\n", line.to_uppercase())).collect();
    let also_ignored = repo.commit_file("file", &reordered);
    repo.commit_file("file", reordered.replace("VALUE_3=", "VALUE_THREE ="));
    let before = repo.open().0.config_fingerprint();
    repo.write(".git/ignore-revs", format!("# formatting\n{ignored}\n\n{also_ignored} # order\n"));
    repo.git(&["config", "blame.ignoreRevsFile", ".git/ignore-revs"]);
    assert_ne!(repo.open().0.config_fingerprint(), before);
    repo.check();
}

#[test]
fn replace_refs_are_followed() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 5));
    let second = repo.commit_file("file", lines("base", 8));
    repo.commit_file("file", lines("base", 9));
    let before = repo.open().0.config_fingerprint();
    let graft = repo.git(&["commit-tree", "-m", "root", &format!("{second}^{{tree}}")]);
    repo.git(&["replace", &second, graft.trim()]);
    assert_ne!(repo.open().0.config_fingerprint(), before);
    repo.check();
}

#[test]
fn paths_are_relative_to_the_directory_that_was_opened() {
    let repo = Repo::new();
    repo.commit_file("outside", lines("moved", 20));
    repo.git(&["mv", "outside", "inside"]);
    std::fs::create_dir_all(repo.root.join("deep/er")).unwrap();
    repo.git(&["mv", "inside", "deep/er/inside"]);
    repo.commit("move");
    repo.commit_file("deep/file", lines("base", 5));
    let history = History::open(&repo.root.join("deep"), Options::default()).unwrap().unwrap();
    let index = history.index_events(&AtomicBool::new(false), &|_, _| ()).unwrap();
    assert!(index.latest("er/inside").is_some() && index.latest("deep/er/inside").is_none());
    assert_eq!(history.blame(&index, "er/inside").unwrap(), repo.blame("deep/er/inside"));
    let tracked = history.worktree_index().unwrap();
    assert!(tracked.file("er/inside").is_some() && tracked.file("file").is_some());
    assert!(tracked.file("deep/file").is_none() && tracked.file("outside").is_none());
    assert!(tracked.has_files_below("er") && !tracked.has_files_below("deep") && !tracked.has_files_below("e"));
}

#[test]
fn reports_a_missing_repository_and_cancellation() {
    let directory = tempfile::tempdir().unwrap();
    assert!(History::open(directory.path(), Options::default()).unwrap().is_none());
    std::fs::create_dir(directory.path().join(".git")).unwrap();
    assert!(History::open(directory.path(), Options::default()).unwrap().is_none());
    assert!(matches!(
        History::open(Path::new("/no/such/directory"), Options::default()),
        Err(HistoryError::Open { .. })
    ));
    let repo = Repo::new();
    repo.commit_file("file", "text\n");
    let history = History::open(&repo.root, Options::default()).unwrap().unwrap();
    let cancelled = history.index_events(&AtomicBool::new(true), &|_, _| ());
    assert!(matches!(cancelled, Err(HistoryError::Cancelled)));
}

#[test]
fn a_path_may_change_between_file_and_directory() {
    let repo = Repo::new();
    repo.commit_file("thing", lines("base", 9));
    repo.git(&["mv", "thing", "kept"]);
    repo.git(&["commit", "-q", "-m", "away"]);
    repo.commit_file("thing/part", lines("base", 10));
    repo.git(&["rm", "-q", "thing/part"]);
    repo.commit_file("thing", lines("base", 10) + "no newline");
    repo.commit_file("empty", "");
    repo.check();
}
