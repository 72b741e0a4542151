//! Compiles the part in C, which needs `setjmp`.

use std::env;

fn main() {
    let source = "c/bounded.c";
    println!("cargo:rerun-if-changed={source}");
    let headers = env::var_os("DEP_TREE_SITTER_INCLUDE").expect("tree-sitter names the directory of its headers");
    cc::Build::new().std("c11").include(headers).file(source).warnings(true).compile("aurora_bounded_parser");
}
