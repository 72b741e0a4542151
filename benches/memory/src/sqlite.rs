//! Measures the baseline: SQLite with FTS5.

use std::path::PathBuf;
use std::process::Command;

use rusqlite::{Connection, params};

use crate::corpus::{Article, Corpus, Turn};
use crate::measure::{Figures, Times, mebibytes, memory, peak_memory, seconds};
use crate::words::unique;
use crate::{Options, Outcome, Side, process};

/// The columns of an entry. The full-text index contains the columns that are searched or filtered.
const SCHEMA: &str = "
    CREATE TABLE entries (
        id TEXT PRIMARY KEY, kind TEXT, scope TEXT, session TEXT, speaker TEXT, position INTEGER, created INTEGER, edited INTEGER,
        title TEXT, text TEXT, document TEXT
    );
    CREATE INDEX of_session ON entries (session, position);
    CREATE VIRTUAL TABLE texts USING fts5 (title, text, scope, session, content = 'entries');
";

fn path(options: &Options, side: Side) -> PathBuf {
    let name = if side == Side::Wal { "wal" } else { "journal" };
    options.directory.clone().unwrap_or_default().join(name).join("memory.sqlite")
}

fn open(options: &Options, side: Side) -> Outcome<Connection> {
    let connection = Connection::open(path(options, side))?;
    let journal = if side == Side::Wal { "wal" } else { "delete" };
    connection.pragma_update(None, "journal_mode", journal)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.busy_timeout(std::time::Duration::from_secs(60))?;
    Ok(connection)
}

pub(crate) fn run(options: &Options, side: Side) -> Outcome<Figures> {
    let (corpus, mut figures) = (Corpus::new(options), Figures::new());
    let path = path(options, side);
    let directory = path.parent().ok_or("no directory")?.to_owned();
    let exists = options.reuse && path.exists();
    if !exists {
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory)?;
        let mut connection = open(options, side)?;
        let ((loaded, took), peak) = peak_memory(|| seconds(|| load(&mut connection, &corpus, options)));
        loaded?;
        figures.insert("f memory while entries are loaded, maximum private memory in MiB".to_owned(), peak);
        figures.insert("a load: all entries, s".to_owned(), took);
    }
    figures.insert("e size: entries and index, MiB".to_owned(), mebibytes(&directory));
    let mut connection = open(options, side)?;
    searches(&connection, &corpus, options, &mut figures)?;
    memory(&mut figures, "f memory after searches,");
    let (mut adds, mut founds) = (Times::default(), Times::default());
    for number in 0..options.adds {
        let turn = corpus.turn(next(&connection, options)? + number);
        adds.measure(|| add(&mut connection, |connection| insert_turn(connection, &turn)))?;
    }
    for number in 0..options.adds.div_ceil(4) {
        let marker = unique(next(&connection, options)?, number);
        let turn = corpus.turn(next(&connection, options)? + options.adds + number);
        let turn = Turn { text: format!("{marker} {}", turn.text), ..turn };
        founds.measure(|| -> Outcome<()> {
            add(&mut connection, |connection| insert_turn(connection, &turn))?;
            let found = search(&connection, &format!("\"{marker}\""))?;
            if found.first() == Some(&turn.id()) { Ok(()) } else { Err(format!("{marker} is not found").into()) }
        })?;
    }
    adds.note(&mut figures, "b add: a turn");
    founds.note(&mut figures, "b add: until it is found");
    drop(connection);
    let mut processes = Times::default();
    for _ in 0..options.processes {
        let mut command = Command::new(std::env::current_exe()?);
        let side = if side == Side::Wal { "wal" } else { "journal" };
        command.args(["--add-one", side, "--turns", &options.turns.to_string(), "--directory"]);
        command.arg(options.directory.clone().unwrap_or_default());
        process::measure(&mut processes, &mut command)?;
    }
    processes.note(&mut figures, "c process: adds a turn");
    Ok(figures)
}

