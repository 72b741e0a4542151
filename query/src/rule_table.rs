//! The ranking rules: one row per rule, in the order of the reference documentation.
//!
//! A row contains the rule's documentation, its name (the key below `search.rules`), the default and the range of its
//! strength, its effect and condition, and the reason that users see. A separate reason for turns of conversations may
//! follow. `{file}` is replaced by the name of the chunk's file. Conditions are functions in the module that applies
//! the rules.
//!
//! From the rows, `config` declares the strengths, and `rank` declares the rules and their reasons.

/// Passes the rows to a macro.
macro_rules! ranking_rules {
    ($rows:ident) => {
        $rows! {
            /// Lift: the chunk defines a symbol that the query names.
            #[measured = "0: .659, .921; .474, .775"]
            definition = 0.1, POSITIVE, Lift(definition), "defines what the query names";
            /// Lift: the chunk's name consists of words of the query.
            #[measured = "0: .642, .920; .466, .776"]
            name_words = 0.12, POSITIVE, Lift(|_, chunk| chunk.name.mean()),
                "its name has words of the query", "the query names its speaker";
            /// Lift: the file's stem consists of words of the query.
            #[measured = "0: within ±.006 on flask and ±.005 on spring-framework"]
            file_stem = 0.06, POSITIVE, FileLift(|file| file.stem.mean()),
                "its file `{file}` is named after words of the query";
            /// Lift: the query gives the path of the chunk's file, or its end.
            #[measured = "0: within ±.007 on flask and 0 on spring-framework; few of these questions name a path"]
            path = 0.6, POSITIVE, Lift(path), "the query gives its path";
            /// Lift: the query asks for a class of code, such as tests or examples, to which the chunk belongs.
            #[measured = "0: within ±.006 on flask and ±.005 on spring-framework"]
            asked_for = 0.05, POSITIVE, Lift(requested), "the query asks for such code";
            /// Lift: the documentation has words of the query.
            #[measured = "0: .664, .919; .465, .780"]
            doc_words = 0.1, POSITIVE, Lift(|_, chunk| chunk.doc_words),
                "its documentation has words of the query", "its date or nearby turns have words of the query";
            /// Lift: the whole file has words of the query, compared with the other files.
            file_keywords = 0.2, POSITIVE, FileLift(|file| file.evidence.keywords),
                "the whole of `{file}` has words of the query";
            /// Lift: the whole file has many of the words of the query, and has them often.
            file_coverage = 0.16, POSITIVE, FileLift(|file| file.evidence.coverage),
                "`{file}` has many of the query's words";
            /// Lift: the whole file is close in meaning to the query.
            file_meaning = 0.16, POSITIVE, FileLift(|file| file.evidence.meaning),
                "`{file}` is nearer to the query than most files";
            /// Lift: the documentation in the whole file has words of the query.
            file_docs = 0.16, POSITIVE, FileLift(|file| file.evidence.doc_words),
                "the documentation in `{file}` has words of the query",
                "its date or nearby turns have words of the query";
            /// Lift: the model of `search.rerank` finds that the chunk answers the query, compared with the other
            /// chunks that the model reads.
            rerank = 0.15, POSITIVE, Step, "the reranking model finds that it answers the query";
            /// Penalty: the file already has a better result.
            #[measured = "0: .658, .896; .468, .755"]
            repeated_file = 0.06, SHARE, Repeated(|_, chunk| Some((chunk.file.number, String::new()))),
                "its file already has a better result";
            /// Penalty: a definition of the same name is a better result.
            #[measured = "0: other questions, .0015 MRR@10 less"]
            repeated_name = 0.06, SHARE, Repeated(|query, chunk| Some((0, repeatable_name(query, chunk)?))),
                "a definition of the same name is a better result";
            /// Penalty: test code, unless the query asks for tests.
            #[measured = "0: .633, .863; .436, .743"]
            tests = 0.5, SHARE, Class(PathClass::Test), "test code, not asked for by the query";
            /// Penalty: generated or minified code, by its path or its header.
            #[measured = "0: within ±.007 on flask, 0 on spring-framework"]
            generated = 0.3, SHARE, Class(PathClass::Generated), "generated code, not asked for by the query";
            /// Penalty: copies of other projects' code.
            #[measured = "0: .659, .921; .466, .780"]
            vendored = 0.4, SHARE, Class(PathClass::Vendored),
                "a copy of another project's code, not asked for by the query";
            /// Penalty: examples, demos, samples and benchmarks, unless the query asks for them.
            #[measured = "0: .657, .916; .466, .780"]
            examples = 0.4, SHARE, Class(PathClass::Example), "example code, not asked for by the query";
            /// Penalty: files that only re-export what other files define.
            #[measured = "0: within ±.007 on flask, 0 on spring-framework"]
            reexports = 0.1, SHARE, Penalty(reexports), "`{file}` only re-exports what other files define";
            /// Penalty: type declarations without code.
            #[measured = "0: within ±.007 on flask, 0 on spring-framework"]
            declarations = 0.3, SHARE, Class(PathClass::Declaration),
                "declarations without code, not asked for by the query";
            /// Penalty: changelogs and release notes.
            #[measured = "0: within ±.007 on flask, 0 on spring-framework"]
            changelogs = 0.2, SHARE, Class(PathClass::Changelog), "a changelog, not asked for by the query";
            /// Penalty: data, settings and styles (JSON, YAML, XML, CSS, …), unless the query asks for them.
            #[measured = "not measured: the repositories have hardly any"]
            data = 0.4, SHARE, Class(PathClass::Data), "data, not asked for by the query";
            /// Penalty: code kept for compatibility (directories and files called `legacy`, `compat`, `v1`, …), unless
            /// the query asks for it.
            #[measured = "0: other questions, commits .0009 MRR@10 less"]
            superseded = 0.1, SHARE, Class(PathClass::Superseded),
                "code kept for compatibility, not asked for by the query";
            /// Penalty: code between definitions.
            #[measured = "0: .659, .921; .466, .775"]
            fragments = 0.1, SHARE, Penalty(fragment), "code between definitions";
            /// Penalty: sections of documents, unless the query asks for documentation.
            #[measured = "0: .573, .805; .466, .774"]
            prose = 0.4, SHARE, Penalty(prose), "a section of a document, not asked for by the query";
            /// Penalty: interfaces, types, structs and enums without behaviour, unless the query asks for them.
            #[measured = "0: .659, .921; .482, .789"]
            shapes = 0.2, SHARE, Penalty(shape), "data without behaviour, not asked for by the query";
            /// Penalty: definitions of one or two lines.
            #[measured = "0: .656, .916; .468, .780"]
            short = 0.25, SHARE, Penalty(short), "a definition of one or two lines";
            /// Reorders turns of conversations by the keywords of the turn, of nearby turns and of the session, by the
            /// speaker and by the length.
            #[measured = "0: LoCoMo, R@10 .706 instead of .775"]
            conversation = 1.0, SHARE, Step, "the turn, nearby turns and the session, compared with other turns";
        }
    };
}

pub(crate) use ranking_rules;
