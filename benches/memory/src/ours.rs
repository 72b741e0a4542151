//! Measures `aur`, through its libraries and as a separate process.

use std::process::Command;
use std::sync::Arc;

use aurora_memory::{
    Memory, MemoryPlace, MemoryRules, NewTurn, Placement, Scope, Transfer, TransferredEntry, Visibility,
};
use aurora_memory_policy::check_rule;
use aurora_memory_schema::{Entry, Kind, read_json};
use aurora_project::{SearchRequest, Searchers};
use aurora_query::{Mode, Query, SearchConfig};
use serde_json::Value;

use crate::corpus::{Corpus, Turn};
use crate::measure::{Figures, Times, mebibytes, memory as memory_of_process, now, peak_memory, seconds};
use crate::words::unique;
use crate::{Options, Outcome, home, process};

pub(crate) fn run(options: &Options) -> Outcome<Figures> {
    let (corpus, mut figures) = (Corpus::new(options), Figures::new());
    let directory = options.directory.clone().unwrap_or_default();
    let place = || MemoryPlace::for_user().ok_or("no home directory");
    let exists = options.reuse && place()?.directory().exists();
    if !exists {
        let _ = std::fs::remove_dir_all(home(&directory));
    }
    let memory = Memory::create(place()?)?;
    if !exists {
        let ((loaded, took), peak) = peak_memory(|| seconds(|| load(&memory, &corpus, options)));
        loaded?;
        figures.insert("f memory while entries are loaded, maximum private memory in MiB".to_owned(), peak);
        figures.insert("a load: all entries, s".to_owned(), took);
        let ((indexed, took), peak) = peak_memory(|| seconds(|| memory.snapshot()));
        indexed?;
        figures.insert("f memory while they are indexed, maximum private memory in MiB".to_owned(), peak);
        figures.insert("a load: their index, s".to_owned(), took);
    }
    let size = |name: &str| mebibytes(&place().map(|place| place.directory().join(name)).unwrap_or_default());
    figures.insert("e size: entries, MiB".to_owned(), size("entries"));
    figures.insert("e size: index, MiB".to_owned(), size(".aurora/index"));
    figures.insert("e size: entries and index, MiB".to_owned(), size("entries") + size(".aurora/index"));
    let (opened, took) = seconds(|| searchers(&memory, Mode::Hybrid, &everything()));
    drop(opened?);
    figures.insert("d search: opening, ms".to_owned(), took * 1e3);
    searches(&memory, &corpus, options, &mut figures)?;
    memory_of_process(&mut figures, "f memory after searches,");
    adds(&memory, &corpus, options, &mut figures)?;
    drop(memory);
    if let Some(program) = &options.program {
        let mut processes = Times::default();
        let text = "a turn of some sixty words that somebody has said about what was asked before ".repeat(4);
        for _ in 0..options.processes {
            let mut command = Command::new(program);
            command.args(["mem", "turn", "add", "--session", "of-processes", "--speaker", "user", &text]);
            process::measure(&mut processes, &mut command)?;
        }
        processes.note(&mut figures, "c process: adds a turn");
    }
    Ok(figures)
}

fn load(memory: &Memory, corpus: &Corpus, options: &Options) -> Outcome<()> {
    let turns = (0..options.turns).map(|number| {
        let turn = corpus.turn(number);
        let placement = Placement { scope: Scope::Session, session: Some(turn.session.clone()) };
        transfer(turn.document(), placement, turn.time)
    });
    let articles = (0..options.turns / 10).map(|number| {
        let article = corpus.article(number);
        transfer(article.document(), Placement { scope: Scope::User, session: None }, article.time)
    });
    let report = memory.put_all(&mut turns.chain(articles), now())?;
    let wanted = options.turns + options.turns / 10;
    if report.added as usize == wanted { Ok(()) } else { Err(format!("{report:?} of {wanted}").into()) }
}

fn transfer(document: Value, placement: Placement, time: i64) -> Transfer {
    let Value::Object(document) = document else { unreachable!("a document is an object") };
    let entry = Entry::from_document(document).expect("the document is a valid entry");
    let source = String::new();
    let (has_derived_id, is_current, access) = (false, false, None);
    Ok(TransferredEntry { entry, has_derived_id, placement, created: time, edited: time, is_current, access, source })
}

