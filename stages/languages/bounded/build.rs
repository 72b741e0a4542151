//! Compiles the part in C, which needs `setjmp`.

use std::env;
use std::path::Path;

fn main() {
    let source = "c/bounded.c";
    println!("cargo:rerun-if-changed={source}");
    let headers = env::var_os("DEP_TREE_SITTER_INCLUDE").expect("tree-sitter names the directory of its headers");
    // tree-sitter's sources include the layouts of languages and trees.
    let sources = Path::new(&headers).with_file_name("src");
    let mut build = cc::Build::new();
    build.std("c11").include(headers).include(sources).file(source).warnings(true).compile("aurora_bounded_parser");
}
