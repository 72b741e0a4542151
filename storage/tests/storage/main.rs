//! Tests of the public interface of the index store.

mod accesses;
mod artefacts;
mod columns;
mod compacting;
mod crashes;
mod damage;
mod divided;
mod keywords;
mod lookup;
mod model;
#[path = "../../../tests/damage/mutation.rs"]
mod mutation;
mod opening;
mod readers;
mod records;
mod replacing;
mod repository;
mod sequences;
mod structure;
mod threads;
mod vocabulary;
