use aurora_analysis::*;
use std::time::Instant;
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}
fn main() {
    let t = Instant::now();
    let m = StaticModel::built_in().unwrap();
    println!("static load (first) {:?}", t.elapsed());
    let mut best = f64::MAX;
    for _ in 0..50 {
        let t = Instant::now();
        let m = StaticModel::built_in().unwrap();
        best = best.min(t.elapsed().as_secs_f64());
        std::hint::black_box(&m);
    }
    println!("static load best {:.0} us, id {}", best * 1e6, m.id());
    let t = Instant::now();
    let v = m.embed_query("how do I refresh an expired token").unwrap();
    println!("first query {:?} {}", t.elapsed(), v.len());
    #[derive(serde::Deserialize)]
    struct P {
        head: String,
        sig: String,
        body: String,
        query: String,
        rest: String,
    }
    let ps: Vec<P> = std::fs::read_to_string("/tmp/pairs20k.jsonl")
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let full: Vec<Passage> = ps
        .iter()
        .map(|p| {
            let (k, q) = p.head.split_once(' ').unwrap();
            Passage { kind: k, qualified_name: q, signature: &p.sig, doc: &p.rest, body: &p.body }
        })
        .collect();
    let short: Vec<String> = ps.iter().map(|p| format!("{}\n{}", p.sig, p.query)).collect();
    let toks: usize = short.iter().map(|s| m.tokens(s, 256).len()).sum();
    println!(
        "{} texts, tokens/short {:.1}, tokens/full {:.1}",
        ps.len(),
        toks as f64 / ps.len() as f64,
        full.iter().map(|p| m.tokens(&p.full(), 256).len()).sum::<usize>() as f64 / ps.len() as f64
    );
    let run = |name: &str, n: usize, bytes: usize, f: &dyn Fn()| {
        let mut b = f64::MAX;
        for _ in 0..5 {
            let c = cpu();
            let t = Instant::now();
            f();
            let _ = t;
            b = b.min(cpu() - c);
        }
        println!("{name}: {:.0} texts per CPU second, {:.1} MB/s CPU", n as f64 / b, bytes as f64 / 1e6 / b);
    };
    let sb = short.iter().map(|s| s.len()).sum::<usize>();
    let fb = full.iter().map(|p| p.full().len()).sum::<usize>();
    run("static short query", ps.len(), sb, &|| {
        for s in &short {
            std::hint::black_box(m.embed_query(s).unwrap());
        }
    });
    run("static passages", ps.len(), fb, &|| {
        std::hint::black_box(m.embed(&full));
    });
    run("tokens only short", ps.len(), sb, &|| {
        for s in &short {
            std::hint::black_box(m.tokens(s, 256));
        }
    });
    let a = Analyzer::default();
    let bodies: Vec<String> = full.iter().map(|p| p.full()).collect();
    let mut count = 0usize;
    for b in &bodies {
        a.terms(b, &mut |_| count += 1);
    }
    run(&format!("analyzer ({count} terms)"), ps.len(), fb, &|| {
        let mut h = 0usize;
        for b in &bodies {
            a.terms(b, &mut |t| h += t.len());
        }
        std::hint::black_box(h);
    });
    let dir = std::env::args().nth(1).unwrap();
    let t = Instant::now();
    let models = ModelDirectory::at("/tmp/anamodels");
    models.add(std::path::Path::new(&dir), None).unwrap();
    println!("add {:?}", t.elapsed());
    let mut best = f64::MAX;
    for _ in 0..3 {
        let t = Instant::now();
        let e = embedder("minilm", &models).unwrap();
        best = best.min(t.elapsed().as_secs_f64());
        std::hint::black_box(e.id());
    }
    println!("minilm load best {:.0} ms", best * 1e3);
    let e = embedder("minilm", &models).unwrap();
    let t = Instant::now();
    e.embed_query("how do I refresh an expired token").unwrap();
    println!("minilm first query {:?}", t.elapsed());
    for (name, n) in [("short", 600), ("full", 250)] {
        let c = cpu();
        let t = Instant::now();
        let ps: Vec<Passage> = if name == "short" {
            short[..n].iter().map(|s| Passage { body: s, ..Default::default() }).collect()
        } else {
            full[..n].to_vec()
        };
        let r: Vec<_> = e.embed(&ps);
        assert!(r.iter().all(|r| r.is_ok()));
        println!(
            "minilm {name}: {:.1} texts per CPU second (wall {:.1})",
            n as f64 / (cpu() - c),
            n as f64 / t.elapsed().as_secs_f64()
        );
    }
}