fn everything() -> Visibility {
    Visibility { scope: Some(Scope::Global), ..Visibility::default() }
}

fn searchers(memory: &Memory, mode: Mode, visibility: &Visibility) -> Outcome<Searchers> {
    let rules = Arc::new(MemoryRules::default());
    let searcher = memory.searcher(SearchConfig::default(), mode, &rules, visibility)?;
    Ok(Searchers::from(searcher.ok_or("no entries")?))
}

fn searches(memory: &Memory, corpus: &Corpus, options: &Options, figures: &mut Figures) -> Outcome<()> {
    for (mode, of_mode) in [(Mode::Sparse, "keywords"), (Mode::Hybrid, "hybrid")] {
        for (scope, of_scope) in
            [(Some(Scope::Session), "one session"), (Some(Scope::User), "user"), (Some(Scope::Global), "all")]
        {
            let (mut times, rules) = (Times::default(), Arc::new(MemoryRules::default()));
            let open = searchers(memory, mode, &Visibility { scope, ..Visibility::default() })?;
            // The first search prepares data that all searches of a generation share.
            open.search(&SearchRequest::new(Query { mode, ..Query::new("warm up", now()) }))?;
            for number in 0..options.searches {
                let (words, session) = corpus.query(number);
                let session = (scope == Some(Scope::Session)).then_some(session);
                let visibility = Visibility { scope, session, ..Visibility::default() };
                let of_search = visibility.search_rules(&rules);
                let scoped = open.iter().next().ok_or("no searcher")?.as_ref().clone();
                let scoped = Arc::new(scoped.with_memory(of_search));
                let request = SearchRequest::new(Query { mode, ..Query::new(words, now()) });
                let found = times.measure(|| Searchers::from(scoped).search(&request))?;
                if found.hits.is_empty() {
                    return Err(format!("{} finds nothing in {of_scope}", request.query.text).into());
                }
            }
            times.note(figures, &format!("d search in {of_scope}, {of_mode}"));
        }
    }
    Ok(())
}

fn adds(memory: &Memory, corpus: &Corpus, options: &Options, figures: &mut Figures) -> Outcome<()> {
    let add = |turn: &Turn| -> Outcome<String> {
        let Turn { session, speaker, text, time, .. } = turn;
        let turn = NewTurn { session, speaker, text, reply_to: None, time: *time };
        Ok(memory.add_turn(&turn, Scope::Session, now())?)
    };
    let mut times = Times::default();
    for number in 0..options.adds {
        let turn = corpus.turn(options.turns + number);
        times.measure(|| add(&turn))?;
    }
    times.note(figures, "b add: a turn");
    let mut times = Times::default();
    for number in 0..options.adds.div_ceil(4) {
        let article = corpus.article(options.turns + number + now() as usize);
        let draft = read_json(Kind::Knowledge, "article", &article.document().to_string(), check_rule);
        let draft = draft.map_err(|mistakes| mistakes.to_string())?;
        let placement = Placement { scope: Scope::User, session: None };
        times.measure(|| memory.add(draft, &placement, now()))?;
    }
    times.note(figures, "b add: an article");
    let mut times = Times::default();
    // Index the entries added so far, so that the measurements below do not include them.
    drop(searchers(memory, Mode::Sparse, &everything())?);
    for number in 0..options.adds.div_ceil(4) {
        let marker = unique(now() as usize, number);
        let turn = corpus.turn(options.turns + options.adds + number);
        let turn = Turn { text: format!("{marker} {}", turn.text), ..turn };
        let request = SearchRequest::new(Query { mode: Mode::Sparse, ..Query::new(&marker, now()) });
        times.measure(|| -> Outcome<()> {
            let id = add(&turn)?;
            let found = searchers(memory, Mode::Sparse, &everything())?.search(&request)?;
            let is_found = found.hits.iter().any(|hit| hit.key == id);
            if is_found { Ok(()) } else { Err(format!("{marker} is not found").into()) }
        })?;
    }
    times.note(figures, "b add: until it is found");
    Ok(())
}
