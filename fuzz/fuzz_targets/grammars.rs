#![no_main]

#[path = "../cases/grammars.rs"]
mod case;

libfuzzer_sys::fuzz_target!(|data: &[u8]| case::run(data));
