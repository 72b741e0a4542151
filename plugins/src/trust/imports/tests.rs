//! Tests of the files that the digest of a program covers, and of the descriptions of other files.

use std::fs;

use aurora_pipeline::ProgramSpec;

use crate::trust::ProgramIdentity;

/// Creates a project and runs the analysis for a command. Returns the covered files, and the descriptions of everything
/// else.
fn covered(files: &[(&str, &str)], command: &[&str]) -> (Vec<String>, Vec<String>) {
    let root = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("the directory is created");
        fs::write(path, text).expect("written");
    }
    let command = command.iter().map(|&part| part.to_owned()).collect();
    let spec = ProgramSpec { command, ..ProgramSpec::default() };
    let identity = ProgramIdentity::from_spec(&spec, root.path()).expect("readable");
    (identity.covered().map(|file| file.path.clone()).collect(), identity.not_covered(root.path()))
}

#[test]
fn modules_of_the_project_are_covered() {
    let python = [
        ("tools/owner.py", "import json, teams\nfrom rules import (\n    by_path,  # a comment\n    names,\n)\n"),
        ("tools/teams.py", "from . import near\nif True: import deep.inner as inner\n"),
        ("tools/near.py", ""),
        ("tools/deep/__init__.py", ""),
        ("tools/deep/inner.py", "from ..near import x"),
        ("rules/__init__.py", ""),
        ("rules/names.py", ""),
        ("rules/other.py", ""),
    ];
    let expected = [
        "tools/owner.py",
        "rules/__init__.py",
        "rules/names.py",
        "tools/deep/__init__.py",
        "tools/deep/inner.py",
        "tools/near.py",
        "tools/teams.py",
    ];
    let (files, uncovered) = covered(&python, &["python3", "tools/owner.py"]);
    assert_eq!(files, expected);
    assert_eq!(uncovered, ["the module json, which was not found in the project"]);
    let (files, _) = covered(&python[1..], &["python3", "-m", "tools.teams"]);
    assert!(files.contains(&"tools/teams.py".to_owned()) && files.contains(&"tools/near.py".to_owned()), "{files:?}");
    let (files, _) = covered(&python, &["python3", "-c", "import rules.names"]);
    assert_eq!(files, ["rules/__init__.py", "rules/names.py"]);
}

#[test]
fn new_libraries_and_compiled_modules_next_to_a_module_change_the_digest() {
    let root = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir_all(root.path().join("tools/deep")).expect("the directory is created");
    fs::write(root.path().join("tools/a.py"), "import helper, deep.inner\n").expect("written");
    for path in ["tools/helper.py", "tools/deep/inner.py"] {
        fs::write(root.path().join(path), "").expect("written");
    }
    let command = ["python3", "tools/a.py"].map(str::to_owned).to_vec();
    let spec = ProgramSpec { command, ..ProgramSpec::default() };
    let digest = || ProgramIdentity::from_spec(&spec, root.path()).expect("readable").digest;
    let first = digest();
    let names = [
        "helper.so",
        "helper.pyc",
        "helper.pyd",
        "helper.abi3.so",
        "helper.cpython-311-x86_64-linux-gnu.so",
        "deep.so",
        "deep.py",
        "deep/__init__.abi3.so",
        "deep/inner.cpython-312-darwin.so",
    ];
    for name in names {
        let path = root.path().join("tools").join(name);
        fs::write(&path, "\0").expect("written");
        assert_ne!(digest(), first, "{name}");
        fs::remove_file(&path).expect("removed");
    }
    for name in ["helper.txt", "helpers.so", "other.py"] {
        fs::write(root.path().join("tools").join(name), "\0").expect("written");
        assert_eq!(digest(), first, "{name}");
    }
}

#[test]
fn multi_line_conditional_and_dynamic_imports_are_covered() {
    let text = "import importlib\nfrom one import \\\n    name\nfrom two import (\n    name,\n)\n\ndef f():\n    if True:\n        from three import name\n\nimportlib.import_module(\"four\")\n__import__( 'five.inner' )\n";
    let names = ["one", "two", "three", "four", "five/inner"].map(|name| format!("tools/{name}.py"));
    let mut files = vec![("tools/a.py", text)];
    files.extend(names.iter().map(|name| (name.as_str(), "")));
    let (found, uncovered) = covered(&files, &["python3", "tools/a.py"]);
    assert!(names.iter().all(|name| found.contains(name)), "{found:?}");
    assert_eq!(uncovered, ["the module importlib, which was not found in the project"]);
}

