//! Tests of the index store as its users see it.

mod accesses;
mod crashes;
mod damage;
mod lookup;
mod model;
mod opening;
mod readers;
mod repository;
mod sequences;
mod vocabulary;
