//! Tests of the index store as its users see it.

mod crashes;
mod damage;
mod lookup;
mod model;
mod opening;
mod readers;
mod repository;
mod sequences;