#[test]
fn javascript_packages_of_the_project_are_covered() {
    let files = [
        (
            "tools/a.mjs",
            "require('../lib/pd'); import x from \"left\"; import y from '@team/right/sub'; import '#own';",
        ),
        ("lib/pd/package.json", r#"{"main": "src/main"}"#),
        ("lib/pd/src/main.js", ""),
        ("node_modules/left/package.json", r#"{"exports": {".": {"import": "./es.mjs"}, "./*": "./more/*.js"}}"#),
        ("node_modules/left/es.mjs", "import 'deeper'"),
        ("node_modules/deeper/index.js", ""),
        ("tools/node_modules/@team/right/sub.js", ""),
        ("package.json", r##"{"imports": {"#own": "./own.js"}}"##),
        ("own.js", ""),
    ];
    let (found, uncovered) = covered(&files, &["node", "tools/a.mjs"]);
    assert_eq!(found.len(), files.len(), "{found:?}");
    assert_eq!(uncovered, ["modules that node_modules/left/package.json names by a pattern"]);
}

#[test]
fn directories_that_a_program_adds_to_the_python_search_path_are_searched() {
    let text =
        "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), \"../lib\"))\nimport teams\n";
    let (files, uncovered) = covered(&[("tools/a.py", text), ("lib/teams.py", "")], &["python3", "tools/a.py"]);
    assert_eq!(files, ["tools/a.py", "lib/teams.py"]);
    assert_eq!(uncovered.len(), 2, "{uncovered:?}");
}

#[cfg(unix)]
#[test]
fn modules_behind_symbolic_links_in_the_project_are_covered() {
    let root = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in [("tools/a.py", "import sys\nsys.path.append('lib')\nimport b\n"), ("common/b.py", "")] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("the directory is created");
        fs::write(path, text).expect("written");
    }
    let link = root.path().join("tools/lib");
    std::os::unix::fs::symlink("../common", &link).expect("linked");
    let command = ["python3", "tools/a.py"].map(str::to_owned).to_vec();
    let spec = ProgramSpec { command, ..ProgramSpec::default() };
    let identity = ProgramIdentity::from_spec(&spec, root.path()).expect("readable");
    assert_eq!(identity.modules.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["common/b.py"]);
    fs::remove_file(&link).expect("removed");
    std::os::unix::fs::symlink("/", &link).expect("linked");
    assert!(ProgramIdentity::from_spec(&spec, root.path()).is_err());
}

#[test]
fn files_in_other_languages_are_read_or_reported() {
    let files = [
        ("tools/a.mjs", "import fs from \"node:fs\";\nimport { b } from './b';\nconst c = require(\"../c\");\n"),
        ("tools/b.ts", ""),
        ("c/index.js", ""),
        ("tools/run.sh", "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\nexec python3 tools/d.py --all\n"),
        ("tools/lib.sh", ""),
        ("tools/d.py", "import e\n"),
        ("tools/e.py", ""),
        ("tools/f.rb", "require_relative 'g'\nrequire \"json\"\n"),
        ("tools/g.rb", ""),
        ("tools/h.pl", "use lib 'tools';\n"),
    ];
    let (found, uncovered) = covered(&files, &["node", "tools/a.mjs"]);
    assert_eq!(found, ["tools/a.mjs", "c/index.js", "tools/b.ts"]);
    assert_eq!(uncovered, ["the module fs, which was not found in the project"]);
    let (found, _) = covered(&files, &["tools/run.sh"]);
    assert_eq!(found, ["tools/run.sh", "tools/d.py", "tools/e.py", "tools/lib.sh"]);
    let (found, uncovered) = covered(&files, &["ruby", "tools/f.rb"]);
    assert_eq!((found.len(), uncovered.len()), (2, 1), "{found:?} {uncovered:?}");
    let (_, uncovered) = covered(&files, &["perl", "tools/h.pl"]);
    assert_eq!(uncovered, ["everything that tools/h.pl loads, because its imports are not read"]);
}

#[test]
fn ruby_files_are_found_from_the_root_and_in_the_search_path() {
    let text = "require \"./tools/lib/b\"\nload 'tools/lib/c.rb'\nautoload :D, 'lib/d'\n$:.unshift \"tools/more\"\n\
                require \"e\"\nrequire 'set'\n";
    let files = [
        ("tools/a.rb", text),
        ("tools/lib/b.rb", ""),
        ("tools/lib/c.rb", ""),
        ("tools/lib/d.rb", ""),
        ("tools/more/e.rb", ""),
        ("own/f.rb", ""),
    ];
    let (found, uncovered) = covered(&files, &["ruby", "-Iown", "-rf", "tools/a.rb"]);
    assert_eq!(found.len(), files.len(), "{found:?}");
    assert_eq!(uncovered, ["the module set, which was not found in the project"]);
}

#[test]
fn files_in_options_and_literals_are_covered() {
    let files = [
        ("tools/own.py", "import runpy\nrunpy.run_path(\"tools/lib/helper.py\")\nopen('OWNERS')\n"),
        ("tools/lib/helper.py", ""),
        ("tools/data.txt", ""),
        ("OWNERS", ""),
    ];
    let module = ["tools/lib/helper.py", "tools/own.py"];
    for (command, expected) in [
        (vec!["python3", "-mtools.own"], module.to_vec()),
        (vec!["python3", "-m", "tools.own"], module.to_vec()),
        (vec!["python3", "-Bmtools.own"], module.to_vec()),
        (vec!["python3", "-um", "tools.own"], module.to_vec()),
        (vec!["python3", "-cimport tools.own"], module.to_vec()),
        (vec!["run", "-Ctools/data.txt"], vec!["tools/data.txt"]),
        (vec!["run", "@tools/data.txt"], vec!["tools/data.txt"]),
        (vec!["node", "-r./tools/own.py"], vec!["tools/own.py", "tools/lib/helper.py"]),
        (vec!["node", "--require=./tools/own.py"], vec!["tools/own.py", "tools/lib/helper.py"]),
    ] {
        assert_eq!(covered(&files, &command).0, expected, "{command:?}");
    }
}

#[test]
fn a_typescript_import_names_the_extension_of_the_compiled_file() {
    let files =
        [("tools/a.mts", "import './b.js'; import './c.mjs'"), ("tools/b.ts", ""), ("tools/c.mts", ""), ("c.ts", "")];
    let (found, uncovered) = covered(&files, &["deno", "tools/a.mts"]);
    assert_eq!(
        (found.as_slice(), uncovered.len()),
        (&["tools/a.mts", "tools/b.ts", "tools/c.mts"].map(str::to_owned)[..], 0)
    );
}

#[test]
fn files_with_the_name_of_a_missing_module_are_reported() {
    let files = [
        ("tools/a.py", "import sys\nsys.path += [PLACE]\nimport vmod, package, helper\n"),
        ("vendor/vmod.py", ""),
        ("deep/er/package/__init__.py", ""),
        ("node_modules/helper.py", ""),
    ];
    let (found, uncovered) = covered(&files, &["python3", "tools/a.py"]);
    assert_eq!(found, ["tools/a.py"]);
    let elsewhere = |name: &str, path: &str| {
        format!("the module {name}, which was not found where the program looks for it; {path} has that name")
    };
    let expected = [
        "the module helper, which was not found in the project".to_owned(),
        elsewhere("package", "deep/er/package/__init__.py"),
        "the module sys, which was not found in the project".to_owned(),
        elsewhere("vmod", "vendor/vmod.py"),
    ];
    assert_eq!(uncovered, expected);
}

#[test]
fn data_files_that_a_literal_names_are_reported() {
    let text = "open('OWNERS')\nopen(\"tools/lib/rules\")\nopen('data')\nopen('none.txt')\n";
    let root = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir_all(root.path().join("tools/lib")).expect("the directory is created");
    for path in ["OWNERS", "tools/lib/rules", "tools/data", "other"] {
        fs::write(root.path().join(path), "").expect("written");
    }
    fs::write(root.path().join("tools/own.py"), text).expect("written");
    let described = |spec: ProgramSpec| {
        let command = ["python3", "tools/own.py"].map(str::to_owned).to_vec();
        ProgramIdentity::from_spec(&ProgramSpec { command, ..spec }, root.path())
            .expect("readable")
            .not_covered(root.path())
    };
    let named = |path: &str| format!("the file {path}, which tools/own.py names");
    let all = ["OWNERS", "tools/data", "tools/lib/rules"].map(named);
    assert_eq!(described(ProgramSpec::default()), all);
    let listed = ProgramSpec {
        files: vec!["tools/data".to_owned()],
        inputs: vec!["OWNERS".to_owned()],
        ..ProgramSpec::default()
    };
    assert_eq!(described(listed), [named("tools/lib/rules")]);
}

#[test]
fn only_modules_and_packages_of_the_same_language_are_candidates_for_a_missing_module() {
    let files = [
        ("tools/a.py", "import json, space.inner, tagged, near, many\n"),
        ("web/json.js", ""),
        ("vendor/space/inner.py", ""),
        ("vendor/tagged.cpython-311-darwin.so", ""),
        (".aurora/plugins/lib/near.pyc", ""),
        ("a/many.py", ""),
        ("b/many/__init__.py", ""),
        ("c/many.py", ""),
        ("d/many.py", ""),
    ];
    let (_, uncovered) = covered(&files, &["python3", "tools/a.py"]);
    let elsewhere = |name: &str, files: &str| {
        format!("the module {name}, which was not found where the program looks for it; {files} that name")
    };
    let expected = [
        "the module json, which was not found in the project".to_owned(),
        elsewhere("many", "a/many.py, b/many/__init__.py, c/many.py and 1 more have"),
        elsewhere("near", ".aurora/plugins/lib/near.pyc has"),
        elsewhere("space", "vendor/space/inner.py has"),
        elsewhere("tagged", "vendor/tagged.cpython-311-darwin.so has"),
    ];
    assert_eq!(uncovered, expected);
    let files =
        [("tools/a.js", "require('fs'); import '@/shared/left'"), ("src/shared/left/index.ts", ""), ("fs.py", "")];
    let (_, uncovered) = covered(&files, &["node", "tools/a.js"]);
    let expected = [
        elsewhere("@/shared/left", "src/shared/left/index.ts has"),
        "the module fs, which was not found in the project".to_owned(),
    ];
    assert_eq!(uncovered, expected);
}

#[test]
fn ruby_paths_relative_to_the_importing_file_are_resolved() {
    let text = "$LOAD_PATH.unshift File.expand_path(\"../lib\", __FILE__); require \"b\"\n\
                Kernel.load(File.join(__dir__, 'c.rb'))\nrequire File.expand_path('../d', __FILE__)\n\
                autoload 'E', 'e'\nloaded = 'none'\n";
    let files =
        [("tools/a.rb", text), ("tools/lib/b.rb", ""), ("tools/c.rb", ""), ("tools/d.rb", ""), ("tools/lib/e.rb", "")];
    let (found, uncovered) = covered(&files, &["ruby", "-w", "tools/a.rb"]);
    assert_eq!((found.len(), uncovered.len()), (files.len(), 0), "{found:?} {uncovered:?}");
}

#[cfg(unix)]
#[test]
fn a_program_that_is_a_link_imports_modules_next_to_the_link() {
    let root = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in [("common/own.py", "import near\n"), ("tools/near.py", "")] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("the directory is created");
        fs::write(path, text).expect("written");
    }
    std::os::unix::fs::symlink("../common/own.py", root.path().join("tools/own.py")).expect("linked");
    let command = ["python3", "tools/own.py"].map(str::to_owned).to_vec();
    let identity = ProgramIdentity::from_spec(&ProgramSpec { command, ..ProgramSpec::default() }, root.path());
    let covered: Vec<String> = identity.expect("readable").covered().map(|file| file.path.clone()).collect();
    assert_eq!(covered, ["common/own.py", "tools/near.py"]);
}
