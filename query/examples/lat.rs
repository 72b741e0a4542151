use aurora_query::*;
use aurora_storage::*;
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let s = Environment::open(std::path::Path::new(&a[1]), OpenMode::Existing).unwrap().snapshot().unwrap();
    let six = a[2] == "six";
    let n: usize = a[3].parse().unwrap();
    let k: usize = a[4].parse().unwrap();
    let rep: usize = a[5].parse().unwrap();
    let c = if six { SearchConfig::default().bm25 } else { Bm25Config { k1: 1.2, b: 0.75, fields: [0.0, 0.0, 0.0, 0.0, 0.0, 1.0] } };
    let mut t = Vec::new(); let mut cum = Vec::new(); let mut x = 0u64;
    for r in s.terms_with_prefix("") { let (w, d) = r.unwrap(); if d > 1 { x += d as u64; t.push(w); cum.push(x); } }
    let mut z = 12345u64;
    let mut rnd = || { z ^= z << 13; z ^= z >> 7; z ^= z << 17; z };
    let qs: Vec<Vec<String>> = (0..400).map(|_| (0..n).map(|_| { let r = rnd() % x; t[cum.partition_point(|c| *c <= r)].clone() }).collect()).collect();
    let mut best = vec![f64::MAX; qs.len()];
    for _ in 0..rep { for (q, b) in qs.iter().zip(&mut best) {
        let w: Vec<_> = q.iter().map(|text| WeightedTerm { text, weight: 1.0 }).collect();
        let i = Instant::now(); let r = best_chunks(&s, &c, &w, k, None).unwrap(); std::hint::black_box(r.len()); *b = b.min(i.elapsed().as_secs_f64() * 1e6);
    } }
    best.sort_by(f64::total_cmp);
    println!("{n} terms top {k}: mean {:.1} p50 {:.1} p99 {:.1}", best.iter().sum::<f64>() / 400., best[200], best[395]);
}
