//! Reads and parses files without indexing them, as the baseline for `cargo xtask bench scale`.
//!
//! * `bare_parse --list < PATHS` prints `LANGUAGE<tab>PATH` for each path whose file has a grammar.
//! * `bare_parse THREADS < LIST` reads and parses the files in a list that `--list` has printed.

#[path = "../detection/mod.rs"]
mod detection;
mod parse;

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aurora_languages::by_name;

#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).ok_or("usage: bare_parse --list | THREADS")?;
    let input = io::read_to_string(io::stdin())?;
    if argument == "--list" {
        let mut out = io::BufWriter::new(io::stdout().lock());
        for path in input.lines().map(Path::new) {
            let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            if let Some(language) = detection::language_of(path, &String::from_utf8_lossy(&text)) {
                writeln!(out, "{}\t{}", language.name, path.display())?;
            }
        }
        return Ok(out.flush()?);
    }
    let files = input.lines().filter_map(|line| line.split_once('\t'));
    let files: Vec<_> = files.map(|(language, path)| (PathBuf::from(path), by_name(language))).collect();
    parse::parse(&files, argument.parse()?);
    Ok(())
}