/// Adds one turn. Each call runs in a separate process.
pub(crate) fn add_one(options: &Options, side: Side) -> Outcome<()> {
    let mut connection = open(options, side)?;
    let order = next(&connection, options)?;
    let text = "a turn of some sixty words that somebody has said about what was asked before ".repeat(4);
    let turn = Turn { session: "of processes".to_owned(), speaker: "user", order, text, time: 1_770_000_000 };
    add(&mut connection, |connection| insert_turn(connection, &turn))
}

/// Returns the number of a turn that is not stored yet.
fn next(connection: &Connection, options: &Options) -> Outcome<usize> {
    let last: i64 = connection.query_row("SELECT max(rowid) FROM entries", [], |row| row.get(0))?;
    Ok(options.turns + last as usize)
}

fn load(connection: &mut Connection, corpus: &Corpus, options: &Options) -> Outcome<()> {
    connection.execute_batch(SCHEMA)?;
    // Insert in several transactions: a single transaction would need as much memory as all entries.
    const BATCH: usize = 10_000;
    for from in (0..options.turns).step_by(BATCH) {
        add(connection, |connection| {
            (from..(from + BATCH).min(options.turns))
                .try_for_each(|number| insert_turn(connection, &corpus.turn(number)))
        })?;
    }
    for from in (0..options.turns / 10).step_by(BATCH) {
        add(connection, |connection| {
            let articles = from..(from + BATCH).min(options.turns / 10);
            articles.into_iter().try_for_each(|number| insert_article(connection, &corpus.article(number)))
        })?;
    }
    Ok(())
}

fn add(connection: &mut Connection, work: impl FnOnce(&Connection) -> Outcome<()>) -> Outcome<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    work(&transaction)?;
    Ok(transaction.commit()?)
}

const INSERT: &str = "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9, ?10)";
const INSERT_TEXT: &str =
    "INSERT INTO texts (rowid, title, text, scope, session) VALUES (last_insert_rowid(), ?1, ?2, ?3, ?4)";

fn insert_turn(connection: &Connection, turn: &Turn) -> Outcome<()> {
    let Turn { session, speaker, order, text, time } = turn;
    let document = turn.document().to_string();
    let key = session.replace('-', "");
    let values = params![turn.id(), "turn", "session", key, speaker, *order as i64, time, speaker, text, document];
    connection.prepare_cached(INSERT)?.execute(values)?;
    connection.prepare_cached(INSERT_TEXT)?.execute(params![speaker, text, "session", key])?;
    Ok(())
}

fn insert_article(connection: &Connection, article: &Article) -> Outcome<()> {
    let (text, document) = (article.text(), article.document().to_string());
    let Article { id, topic, time, .. } = article;
    let nothing = rusqlite::types::Null;
    let values = params![id, "knowledge", "user", nothing, nothing, nothing, time, topic, text, document];
    connection.prepare_cached(INSERT)?.execute(values)?;
    connection.prepare_cached(INSERT_TEXT)?.execute(params![topic, text, "user", nothing])?;
    Ok(())
}

/// Returns the ids of the ten best entries.
fn search(connection: &Connection, query: &str) -> Outcome<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT entries.id, entries.title, snippet(texts, 1, '', '', '…', 20) FROM texts JOIN entries ON entries.rowid = texts.rowid
         WHERE texts MATCH ?1 ORDER BY bm25(texts, 2.0, 1.0, 0.0, 0.0) LIMIT 10",
    )?;
    let rows = statement.query_map([query], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn searches(connection: &Connection, corpus: &Corpus, options: &Options, figures: &mut Figures) -> Outcome<()> {
    for scope in ["one session", "user", "all"] {
        let mut times = Times::default();
        for number in 0..options.searches {
            let (words, session) = corpus.query(number);
            let words: Vec<String> = words.split(' ').map(|word| format!("\"{word}\"")).collect();
            let texts = format!("{{title text}} : ({})", words.join(" OR "));
            let query = match scope {
                "one session" => format!("session : {} AND {texts}", session.replace('-', "")),
                "user" => format!("scope : (user OR session) AND {texts}"),
                _ => texts,
            };
            let found = times.measure(|| search(connection, &query))?;
            if found.is_empty() {
                return Err(format!("{query} finds nothing").into());
            }
        }
        times.note(figures, &format!("d search in {scope}, keywords"));
    }
    Ok(())
}
