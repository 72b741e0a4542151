//! Compiles the part of the crate that is in C because it needs `setjmp`.

use std::env;
use std::path::Path;

fn main() {
    let source = "c/bounded.c";
    println!("cargo:rerun-if-changed={source}");
    let headers =
        env::var_os("DEP_TREE_SITTER_INCLUDE").expect("the build script of tree-sitter sets the header directory");
    // The C file includes the layouts of languages and trees, which are only in tree-sitter's sources.
    let sources = Path::new(&headers).with_file_name("src");
    let mut build = cc::Build::new();
    build.std("c11").include(headers).include(sources).file(source).warnings(true).compile("aurora_bounded_parser");
}
