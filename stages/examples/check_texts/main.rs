//! The part of `cargo xtask explore grammars` that knows the languages: it finds sources, and checks the results for
//! texts.
//!
//! `check_texts sources DIR...` prints a line for each file in a language: the language, a tab and the path.
//! `check_texts check LANGUAGE MILLISECONDS` reads texts from standard input, each as its length in bytes, a line feed
//! and the bytes. It answers each text with a line: `sound`, or `limited` and the limit that ended its parse, or
//! `wrong` and the problem. A parse may take the given time.
//!
//! Texts are checked on a thread with the stack size of a pipeline's workers. A text that ends the process gets no
//! answer.

mod soundness;
mod sources;
mod text_checker;

use std::io::{BufRead, Read, Write};
use std::time::Duration;

use aurora_languages::by_name;

use text_checker::TextChecker;

const USAGE: &str = "usage: check_texts sources DIR... | check_texts check LANGUAGE MILLISECONDS";

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["sources", roots @ ..] if !roots.is_empty() => sources::print(roots).map_err(|error| error.to_string()),
        ["check", language, milliseconds] => {
            let language = by_name(language).ok_or_else(|| format!("unknown language `{language}`"))?;
            let limit = milliseconds.parse().map(Duration::from_millis).map_err(|_| USAGE.to_owned())?;
            let worker = std::thread::spawn(move || serve(TextChecker::new(language, limit)));
            worker.join().map_err(|_| "the worker panicked".to_owned())?.map_err(|error| error.to_string())
        }
        _ => Err(USAGE.to_owned()),
    }
}

fn serve(mut checker: TextChecker) -> std::io::Result<()> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut header = String::new();
    while input.read_line(&mut header)? > 0 {
        let length = header.trim().parse().map_err(|_| std::io::Error::other("expected the length of a text"))?;
        let mut bytes = vec![0; length];
        input.read_exact(&mut bytes)?;
        let text = String::from_utf8(bytes).map_err(std::io::Error::other)?;
        let answer = checker.check(&text).replace(['\n', '\r'], " ");
        writeln!(output, "{answer}")?;
        output.flush()?;
        header.clear();
    }
    Ok(())
}
