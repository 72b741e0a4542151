#![no_main]

#[path = "../cases/analyzer.rs"]
mod case;

libfuzzer_sys::fuzz_target!(|data: &[u8]| case::run(data));
